package ui

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/page"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/page/pagetest"
)

// endpoints is how many endpoints the API server has, one of 50 of which is not Ready.
const endpoints = 1003

// many are the endpoints, with all that managers and people write into them.
func many() v1alpha1.MCPEndpointList {
	at := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	list := v1alpha1.MCPEndpointList{TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "MCPEndpointList"}}
	for i := range endpoints {
		e := v1alpha1.MCPEndpoint{ObjectMeta: metav1.ObjectMeta{Namespace: "many", Name: fmt.Sprint("e", i), UID: types.UID(fmt.Sprintf("%036d", i)), ResourceVersion: fmt.Sprint(1000 + i), Generation: 3, CreationTimestamp: at}}
		e.APIVersion, e.Kind = list.APIVersion, "MCPEndpoint"
		e.Annotations = map[string]string{"kubectl.kubernetes.io/last-applied-configuration": strings.Repeat("y", 800)}
		for _, manager := range []string{"kubectl", "mcp-admin-manager"} {
			e.ManagedFields = append(e.ManagedFields, metav1.ManagedFieldsEntry{Manager: manager, Operation: "Apply", APIVersion: list.APIVersion, Time: &at, FieldsType: "FieldsV1",
				FieldsV1: metav1.NewFieldsV1(`{"f:status":{` + strings.TrimSuffix(strings.Repeat(`"f:conditions":{"k:{\"type\":\"Ready\"}":{".":{},"f:message":{}}},`, 15), ",") + `}}`)})
		}
		e.Spec.Database.SQLite = &v1alpha1.SQLiteSpec{EmptyDir: &v1alpha1.SQLiteEmptyDir{}}
		for g := range 5 {
			e.Spec.Groups = append(e.Spec.Groups, v1alpha1.Group{Name: fmt.Sprint("g", g), Permissions: []v1alpha1.PermissionRule{{Models: []string{"orders", "customers"}, Verbs: []v1alpha1.Verb{"view", "change"}}}})
		}
		e.Status = v1alpha1.MCPEndpointStatus{ObservedGeneration: 3, Revision: 12, ReadyDisplay: "2/2", ModelCount: new(int32(10)), TokenCount: new(int32(9)), Database: v1alpha1.DatabaseStatus{Engine: "PostgreSQL", Version: "17.5"}}
		for _, kind := range []string{"Accepted", "Programmed", "WorkloadAvailable", "DatabaseReady", "AuthenticationReady", "Routed", "Ready"} {
			c := metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: kind, Message: "as it should be, and nothing is waited for", LastTransitionTime: at, ObservedGeneration: 3}
			if i%50 == 0 && kind == "Ready" {
				c.Status, c.Reason = metav1.ConditionFalse, "Unreachable"
			}
			e.Status.Conditions = append(e.Status.Conditions, c)
		}
		list.Items = append(list.Items, e)
	}
	return list
}

// fakeAPI is an API server that has these endpoints, and nothing else.
type fakeAPI struct {
	mu   sync.Mutex
	list v1alpha1.MCPEndpointList
	// whole is the list as it is sent, made anew once list has changed; refuses answers everybody with 403, or those who get one endpoint.
	whole           []byte
	refuses, noGets bool
	// asked counts lists of whole endpoints, lists of their versions, and endpoints that were got.
	asked struct{ Whole, Versions, Gets int }
}

// change changes the endpoints.
func (f *fakeAPI) change(do func(*v1alpha1.MCPEndpointList)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do(&f.list)
	f.whole = nil
}

// told are the requests since it was called last.
func (f *fakeAPI) told() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	text := fmt.Sprintf("%d lists, %d lists of versions, %d gets", f.asked.Whole, f.asked.Versions, f.asked.Gets)
	f.asked.Whole, f.asked.Versions, f.asked.Gets = 0, 0, 0
	return text
}

const ofEndpoints = "/apis/mcpadmin.dev/v1alpha1/mcpendpoints"

// answer is what it answers; nil is 404.
func (f *fakeAPI) answer(r *http.Request) any {
	f.mu.Lock()
	defer f.mu.Unlock()
	name, one := strings.CutPrefix(r.URL.Path, "/apis/mcpadmin.dev/v1alpha1/namespaces/many/mcpendpoints/")
	switch i := slices.IndexFunc(f.list.Items, func(e v1alpha1.MCPEndpoint) bool { return e.Name == name }); {
	case f.refuses && strings.HasPrefix(r.URL.Path, ofEndpoints), f.noGets && one:
		return apierrors.NewForbidden(v1alpha1.GroupVersion.WithResource("mcpendpoints").GroupResource(), name, errors.New("nobody may")).Status()
	case one && i >= 0:
		f.asked.Gets++
		return f.list.Items[i]
	case r.URL.Path != ofEndpoints:
		return nil
	case strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadataList"):
		f.asked.Versions++
		versions := metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"}}
		for i := range f.list.Items {
			versions.Items = append(versions.Items, metav1.PartialObjectMetadata{ObjectMeta: f.list.Items[i].ObjectMeta})
		}
		return versions
	}
	f.asked.Whole++
	if f.whole == nil {
		f.whole, _ = json.Marshal(f.list)
	}
	return json.RawMessage(f.whole)
}

// openOver opens the page over an API server.
func openOver(t testing.TB, api *fakeAPI) *pagetest.Browser {
	t.Helper()
	version := metav1.GroupVersionForDiscovery{GroupVersion: v1alpha1.GroupVersion.String(), Version: v1alpha1.GroupVersion.Version}
	group := metav1.APIGroup{TypeMeta: metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}, Name: v1alpha1.GroupVersion.Group, Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version}
	answers := map[string]any{
		"/api":               metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions", APIVersion: "v1"}},
		"/apis":              metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{group}},
		"/apis/mcpadmin.dev": group,
		"/apis/mcpadmin.dev/v1alpha1": metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: v1alpha1.GroupVersion.String(),
			APIResources: []metav1.APIResource{{Name: "mcpendpoints", Kind: "MCPEndpoint", Namespaced: true, Verbs: metav1.Verbs{"list", "get"}}}},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, known := answers[r.URL.Path]
		if !known {
			answer = api.answer(r)
		}
		if answer == nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if status, is := answer.(metav1.Status); is {
			w.WriteHeader(int(status.Code))
		}
		if raw, ok := answer.(json.RawMessage); ok {
			_, _ = w.Write(raw)
			return
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	return openAt(t, &rest.Config{Host: server.URL, QPS: -1})
}

// openAt opens the page over an API server.
func openAt(t testing.TB, config *rest.Config) *pagetest.Browser {
	t.Helper()
	k, err := cluster.New(config, "many")
	if err != nil {
		t.Fatal(err)
	}
	p, err := page.New(page.Options{Source: NewSource(k, As{Place: "a cluster", Person: "somebody"}), Base: "/"})
	if err != nil {
		t.Fatal(err)
	}
	pages := httptest.NewServer(p)
	t.Cleanup(pages.Close)
	return pagetest.Open(t, p.Link(pages.URL))
}

func TestTheFirstScreenHasThoseFirstThatAreNotReady(t *testing.T) {
	_, text := openOver(t, &fakeAPI{list: many()}).Get("")
	for _, want := range []string{"21 of 1003 are not Ready", "Unreachable", "Endpoints 1 to 50 of 1003", "PostgreSQL 17.5", "2/2", ">12<", ">9<", ">10<"} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q:\n%.3000s", want, text)
		}
	}
}

// Once the endpoints are known, only what has changed is asked for; who may not list them any more is shown none.
func TestTheFirstScreenAsksForWhatHasChanged(t *testing.T) {
	api := &fakeAPI{list: many()}
	browser := openOver(t, api)
	shows := func(asked string, wants ...string) {
		t.Helper()
		code, text := browser.Get("")
		for _, want := range wants {
			if code != http.StatusOK || !strings.Contains(text, want) {
				t.Errorf("%d, without %q:\n%.3000s", code, want, text)
			}
		}
		if told := api.told(); told != asked {
			t.Errorf("it asked for %s, want %s", told, asked)
		}
	}
	spoil := func(list *v1alpha1.MCPEndpointList, from, to int) {
		for i := from; i < to; i++ {
			conditions := slices.Clone(list.Items[i].Status.Conditions)
			conditions[len(conditions)-1].Status, conditions[len(conditions)-1].Reason = metav1.ConditionFalse, "Spoilt"
			list.Items[i].Status.Conditions, list.Items[i].ResourceVersion = conditions, list.Items[i].ResourceVersion+"1"
		}
	}
	shows("1 lists, 0 lists of versions, 0 gets", "21 of 1003 are not Ready")
	shows("0 lists, 1 lists of versions, 0 gets", "21 of 1003 are not Ready")
	api.change(func(list *v1alpha1.MCPEndpointList) { spoil(list, 1, 4) })
	shows("0 lists, 1 lists of versions, 3 gets", "24 of 1003 are not Ready", "Spoilt")
	shows("0 lists, 1 lists of versions, 0 gets", "24 of 1003 are not Ready")
	api.change(func(list *v1alpha1.MCPEndpointList) { list.Items = list.Items[:1000] })
	shows("0 lists, 1 lists of versions, 0 gets", "23 of 1000 are not Ready")
	again := many().Items[1000:]
	for i := range again {
		again[i].UID, again[i].ResourceVersion = types.UID(fmt.Sprint("another", i)), "5000"
	}
	api.change(func(list *v1alpha1.MCPEndpointList) { list.Items = append(list.Items, again...) })
	shows("0 lists, 1 lists of versions, 3 gets", "24 of 1003 are not Ready")
	api.change(func(list *v1alpha1.MCPEndpointList) { spoil(list, 100, 130) })
	shows("1 lists, 1 lists of versions, 0 gets", "53 of 1003 are not Ready") // one of them was not Ready before
	api.change(func(list *v1alpha1.MCPEndpointList) { spoil(list, 201, 202) })
	api.noGets = true
	shows("1 lists, 1 lists of versions, 0 gets", "54 of 1003 are not Ready")
	api.refuses = true
	if code, text := browser.Get(""); code != http.StatusForbidden || strings.Contains(text, "Spoilt") {
		t.Errorf("somebody who may not list them is shown them: %d\n%.3000s", code, text)
	}
	api.change(func(list *v1alpha1.MCPEndpointList) { list.Items = nil })
	api.refuses = false
	api.told()
	shows("0 lists, 1 lists of versions, 0 gets", "There is no MCPEndpoint here.")
}

// What the first screen costs over 1,003 endpoints, beside the API server's own work, as long as they are not known.
func BenchmarkTheFirstScreen(b *testing.B) {
	api := &fakeAPI{list: many()}
	for b.Loop() {
		b.StopTimer()
		browser := openOver(b, api)
		b.StartTimer()
		if code, _ := browser.Get(""); code != http.StatusOK {
			b.Fatal(code)
		}
	}
}
