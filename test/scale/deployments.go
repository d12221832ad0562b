package main

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	toolswatch "k8s.io/client-go/tools/watch"
)

// watcher is a typed client that can watch its kind.
type watcher interface {
	Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
}

// source lets a RetryWatcher watch what a selector selects.
type source struct {
	watcher
	selector string
}

// WatchWithContext implements cache.WatcherWithContext.
func (s source) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	options.LabelSelector = s.selector
	return s.Watch(ctx, options)
}

// follow calls a function for every change of a kind after a resourceVersion, until the context ends.
func follow[O runtime.Object](ctx context.Context, w watcher, from, selector string, changed func(object O, deleted bool)) error {
	stream, err := toolswatch.NewRetryWatcherWithContext(ctx, from, source{w, selector})
	if err != nil {
		return err
	}
	go func() {
		for event := range stream.ResultChan() {
			if o, ok := event.Object.(O); ok {
				changed(o, event.Type == watch.Deleted)
			}
		}
	}()
	return nil
}

// rollout is a Deployment to roll out, for the first time or again.
type rollout struct {
	deployment *appsv1.Deployment
	first      bool
}

// followDeployments does what the controller of Deployments and the kubelet would.
func (p *pods) followDeployments(ctx context.Context, from string) error {
	work := make(chan rollout, 1<<16)
	for range 4 {
		go func() {
			for {
				select {
				case <-ctx.Done():
					return
				case r := <-work:
					if err := p.roll(ctx, r); err != nil && ctx.Err() == nil {
						fmt.Printf("  a pod of %s/%s: %v\n", r.deployment.Namespace, r.deployment.Name, err)
					}
				}
			}
		}()
	}
	rolled := map[types.UID]int64{} // the generation of each
	return follow(ctx, p.core.AppsV1().Deployments(""), from, "mcpadmin.dev/component=server", func(d *appsv1.Deployment, deleted bool) {
		if before := rolled[d.UID]; !deleted && d.Namespace != ceilingNamespace && before < d.Generation {
			rolled[d.UID] = d.Generation
			work <- rollout{d, before == 0}
		}
	})
}

// roll makes a Deployment's ReplicaSet and Ready pod. A Deployment that is changed keeps them.
func (p *pods) roll(ctx context.Context, r rollout) error {
	if r.first {
		if err := p.makePod(ctx, r.deployment); err != nil {
			return err
		}
	}
	d := r.deployment.DeepCopy()
	d.ResourceVersion = "" // whoever changed it meanwhile
	d.Status = appsv1.DeploymentStatus{
		ObservedGeneration: d.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
		Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}},
	}
	_, err := p.core.AppsV1().Deployments(d.Namespace).UpdateStatus(ctx, d, metav1.UpdateOptions{})
	return err
}

func (p *pods) makePod(ctx context.Context, d *appsv1.Deployment) error {
	set, made := replicaSetAndPod(d)
	set, err := p.core.AppsV1().ReplicaSets(d.Namespace).Create(ctx, set, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	address, err := p.listen(p.of(endpointOf(d.Namespace, d.Labels)))
	if err != nil {
		return err
	}
	made.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))}
	made, err = p.core.CoreV1().Pods(d.Namespace).Create(ctx, made, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	made.Status = readyStatus(address.String())
	_, err = p.core.CoreV1().Pods(d.Namespace).UpdateStatus(ctx, made, metav1.UpdateOptions{})
	return err
}

func replicaSetAndPod(d *appsv1.Deployment) (*appsv1.ReplicaSet, *corev1.Pod) {
	name := d.Name + "-1"
	set := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: d.Namespace, Name: name, Labels: d.Spec.Template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(d, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
		},
		Spec: appsv1.ReplicaSetSpec{Selector: d.Spec.Selector, Template: d.Spec.Template},
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: name + "-1", Labels: d.Spec.Template.Labels},
		Spec:       *d.Spec.Template.Spec.DeepCopy(),
	}
	pod.Spec.NodeName = "simulated"
	return set, pod
}

func readyStatus(address string) corev1.PodStatus {
	return corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: address, PodIPs: []corev1.PodIP{{IP: address}},
		StartTime: &metav1.Time{Time: time.Now()},
		Conditions: []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()},
		},
	}
}
