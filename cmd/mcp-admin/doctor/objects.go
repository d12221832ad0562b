package doctor

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/controllers/podproblem"
)

// subject is an object with what is looked at.
type subject struct {
	kind                 string
	object               client.Object
	generation, observed int64
	conditions           []metav1.Condition
	notes                []string
	// workload is the name of the endpoint's Deployment, secret the name of its database's Secret; "" for other kinds.
	workload, secret string
	// lastRefused is the hour in which a token that is not in force was used last; nil if it was not.
	lastRefused *metav1.Time
}

// findEndpoints reads the endpoints that are to be looked at.
func (x *examination) findEndpoints(ctx context.Context) error {
	if !x.may("mcpendpoints") {
		return nil
	}
	if x.name != "" {
		e, err := x.Endpoint(ctx, types.NamespacedName{Namespace: x.Namespace, Name: x.name})
		if err != nil {
			return err
		}
		x.endpoints = []v1alpha1.MCPEndpoint{*e}
		return nil
	}
	var list v1alpha1.MCPEndpointList
	if err := x.List(ctx, &list, client.InNamespace(x.Namespace)); err != nil {
		return cluster.Explain(err)
	}
	if x.endpoints = list.Items; len(x.endpoints) == 0 {
		message := "it has no MCPEndpoint; look in all namespaces with -A, or name another one with -n"
		if x.Namespace == metav1.NamespaceAll {
			message = "it has no MCPEndpoint"
		}
		x.problem(x.where(), message, "kubectl get mcpendpoints -A")
	}
	return nil
}

// where names what is looked at.
func (x *examination) where() string {
	if x.Namespace == metav1.NamespaceAll {
		return "cluster"
	}
	return "namespace " + x.Namespace
}

// lookAtEndpoints looks at the endpoints and their pods.
func (x *examination) lookAtEndpoints(ctx context.Context) error {
	for i := range x.endpoints {
		if err := x.endpoint(ctx, &x.endpoints[i]); err != nil {
			return err
		}
	}
	return nil
}

// endpoint looks at an endpoint and its pods. A pod that has a problem of its own is the cause of what its endpoint waits
// for; a pod that is not Ready without one follows from what is wrong with the endpoint.
func (x *examination) endpoint(ctx context.Context, e *v1alpha1.MCPEndpoint) error {
	s := subject{kind: "MCPEndpoint", object: e, generation: e.Generation, observed: e.Status.ObservedGeneration,
		conditions: e.Status.Conditions, notes: e.Status.Notes, workload: e.ServiceName()}
	if ref := e.Spec.Database.ConnectionSecretRef; ref != nil {
		s.secret = ref.Name
	}
	sick, silent, err := x.pods(ctx, e)
	if err != nil {
		return err
	}
	ready := x.readiness(s)
	if ready == nil || ready.Status == metav1.ConditionTrue {
		x.found.Problems = append(x.found.Problems, slices.Concat(sick, silent)...)
		return nil
	}
	t := troubleOf(s.conditions, isConsequence, len(sick) > 0)
	for _, c := range slices.Concat(t.causes, t.effects) {
		x.ailing[cluster.Key(e)] = append(x.ailing[cluster.Key(e)], c.Reason)
	}
	if len(t.causes) == 0 {
		for _, c := range t.effects {
			sick[0].Effects = append(sick[0].Effects, fmt.Sprintf("%s %s %s", s.name(), c.Type, c.Reason))
		}
	}
	x.tell(s, t)
	x.found.Problems = append(x.found.Problems, sick...)
	return nil
}

func (x *examination) note(s subject, text string) {
	x.found.Notes = append(x.found.Notes, Problem{Object: s.name(), Message: text})
}

// pods returns the pods of an endpoint's server that are not Ready: the ones that the cluster gives a cause for, and the
// others.
func (x *examination) pods(ctx context.Context, e *v1alpha1.MCPEndpoint) (sick, silent []Problem, err error) {
	if !x.may("pods") {
		return nil, nil, nil
	}
	pods, err := x.Pods(ctx, cluster.Key(e))
	if err != nil {
		return nil, nil, err
	}
	for i := range pods {
		pod := &pods[i]
		if cluster.IsReady(pod) || !pod.DeletionTimestamp.IsZero() {
			continue
		}
		what, look := podproblem.Of(pod), "logs"
		known := what != ""
		switch {
		case !known && pod.Status.Phase == corev1.PodRunning:
			what = "it runs and is not Ready: it has not seen the database's schema, or has no Config"
		case !known:
			what, look = "it has not started yet", "describe pod"
		case restarted(pod):
			look = "logs --previous"
		case pod.Status.Phase == corev1.PodPending:
			look = "describe pod"
		}
		p := Problem{Object: "Pod " + cluster.Key(pod).String(), Message: what, Command: fmt.Sprintf("kubectl %s %s -n %s", look, pod.Name, pod.Namespace)}
		if known {
			sick = append(sick, p)
		} else {
			silent = append(silent, p)
		}
	}
	return sick, silent, nil
}

func restarted(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool { return c.LastTerminationState.Terminated != nil })
}

func (x *examination) exposures(ctx context.Context) error {
	if !x.may("mcpmodelexposures") {
		return nil
	}
	var list v1alpha1.MCPModelExposureList
	if err := x.List(ctx, &list, client.InNamespace(x.Namespace)); err != nil {
		return cluster.Explain(err)
	}
	for i := range list.Items {
		if e := &list.Items[i]; x.name == "" || e.Spec.EndpointRef.Name == x.name {
			x.dependent(subject{kind: "MCPModelExposure", object: e, generation: e.Generation, observed: e.Status.ObservedGeneration,
				conditions: e.Status.Conditions, notes: e.Status.Notes}, types.NamespacedName{Namespace: e.Namespace, Name: e.Spec.EndpointRef.Name})
		}
	}
	return nil
}

func (x *examination) tokens(ctx context.Context) error {
	if !x.may("mcptokens") {
		return nil
	}
	var list v1alpha1.MCPTokenList
	if err := x.List(ctx, &list, client.InNamespace(x.Namespace)); err != nil {
		return cluster.Explain(err)
	}
	for i := range list.Items {
		t := &list.Items[i]
		if x.name == "" || t.Endpoint() == (types.NamespacedName{Namespace: x.Namespace, Name: x.name}) {
			x.dependent(subject{kind: "MCPToken", object: t, generation: t.Generation, observed: t.Status.ObservedGeneration,
				conditions: t.Status.Conditions, notes: t.Status.Notes, lastRefused: t.Status.LastRefusedTime}, t.Endpoint())
		}
	}
	return nil
}
