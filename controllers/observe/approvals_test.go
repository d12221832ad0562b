package observe_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/observe"
)

// Each page of what a pod holds back is read once, again if there was no room for it, and all of them once more on request.
func TestCallsThatWaitAreReadPageByPage(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, request *http.Request) {
		if request.Header.Get("Authorization") != "Bearer key" {
			http.Error(out, "no", http.StatusUnauthorized)
			return
		}
		if request.URL.Path == "/approvals" {
			after, _ := strconv.Atoi(request.URL.Query().Get("after"))
			_ = json.NewEncoder(out).Encode(contract.ApprovalPage{Cursor: strconv.Itoa(after + 1), More: after < 2, Approvals: []contract.Approval{{Name: strconv.Itoa(after)}}})
			return
		}
		if request.URL.Query().Get("seen") == "" || request.URL.Query().Get("wait") != "20s" { // it is asked again soon if there was no room
			_ = json.NewEncoder(out).Encode(contract.Status{Serial: "a", ApprovalsSerial: "3"})
			return
		}
		select {
		case <-time.After(20 * time.Millisecond): // nothing new
			_ = json.NewEncoder(out).Encode(contract.Status{Serial: "a", ApprovalsSerial: "3"})
		case <-request.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	told := make(chan string, 100)
	var full atomic.Bool
	full.Store(true)
	poller := observe.New(t.Context(), observe.Options{
		Address:  func(pod *corev1.Pod) string { return pod.Annotations["at"] },
		OnReport: func(types.NamespacedName) {},
		OnApprovals: func(_ types.NamespacedName, approvals []contract.Approval) bool {
			for _, a := range approvals {
				told <- a.Name
			}
			return !full.Swap(false)
		},
		Log: logr.Discard(),
	})
	next := func(n int) (names []string) {
		t.Helper()
		for range n {
			select {
			case name := <-told:
				names = append(names, name)
			case <-time.After(10 * time.Minute):
				t.Fatalf("only %v were told", names)
			}
		}
		return names
	}
	poller.Observe(shop, "key", []corev1.Pod{pod("p", server)})
	if got := next(4); !slices.Equal(got, []string{"0", "0", "1", "2"}) {
		t.Errorf("told %v: the first page has to come twice, as there was no room", got)
	}
	poller.ReadApprovalsAgain(shop)
	if got := next(3); !slices.Equal(got, []string{"0", "1", "2"}) {
		t.Errorf("once more: %v", got)
	}
	if len(told) > 0 {
		t.Errorf("and %s again", <-told)
	}
}
