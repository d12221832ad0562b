package endpoint

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"github.com/mcp-admin/mcp-admin-operator/controllers/condition"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// addressPatience is how many looks long a missing address keeps an endpoint from being Ready. Some Ingress controllers
// never report one, and some clusters have nothing that gives a LoadBalancer one (docs/design/controllers.md, "Network").
const addressPatience = 2

// routed is the condition of that name: the worst of what was found.
func (n *Network) routed(s *endpointScope, found networkFindings) condition.Finding {
	var all []condition.Finding
	for _, f := range []*condition.Finding{found.service, found.ingress, found.httpRoute} {
		if f != nil {
			all = append(all, n.patient(s, *f))
		}
	}
	if len(all) == 0 {
		return condition.Holds(v1alpha1.ReasonRouted, "Service "+cluster.Quote(s.endpoint.ServiceName())+" leads to the server's pods from within the cluster")
	}
	for _, stands := range condition.Obstacles {
		if i := slices.IndexFunc(all, func(f condition.Finding) bool { return stands(f) && !f.Aside }); i >= 0 {
			return all[i]
		}
	}
	if i := slices.IndexFunc(all, func(f condition.Finding) bool { return f.Aside }); i >= 0 {
		return all[i]
	}
	messages := make([]string, len(all))
	for i, f := range all {
		messages[i] = f.Message
	}
	return condition.Holds(v1alpha1.ReasonRouted, strings.Join(messages, "; "))
}

// patient returns a finding that waits for an address. It counts for Ready until the patience is over. The time is taken
// from the condition in the status, so a new manager does not begin again; no other finding of this condition is Unknown.
func (n *Network) patient(s *endpointScope, f condition.Finding) condition.Finding {
	if f.Reason != v1alpha1.ReasonWaitingForAddress {
		return f
	}
	waited := time.Duration(0)
	if before := meta.FindStatusCondition(s.endpoint.Status.Conditions, v1alpha1.ConditionRouted); before != nil && before.Status == f.Status {
		waited = n.Now().Sub(before.LastTransitionTime.Time)
	}
	if left := addressPatience*n.LookAgain - waited; left > 0 {
		s.wakeIn(left)
		return f
	}
	f.Aside = true
	return f
}

func ingressAddress(have *networkingv1.Ingress) condition.Finding {
	for _, at := range have.Status.LoadBalancer.Ingress {
		return hasAddress("Ingress", have.Name, at.Hostname, at.IP)
	}
	return waitsForAddress("Ingress", have.Name, "an Ingress controller of its class must run, and some never report one")
}

func loadBalancerAddress(have *corev1.Service) condition.Finding {
	for _, at := range have.Status.LoadBalancer.Ingress {
		return hasAddress("Service", have.Name, at.Hostname, at.IP)
	}
	return waitsForAddress("Service", have.Name, "the cluster needs something that gives Services of type LoadBalancer one")
}

func hasAddress(kind, name, hostname, ip string) condition.Finding {
	if hostname == "" {
		hostname = ip
	}
	return condition.Holds(v1alpha1.ReasonRouted, fmt.Sprintf("%s %q has the address %s", kind, name, hostname))
}

func waitsForAddress(kind, name, advice string) condition.Finding {
	return condition.Unknown(v1alpha1.ReasonWaitingForAddress, fmt.Sprintf("%s %q has no address; %s", kind, name, advice))
}

func kindMissing(kind schema.GroupVersionKind) condition.Finding {
	return condition.Fails(v1alpha1.ReasonKindNotInstalled, fmt.Sprintf(
		"the cluster has no %s of %s; install its CustomResourceDefinition, or do not ask for one", kind.Kind, kind.GroupVersion()))
}

// parentStatus is a controller's report on an HTTPRoute and one of its parents.
type parentStatus struct {
	ParentRef struct {
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
		SectionName string `json:"sectionName"`
		Port        int32  `json:"port"`
	} `json:"parentRef"`
	Conditions []metav1.Condition `json:"conditions"`
}

// routeAccepted tells what the Gateways made of an HTTPRoute. Each must have accepted it. The Gateway API has every
// controller report, so silence means that nothing serves the Gateway, or that there is none of its name: the endpoint is
// not Ready as long as that lasts.
func routeAccepted(e *v1alpha1.MCPEndpoint, route *unstructured.Unstructured) condition.Finding {
	var status struct {
		Parents []parentStatus `json:"parents"`
	}
	if content, ok := route.Object["status"].(map[string]any); ok {
		// What cannot be read is as if it was not there.
		_ = runtime.DefaultUnstructuredConverter.FromUnstructured(content, &status)
	}
	var names []string
	for _, parent := range e.Spec.Network.HTTPRoute.ParentRefs {
		name := "Gateway " + parent.EffectiveNamespace(e.Namespace) + "/" + parent.Name
		var said []parentStatus
		for _, p := range status.Parents {
			if p.isOf(parent, e.Namespace) {
				said = append(said, p)
			}
		}
		if f := acceptedBy(name, said, route.GetGeneration()); f != nil {
			return *f
		}
		names = append(names, name)
	}
	return condition.Holds(v1alpha1.ReasonRouted, fmt.Sprintf("HTTPRoute %q is accepted by %s", route.GetName(), strings.Join(names, ", ")))
}

func (p parentStatus) isOf(parent v1alpha1.RouteParent, namespace string) bool {
	ref := p.ParentRef
	if ref.Namespace == "" {
		ref.Namespace = namespace
	}
	return ref.Namespace == parent.EffectiveNamespace(namespace) && ref.Name == parent.Name &&
		ref.SectionName == parent.SectionName && ref.Port == parent.Port
}

// acceptedBy is nil if one of the controllers has accepted the route's generation; else it says what is wrong.
func acceptedBy(gateway string, said []parentStatus, generation int64) *condition.Finding {
	wrong := condition.Fails(v1alpha1.ReasonWaitingForGateway, gateway+" has not reported on the HTTPRoute; it must exist, and a controller must serve its class")
	for _, p := range said {
		accepted := current(p.Conditions, "Accepted", generation)
		resolved := current(p.Conditions, "ResolvedRefs", generation)
		switch {
		case refuses(accepted):
			wrong = notAccepted(gateway, accepted)
		case refuses(resolved):
			wrong = notAccepted(gateway, resolved)
		case accepted != nil && accepted.Status == metav1.ConditionTrue:
			return nil
		}
	}
	return &wrong
}

// current is a condition about the generation, or nil. Some controllers do not tell the generation.
func current(conditions []metav1.Condition, conditionType string, generation int64) *metav1.Condition {
	c := meta.FindStatusCondition(conditions, conditionType)
	if c != nil && c.ObservedGeneration != 0 && c.ObservedGeneration < generation {
		return nil
	}
	return c
}

func refuses(c *metav1.Condition) bool { return c != nil && c.Status == metav1.ConditionFalse }

func notAccepted(gateway string, c *metav1.Condition) condition.Finding {
	return condition.Fails(v1alpha1.ReasonRouteNotAccepted, fmt.Sprintf("%s does not serve the HTTPRoute: %s is False, %s: %s", gateway, c.Type, c.Reason, c.Message))
}
