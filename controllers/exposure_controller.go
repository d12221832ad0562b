package controllers

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/excerpt"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// exposureReconciler writes the status of exposures. The endpoint's reconciler does the work.
type exposureReconciler struct {
	client client.Client
	store  *store
	status *statusWriter[*v1alpha1.MCPModelExposure, v1alpha1.MCPModelExposureStatus]
}

// Reconcile writes the status if the endpoint's reconciler has evaluated this generation, or there is no endpoint.
// Otherwise it waits: the store wakes it.
func (r *exposureReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	exposure := &v1alpha1.MCPModelExposure{}
	if err := r.client.Get(ctx, request.NamespacedName, exposure); client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	} else if err != nil || !exposure.DeletionTimestamp.IsZero() {
		r.status.forget(request.NamespacedName)
		return ctrl.Result{}, nil
	}
	r.status.refresh(exposure)

	endpoint, err := findEndpoint(ctx, r.client, endpointOf(exposure.Namespace, exposure.Spec.EndpointRef))
	if err != nil {
		return ctrl.Result{}, err
	}
	facts, evaluated := r.store.exposure(exposure)
	if endpoint != nil && !evaluated {
		return ctrl.Result{}, nil
	}
	found := exposureWithoutEndpoint(exposure)
	if endpoint != nil {
		found = exposureFindings(facts)
	}
	return result(r.status.write(ctx, exposure, summariseExposure(exposure, found, facts)))
}

func exposureWithoutEndpoint(e *v1alpha1.MCPModelExposure) findings {
	missing := fails(v1alpha1.ReasonEndpointNotFound, "MCPEndpoint "+quote(e.Spec.EndpointRef.Name)+" does not exist in this namespace")
	nothing := unknown(missing.reason, missing.message)
	return findings{
		v1alpha1.ConditionAccepted:   missing,
		v1alpha1.ConditionResolved:   nothing,
		v1alpha1.ConditionProgrammed: fails(missing.reason, missing.message),
	}
}

// exposureFindings joins what compiling said with what the pods found in the database.
func exposureFindings(facts exposureFacts) findings {
	found := findings{
		v1alpha1.ConditionAccepted:   fails(facts.Verdict.Reason, facts.Verdict.Message),
		v1alpha1.ConditionResolved:   unknown(v1alpha1.ReasonWaitingForReport, "no server pod has reported on the table yet"),
		v1alpha1.ConditionProgrammed: facts.Programmed,
	}
	if !facts.Verdict.Accepted {
		return found
	}
	found[v1alpha1.ConditionAccepted] = holds(v1alpha1.ReasonAccepted, "")
	if facts.Model == nil {
		return found
	}
	reason, message := reported(facts.Model.Reason), facts.Model.Message
	resolved := holds(v1alpha1.ReasonResolved, "the table is "+facts.Model.Table)
	switch facts.Model.Reason {
	case contract.ReasonServed:
		found[v1alpha1.ConditionResolved] = resolved
	case contract.ReasonSchemaUnknown, contract.ReasonWaitingForReport:
		found[v1alpha1.ConditionResolved] = unknown(reason, message)
	case contract.ReasonFieldNotAllowed, contract.ReasonFieldNotFound, contract.ReasonTableConflicted:
		found[v1alpha1.ConditionResolved] = resolved
		found[v1alpha1.ConditionAccepted] = fails(reason, message)
	default:
		found[v1alpha1.ConditionResolved] = fails(reason, message)
	}
	return found
}

// summariseExposure returns the exposure's status. What the pods found stays until they find something else, or the
// exposure is no longer accepted.
func summariseExposure(e *v1alpha1.MCPModelExposure, found findings, facts exposureFacts) v1alpha1.MCPModelExposureStatus {
	ready := holds(v1alpha1.ReasonReady, "the model is served")
	if lack := facts.Verdict.Lack; lack != (compile.Lack{}) {
		ready = fails(lack.Reason, lack.Message)
	}
	status := v1alpha1.MCPModelExposureStatus{
		ObservedGeneration:     e.Generation,
		LastHandledReconcileAt: v1alpha1.ReconcileRequest(e),
		Table:                  excerpt.Of(e.Spec.Table.String(), 200),
		Revision:               facts.Verdict.Revision,
		Conditions:             exposureConditions.summarise(e, e.Status.Conditions, found, ready),
	}
	if name := e.EffectiveModel(); len(name) <= 40 {
		status.Model = name
	}
	switch model := facts.Model; {
	case !facts.Verdict.Accepted:
	case model == nil || !model.Known():
		old := e.Status.DeepCopy()
		if old.Table != "" {
			status.Table = old.Table
		}
		status.Columns, status.HiddenColumns, status.Key = old.Columns, old.HiddenColumns, old.Key
		status.MaskedColumns, status.ReadOnlyColumns = old.MaskedColumns, old.ReadOnlyColumns
		status.Tools, status.ToolCount, status.Notes = old.Tools, old.ToolCount, old.Notes
	default:
		if model.Table != "" {
			status.Table = excerpt.Of(model.Table, 200)
		}
		status.Columns = names(model.Columns, 2000, 128)
		status.HiddenColumns = names(model.Hidden, 2000, 128)
		status.MaskedColumns, status.ReadOnlyColumns = names(model.Masked, 2000, 128), names(model.ReadOnly, 2000, 128)
		status.Key = names(model.Key, 32, 128)
		status.Tools = names(model.Tools, 16, 64)
		status.ToolCount = new(int32(len(model.Tools)))
		status.Notes = clipped(model.Notes[:min(len(model.Notes), 50)])
	}
	return status
}

// names returns as many of a pod's names as the status has room for.
func names(reported []string, atMost, length int) []string {
	var fit []string
	for _, name := range reported {
		if name != "" && len(name) <= length && len(fit) < atMost {
			fit = append(fit, name)
		}
	}
	return fit
}
