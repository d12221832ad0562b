package exposure

import (
	"context"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/excerpt"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	"github.com/mcp-admin/mcp-admin-operator/controllers/condition"
	"github.com/mcp-admin/mcp-admin-operator/controllers/program"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Reconciler writes the status of exposures. The endpoint's reconciler does the work.
type Reconciler struct {
	Client client.Client
	Store  *program.Store
	Status *cluster.StatusWriter[*v1alpha1.MCPModelExposure, v1alpha1.MCPModelExposureStatus]
}

// Reconcile writes the status if the endpoint's reconciler has evaluated this generation, or there is no endpoint.
// Otherwise it waits: the store wakes it.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	exposure := &v1alpha1.MCPModelExposure{}
	if err := r.Client.Get(ctx, request.NamespacedName, exposure); client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	} else if err != nil || !exposure.DeletionTimestamp.IsZero() {
		r.Status.Forget(request.NamespacedName)
		return ctrl.Result{}, nil
	}
	r.Status.Refresh(exposure)

	endpoint, err := cluster.FindEndpoint(ctx, r.Client, cluster.EndpointOf(exposure.Namespace, exposure.Spec.EndpointRef))
	if err != nil {
		return ctrl.Result{}, err
	}
	facts, evaluated := r.Store.Exposure(exposure)
	if endpoint != nil && !evaluated {
		return ctrl.Result{}, nil
	}
	found := exposureWithoutEndpoint(exposure)
	if endpoint != nil {
		found = exposureFindings(facts)
	}
	return cluster.Result(r.Status.Write(ctx, exposure, summariseExposure(exposure, found, facts)))
}

func exposureWithoutEndpoint(e *v1alpha1.MCPModelExposure) condition.Findings {
	missing := condition.Fails(v1alpha1.ReasonEndpointNotFound, "MCPEndpoint "+cluster.Quote(e.Spec.EndpointRef.Name)+" does not exist in this namespace")
	nothing := condition.Unknown(missing.Reason, missing.Message)
	return condition.Findings{
		v1alpha1.ConditionAccepted:   missing,
		v1alpha1.ConditionResolved:   nothing,
		v1alpha1.ConditionProgrammed: condition.Fails(missing.Reason, missing.Message),
	}
}

// exposureFindings joins what compiling said with what the pods found in the database.
func exposureFindings(facts program.ExposureFacts) condition.Findings {
	found := condition.Findings{
		v1alpha1.ConditionAccepted:   condition.Fails(facts.Verdict.Reason, facts.Verdict.Message),
		v1alpha1.ConditionResolved:   condition.Unknown(v1alpha1.ReasonWaitingForReport, "no server pod has reported on the table yet"),
		v1alpha1.ConditionProgrammed: facts.Programmed,
	}
	if !facts.Verdict.Accepted {
		return found
	}
	found[v1alpha1.ConditionAccepted] = condition.Holds(v1alpha1.ReasonAccepted, "")
	if facts.Model == nil {
		return found
	}
	reason, message := condition.Reported(facts.Model.Reason), facts.Model.Message
	resolved := condition.Holds(v1alpha1.ReasonResolved, "the table is "+facts.Model.Table)
	switch facts.Model.Reason {
	case contract.ReasonServed:
		found[v1alpha1.ConditionResolved] = resolved
	case contract.ReasonSchemaUnknown, contract.ReasonWaitingForReport:
		found[v1alpha1.ConditionResolved] = condition.Unknown(reason, message)
	case contract.ReasonFieldNotAllowed, contract.ReasonFieldNotFound, contract.ReasonTableConflicted:
		found[v1alpha1.ConditionResolved] = resolved
		found[v1alpha1.ConditionAccepted] = condition.Fails(reason, message)
	default:
		found[v1alpha1.ConditionResolved] = condition.Fails(reason, message)
	}
	return found
}

// summariseExposure returns the exposure's status. What the pods found stays until they find something else, or the
// exposure is no longer accepted.
func summariseExposure(e *v1alpha1.MCPModelExposure, found condition.Findings, facts program.ExposureFacts) v1alpha1.MCPModelExposureStatus {
	ready := condition.Holds(v1alpha1.ReasonReady, "the model is served")
	if lack := facts.Verdict.Lack; lack != (compile.Lack{}) {
		ready = condition.Fails(lack.Reason, lack.Message)
	}
	status := v1alpha1.MCPModelExposureStatus{
		ObservedGeneration:     e.Generation,
		LastHandledReconcileAt: v1alpha1.ReconcileRequest(e),
		Table:                  excerpt.Of(e.Spec.Table.String(), 200),
		Revision:               facts.Verdict.Revision,
		Conditions:             condition.ExposureConditions.Summarise(e, e.Status.Conditions, found, ready),
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
		status.ForeignKeys = old.ForeignKeys
		status.Tools, status.ToolCount, status.Notes = old.Tools, old.ToolCount, old.Notes
	default:
		if model.Table != "" {
			status.Table = excerpt.Of(model.Table, 200)
		}
		status.Columns = names(model.Columns, 2000, 128)
		status.HiddenColumns = names(model.Hidden, 2000, 128)
		status.MaskedColumns, status.ReadOnlyColumns = names(model.Masked, 2000, 128), names(model.ReadOnly, 2000, 128)
		status.Key = names(model.Key, 32, 128)
		status.ForeignKeys = foreignKeys(model.ForeignKeys, 100)
		status.Tools = names(model.Tools, 16, 64)
		status.ToolCount = new(int32(len(model.Tools)))
		status.Notes = condition.Clipped(model.Notes[:min(len(model.Notes), 50)])
	}
	return status
}

// foreignKeys returns as many of a pod's foreign keys as the status has room for, each whole.
func foreignKeys(reported []contract.ForeignKeyStatus, atMost int) []v1alpha1.ForeignKeyStatus {
	var fit []v1alpha1.ForeignKeyStatus
	for _, key := range reported {
		columns := names(key.Columns, 32, 128)
		if len(columns) > 0 && len(columns) == len(key.Columns) && key.Model != "" && len(key.Model) <= 40 && len(fit) < atMost {
			fit = append(fit, v1alpha1.ForeignKeyStatus{Columns: columns, Model: key.Model})
		}
	}
	return fit
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
