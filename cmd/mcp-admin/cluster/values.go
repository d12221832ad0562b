package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/approval"
)

// ShowValues gives an approval the changes with their values, as the pod that holds the call tells them. Nothing of it is stored. It needs
// the rights to list pods and to create pods/portforward.
func (c *Cluster) ShowValues(ctx context.Context, a *v1alpha1.MCPApproval) error {
	endpoint := client.ObjectKey{Namespace: a.Namespace, Name: a.Spec.EndpointRef.Name}
	pods, err := c.Pods(ctx, endpoint)
	if err != nil {
		return err
	}
	for i := range pods {
		pod := &pods[i]
		if pod.Status.Phase != corev1.PodRunning || !pod.DeletionTimestamp.IsZero() {
			continue
		}
		text, status, err := c.admin(ctx, pod, "/approvals/"+a.ShortName()+"/values", 2*contract.MaxApprovalValuesBytes)
		switch {
		case err != nil:
			return fmt.Errorf("the values: %w", err)
		case status == http.StatusNotFound:
			continue // the call waits in another pod
		case status != http.StatusOK:
			return fmt.Errorf("pod %s does not show the values (status %d): its admin port must be reached by port-forward, with no proxy of a service mesh between", pod.Name, status)
		}
		var values contract.ApprovalValues
		if json.Unmarshal(text, &values) != nil || values.Digest != a.Spec.Request.Digest {
			return fmt.Errorf("what pod %s shows is not about %s", pod.Name, a.Name)
		}
		a.Spec.Request.Changes, a.Spec.Request.Notice = approval.ChangesOf(&contract.Approval{Changes: values.Changes, Notice: values.Notice})
		return nil
	}
	return fmt.Errorf("no pod of MCPEndpoint %s holds the call of %s any more, so that nobody knows its values; once the agent asks again, its pod does", endpoint, a.Name)
}
