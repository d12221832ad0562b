package ui

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/doctor"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/page"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/rights"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/status"
)

// source reads a cluster as the person whose kubeconfig it is.
type source struct {
	cluster       *cluster.Cluster
	place, person string
	// narrow reports whether the person may not list the endpoints of all namespaces.
	narrow atomic.Bool
}

var _ page.Source = (*source)(nil)

// newSource asks the API server who the person is.
func newSource(ctx context.Context, k *cluster.Cluster) (*source, error) {
	review := &authenticationv1.SelfSubjectReview{}
	if err := k.Create(ctx, review); err != nil && !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) {
		return nil, cluster.Explain(err)
	}
	host := k.Config.Host
	if u, err := url.Parse(host); err == nil && u.Host != "" {
		host = u.Host
	}
	place := "Cluster " + host
	person := cmp.Or(review.Status.UserInfo.Username, "somebody")
	return &source{cluster: k, place: place + ", as " + person, person: person}, nil
}

// Place implements page.Source.
func (s *source) Place() string { return s.place }

// Person implements page.Source.
func (s *source) Person() string { return s.person }

// Cluster implements page.Source.
func (s *source) Cluster() *cluster.Cluster { return s.cluster }

// Endpoints implements page.Source. Somebody who may not list all namespaces sees that of the context.
func (s *source) Endpoints(ctx context.Context) (*page.Endpoints, error) {
	items, err := s.cluster.ListEndpoints(ctx, metav1.NamespaceAll)
	if !apierrors.IsForbidden(err) {
		return &page.Endpoints{Items: items}, cluster.Explain(err)
	}
	s.narrow.Store(true)
	everywhere := err
	if items, err = s.cluster.ListEndpoints(ctx, s.cluster.Namespace); err != nil {
		return nil, cluster.Explain(err)
	}
	return &page.Endpoints{Items: items, Unseen: []string{
		fmt.Sprintf("other namespaces than %s: %s Name another one with -n.", s.cluster.Namespace, page.Sentence(everywhere)),
	}}, nil
}

// Status implements page.Source.
func (s *source) Status(ctx context.Context, endpoint types.NamespacedName) (*status.Status, error) {
	return status.Collect(ctx, s.cluster, endpoint, time.Now())
}

// Objects implements page.Source.
func (s *source) Objects(ctx context.Context, endpoint types.NamespacedName) (*rights.Objects, error) {
	return rights.FromCluster(ctx, s.cluster.In(endpoint.Namespace), endpoint.Name)
}

// Diagnose implements page.Source.
func (s *source) Diagnose(ctx context.Context) (*doctor.Diagnosis, error) {
	namespace := metav1.NamespaceAll
	if err := s.cluster.List(ctx, &v1alpha1.MCPEndpointList{}, client.Limit(1)); apierrors.IsForbidden(err) {
		s.narrow.Store(true)
		namespace = s.cluster.Namespace
	}
	return doctor.Examine(ctx, s.cluster.In(namespace), "")
}

// ForeignKeys implements page.Source. Only the pods know them, and tell them to the manager alone.
func (s *source) ForeignKeys(context.Context, types.NamespacedName) ([]page.ForeignKey, bool, error) {
	return nil, false, nil
}

// Command implements page.Source.
func (s *source) Command(name string, endpoint types.NamespacedName, args ...string) string {
	words := append([]string{"mcp-admin", name}, args...)
	where := []string{"-A"}
	if s.narrow.Load() {
		where = []string{"-n", s.cluster.Namespace}
	}
	switch name {
	case "endpoints":
		return page.CommandLine(append([]string{"kubectl", "get", "mcpendpoints"}, where...)...)
	case "exposures":
		return page.CommandLine("kubectl", "get", "mcpmodelexposures", "-n", endpoint.Namespace)
	case "exposure":
		return page.CommandLine("kubectl", "get", "mcpmodelexposure", args[0], "-n", endpoint.Namespace, "-o", "yaml")
	case "matrix", "status", "doctor", "tail":
		if endpoint.Name == "" {
			return page.CommandLine(append(words, where...)...)
		}
		words = append(words, endpoint.Name)
	case "who":
		words = append(words, "-e", endpoint.Name)
	case "can":
		if slices.Contains(args, "--claims") {
			words = append(words, "-e", endpoint.Name)
		}
	}
	return page.CommandLine(append(words, "-n", endpoint.Namespace)...)
}
