package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract/spelling"
)

// Token returns an MCPToken of the cluster's namespace.
func (c *Cluster) Token(ctx context.Context, name string) (*v1alpha1.MCPToken, error) {
	token := &v1alpha1.MCPToken{}
	return token, c.find(ctx, types.NamespacedName{Namespace: c.Namespace, Name: name}, "MCPToken", token, &v1alpha1.MCPTokenList{})
}

// Endpoint returns an MCPEndpoint.
func (c *Cluster) Endpoint(ctx context.Context, key types.NamespacedName) (*v1alpha1.MCPEndpoint, error) {
	endpoint := &v1alpha1.MCPEndpoint{}
	return endpoint, c.find(ctx, key, "MCPEndpoint", endpoint, &v1alpha1.MCPEndpointList{})
}

// Approval returns an MCPApproval of the cluster's namespace, by its own name or by the one that callers know.
func (c *Cluster) Approval(ctx context.Context, name string) (*v1alpha1.MCPApproval, error) {
	approval, others := &v1alpha1.MCPApproval{}, &v1alpha1.MCPApprovalList{}
	err := c.find(ctx, types.NamespacedName{Namespace: c.Namespace, Name: name}, "MCPApproval", approval, others)
	var missing *Missing
	if !errors.As(err, &missing) {
		return approval, err
	}
	for i := range others.Items {
		if others.Items[i].ShortName() == name {
			return &others.Items[i], nil
		}
	}
	return nil, err
}

// Approvals lists the MCPApprovals of a namespace, or of all if it is "". Its error is the API server's own.
func (c *Cluster) Approvals(ctx context.Context, namespace string) ([]v1alpha1.MCPApproval, error) {
	var list v1alpha1.MCPApprovalList
	err := c.List(ctx, &list, client.InNamespace(namespace))
	return list.Items, err
}

// Missing is the error of an object that is not there.
type Missing struct{ message string }

// Error implements error.
func (m *Missing) Error() string { return m.message }

// find reads an object. If there is none of that name, the error is a Missing, with the nearest name if the others may be listed.
func (c *Cluster) find(ctx context.Context, key types.NamespacedName, kind string, object client.Object, others client.ObjectList) error {
	err := c.Get(ctx, key, object)
	if !apierrors.IsNotFound(err) {
		return Explain(err)
	}
	message := fmt.Sprintf("namespace %s has no %s %q", key.Namespace, kind, key.Name)
	if c.List(ctx, others, client.InNamespace(key.Namespace)) != nil {
		return &Missing{message}
	}
	var names []string
	_ = meta.EachListItem(others, func(o runtime.Object) error { // the function never fails
		names = append(names, o.(client.Object).GetName())
		return nil
	})
	switch i := spelling.Nearest(key.Name, names); {
	case len(names) == 0:
		message += ", nor any other; name its namespace with -n"
	case i >= 0:
		message += fmt.Sprintf("; the nearest is %q", names[i])
	}
	return &Missing{message}
}

// Exposures are the MCPModelExposures of an endpoint.
func (c *Cluster) Exposures(ctx context.Context, endpoint types.NamespacedName) ([]v1alpha1.MCPModelExposure, error) {
	var list v1alpha1.MCPModelExposureList
	if err := c.List(ctx, &list, client.InNamespace(endpoint.Namespace)); err != nil {
		return nil, Explain(err)
	}
	var ours []v1alpha1.MCPModelExposure
	for i := range list.Items {
		if list.Items[i].Spec.EndpointRef.Name == endpoint.Name {
			ours = append(ours, list.Items[i])
		}
	}
	return ours, nil
}

// Tokens returns the MCPTokens of an endpoint, by namespace and name: from its own namespace, or from all.
func (c *Cluster) Tokens(ctx context.Context, endpoint types.NamespacedName, everywhere bool) ([]v1alpha1.MCPToken, error) {
	in := client.InNamespace(endpoint.Namespace)
	if everywhere {
		in = client.InNamespace("")
	}
	var list v1alpha1.MCPTokenList
	if err := c.List(ctx, &list, in); err != nil {
		return nil, Explain(err)
	}
	var ours []v1alpha1.MCPToken
	for i := range list.Items {
		if list.Items[i].Endpoint() == endpoint {
			ours = append(ours, list.Items[i])
		}
	}
	return ours, nil
}

// TokensInReach returns the MCPTokens of an endpoint from all namespaces, or from its own alone if the person may not list the others.
func (c *Cluster) TokensInReach(ctx context.Context, endpoint types.NamespacedName) ([]v1alpha1.MCPToken, error) {
	tokens, err := c.Tokens(ctx, endpoint, true)
	if apierrors.IsForbidden(err) {
		return c.Tokens(ctx, endpoint, false)
	}
	return tokens, err
}

// Explain makes an error of the API server say what to do.
func Explain(err error) error {
	var unreachable *url.Error
	var refused *net.OpError
	switch {
	case err == nil:
		return nil
	case meta.IsNoMatchError(err):
		return errors.New("the cluster does not have the kinds of mcpadmin.dev: install the operator first")
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%w; ask an administrator of the cluster for that right", err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the API server does not know you: %w; log in to the cluster again", err)
	case errors.As(err, &unreachable) && errors.As(err, &refused):
		return fmt.Errorf("the API server does not answer: %w; is this the right --context?", err)
	}
	return err
}

// Key is an object's namespace and name.
func Key(o client.Object) types.NamespacedName { return client.ObjectKeyFromObject(o) }
