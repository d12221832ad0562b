package child

import (
	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	applyautoscaling "k8s.io/client-go/applyconfigurations/autoscaling/v2"
	applymeta "k8s.io/client-go/applyconfigurations/meta/v1"
	applypolicy "k8s.io/client-go/applyconfigurations/policy/v1"
)

// autoscaler scales an endpoint's Deployment; nil if the endpoint asks for none.
func autoscaler(e *v1alpha1.MCPEndpoint) *applyautoscaling.HorizontalPodAutoscalerApplyConfiguration {
	a := e.Spec.Server.Autoscaling
	if a == nil || e.Spec.Database.SQLite != nil {
		return nil
	}
	spec := applyautoscaling.HorizontalPodAutoscalerSpec().
		WithScaleTargetRef(applyautoscaling.CrossVersionObjectReference().
			WithAPIVersion(appsv1.SchemeGroupVersion.String()).WithKind("Deployment").WithName(e.ServiceName())).
		WithMinReplicas(a.EffectiveMinReplicas()).
		WithMaxReplicas(a.MaxReplicas)
	for _, target := range []struct {
		resource    corev1.ResourceName
		utilization int32
	}{{corev1.ResourceCPU, a.EffectiveTargetCPUUtilization()}, {corev1.ResourceMemory, a.TargetMemoryUtilizationPercentage}} {
		if target.utilization > 0 {
			spec.WithMetrics(applyautoscaling.MetricSpec().
				WithType(autoscalingv2.ResourceMetricSourceType).
				WithResource(applyautoscaling.ResourceMetricSource().
					WithName(target.resource).
					WithTarget(applyautoscaling.MetricTarget().
						WithType(autoscalingv2.UtilizationMetricType).WithAverageUtilization(target.utilization))))
		}
	}
	return applyautoscaling.HorizontalPodAutoscaler(e.ServiceName(), e.Namespace).
		WithLabels(cluster.ChildLabels(e, cluster.ComponentServer)).
		WithOwnerReferences(cluster.OwnerReference(e, "MCPEndpoint")).
		WithSpec(spec)
}

// disruptionBudget bounds how many of an endpoint's pods may be away by intent; nil if the endpoint asks for none. Pods
// that are not ready are let go: a budget must not keep a broken pod on its node.
func disruptionBudget(e *v1alpha1.MCPEndpoint) *applypolicy.PodDisruptionBudgetApplyConfiguration {
	budget := e.Spec.Server.PodDisruptionBudget
	if budget == nil {
		return nil
	}
	spec := applypolicy.PodDisruptionBudgetSpec().
		WithSelector(applymeta.LabelSelector().WithMatchLabels(cluster.SelectorLabels(e))).
		WithUnhealthyPodEvictionPolicy(policyv1.AlwaysAllow)
	if budget.MinAvailable != nil {
		spec.WithMinAvailable(*budget.MinAvailable)
	}
	if budget.MaxUnavailable != nil {
		spec.WithMaxUnavailable(*budget.MaxUnavailable)
	}
	return applypolicy.PodDisruptionBudget(e.ServiceName(), e.Namespace).
		WithLabels(cluster.ChildLabels(e, cluster.ComponentServer)).
		WithOwnerReferences(cluster.OwnerReference(e, "MCPEndpoint")).
		WithSpec(spec)
}
