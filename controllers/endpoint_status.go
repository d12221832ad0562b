package controllers

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/excerpt"
)

// summarise returns the endpoint's status.
func (r *endpointReconciler) summarise(s *endpointScope) v1alpha1.MCPEndpointStatus {
	e := s.endpoint
	status := *e.Status.DeepCopy()
	status.ObservedGeneration = e.Generation
	status.URL = excerpt.Of(e.EffectiveURL(), 1300)
	status.Notes = clipped(s.verdicts.Endpoint.Notes)
	if s.config != nil && s.configProblem == nil {
		status.Revision = s.config.Revision
		status.Tokens = new(tokensInForce(s.config))
	}
	if models := s.reports.servedModels(); models >= 0 {
		status.Models = &models
	}
	if d := s.reports.database(); d != nil && d.Engine != "" {
		status.Database = v1alpha1.DatabaseStatus{
			Engine: excerpt.Of(d.Engine, 63), Version: excerpt.Of(d.Version, 128), Display: excerpt.Of(d.Engine+" "+d.Version, 200),
		}
		if d.Notes != "" && len(status.Notes) < maxEndpointNotes {
			status.Notes = append(status.Notes, excerpt.Of("database: "+d.Notes, maxNote))
		}
	}
	status.Replicas = replicas(s)
	ready := holds(v1alpha1.ReasonReady, "agents are answered at "+status.URL)
	if lack := s.verdicts.Endpoint.Lack; lack.Reason != "" {
		ready = fails(lack.Reason, lack.Message)
	}
	status.Conditions = endpointConditions.summarise(e.Status.Conditions, e.Generation, findings{
		v1alpha1.ConditionDatabaseReady:     databaseReady(s),
		v1alpha1.ConditionWorkloadAvailable: workloadAvailable(s),
		v1alpha1.ConditionProgrammed:        endpointProgrammed(s),
	}, ready)
	return status
}

func tokensInForce(c *contract.Config) int32 {
	n := int32(0)
	for i := range c.Tokens {
		if len(c.Tokens[i].Hashes) > 0 {
			n++
		}
	}
	return n
}

func replicas(s *endpointScope) v1alpha1.ReplicasStatus {
	ready, desired := int32(s.reports.counted()), desiredReplicas(s)
	return v1alpha1.ReplicasStatus{Ready: &ready, Desired: &desired, Display: fmt.Sprintf("%d/%d", ready, desired)}
}

// desiredReplicas is what the Deployment wants, whoever scaled it.
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
func databaseReady(s *endpointScope) finding {
	if s.connectionProblem != nil {
		return *s.connectionProblem
	}
	d := s.reports.database()
	switch {
	case d == nil:
		return unknown(v1alpha1.ReasonUnknown, "no server pod has reported on the database yet")
	case d.Reason == contract.ReasonConnected:
		return connected(s.endpoint, d)
	case d.Reason == contract.ReasonConnecting || d.Reason == "":
		return unknown(contract.ReasonConnecting, "no attempt to reach the database has ended yet")
	}
	return fails(reported(d.Reason), d.Message)
}

// connected is the finding if the pods reach the database. Without a usable audit table, an endpoint that may write
// refuses all writes; one that only reads just has no history.
func connected(e *v1alpha1.MCPEndpoint, d *contract.DatabaseStatus) finding {
	database := excerpt.Of(d.Engine+" "+d.Version, 200)
	switch {
	case d.AuditProblem == "":
		return holds(d.Reason, database)
	case e.Spec.Database.EffectiveAccess() == v1alpha1.DatabaseReadOnly:
		return holds(d.Reason, database+"; there is no history: "+d.AuditProblem)
	}
	return fails(v1alpha1.ReasonAuditUnavailable, "nothing is written: "+d.AuditProblem)
}

// workloadAvailable reports whether the server runs as its Deployment says now.
func workloadAvailable(s *endpointScope) finding {
	if s.workloadProblem != nil {
		return *s.workloadProblem
	}
	d := s.deployment
	if d == nil {
		return fails(v1alpha1.ReasonUnavailable, "the server's Deployment does not exist yet")
	}
	desired := desiredReplicas(s)
	if desired == 0 {
		f := fails(v1alpha1.ReasonScaledToZero, "the server is scaled to zero pods")
		f.stalled = s.endpoint.Spec.Server.Replicas != nil && *s.endpoint.Spec.Server.Replicas == 0
		return f
	}
	if refused := withoutCertificate(s); refused != nil {
		return *refused
	}
	switch {
	case d.Status.ObservedGeneration < d.Generation || d.Status.UpdatedReplicas == 0 || d.Status.UpdatedReplicas < d.Status.Replicas:
		return fails(v1alpha1.ReasonRollingOut, "the server's newest pods are not all there yet"+podProblem(d, s.pods))
	}
	if available := deploymentCondition(d, appsv1.DeploymentAvailable); available == nil || available.Status != corev1.ConditionTrue {
		return fails(v1alpha1.ReasonUnavailable, "too few of the server's pods are available"+podProblem(d, s.pods))
	}
	return holds(v1alpha1.ReasonAvailable, "the server's pods are available")
}

func deploymentCondition(d *appsv1.Deployment, of appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i := range d.Status.Conditions {
		if d.Status.Conditions[i].Type == of {
			return &d.Status.Conditions[i]
		}
	}
	return nil
}

// endpointProgrammed reports whether every pod has the endpoint's own settings. A new token does not change that.
func endpointProgrammed(s *endpointScope) finding {
	v := s.verdicts.Endpoint
	if !v.Accepted {
		f := fails(v.Reason, v.Message)
		f.stalled = v.Stalled
		return f
	}
	if s.configProblem != nil {
		return *s.configProblem
	}
	if stale := staleCertificate(s); stale != nil {
		return *stale
	}
	return s.programmed(v)
}
