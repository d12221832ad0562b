package doctor

import (
	"context"
	"fmt"
	"slices"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
)

// examination is one run.
type examination struct {
	*cluster.Cluster
	name  string
	found *Diagnosis
	// denied are the resources that the person may not look at.
	denied []string
	// endpoints are looked at first. ailing are the reasons for which some of them are not Ready, and waiting counts the
	// exposures and tokens that only wait for them.
	endpoints []v1alpha1.MCPEndpoint
	ailing    map[types.NamespacedName][]string
	waiting   map[types.NamespacedName]int
}

func (x *examination) problem(object, message, command string) {
	x.found.Problems = append(x.found.Problems, Problem{Object: object, Message: message, Command: command})
}

// kinds reports whether the cluster has the kinds of the API.
func (x *examination) kinds() bool {
	missing := 0
	for _, kind := range []string{"MCPEndpoint", "MCPModelExposure", "MCPToken"} {
		_, err := x.RESTMapper().RESTMapping(schema.GroupKind{Group: v1alpha1.GroupVersion.Group, Kind: kind}, v1alpha1.GroupVersion.Version)
		switch {
		case meta.IsNoMatchError(err):
			missing++
			x.problem("cluster", fmt.Sprintf("the kind %s of %s is not installed: install the operator, or its CRDs", kind, v1alpha1.GroupVersion),
				"kubectl get customresourcedefinitions | grep "+v1alpha1.GroupVersion.Group)
		case err != nil:
			x.problem("cluster", cluster.Explain(err).Error(), "kubectl version")
			return false
		}
	}
	return missing == 0
}

// looks are the things to look at, with the right that each needs.
var looks = []authorizationv1.ResourceAttributes{
	{Verb: "list", Group: v1alpha1.GroupVersion.Group, Resource: "mcpendpoints"},
	{Verb: "list", Group: v1alpha1.GroupVersion.Group, Resource: "mcpmodelexposures"},
	{Verb: "list", Group: v1alpha1.GroupVersion.Group, Resource: "mcptokens"},
	{Verb: "list", Resource: "pods"},
	{Verb: "get", Group: "coordination.k8s.io", Resource: "leases"},
}

// rights asks the API server what the person may do.
func (x *examination) rights(ctx context.Context) error {
	for _, look := range looks {
		look.Namespace = x.Namespace
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &look}}
		if err := x.Create(ctx, review); err != nil {
			return cluster.Explain(err)
		}
		if !review.Status.Allowed {
			x.unseen(look.Resource, look.Verb)
		} else {
			x.found.Looked = append(x.found.Looked, look.Resource)
		}
	}
	return nil
}

func (x *examination) unseen(resource, verb string) {
	x.denied = append(x.denied, resource)
	x.found.Unseen = append(x.found.Unseen, fmt.Sprintf("%s: you may not %s %s in %s", resource, verb, resource, x.everywhere()))
}

// everywhere names the namespaces that a right is needed in.
func (x *examination) everywhere() string {
	if x.Namespace == metav1.NamespaceAll {
		return "all namespaces"
	}
	return x.where()
}

func (x *examination) may(resource string) bool { return !slices.Contains(x.denied, resource) }

// manager looks whether a manager runs that looks after each namespace with an endpoint.
func (x *examination) manager(ctx context.Context) error {
	if !x.may("leases") {
		return nil
	}
	namespaces := []string{x.Namespace}
	if x.Namespace == metav1.NamespaceAll {
		namespaces = nil
		for i := range x.endpoints {
			namespaces = append(namespaces, x.endpoints[i].Namespace)
		}
		slices.Sort(namespaces)
	}
	for _, namespace := range slices.Compact(namespaces) {
		if err := x.managerOf(ctx, namespace); err != nil {
			return err
		}
	}
	return nil
}

// managerOf looks whether a manager runs that looks after a namespace.
func (x *examination) managerOf(ctx context.Context, namespace string) error {
	managed, err := x.Managed(ctx, namespace)
	switch {
	case apierrors.IsForbidden(err):
		x.found.Unseen = append(x.found.Unseen, "the manager of namespace "+namespace+": "+err.Error())
		return nil
	case err != nil:
		return cluster.Explain(err)
	case !managed:
		x.problem("manager", "no manager looks after namespace "+namespace+": nothing that you change takes effect, and a token that you "+
			"delete or revoke still works", "kubectl get pods -A -l app.kubernetes.io/component=manager")
	}
	return nil
}
