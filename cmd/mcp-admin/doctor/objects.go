package doctor

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/controllers/podproblem"
)

// endpoints looks at the endpoints and their pods.
func (x *examination) endpoints(ctx context.Context) error {
	if !x.may("mcpendpoints") {
		return nil
	}
	var all []v1alpha1.MCPEndpoint
	if x.name != "" {
		e, err := x.Endpoint(ctx, types.NamespacedName{Namespace: x.Namespace, Name: x.name})
		if err != nil {
			return err
		}
		all = append(all, *e)
	} else {
		var list v1alpha1.MCPEndpointList
		if err := x.List(ctx, &list, client.InNamespace(x.Namespace)); err != nil {
			return cluster.Explain(err)
		}
		if all = list.Items; len(all) == 0 {
			x.problem("namespace "+x.Namespace, "", "it has no MCPEndpoint; name another namespace with -n", "kubectl get mcpendpoints -A")
		}
	}
	for i := range all {
		e := &all[i]
		x.object(subject{"MCPEndpoint", e, e.Generation, e.Status.ObservedGeneration, e.Status.Conditions, e.Status.Notes, e.ServiceName()})
		if err := x.pods(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// subject is an object with what is looked at.
type subject struct {
	kind                 string
	object               client.Object
	generation, observed int64
	conditions           []metav1.Condition
	notes                []string
	// workload is the name of the endpoint's Deployment; "" for other kinds.
	workload string
}

func (s subject) name() string { return fmt.Sprintf("%s %s", s.kind, cluster.Key(s.object)) }

// summaries are the conditions that repeat what others say.
var summaries = []string{v1alpha1.ConditionReady, v1alpha1.ConditionReconciling, v1alpha1.ConditionStalled}

// object says which conditions of an object are not as they should be.
func (x *examination) object(s subject) {
	if !s.object.GetDeletionTimestamp().IsZero() {
		x.problem(s.name(), "", "it is being deleted", s.describe())
		return
	}
	ready := meta.FindStatusCondition(s.conditions, v1alpha1.ConditionReady)
	if ready == nil || s.observed != s.generation {
		x.problem(s.name(), "", "the manager has not looked at it since it was changed last", s.describe())
		return
	}
	if v1alpha1.IsPaused(s.object) {
		x.note(s, "it is paused: the manager changes nothing of it (annotation "+v1alpha1.PausedAnnotation+")")
	}
	for _, note := range s.notes {
		x.note(s, note)
	}
	if ready.Status == metav1.ConditionTrue {
		return
	}
	if s.workload == "" && (ready.Reason == v1alpha1.ReasonEndpointInvalid || x.ofEndpoints[ready.Reason]) {
		x.waiting++
		return
	}
	told := false
	seen := map[string]bool{}
	for _, c := range s.conditions {
		if c.Status != metav1.ConditionTrue && !slices.Contains(summaries, c.Type) && c.Type != v1alpha1.ConditionPaused && !seen[c.Reason+c.Message] {
			x.problem(s.name(), c.Reason, sentence(c), command(s, c.Reason))
			told, seen[c.Reason+c.Message] = true, true
			x.ofEndpoints[c.Reason] = x.ofEndpoints[c.Reason] || s.workload != ""
		}
	}
	if !told {
		x.problem(s.name(), ready.Reason, sentence(*ready), command(s, ready.Reason))
	}
}

func sentence(c metav1.Condition) string {
	if c.Message == "" {
		return fmt.Sprintf("%s is %s (%s)", c.Type, c.Status, c.Reason)
	}
	return fmt.Sprintf("%s (%s %s)", c.Message, c.Type, c.Reason)
}

func (x *examination) note(s subject, text string) {
	x.found.Notes = append(x.found.Notes, problem{Object: s.name(), Message: text})
}

// pods looks at the pods of an endpoint's server.
func (x *examination) pods(ctx context.Context, e *v1alpha1.MCPEndpoint) error {
	if !x.may("pods") {
		return nil
	}
	pods, err := x.Pods(ctx, cluster.Key(e))
	if err != nil {
		return err
	}
	for i := range pods {
		pod := &pods[i]
		if cluster.IsReady(pod) || !pod.DeletionTimestamp.IsZero() {
			continue
		}
		what, look := podproblem.Of(pod), "logs"
		switch {
		case what == "" && pod.Status.Phase == corev1.PodRunning:
			what = "it runs and is not Ready: it has not seen the database's schema, or has no Config"
		case what == "":
			what, look = "it has not started yet", "describe pod"
		case restarted(pod):
			look = "logs --previous"
		case pod.Status.Phase == corev1.PodPending:
			look = "describe pod"
		}
		x.problem("Pod "+cluster.Key(pod).String(), "", what, fmt.Sprintf("kubectl %s %s -n %s", look, pod.Name, pod.Namespace))
	}
	return nil
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
			x.object(subject{"MCPModelExposure", e, e.Generation, e.Status.ObservedGeneration, e.Status.Conditions, e.Status.Notes, ""})
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
			x.object(subject{"MCPToken", t, t.Generation, t.Status.ObservedGeneration, t.Status.Conditions, t.Status.Notes, ""})
		}
	}
	return nil
}
