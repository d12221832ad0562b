package controllers

import (
	"context"
	"errors"
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// child is an object that an endpoint owns: have is an empty one of its kind with its name, want what it should be, nil if
// there should be none.
type child struct {
	have client.Object
	want runtime.ApplyConfiguration
}

// workloadChildren are the objects that run an endpoint's server, in the order in which they are applied. parts is how
// many token parts there may be. An error is a templateFault.
func workloadChildren(e *v1alpha1.MCPEndpoint, parts int, options podOptions) ([]child, error) {
	template, err := podTemplate(e, options)
	if err != nil {
		return nil, err
	}
	meta := metav1.ObjectMeta{Namespace: e.Namespace, Name: e.ServiceName()}
	return []child{
		{&corev1.ServiceAccount{ObjectMeta: meta}, serviceAccount(e)},
		{&rbacv1.Role{ObjectMeta: meta}, role(e, parts)},
		{&rbacv1.RoleBinding{ObjectMeta: meta}, roleBinding(e)},
		// It comes before the pods: they are never reachable without it.
		{&networkingv1.NetworkPolicy{ObjectMeta: meta}, networkPolicy(e, options.managerNamespace)},
		{&corev1.Service{ObjectMeta: meta}, service(e)},
		{&appsv1.Deployment{ObjectMeta: meta}, deployment(e, template)},
		{&autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: meta}, autoscaler(e)},
		{&policyv1.PodDisruptionBudget{ObjectMeta: meta}, disruptionBudget(e)},
	}, nil
}

// workloadKinds are an empty object of each kind that workloadChildren makes.
func workloadKinds() []client.Object {
	return []client.Object{
		&corev1.ServiceAccount{}, &rbacv1.Role{}, &rbacv1.RoleBinding{}, &networkingv1.NetworkPolicy{}, &corev1.Service{}, &appsv1.Deployment{},
		&autoscalingv2.HorizontalPodAutoscaler{}, &policyv1.PodDisruptionBudget{},
	}
}

// wanted reports whether there should be such a child. A nil of an apply configuration's type counts as none.
func (c child) wanted() bool {
	return c.want != nil && !reflect.ValueOf(c.want).IsNil()
}

// applyWorkload applies the server's objects as the endpoint wants them. It leaves the objects of an invalid endpoint
// alone.
func (r *endpointReconciler) applyWorkload(ctx context.Context, s *endpointScope) error {
	defer timeStep("MCPEndpoint", stepApplyWorkload)()
	defer func() {
		if !s.rolloutWaits {
			r.rollouts.notWaiting(keyOf(s.endpoint))
		}
	}()
	if !s.config.endpoint.Accepted || !s.config.stored || s.workloadProblem != nil {
		return nil
	}
	e := s.endpoint
	if !r.pod.allows(e) {
		message := "the manager's --allow-server-image does not allow the image " + quote(e.Spec.Server.Image) + "; name an allowed image, or none"
		s.workloadProblem = new(fails(v1alpha1.ReasonImageNotAllowed, message))
		return nil
	}
	children, err := workloadChildren(e, s.config.parts, r.pod)
	var fault templateFault
	if errors.As(err, &fault) {
		s.workloadProblem = new(fails(v1alpha1.ReasonPodTemplateInvalid, fault.Error()))
		return nil
	} else if err != nil {
		return err
	}
	if err := r.checkAddedSecrets(ctx, s); err != nil || s.workloadProblem != nil {
		return err
	}
	return r.applyChildren(ctx, s, children)
}

// applyChildren removes what is no longer wanted, then applies what is. An autoscaler is gone before the number of pods
// is somebody else's again.
func (r *endpointReconciler) applyChildren(ctx context.Context, s *endpointScope, children []child) error {
	for _, child := range children {
		if !child.wanted() {
			if err := r.children.remove(ctx, r.children.cached, s.endpoint, child.have); err != nil {
				return s.notApplied(r, child, err)
			}
		}
	}
	for _, child := range children {
		if !child.wanted() {
			continue
		}
		err := r.children.applyIf(ctx, s.endpoint, child.have, child.want, func() error { return r.pace(ctx, s, child.have) })
		switch {
		case errors.Is(err, errRolloutWaits):
			s.rolloutWaits = true
			s.wakeIn(rolloutRecheck)
		case err != nil:
			r.rollouts.forget(keyOf(s.endpoint))
			return s.notApplied(r, child, err)
		}
	}
	return nil
}

// notApplied notes why a child could not be applied, and returns the error if it has to be tried again.
func (s *endpointScope) notApplied(r *endpointReconciler, c child, err error) error {
	var other otherManager
	if errors.As(err, &other) {
		return other
	}
	problem, retried := s.childProblem(err)
	s.workloadProblem = problem
	if problem.reason == v1alpha1.ReasonOwnershipConflict {
		r.conflicts.watch(keyOf(s.endpoint), c.have)
	}
	return retried
}
