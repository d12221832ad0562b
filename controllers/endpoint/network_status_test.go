package endpoint

import (
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/child"
	"github.com/mcp-admin/mcp-admin-operator/controllers/condition"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestAMissingAddressIsWaitedForAWhile(t *testing.T) {
	now := time.Now()
	waiting := ingressAddress(&networkingv1.Ingress{})
	for name, row := range map[string]struct {
		before    metav1.ConditionStatus
		since     time.Duration
		found     condition.Finding
		aside     bool
		lookAgain time.Duration
	}{
		"at first":                  {"", 0, waiting, false, time.Minute},
		"after something else":      {metav1.ConditionTrue, time.Hour, waiting, false, time.Minute},
		"for ten seconds":           {metav1.ConditionUnknown, 10 * time.Second, waiting, false, 50 * time.Second},
		"for a minute":              {metav1.ConditionUnknown, time.Minute, waiting, true, 0},
		"a Gateway, for an hour":    {metav1.ConditionFalse, time.Hour, condition.Fails(v1alpha1.ReasonWaitingForGateway, ""), false, 0},
		"a Service, for two hours":  {metav1.ConditionUnknown, 2 * time.Hour, loadBalancerAddress(&corev1.Service{}), true, 0},
		"a missing kind, for hours": {metav1.ConditionFalse, time.Hour, kindMissing(child.HTTPRouteKind), false, 0},
	} {
		e := &v1alpha1.MCPEndpoint{}
		if row.before != "" {
			e.Status.Conditions = []metav1.Condition{{
				Type: v1alpha1.ConditionRouted, Status: row.before, LastTransitionTime: metav1.NewTime(now.Add(-row.since)),
			}}
		}
		n, s := &Network{Now: func() time.Time { return now }, LookAgain: 30 * time.Second}, &endpointScope{endpoint: e}
		got := n.routed(s, networkFindings{ingress: &row.found})
		if got.Aside != row.aside || got.Reason != row.found.Reason || s.lookAgain != row.lookAgain {
			t.Errorf("%s: aside %v, %s, looked at again after %v", name, got.Aside, got.Reason, s.lookAgain)
		}
	}
}

func TestTheWorstOfWhatLeadsToAnEndpointIsTold(t *testing.T) {
	fine := condition.Holds(v1alpha1.ReasonRouted, "fine")
	well := condition.Holds(v1alpha1.ReasonRouted, "well")
	waiting := condition.Unknown(v1alpha1.ReasonUnknown, "waiting")
	wrong := condition.Fails(v1alpha1.ReasonKindNotInstalled, "wrong")
	invalid := condition.Fails(v1alpha1.ReasonInvalid, "invalid")
	for _, row := range []struct {
		found networkFindings
		want  string
	}{
		{networkFindings{}, `Service "shop-mcp" leads to the server's pods from within the cluster`},
		{networkFindings{service: &fine, ingress: &well}, "fine; well"},
		{networkFindings{service: &fine, ingress: &waiting}, "waiting"},
		{networkFindings{service: &waiting, ingress: &fine, httpRoute: &wrong}, "wrong"},
		{networkFindings{service: &wrong, ingress: &waiting, httpRoute: &invalid}, "invalid"},
		{networkFindings{podMonitor: &wrong, ingress: &fine}, "fine"},
	} {
		e := &v1alpha1.MCPEndpoint{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
		if got := (&Network{Now: time.Now}).routed(&endpointScope{endpoint: e}, row.found); got.Message != row.want {
			t.Errorf("got %q, want %q", got.Message, row.want)
		}
	}
}

func TestARouteIsAcceptedByEachOfItsGateways(t *testing.T) {
	condition := func(conditionType, status string, generation int64) any {
		return map[string]any{
			"type": conditionType, "status": status, "reason": "Reason", "message": conditionType + " message",
			"observedGeneration": generation, "lastTransitionTime": "2026-01-01T00:00:00Z",
		}
	}
	parent := func(name, namespace string, conditions ...any) any {
		ref := map[string]any{"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": name}
		if namespace != "" {
			ref["namespace"] = namespace
		}
		return map[string]any{"parentRef": ref, "controllerName": "example.com/x", "conditions": conditions}
	}
	accepted, old, untold := condition("Accepted", "True", 3), condition("Accepted", "True", 2), condition("Accepted", "True", 0)
	refused, unresolved := condition("Accepted", "False", 3), condition("ResolvedRefs", "False", 3)
	pending := condition("Accepted", "Unknown", 3)
	for name, row := range map[string]struct {
		parents []any
		reason  string
		text    string
	}{
		"silence":                    {nil, "WaitingForGateway", "Gateway infra/public"},
		"one of two":                 {[]any{parent("public", "infra", accepted)}, "WaitingForGateway", "Gateway shop/own"},
		"both":                       {[]any{parent("own", "", accepted), parent("public", "infra", untold)}, "Routed", "Gateway infra/public, Gateway shop/own"},
		"about an older generation":  {[]any{parent("own", "", old), parent("public", "infra", accepted)}, "WaitingForGateway", "Gateway shop/own"},
		"not decided":                {[]any{parent("own", "", accepted), parent("public", "infra", pending)}, "WaitingForGateway", "Gateway infra/public"},
		"refused":                    {[]any{parent("own", "", accepted), parent("public", "infra", refused)}, "RouteNotAccepted", "Accepted is False, Reason: Accepted message"},
		"accepted without a backend": {[]any{parent("own", "", accepted), parent("public", "infra", accepted, unresolved)}, "RouteNotAccepted", "ResolvedRefs is False"},
		"of another namespace":       {[]any{parent("own", "", accepted), parent("public", "", accepted)}, "WaitingForGateway", "Gateway infra/public"},
		"two controllers, one of them content": {
			[]any{parent("own", "", refused), parent("own", "", accepted), parent("public", "infra", accepted)}, "Routed", "",
		},
		"nonsense": {[]any{"text"}, "WaitingForGateway", ""},
	} {
		e := &v1alpha1.MCPEndpoint{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "shop"}}
		e.Spec.Network.HTTPRoute = &v1alpha1.HTTPRouteSpec{ParentRefs: []v1alpha1.RouteParent{{Name: "public", Namespace: "infra"}, {Name: "own"}}}
		route := &unstructured.Unstructured{Object: map[string]any{}}
		route.SetGeneration(3)
		if row.parents != nil {
			route.Object["status"] = map[string]any{"parents": row.parents}
		}
		if got := routeAccepted(e, route); got.Reason != row.reason || !strings.Contains(got.Message, row.text) {
			t.Errorf("%s: %s %q", name, got.Reason, got.Message)
		}
	}
}

func TestAnAddressIsANameOrANumber(t *testing.T) {
	have := &corev1.Service{}
	have.Name = "shop-mcp"
	for want, address := range map[string]corev1.LoadBalancerIngress{
		"lb.example.com": {Hostname: "lb.example.com", IP: "192.0.2.1"}, "192.0.2.1": {IP: "192.0.2.1"},
	} {
		have.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{address}
		if got := loadBalancerAddress(have); got.Message != `Service "shop-mcp" has the address `+want {
			t.Errorf("got %q", got.Message)
		}
	}
}
