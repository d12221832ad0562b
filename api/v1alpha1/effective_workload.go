package v1alpha1

import "time"

// What absent fields about the pods mean.
const (
	DefaultTargetCPUUtilization = 80
	DefaultStartupTimeout       = time.Minute
)

// EffectiveReplicas is the number of server pods, or nil if the spec leaves it to whoever scales the Deployment. A
// SQLite file is served by at most one.
func (s *MCPEndpointSpec) EffectiveReplicas() *int32 {
	if s.Database.SQLite == nil {
		return s.Server.Replicas
	}
	one := int32(1)
	if s.Server.Replicas != nil {
		one = min(one, *s.Server.Replicas)
	}
	return &one
}

// EffectiveMinReplicas is the least number of pods.
func (a *AutoscalingSpec) EffectiveMinReplicas() int32 { return positiveOr(a.MinReplicas, 1) }

// EffectiveTargetCPUUtilization is how much of its requested CPU a pod should use, in percent; 0 if only memory counts.
func (a *AutoscalingSpec) EffectiveTargetCPUUtilization() int32 {
	if a.TargetMemoryUtilizationPercentage > 0 {
		return a.TargetCPUUtilizationPercentage
	}
	return positiveOr(a.TargetCPUUtilizationPercentage, DefaultTargetCPUUtilization)
}

// EffectiveStartupTimeout is how long a pod may take to start.
func (w *WorkloadSpec) EffectiveStartupTimeout() time.Duration {
	if w.StartupTimeout != nil {
		return w.StartupTimeout.Duration
	}
	return DefaultStartupTimeout
}
