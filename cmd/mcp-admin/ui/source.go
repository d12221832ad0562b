package ui

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
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

// As is whom a cluster is read as.
type As struct {
	// Place says in a few words what is looked at, and as whom; Person is the person's name.
	Place, Person string
	// Namespaces are looked at if the person may not list the endpoints of all namespaces.
	Namespaces []string
	// Hint says how others are reached.
	Hint string
	// Forward has endpoints called through their pods alone, and so by the API server, as the person.
	Forward bool
}

// source reads a cluster as one person.
type source struct {
	As
	cluster *cluster.Cluster
	// narrow reports whether the person may not list the endpoints of all namespaces, narrowApprovals the same of approvals.
	narrow, narrowApprovals atomic.Bool
}

// NewSource returns a cluster as a page reads it. It makes no request.
func NewSource(k *cluster.Cluster, as As) page.Source { return &source{As: as, cluster: k} }

// ofContext reads the cluster as the person whose kubeconfig it is. It asks the API server who that is.
func ofContext(ctx context.Context, k *cluster.Cluster) (page.Source, error) {
	review := &authenticationv1.SelfSubjectReview{}
	if err := k.Create(ctx, review); err != nil && !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) {
		return nil, cluster.Explain(err)
	}
	host := k.Config.Host
	if u, err := url.Parse(host); err == nil && u.Host != "" {
		host = u.Host
	}
	person := cmp.Or(review.Status.UserInfo.Username, "somebody")
	return NewSource(k, As{Place: "Cluster " + host + ", as " + person, Person: person, Namespaces: []string{k.Namespace}, Hint: "Name another one with -n."}), nil
}

// Place implements page.Source.
func (s *source) Place() string { return s.As.Place }

// Person implements page.Source.
func (s *source) Person() string { return s.As.Person }

// Cluster implements page.Source.
func (s *source) Cluster() *cluster.Cluster { return s.cluster }

// Endpoints implements page.Source.
func (s *source) Endpoints(ctx context.Context) (*page.Endpoints, error) {
	items, unseen, err := everywhere(s, func(namespace string) ([]v1alpha1.MCPEndpoint, error) { return s.cluster.ListEndpoints(ctx, namespace) })
	if err != nil {
		return nil, err
	}
	if len(unseen) > 0 {
		s.narrow.Store(true)
	}
	return &page.Endpoints{Items: items, Unseen: unseen}, nil
}

// everywhere lists objects of all namespaces. Somebody who may not do so sees those of the namespaces that are named, as far as allowed;
// unseen says so.
func everywhere[T any](s *source, list func(namespace string) ([]T, error)) (items []T, unseen []string, err error) {
	items, err = list(metav1.NamespaceAll)
	if !apierrors.IsForbidden(err) || len(s.Namespaces) == 0 {
		return items, nil, cluster.Explain(err)
	}
	var seen []string
	var refused error
	for _, namespace := range s.Namespaces {
		found, err := list(namespace)
		switch {
		case apierrors.IsForbidden(err):
			refused = cmp.Or(refused, err)
		case err != nil:
			return nil, nil, cluster.Explain(err)
		default:
			seen, items = append(seen, namespace), append(items, found...)
		}
	}
	if len(seen) == 0 {
		return nil, nil, cluster.Explain(refused)
	}
	return items, []string{fmt.Sprintf("other namespaces than %s: %s %s", strings.Join(seen, ", "), page.Sentence(err), s.Hint)}, nil
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
	err := s.cluster.List(ctx, &v1alpha1.MCPEndpointList{}, client.Limit(1))
	if !apierrors.IsForbidden(err) || len(s.Namespaces) == 0 {
		return doctor.Examine(ctx, s.cluster.In(metav1.NamespaceAll), "")
	}
	s.narrow.Store(true)
	all := &doctor.Diagnosis{}
	var refused error
	for _, namespace := range s.Namespaces {
		found, err := doctor.Examine(ctx, s.cluster.In(namespace), "")
		if err != nil {
			refused = cmp.Or(refused, err)
			continue
		}
		all.Looked, all.Problems, all.Notes = append(all.Looked, found.Looked...), append(all.Problems, found.Problems...), append(all.Notes, found.Notes...)
		all.Unseen = append(all.Unseen, found.Unseen...)
	}
	if refused != nil && len(all.Looked) == 0 {
		return nil, refused
	}
	if refused != nil {
		all.Unseen = append(all.Unseen, page.Sentence(refused))
	}
	return all, nil
}

// Command implements page.Source.
func (s *source) Command(name string, endpoint types.NamespacedName, args ...string) string {
	words := append([]string{"mcp-admin", name}, args...)
	where, narrow := []string{"-A"}, &s.narrow
	if name == "approvals" {
		narrow = &s.narrowApprovals
	}
	if narrow.Load() && len(s.Namespaces) == 1 {
		where = []string{"-n", s.Namespaces[0]}
	}
	switch name {
	case "endpoints":
		return page.CommandLine(append([]string{"kubectl", "get", "mcpendpoints"}, where...)...)
	case "exposures":
		return page.CommandLine("kubectl", "get", "mcpmodelexposures", "-n", endpoint.Namespace)
	case "exposure":
		return page.CommandLine("kubectl", "get", "mcpmodelexposure", args[0], "-n", endpoint.Namespace, "-o", "yaml")
	case "approvals":
		if endpoint.Name == "" {
			return page.CommandLine(append(words, where...)...)
		}
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
