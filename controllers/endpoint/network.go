package endpoint

import (
	"context"
	"errors"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/child"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"github.com/mcp-admin/mcp-admin-operator/controllers/condition"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Network makes what an endpoint may ask for beside its workload: an Ingress, an HTTPRoute, a PodMonitor; and it deletes
// these and the NetworkPolicy once they are no longer asked for (docs/design/controllers.md, "Network").
type Network struct {
	Children *cluster.Children
	// Cached has the metadata of users' Secrets; Secrets says which of them an endpoint may name.
	Cached    client.Reader
	Secrets   cluster.OptIn
	Installed cluster.InstalledKinds
	Now       func() time.Time
	// LookAgain is how long to wait for what no watch tells.
	LookAgain time.Duration
	// looks are the last ones at the objects that are not watched, one for each endpoint.
	looks cluster.Memo[types.NamespacedName, look]
}

// settledLooks is how many times longer an object that is not watched is left alone once all is well with it.
const settledLooks = 4

// look holds what was found about the objects that are not watched, for one generation of an endpoint.
type look struct {
	uid        types.UID
	generation int64
	// until is when to look again; zero is never.
	until time.Time
	found networkFindings
}

// networkFindings are nil for what is not asked for.
type networkFindings struct{ service, ingress, httpRoute, podMonitor *condition.Finding }

// apply makes what the endpoint asks for, and takes away what it does not. It makes nothing new while the workload has a
// problem: the Service might be somebody else's. What fails holds up nothing else.
func (n *Network) apply(ctx context.Context, s *endpointScope) error {
	s.routed = condition.Fails(v1alpha1.ReasonUnknown, "it is looked at once the server's objects are as the endpoint asks for")
	if s.endpoint.Spec.Observability.PodMonitor != nil {
		s.monitored = new(s.routed)
		s.monitored.Aside = true // agents are answered without it
	}
	if !s.config.Endpoint.Accepted || !s.config.Stored {
		return nil
	}
	notRemoved := n.removeWatched(ctx, s.endpoint)
	if s.workloadProblem != nil {
		return errors.Join(notRemoved, n.removeUnwatched(ctx, s.endpoint))
	}
	var found networkFindings
	var notApplied, notFound error
	found.service, notFound = n.serviceAddress(ctx, s)
	found.ingress, notApplied = n.applyIngress(ctx, s)
	unwatched, notLooked := n.lookAtUnwatched(ctx, s)
	found.httpRoute, found.podMonitor = unwatched.httpRoute, unwatched.podMonitor
	s.routed = n.routed(s, found)
	if found.podMonitor != nil {
		*s.monitored = *found.podMonitor
		s.monitored.Aside = true
	}
	return errors.Join(notRemoved, notFound, notApplied, notLooked)
}

// forget drops what is known of an endpoint.
func (n *Network) forget(endpoint types.NamespacedName) { n.looks.Forget(endpoint) }

// removeWatched deletes the watched objects that the endpoint does not ask for.
func (n *Network) removeWatched(ctx context.Context, e *v1alpha1.MCPEndpoint) error {
	var errs []error
	if e.Spec.Network.Ingress == nil {
		errs = append(errs, n.Children.Remove(ctx, n.Children.Cached, e, &networkingv1.Ingress{ObjectMeta: childMeta(e)}))
	}
	return errors.Join(errs...)
}

// childMeta is the name of an endpoint's children.
func childMeta(e *v1alpha1.MCPEndpoint) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: e.Namespace, Name: e.ServiceName()}
}

// applyIngress makes the Ingress if there should be one. cert-manager writes the certificate's Secret only once the Ingress
// is there, so a missing one does not hold it up.
func (n *Network) applyIngress(ctx context.Context, s *endpointScope) (*condition.Finding, error) {
	want := child.Ingress(s.endpoint)
	if want == nil {
		return nil, nil
	}
	missing, refused, err := n.certificate(ctx, s.endpoint)
	if err != nil || refused != nil {
		return refused, err
	}
	have := &networkingv1.Ingress{ObjectMeta: childMeta(s.endpoint)}
	if problem, err := s.childProblem(n.Children.Apply(ctx, s.endpoint, have, want)); problem != nil {
		return problem, err
	}
	if missing != nil {
		return missing, nil
	}
	return new(ingressAddress(have)), nil
}

// certificate looks for the Secret of the Ingress's certificate, if it names one.
func (n *Network) certificate(ctx context.Context, e *v1alpha1.MCPEndpoint) (missing, refused *condition.Finding, err error) {
	ref := e.Spec.Network.Ingress.CertificateSecretRef()
	if ref == nil {
		return nil, nil, nil
	}
	secret := cluster.MetadataOf("Secret")
	err = n.Cached.Get(ctx, client.ObjectKey{Namespace: e.Namespace, Name: ref.Name}, secret)
	switch {
	case apierrors.IsNotFound(err):
		return new(condition.Fails(v1alpha1.ReasonSecretNotFound, "Secret "+cluster.Quote(ref.Name)+
			" with the Ingress's certificate does not exist; make it, or have network.ingress.annotations ask cert-manager for it")), nil, nil
	case err == nil && !n.Secrets.Allows(secret, e.Name):
		return nil, new(n.Secrets.Refusal(ref.Name, e.Name)), nil
	}
	return nil, nil, err
}

// serviceAddress tells the address of a Service of type LoadBalancer; another Service needs none.
func (n *Network) serviceAddress(ctx context.Context, s *endpointScope) (*condition.Finding, error) {
	if s.endpoint.Spec.Network.Service.EffectiveType() != v1alpha1.ServiceLoadBalancer {
		return nil, nil
	}
	have := &corev1.Service{ObjectMeta: childMeta(s.endpoint)}
	if err := n.Children.Cached.Get(ctx, cluster.KeyOf(have), have); client.IgnoreNotFound(err) != nil {
		return nil, err
	}
	return new(loadBalancerAddress(have)), nil
}

// removeUnwatched deletes the objects of kinds without a watch that the endpoint does not ask for.
func (n *Network) removeUnwatched(ctx context.Context, e *v1alpha1.MCPEndpoint) error {
	if last, ok := n.looks.Get(cluster.KeyOf(e)); ok && last.isOf(e) {
		return nil // that look has deleted them
	}
	var errs []error
	for kind, want := range unwatchedChildren(e) {
		if want == nil {
			errs = append(errs, n.removeOf(ctx, e, kind))
		}
	}
	return errors.Join(errs...)
}

func (n *Network) removeOf(ctx context.Context, e *v1alpha1.MCPEndpoint, kind schema.GroupVersionKind) error {
	if installed, err := n.Installed.Has(kind); err != nil || !installed {
		return err
	}
	return n.Children.Remove(ctx, n.Children.Live, e, child.EmptyChild(e, kind))
}

func (l look) isOf(e *v1alpha1.MCPEndpoint) bool {
	return l.uid == e.UID && l.generation == e.Generation
}

// unwatchedChildren are the wanted objects of the kinds without a watch; nil is one that is not wanted.
func unwatchedChildren(e *v1alpha1.MCPEndpoint) map[schema.GroupVersionKind]*unstructured.Unstructured {
	return map[schema.GroupVersionKind]*unstructured.Unstructured{child.HTTPRouteKind: child.HTTPRoute(e), child.PodMonitorKind: child.PodMonitor(e)}
}

// lookAtUnwatched makes or deletes the objects of kinds without a watch, unless it is too early to look at them again.
func (n *Network) lookAtUnwatched(ctx context.Context, s *endpointScope) (networkFindings, error) {
	e, now := s.endpoint, n.Now()
	last, known := n.looks.Get(cluster.KeyOf(e))
	if !known || !last.isOf(e) || !last.until.IsZero() && !now.Before(last.until) {
		var err error
		if last, err = n.look(ctx, s); err != nil {
			n.looks.Forget(cluster.KeyOf(e))
			return last.found, err
		}
		n.looks.Set(cluster.KeyOf(e), last)
	}
	if !last.until.IsZero() {
		s.wakeIn(max(last.until.Sub(now), time.Millisecond))
	}
	return last.found, nil
}

func (n *Network) look(ctx context.Context, s *endpointScope) (look, error) {
	e := s.endpoint
	l := look{uid: e.UID, generation: e.Generation}
	notRemoved := n.removeUnwatched(ctx, e)
	var notRouted, notMonitored error
	if want := child.HTTPRoute(e); want != nil {
		var have *unstructured.Unstructured
		if have, l.found.httpRoute, notRouted = n.applyUnwatched(ctx, s, want); have != nil {
			l.found.httpRoute = new(routeAccepted(e, have))
		}
	}
	if want := child.PodMonitor(e); want != nil {
		var have *unstructured.Unstructured
		if have, l.found.podMonitor, notMonitored = n.applyUnwatched(ctx, s, want); have != nil {
			l.found.podMonitor = new(condition.Holds(v1alpha1.ReasonMonitored, "PodMonitor "+cluster.Quote(have.GetName())+" has the metrics of the server's pods read"))
		}
	}
	l.until = n.nextLook(l.found)
	return l, errors.Join(notRemoved, notRouted, notMonitored)
}

// nextLook is when to look again; zero is never.
func (n *Network) nextLook(found networkFindings) time.Time {
	var next time.Time
	for _, f := range []*condition.Finding{found.httpRoute, found.podMonitor} {
		if f == nil {
			continue
		}
		wait := n.LookAgain
		if f.Status == metav1.ConditionTrue {
			wait *= settledLooks
		}
		if at := n.Now().Add(wait); next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next
}

// applyUnwatched makes an object of a kind without a watch. It returns the present object, or what is wrong.
func (n *Network) applyUnwatched(ctx context.Context, s *endpointScope, want *unstructured.Unstructured) (*unstructured.Unstructured, *condition.Finding, error) {
	kind := want.GroupVersionKind()
	installed, err := n.Installed.Has(kind)
	if err == nil && installed {
		have := child.EmptyChild(s.endpoint, kind)
		if err = n.Children.ApplyUncached(ctx, s.endpoint, have, client.ApplyConfigurationFromUnstructured(want)); err == nil {
			return have, nil, nil
		}
		if cluster.IsKindGone(err) {
			n.Installed.Lose(kind)
			installed, err = false, nil
		}
	}
	if err == nil && !installed {
		return nil, new(kindMissing(kind)), nil
	}
	problem, err := s.childProblem(err)
	return nil, problem, err
}
