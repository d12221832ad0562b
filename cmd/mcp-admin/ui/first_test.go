package ui

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

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
		e := v1alpha1.MCPEndpoint{ObjectMeta: metav1.ObjectMeta{Namespace: "many", Name: fmt.Sprint("e", i), UID: types.UID(fmt.Sprintf("%036d", i)), Generation: 3, CreationTimestamp: at}}
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

// listed is what an API server answers that is asked for all of them.
func listed(t testing.TB) []byte {
	t.Helper()
	text, err := json.Marshal(many())
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// openOver opens the page over an API server that has these endpoints, and nothing else.
func openOver(t testing.TB, list []byte) *pagetest.Browser {
	t.Helper()
	version := metav1.GroupVersionForDiscovery{GroupVersion: v1alpha1.GroupVersion.String(), Version: v1alpha1.GroupVersion.Version}
	group := metav1.APIGroup{TypeMeta: metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}, Name: v1alpha1.GroupVersion.Group, Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version}
	answers := map[string]any{
		"/api":               metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions", APIVersion: "v1"}},
		"/apis":              metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{group}},
		"/apis/mcpadmin.dev": group,
		"/apis/mcpadmin.dev/v1alpha1": metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: v1alpha1.GroupVersion.String(),
			APIResources: []metav1.APIResource{{Name: "mcpendpoints", Kind: "MCPEndpoint", Namespaced: true, Verbs: metav1.Verbs{"list", "get"}}}},
		"/apis/mcpadmin.dev/v1alpha1/mcpendpoints": json.RawMessage(list),
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, known := answers[r.URL.Path]
		if !known {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
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
	_, text := openOver(t, listed(t)).Get("")
	for _, want := range []string{"21 of 1003 are not Ready", "Unreachable", "Endpoints 1 to 50 of 1003", "PostgreSQL 17.5", "2/2", ">12<", ">9<", ">10<"} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q:\n%.3000s", want, text)
		}
	}
}

// What the first screen costs over 1,003 endpoints, beside the API server's own work.
func BenchmarkTheFirstScreen(b *testing.B) {
	list := listed(b)
	browser := openOver(b, list)
	b.SetBytes(int64(len(list)))
	for b.Loop() {
		if code, _ := browser.Get(""); code != http.StatusOK {
			b.Fatal(code)
		}
	}
}
