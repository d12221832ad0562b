package cluster

import "github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"

// WebhookSecretNames are the Secrets that an exposure's webhooks name, each as often as they do.
func WebhookSecretNames(e *v1alpha1.MCPModelExposure) []string {
	var names []string
	for i := range e.Spec.Actions {
		if hook := e.Spec.Actions[i].Webhook; hook != nil && hook.HeadersSecretRef != nil {
			names = append(names, hook.HeadersSecretRef.Name)
		}
	}
	return names
}

// NotifySecretNames are the Secrets that the webhooks of an endpoint's approval policies name, each as often as they do.
func NotifySecretNames(e *v1alpha1.MCPEndpoint) []string {
	var names []string
	for i := range e.Spec.Approvals {
		if notify := e.Spec.Approvals[i].Notify; notify != nil && notify.HeadersSecretRef != nil {
			names = append(names, notify.HeadersSecretRef.Name)
		}
	}
	return names
}
