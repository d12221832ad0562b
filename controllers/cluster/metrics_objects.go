package cluster

import (
	"context"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// CountObjects keeps objectCount as the cache is. It costs nothing when the metrics are read.
func CountObjects(cached cache.Cache) error {
	for kind, obj := range map[string]client.Object{
		"MCPEndpoint": &v1alpha1.MCPEndpoint{}, "MCPModelExposure": &v1alpha1.MCPModelExposure{}, "MCPToken": &v1alpha1.MCPToken{},
	} {
		informer, err := cached.GetInformer(context.Background(), obj, cache.BlockUntilSynced(false))
		if err != nil {
			return err
		}
		count := func(o any, by float64) {
			if gone, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
				o = gone.Obj
			}
			ready, reason := readyOf(o)
			objectCount.WithLabelValues(kind, ready, reason).Add(by)
		}
		if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc:    func(o any) { count(o, 1) },
			UpdateFunc: func(old, o any) { count(old, -1); count(o, 1) },
			DeleteFunc: func(o any) { count(o, -1) },
		}); err != nil {
			return err
		}
	}
	return nil
}

// CountApprovals keeps waitingApprovals as the cache is.
func CountApprovals(cached cache.Cache) error {
	informer, err := cached.GetInformer(context.Background(), &v1alpha1.MCPApproval{}, cache.BlockUntilSynced(false))
	if err != nil {
		return err
	}
	waiting := map[string]int{} // one goroutine calls the handlers
	count := func(o any, by int) {
		if gone, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
			o = gone.Obj
		}
		a, ok := o.(*v1alpha1.MCPApproval)
		if !ok || a.EffectiveState() != v1alpha1.ApprovalWaiting {
			return
		}
		endpoint := EndpointOf(a.Namespace, a.Spec.EndpointRef).String()
		if waiting[endpoint] += by; waiting[endpoint] > 0 {
			waitingApprovals.WithLabelValues(endpoint).Set(float64(waiting[endpoint]))
			return
		}
		delete(waiting, endpoint)
		waitingApprovals.DeleteLabelValues(endpoint)
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { count(o, 1) },
		UpdateFunc: func(old, o any) { count(o, 1); count(old, -1) },
		DeleteFunc: func(o any) { count(o, -1) },
	})
	return err
}

// readyOf is the status and reason of an object's condition Ready.
func readyOf(o any) (status, reason string) {
	if c := meta.FindStatusCondition(conditionsOf(o), v1alpha1.ConditionReady); c != nil {
		return string(c.Status), c.Reason
	}
	return string(metav1.ConditionUnknown), "None"
}

// conditionsOf are an object's conditions; none if it is of another kind.
func conditionsOf(o any) []metav1.Condition {
	switch o := o.(type) {
	case *v1alpha1.MCPEndpoint:
		return o.Status.Conditions
	case *v1alpha1.MCPModelExposure:
		return o.Status.Conditions
	case *v1alpha1.MCPToken:
		return o.Status.Conditions
	}
	return nil
}
