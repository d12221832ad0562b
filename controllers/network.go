package controllers

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// network makes what an endpoint may ask for beside its workload: an Ingress, an HTTPRoute, a PodMonitor; and it deletes
// these and the NetworkPolicy once they are no longer asked for (docs/design/controllers.md, "Network").
type network struct {
	children *children
	// cached has the metadata of users' Secrets; secrets says which of them an endpoint may name.
	cached    client.Reader
	secrets   optIn
	installed installedKinds
	now       func() time.Time
	// lookAgain is how long to wait for what no watch tells.
	lookAgain time.Duration
	// looks are the last ones at the objects that are not watched, one for each endpoint.
	looks memo[types.NamespacedName, look]
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
type networkFindings struct{ service, ingress, httpRoute, podMonitor *finding }

// apply makes what the endpoint asks for, and takes away what it does not. It makes nothing new while the workload has a
// problem: the Service might be somebody else's. What fails holds up nothing else.
func (n *network) apply(ctx context.Context, s *endpointScope) error {
	s.routed = fails(v1alpha1.ReasonUnknown, "it is looked at once the server's objects are as the endpoint asks for")
	if s.endpoint.Spec.Observability.PodMonitor != nil {
		s.monitored = new(s.routed)
		s.monitored.aside = true // agents are answered without it
	}
	if !s.config.endpoint.Accepted || !s.config.stored {
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
		s.monitored.aside = true
	}
	return errors.Join(notRemoved, notFound, notApplied, notLooked)
}

// forget drops what is known of an endpoint.
func (n *network) forget(endpoint types.NamespacedName) { n.looks.forget(endpoint) }

// removeWatched deletes the watched objects that the endpoint does not ask for.
func (n *network) removeWatched(ctx context.Context, e *v1alpha1.MCPEndpoint) error {
	var errs []error
	if e.Spec.Network.Ingress == nil {
		errs = append(errs, n.children.remove(ctx, n.children.cached, e, &networkingv1.Ingress{ObjectMeta: childMeta(e)}))
	}
	return errors.Join(errs...)
}

// childMeta is the name of an endpoint's children.
func childMeta(e *v1alpha1.MCPEndpoint) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: e.Namespace, Name: e.ServiceName()}
}

// applyIngress makes the Ingress if there should be one. cert-manager writes the certificate's Secret only once the Ingress
// is there, so a missing one does not hold it up.
func (n *network) applyIngress(ctx context.Context, s *endpointScope) (*finding, error) {
	want := ingress(s.endpoint)
	if want == nil {
		return nil, nil
	}
	missing, refused, err := n.certificate(ctx, s.endpoint)
	if err != nil || refused != nil {
		return refused, err
	}
	have := &networkingv1.Ingress{ObjectMeta: childMeta(s.endpoint)}
	if problem, err := s.childProblem(n.children.apply(ctx, s.endpoint, have, want)); problem != nil {
		return problem, err
	}
	if missing != nil {
		return missing, nil
	}
	return new(ingressAddress(have)), nil
}

// certificate looks for the Secret of the Ingress's certificate, if it names one.
func (n *network) certificate(ctx context.Context, e *v1alpha1.MCPEndpoint) (missing, refused *finding, err error) {
	ref := e.Spec.Network.Ingress.CertificateSecretRef()
	if ref == nil {
		return nil, nil, nil
	}
	secret := metadataOf("Secret")
	err = n.cached.Get(ctx, client.ObjectKey{Namespace: e.Namespace, Name: ref.Name}, secret)
	switch {
	case apierrors.IsNotFound(err):
		return new(fails(v1alpha1.ReasonSecretNotFound, "Secret "+quote(ref.Name)+
			" with the Ingress's certificate does not exist; make it, or have network.ingress.annotations ask cert-manager for it")), nil, nil
	case err == nil && !n.secrets.allows(secret, e.Name):
		return nil, new(n.secrets.refusal(ref.Name, e.Name)), nil
	}
	return nil, nil, err
}

// serviceAddress tells the address of a Service of type LoadBalancer; another Service needs none.
func (n *network) serviceAddress(ctx context.Context, s *endpointScope) (*finding, error) {
	if s.endpoint.Spec.Network.Service.EffectiveType() != v1alpha1.ServiceLoadBalancer {
		return nil, nil
	}
	have := &corev1.Service{ObjectMeta: childMeta(s.endpoint)}
	if err := n.children.cached.Get(ctx, keyOf(have), have); client.IgnoreNotFound(err) != nil {
		return nil, err
	}
	return new(loadBalancerAddress(have)), nil
}

// removeUnwatched deletes the objects of kinds without a watch that the endpoint does not ask for.
func (n *network) removeUnwatched(ctx context.Context, e *v1alpha1.MCPEndpoint) error {
	if last, ok := n.looks.get(keyOf(e)); ok && last.isOf(e) {
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

func (n *network) removeOf(ctx context.Context, e *v1alpha1.MCPEndpoint, kind schema.GroupVersionKind) error {
	if installed, err := n.installed.has(kind); err != nil || !installed {
		return err
	}
	return n.children.remove(ctx, n.children.live, e, emptyChild(e, kind))
}

func (l look) isOf(e *v1alpha1.MCPEndpoint) bool {
	return l.uid == e.UID && l.generation == e.Generation
}

// unwatchedChildren are the wanted objects of the kinds without a watch; nil is one that is not wanted.
func unwatchedChildren(e *v1alpha1.MCPEndpoint) map[schema.GroupVersionKind]*unstructured.Unstructured {
	return map[schema.GroupVersionKind]*unstructured.Unstructured{httpRouteKind: httpRoute(e), podMonitorKind: podMonitor(e)}
}

// lookAtUnwatched makes or deletes the objects of kinds without a watch, unless it is too early to look at them again.
func (n *network) lookAtUnwatched(ctx context.Context, s *endpointScope) (networkFindings, error) {
	e, now := s.endpoint, n.now()
	last, known := n.looks.get(keyOf(e))
	if !known || !last.isOf(e) || !last.until.IsZero() && !now.Before(last.until) {
		var err error
		if last, err = n.look(ctx, s); err != nil {
			n.looks.forget(keyOf(e))
			return last.found, err
		}
		n.looks.set(keyOf(e), last)
	}
	if !last.until.IsZero() {
		s.wakeIn(max(last.until.Sub(now), time.Millisecond))
	}
	return last.found, nil
}

func (n *network) look(ctx context.Context, s *endpointScope) (look, error) {
	e := s.endpoint
	l := look{uid: e.UID, generation: e.Generation}
	notRemoved := n.removeUnwatched(ctx, e)
	var notRouted, notMonitored error
	if want := httpRoute(e); want != nil {
		var have *unstructured.Unstructured
		if have, l.found.httpRoute, notRouted = n.applyUnwatched(ctx, s, want); have != nil {
			l.found.httpRoute = new(routeAccepted(e, have))
		}
	}
	if want := podMonitor(e); want != nil {
		var have *unstructured.Unstructured
		if have, l.found.podMonitor, notMonitored = n.applyUnwatched(ctx, s, want); have != nil {
			l.found.podMonitor = new(holds(v1alpha1.ReasonMonitored, "PodMonitor "+quote(have.GetName())+" has the metrics of the server's pods read"))
		}
	}
	l.until = n.nextLook(l.found)
	return l, errors.Join(notRemoved, notRouted, notMonitored)
}

// nextLook is when to look again; zero is never.
func (n *network) nextLook(found networkFindings) time.Time {
	var next time.Time
	for _, f := range []*finding{found.httpRoute, found.podMonitor} {
		if f == nil {
			continue
		}
		wait := n.lookAgain
		if f.status == metav1.ConditionTrue {
			wait *= settledLooks
		}
		if at := n.now().Add(wait); next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next
}

// applyUnwatched makes an object of a kind without a watch. It returns the present object, or what is wrong.
func (n *network) applyUnwatched(ctx context.Context, s *endpointScope, want *unstructured.Unstructured) (*unstructured.Unstructured, *finding, error) {
	kind := want.GroupVersionKind()
	installed, err := n.installed.has(kind)
	if err == nil && installed {
		have := emptyChild(s.endpoint, kind)
		if err = n.children.applyUncached(ctx, s.endpoint, have, client.ApplyConfigurationFromUnstructured(want)); err == nil {
			return have, nil, nil
		}
		if isKindGone(err) {
			n.installed.lose(kind)
			installed, err = false, nil
		}
	}
	if err == nil && !installed {
		return nil, new(kindMissing(kind)), nil
	}
	problem, err := s.childProblem(err)
	return nil, problem, err
}
