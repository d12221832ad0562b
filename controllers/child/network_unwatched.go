package child

import (
	"fmt"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The kinds that need not be installed. Their objects are made without their Go types.
var (
	HTTPRouteKind  = schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "HTTPRoute"}
	PodMonitorKind = schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: "PodMonitor"}
)

// HTTPRoute leads from Gateways to the endpoint's Service; nil if the endpoint asks for none.
func HTTPRoute(e *v1alpha1.MCPEndpoint) *unstructured.Unstructured {
	given := e.Spec.Network.HTTPRoute
	if given == nil {
		return nil
	}
	parents, hostnames := make([]any, len(given.ParentRefs)), make([]any, len(given.Hostnames))
	for i, p := range given.ParentRefs {
		parent := map[string]any{"name": p.Name, "namespace": p.EffectiveNamespace(e.Namespace)}
		if p.SectionName != "" {
			parent["sectionName"] = p.SectionName
		}
		if p.Port != 0 {
			parent["port"] = int64(p.Port)
		}
		parents[i] = parent
	}
	for i, name := range given.Hostnames {
		hostnames[i] = string(name)
	}
	var matches []any
	for _, path := range routedPaths(e) {
		matches = append(matches, map[string]any{"path": map[string]any{"type": "PathPrefix", "value": path}})
	}
	return unstructuredChild(e, HTTPRouteKind, given.ObjectMetadata, map[string]any{
		"parentRefs": parents,
		"hostnames":  hostnames,
		"rules": []any{map[string]any{
			"matches":     matches,
			"backendRefs": []any{map[string]any{"name": e.ServiceName(), "port": int64(endpointPort(e).before)}},
		}},
	})
}

// PodMonitor has the metrics of the server's pods read; nil if the endpoint asks for none. It is no ServiceMonitor because
// the admin port is not on the Service.
func PodMonitor(e *v1alpha1.MCPEndpoint) *unstructured.Unstructured {
	given := e.Spec.Observability.PodMonitor
	if given == nil {
		return nil
	}
	metrics := map[string]any{"port": "admin", "path": "/metrics"}
	if given.Interval != nil {
		metrics["interval"] = prometheusDuration(given.Interval.Duration)
	}
	selected := map[string]any{}
	for key, value := range cluster.SelectorLabels(e) {
		selected[key] = value
	}
	return unstructuredChild(e, PodMonitorKind, given.ObjectMetadata, map[string]any{
		"selector":            map[string]any{"matchLabels": selected},
		"podTargetLabels":     []any{cluster.EndpointLabel}, // so that the metrics say which endpoint they are of
		"podMetricsEndpoints": []any{metrics},
	})
}

// prometheusDuration writes a duration as Prometheus reads it, which knows no fractions.
func prometheusDuration(d time.Duration) string {
	if d%time.Second == 0 {
		return fmt.Sprintf("%ds", d/time.Second)
	}
	return fmt.Sprintf("%dms", d.Milliseconds())
}

// unstructuredChild is a child of a kind without Go types.
func unstructuredChild(e *v1alpha1.MCPEndpoint, kind schema.GroupVersionKind, given v1alpha1.ObjectMetadata, spec map[string]any) *unstructured.Unstructured {
	child := EmptyChild(e, kind)
	labels, annotations := withOwn(e, given)
	child.SetLabels(labels)
	if len(annotations) > 0 {
		child.SetAnnotations(annotations)
	}
	child.Object["spec"] = spec
	owner := cluster.KindOf("MCPEndpoint")
	child.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: owner.GroupVersion().String(), Kind: owner.Kind, Name: e.Name, UID: e.UID, Controller: new(true),
	}})
	return child
}

// EmptyChild is an object of the kind with the name of the endpoint's children.
func EmptyChild(e *v1alpha1.MCPEndpoint, kind schema.GroupVersionKind) *unstructured.Unstructured {
	child := &unstructured.Unstructured{}
	child.SetGroupVersionKind(kind)
	child.SetNamespace(e.Namespace)
	child.SetName(e.ServiceName())
	return child
}
