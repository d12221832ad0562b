package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/mcp-admin/mcp-admin-operator/config/rbac"
)

const (
	// startPatience is how long the manager waits at its start for kinds and rights that are installed together with it.
	startPatience = 30 * time.Second
	startPause    = time.Second
)

// untilRight checks until nothing is wrong, and returns what is wrong if it stays so for as long as its patience. It waits
// without limit, but for ctx, for an API server that does not answer: that says nothing about the installation.
func untilRight(ctx context.Context, patience, pause time.Duration, check func(context.Context) error) error {
	log := ctrl.Log.WithName("start")
	last := ""
	var wrongSince time.Time
	for {
		attempt, cancel := context.WithTimeout(ctx, checkTimeout)
		err := check(attempt)
		cancel()
		switch {
		case err == nil:
			return nil
		case unreachable(err):
			wrongSince = time.Time{}
		case wrongSince.IsZero():
			wrongSince = time.Now()
		case time.Since(wrongSince) >= patience:
			return err
		}
		if ctx.Err() == nil && err.Error() != last {
			last = err.Error()
			log.Info("Not everything is there yet; the manager looks again", "reason", last)
		}
		select {
		case <-ctx.Done():
			return cmp.Or(context.Cause(ctx), err)
		case <-time.After(pause):
		}
	}
}

// checkTimeout is how long one look at the cluster may take.
const checkTimeout = 30 * time.Second

// unreachable reports whether an error says that the API server does not answer, or cannot at present.
func unreachable(err error) bool {
	var transport *url.Error
	if errors.As(err, &transport) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	var status apierrors.APIStatus
	return errors.As(err, &status) && (status.Status().Code >= http.StatusInternalServerError || status.Status().Code == http.StatusTooManyRequests)
}

// answerProbes answers the kubelet while the manager waits for the API server: it is alive, and not ready. It returns what
// ends that, which must be called before the manager listens there itself.
func answerProbes(address string) (end func(), err error) {
	if address == "" || address == "0" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" {
			http.Error(w, "the manager waits for the API server, or for what is installed with it", http.StatusServiceUnavailable)
		}
	})}
	go func() { _ = server.Serve(listener) }() // it ends when the server is closed
	return func() {
		_ = server.Close()
		_ = listener.Close() // the server does not know it yet if it has just begun
	}, nil
}

// checkCluster returns everything that is wrong with the cluster: kinds that are not installed or too old, namespaces
// that do not exist, and rights that the manager lacks.
func checkCluster(ctx context.Context, config *rest.Config, c client.Client, namespaces []string, own string) error {
	if err := checkKinds(config); err != nil {
		return err
	}
	var errs []error
	for _, namespace := range append(slices.Clone(namespaces), own) {
		errs = append(errs, checkNamespace(ctx, c, namespace))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return checkRights(ctx, c, namespaces, own)
}

// checkNamespace returns an error for a namespace that does not exist. A manager that may not read Namespaces has its
// rights from a Role in it, or lacks them.
func checkNamespace(ctx context.Context, c client.Client, name string) error {
	err := c.Get(ctx, client.ObjectKey{Name: name}, &corev1.Namespace{})
	switch {
	case err == nil, apierrors.IsForbidden(err):
		return nil
	case apierrors.IsNotFound(err):
		return fmt.Errorf("the namespace %q does not exist: create it, or leave it out of the manager's command line", name)
	}
	return err
}

// checkRights asks the API server for every right of the manager's roles.
func checkRights(ctx context.Context, c client.Client, namespaces []string, own string) error {
	scopes := namespaces
	if len(scopes) == 0 {
		scopes = []string{""}
	}
	var needed []authorizationv1.ResourceAttributes
	for _, scope := range scopes {
		rights, err := rightsIn(rbac.ManagerRole, scope)
		if err != nil {
			return err
		}
		needed = append(needed, rights...)
	}
	rights, err := rightsIn(rbac.OwnNamespaceRole, own)
	if err != nil {
		return err
	}
	missing, err := missingRights(ctx, c, append(needed, rights...))
	if err != nil || len(missing) == 0 {
		return err
	}
	return fmt.Errorf("the manager lacks rights: %s; bind the roles of config/rbac to its ServiceAccount, or install the chart with rbac.create", strings.Join(missing, ", "))
}

// rightsIn are the rights that a role gives in a namespace; "" is the whole cluster.
func rightsIn(role []byte, namespace string) ([]authorizationv1.ResourceAttributes, error) {
	var parsed rbacv1.ClusterRole
	if err := yaml.Unmarshal(role, &parsed); err != nil {
		return nil, err
	}
	var rights []authorizationv1.ResourceAttributes
	for _, rule := range parsed.Rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range rule.APIGroups {
			for _, path := range rule.Resources {
				resource, subresource, _ := strings.Cut(path, "/")
				for _, verb := range rule.Verbs {
					for _, name := range names {
						rights = append(rights, authorizationv1.ResourceAttributes{
							Namespace: namespace, Verb: verb, Group: group, Resource: resource, Subresource: subresource, Name: name,
						})
					}
				}
			}
		}
	}
	return rights, nil
}

// maxReviews is how many questions are asked at the same time.
const maxReviews = 8

// missingRights returns the rights that the manager does not have, in words and in order.
func missingRights(ctx context.Context, c client.Client, needed []authorizationv1.ResourceAttributes) ([]string, error) {
	var (
		mu      sync.Mutex
		missing []string
		errs    []error
		group   sync.WaitGroup
	)
	places := make(chan struct{}, maxReviews)
	for i := range needed {
		places <- struct{}{}
		group.Go(func() {
			defer func() { <-places }()
			review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &needed[i]}}
			err := c.Create(ctx, review)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				errs = append(errs, err)
			case !review.Status.Allowed:
				missing = append(missing, inWords(&needed[i]))
			}
		})
	}
	group.Wait()
	slices.Sort(missing)
	if len(errs) > 0 {
		return nil, errs[0]
	}
	return slices.Compact(missing), nil
}

// inWords is a right as kubectl would name it: patch mcptokens.mcpadmin.dev/status in namespace shop.
func inWords(right *authorizationv1.ResourceAttributes) string {
	resource := right.Resource
	if right.Group != "" {
		resource += "." + right.Group
	}
	if right.Subresource != "" {
		resource += "/" + right.Subresource
	}
	if right.Name != "" {
		resource += " " + right.Name
	}
	if right.Namespace == "" {
		return right.Verb + " " + resource + " in all namespaces"
	}
	return right.Verb + " " + resource + " in namespace " + right.Namespace
}
