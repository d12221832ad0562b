package endpoint

import (
	"fmt"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/excerpt"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	"github.com/mcp-admin/mcp-admin-operator/controllers/condition"
	"github.com/mcp-admin/mcp-admin-operator/controllers/program"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// summarise returns the endpoint's status.
func (r *Reconciler) summarise(s *endpointScope) v1alpha1.MCPEndpointStatus {
	e := s.endpoint
	status := *e.Status.DeepCopy()
	status.ObservedGeneration, status.LastHandledReconcileAt = e.Generation, v1alpha1.ReconcileRequest(e)
	status.URL = excerpt.Of(e.EffectiveURL(), 1300)
	status.Notes = condition.Clipped(s.config.Endpoint.Notes)
	if s.config.Main != nil && s.config.Problem == nil {
		status.Revision = s.config.Main.Revision
		status.TokenCount = new(s.config.InForce)
	}
	if models := s.reports.ServedModels(); models >= 0 {
		status.ModelCount = &models
	}
	if d := s.reports.Database(); d != nil && d.Engine != "" {
		status.Database = v1alpha1.DatabaseStatus{
			Engine: excerpt.Of(d.Engine, 63), Version: excerpt.Of(d.Version, 128), Display: excerpt.Of(d.Engine+" "+d.Version, 200),
		}
		if d.Notes != "" && len(status.Notes) < condition.MaxEndpointNotes {
			status.Notes = append(status.Notes, excerpt.Of("database: "+d.Notes, condition.MaxNote))
		}
	}
	status.Notes = append(status.Notes, lostNotes(s, condition.MaxEndpointNotes-len(status.Notes))...)
	countPods(s, &status)
	ready := condition.Holds(v1alpha1.ReasonReady, "agents are answered at "+status.URL)
	if unwatched := r.Namespaces.Unwatched(e); unwatched != nil {
		ready = *unwatched
	}
	found := condition.Findings{
		v1alpha1.ConditionDatabaseReady:     databaseReady(s),
		v1alpha1.ConditionWorkloadAvailable: workloadAvailable(s),
		v1alpha1.ConditionProgrammed:        r.endpointProgrammed(s),
		v1alpha1.ConditionRouted:            s.routed,
	}
	if checked := authenticationReady(s.endpoint, s.reports); checked != nil {
		found[v1alpha1.ConditionAuthenticationReady] = *checked
	}
	if s.approvals != nil {
		found[v1alpha1.ConditionApprovalsReady] = *s.approvals
	}
	if s.monitored != nil {
		found[v1alpha1.ConditionMonitored] = *s.monitored
	}
	status.Conditions = condition.EndpointConditions.Summarise(e, e.Status.Conditions, found, ready)
	return status
}

// lostNotes say which traces, audit lines and events about calls that wait are lost, and why: what the cluster lacks, or else what a pod tells. There are at most as many
// as there is room for.
func lostNotes(s *endpointScope, room int) []string {
	tracing := s.reports.Problem(func(p *contract.Status) string { return p.TracingProblem })
	if s.tracingProblem != nil {
		tracing = s.tracingProblem.Message
	}
	collector := s.reports.Problem(func(p *contract.Status) string { return p.AuditCollectorProblem })
	if s.auditProblem != nil {
		collector = s.auditProblem.Message
	}
	notify := s.reports.Problem(func(p *contract.Status) string { return p.NotifyProblem })
	if lack := s.config.Endpoint.Lack; lack != (compile.Lack{}) {
		notify = lack.Message
	}
	lines := s.reports.AuditLinesProblem()
	if s.endpoint.RequiresAuditLines() {
		lines = "" // WorkloadAvailable says it
	}
	var notes []string
	for _, of := range []struct{ lost, problem string }{
		{"no traces are sent: ", tracing}, {"no audit lines are sent to the collector: ", collector}, {"audit lines are lost: ", lines},
		{"events about calls that wait are not sent: ", notify},
	} {
		if of.problem != "" && len(notes) < room {
			notes = append(notes, excerpt.Of(of.lost+of.problem, condition.MaxNote))
		}
	}
	return notes
}

// countPods says how many pods there are, as the scale subresource wants it, and in one text.
func countPods(s *endpointScope, status *v1alpha1.MCPEndpointStatus) {
	ready, there := int32(s.reports.Counted()), int32(0)
	if s.deployment != nil {
		there = s.deployment.Status.Replicas
	}
	status.CurrentReplicas, status.ReadyReplicas = &there, &ready
	status.ReadyDisplay = fmt.Sprintf("%d/%d", ready, desiredReplicas(s))
	status.Selector = labels.SelectorFromSet(cluster.SelectorLabels(s.endpoint)).String()
}

// desiredReplicas is the number that the Deployment wants, whoever scaled it.
func desiredReplicas(s *endpointScope) int32 {
	if s.deployment != nil && s.deployment.Spec.Replicas != nil {
		return *s.deployment.Spec.Replicas
	}
	if n := s.endpoint.Spec.EffectiveReplicas(); n != nil {
		return *n
	}
	return 1
}

// databaseReady reports whether the server's pods reach the database.
func databaseReady(s *endpointScope) condition.Finding {
	if s.connectionProblem != nil {
		return *s.connectionProblem
	}
	d := s.reports.Database()
	switch {
	case d == nil:
		return condition.Unknown(v1alpha1.ReasonUnknown, "no server pod has reported on the database yet")
	case d.Reason == contract.ReasonConnected:
		return connected(s.endpoint, d)
	case d.Reason == contract.ReasonConnecting || d.Reason == "":
		return condition.Unknown(contract.ReasonConnecting, "no attempt to reach the database has ended yet")
	}
	return condition.Fails(condition.Reported(d.Reason), d.Message)
}

// connected is the finding if the pods reach the database. Without a usable audit table, an endpoint that may write
// refuses all writes; one that only reads just has no history.
func connected(e *v1alpha1.MCPEndpoint, d *contract.DatabaseStatus) condition.Finding {
	database := excerpt.Of(d.Engine+" "+d.Version, 200)
	switch {
	case d.AuditProblem == "":
		return condition.Holds(d.Reason, database)
	case e.Spec.Database.EffectiveAccess() == v1alpha1.DatabaseReadOnly:
		return condition.Holds(d.Reason, database+"; there is no history: "+d.AuditProblem)
	}
	return condition.Fails(v1alpha1.ReasonAuditUnavailable, "nothing is written: "+d.AuditProblem)
}

// workloadAvailable reports whether the server runs as its Deployment says now.
func workloadAvailable(s *endpointScope) condition.Finding {
	if s.workloadProblem != nil {
		return *s.workloadProblem
	}
	d := s.deployment
	if d == nil {
		return condition.Fails(v1alpha1.ReasonUnavailable, "the server's Deployment does not exist yet")
	}
	desired := desiredReplicas(s)
	if desired == 0 {
		return scaledToZero(s.endpoint)
	}
	if refused := withoutCertificate(s); refused != nil {
		return *refused
	}
	switch {
	case d.Status.ObservedGeneration < d.Generation || d.Status.UpdatedReplicas == 0 || d.Status.UpdatedReplicas < d.Status.Replicas:
		return condition.Fails(v1alpha1.ReasonRollingOut, "the server's newest pods are not all there yet"+podProblem(s.endpoint, d, s.pods))
	}
	// A Deployment whose pods end before their successors start calls itself available without any.
	available := deploymentCondition(d, appsv1.DeploymentAvailable)
	if available == nil || available.Status != corev1.ConditionTrue || d.Status.AvailableReplicas == 0 {
		return condition.Fails(v1alpha1.ReasonUnavailable, "too few of the server's pods are available"+podProblem(s.endpoint, d, s.pods))
	}
	if problem := s.reports.AuditLinesProblem(); problem != "" && s.endpoint.RequiresAuditLines() {
		return condition.Fails(v1alpha1.ReasonAuditLinesFailing, "a pod refuses calls whose audit lines it cannot write: "+excerpt.Of(problem, condition.MaxNote))
	}
	if s.rolloutWaits {
		return condition.Holds(v1alpha1.ReasonAvailable, "the server's pods are available; the manager is another one, and replaces them when other endpoints' are")
	}
	if s.notScaling != "" {
		return condition.Holds(v1alpha1.ReasonAvailable, "the server's pods are available; their number stays as it is: the HorizontalPodAutoscaler says "+
			s.notScaling+"; check that the metrics API is installed, and that spec.server.resources requests what is measured")
	}
	return condition.Holds(v1alpha1.ReasonAvailable, "the server's pods are available")
}

// scaledToZero is the finding about a server without pods. Only an edit helps if the endpoint itself asks for none.
func scaledToZero(e *v1alpha1.MCPEndpoint) condition.Finding {
	if n := e.Spec.Server.Replicas; n != nil && *n == 0 {
		return condition.Fails(v1alpha1.ReasonScaledToZero, "spec.server.replicas is 0, so there is no server pod")
	}
	return condition.Fails(v1alpha1.ReasonUnavailable, "the server is scaled to zero pods")
}

func deploymentCondition(d *appsv1.Deployment, of appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i := range d.Status.Conditions {
		if d.Status.Conditions[i].Type == of {
			return &d.Status.Conditions[i]
		}
	}
	return nil
}

// endpointProgrammed reports whether every pod has the endpoint's own settings. A new token does not change that, but one
// that some pod still lets in does.
func (r *Reconciler) endpointProgrammed(s *endpointScope) condition.Finding {
	v := s.config.Endpoint
	if !v.Accepted {
		if s.config.Problem != nil && !s.config.Compiled {
			return *s.config.Problem
		}
		return condition.Fails(v.Reason, v.Message)
	}
	late, next := s.program.LateRemoval(r.Now())
	if next > 0 {
		s.wakeIn(next)
	}
	if late != nil {
		return removalPending(late, s.config.Problem)
	}
	if s.config.Problem != nil {
		return *s.config.Problem
	}
	if stale := staleCertificate(s); stale != nil {
		return *stale
	}
	return s.program.Programmed(v, r.Now())
}

// removalPending is the finding about a removal that takes too long. A pod cannot apply what could not be stored.
func removalPending(late *program.Removal, problem *condition.Finding) condition.Finding {
	text := fmt.Sprintf("a server pod may still let in what was taken away %s ago or before", cluster.RemovalGrace)
	switch {
	case problem != nil:
		return condition.Fails(v1alpha1.ReasonRemovalPending, text+": "+problem.Message)
	case late.Part == program.NotCompiled:
		return condition.Fails(v1alpha1.ReasonRemovalPending, text+": the Config could not be read or compiled; look at the manager's log")
	}
	return condition.Fails(v1alpha1.ReasonRemovalPending, fmt.Sprintf("%s (revision %d): look why it does not follow its Config, or delete the pod", text, late.Revision))
}
