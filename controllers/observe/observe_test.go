package observe_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/observe"
)

var shop = types.NamespacedName{Namespace: "shop", Name: "shop"}

// pod is a pod whose /status is at a test server.
func pod(name string, server *httptest.Server) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Annotations: map[string]string{"at": strings.TrimPrefix(server.URL, "http://")}},
		Status:     corev1.PodStatus{PodIP: "10.0.0.1"},
	}
}

func newPoller(t *testing.T) (*observe.Poller, <-chan types.NamespacedName) {
	reports := make(chan types.NamespacedName, 100)
	return observe.New(t.Context(), observe.Options{
		Address:  func(pod *corev1.Pod) string { return pod.Annotations["at"] },
		OnReport: func(endpoint types.NamespacedName) { reports <- endpoint },
		Log:      logr.Discard(),
	}), reports
}

func receive(t *testing.T, reports <-chan types.NamespacedName) {
	t.Helper()
	select {
	case <-reports:
	case <-time.After(10 * time.Minute):
		t.Fatal("no report came")
	}
}

func TestAPodIsAskedWithTheKeyAndForNews(t *testing.T) {
	revisions := make(chan int64, 1)
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, request *http.Request) {
		if request.URL.Path != "/status" || request.Header.Get("Authorization") != "Bearer key" {
			http.Error(out, "no", http.StatusUnauthorized)
			return
		}
		if request.URL.Query().Get("seen") == "" {
			_ = json.NewEncoder(out).Encode(contract.Status{Serial: "a", Revision: 1})
			return
		}
		select {
		case revision := <-revisions:
			_ = json.NewEncoder(out).Encode(contract.Status{Serial: "b", Revision: revision})
		case <-request.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	poller, reports := newPoller(t)
	poller.Observe(shop, "key", []corev1.Pod{pod("p", server)})
	receive(t, reports)
	if status, wait := poller.Report(shop, "p"); status == nil || status.Revision != 1 || wait != 0 {
		t.Fatalf("report: %+v, wait %v", status, wait)
	}
	revisions <- 2
	receive(t, reports)
	if status, _ := poller.Report(shop, "p"); status.Revision != 2 {
		t.Fatalf("report: %+v", status)
	}
	poller.Observe(shop, "", nil)
	if status, _ := poller.Report(shop, "p"); status != nil {
		t.Fatalf("a pod that is gone still reports %+v", status)
	}
}

func TestModelsAtHandAreNotSentAgain(t *testing.T) {
	answers := make(chan contract.Status, 1)
	asked := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, request *http.Request) {
		asked <- request.URL.Query().Get("models")
		select {
		case answer := <-answers:
			_ = json.NewEncoder(out).Encode(answer)
		case <-request.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	poller, reports := newPoller(t)
	poller.Observe(shop, "key", []corev1.Pod{pod("p", server)})
	order, line := []contract.ModelStatus{{Name: "order"}}, []contract.ModelStatus{{Name: "line"}}
	for _, step := range []struct {
		knows  string
		answer contract.Status
		want   []contract.ModelStatus
	}{
		{"", contract.Status{Serial: "1", Models: order, ModelsSerial: "m1"}, order},
		{"m1", contract.Status{Serial: "2", ModelsSerial: "m1"}, order},
		{"m1", contract.Status{Serial: "3", Models: line, ModelsSerial: "m3"}, line},
		{"m3", contract.Status{Serial: "4", ModelsSerial: "m4"}, nil},              // it serves none any more
		{"m4", contract.Status{Serial: "5", Models: order}, order},                 // the container is of an older release
		{"", contract.Status{Serial: "6", Models: line, ModelsSerial: "m6"}, line}, // and of a newer one again
	} {
		if knows := <-asked; knows != step.knows {
			t.Errorf("before %s it says that it knows %q, want %q", step.answer.Serial, knows, step.knows)
		}
		answers <- step.answer
		receive(t, reports)
		if status, _ := poller.Report(shop, "p"); status.Serial != step.answer.Serial || !reflect.DeepEqual(status.Models, step.want) {
			t.Errorf("report: %+v", status)
		}
	}
}

func TestAPodIsToldAtOnceToLook(t *testing.T) {
	looks := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, request *http.Request) {
		looks <- request.URL.Query().Get("look")
		if request.URL.Query().Get("seen") == "" {
			_ = json.NewEncoder(out).Encode(contract.Status{Serial: "a", Revision: 1})
			return
		}
		<-request.Context().Done()
	}))
	t.Cleanup(server.Close)
	poller, reports := newPoller(t)
	pods := []corev1.Pod{pod("p", server)}
	poller.Observe(shop, "key", pods)
	receive(t, reports)
	for range 2 { // a request that is known already is not sent twice
		poller.Look(shop, "now")
		poller.Observe(shop, "key", pods)
	}
	for asked := ""; asked != "now"; {
		select {
		case asked = <-looks:
		case <-time.After(10 * time.Minute):
			t.Fatal("the pod was not told")
		}
	}
	if status, _ := poller.Report(shop, "p"); status == nil || status.Revision != 1 {
		t.Errorf("the report is lost: %+v", status)
	}
	quiet := time.After(100 * time.Millisecond)
	for {
		select {
		case got := <-looks: // the question that was broken off may come late
			if got == "now" {
				t.Fatal("told twice")
			}
		case <-quiet:
			return
		}
	}
}

func TestAHungPodHoldsNothingUp(t *testing.T) {
	hung := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) { <-request.Context().Done() }))
	t.Cleanup(hung.Close)
	well := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(out).Encode(contract.Status{Serial: "a", Revision: 7})
	}))
	t.Cleanup(well.Close)
	poller, reports := newPoller(t)
	poller.Observe(shop, "key", []corev1.Pod{pod("hung", hung), pod("well", well)})
	receive(t, reports)
	if status, _ := poller.Report(shop, "well"); status == nil || status.Revision != 7 {
		t.Fatalf("report: %+v", status)
	}
	if status, wait := poller.Report(shop, "hung"); status != nil || wait <= 0 || wait > 3*time.Second {
		t.Fatalf("report: %+v, wait %v", status, wait)
	}
	poller.Observe(shop, "", nil) // or the test server would wait for the hung one
}

func TestAPodThatFailsIsKnownToHaveBeenAsked(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"another status":  func(out http.ResponseWriter, _ *http.Request) { http.Error(out, "no", http.StatusTeapot) },
		"no JSON":         func(out http.ResponseWriter, _ *http.Request) { _, _ = out.Write([]byte("hello")) },
		"no serial":       func(out http.ResponseWriter, _ *http.Request) { _, _ = out.Write([]byte("{}")) },
		"a redirect":      func(out http.ResponseWriter, r *http.Request) { http.Redirect(out, r, "/elsewhere", http.StatusFound) },
		"a broken answer": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(answer)
			t.Cleanup(server.Close)
			poller, reports := newPoller(t)
			poller.Observe(shop, "key", []corev1.Pod{pod("p", server)})
			receive(t, reports)
			if status, wait := poller.Report(shop, "p"); status != nil || wait != 0 {
				t.Fatalf("report: %+v, wait %v", status, wait)
			}
		})
	}
}

func TestAPodThatBecomesReadyIsAskedAtOnce(t *testing.T) {
	var listening atomic.Bool
	failed := make(chan struct{}, 100)
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		if !listening.Load() {
			http.Error(out, "not yet", http.StatusServiceUnavailable)
			failed <- struct{}{}
			return
		}
		_ = json.NewEncoder(out).Encode(contract.Status{Serial: "a", Revision: 7})
	}))
	t.Cleanup(server.Close)
	poller, reports := newPoller(t)
	starting := pod("p", server)
	poller.Observe(shop, "key", []corev1.Pod{starting})
	receive(t, reports)
	for range 5 { // the next pause is four seconds
		<-failed
	}
	listening.Store(true)
	starting.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	poller.Observe(shop, "key", []corev1.Pod{starting})
	if status, wait := poller.Report(shop, "p"); status == nil && wait == 0 {
		t.Error("it counts as one that cannot be asked")
	}
	select {
	case <-reports:
	case <-time.After(10 * time.Minute):
		t.Fatal("it was not asked")
	}
	if status, _ := poller.Report(shop, "p"); status == nil || status.Revision != 7 {
		t.Fatalf("report: %+v", status)
	}
}

func TestAPodThatAnswersAtOnceIsNotAskedInALoop(t *testing.T) {
	asked := make(chan struct{}, 10000)
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		asked <- struct{}{}
		_ = json.NewEncoder(out).Encode(contract.Status{Serial: "always", Revision: 1})
	}))
	t.Cleanup(server.Close)
	poller, reports := newPoller(t)
	poller.Observe(shop, "key", []corev1.Pod{pod("p", server)})
	receive(t, reports)
	began := time.Now()
	for range 4 {
		<-asked
	}
	// The first is asked at once, and each other after a pause.
	if took := time.Since(began); took < 500*time.Millisecond {
		t.Errorf("asked four times in %v", took)
	}
}
