package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// ceiling is how fast the API server takes the least number of writes that the scenario needs, with no manager running:
// copies of the scenario's own objects, of the same size, by the same users.
type ceiling struct {
	Rates []rate `json:"rates"`
	// Floor is how long those writes take in all, and FloorCPU what they take of the API server's and etcd's CPU, both in
	// seconds. The second holds on a machine that is busy with other things, too.
	Floor    float64 `json:"floorSeconds"`
	FloorCPU float64 `json:"floorCPUSeconds"`
}

// rate describes one kind of write: how many the scenario needs, how many there were in a second, and the CPU seconds
// of each.
type rate struct {
	What      string  `json:"what"`
	Needed    int     `json:"needed"`
	PerSecond float64 `json:"perSecond"`
	CPU       float64 `json:"cpuSeconds"`
}

// share is the part of the ceiling that the scenario reached.
func (c ceiling) share(r *result) float64 {
	if r.Ready == 0 {
		return 0
	}
	return c.Floor * r.done() / r.Ready.Seconds()
}

// shareCPU is share, of the CPU of the API server and etcd.
func (c ceiling) shareCPU(r *result) float64 {
	return c.FloorCPU * r.done() / (r.Bulk.APIServerCPU + r.Bulk.EtcdCPU)
}

// done is the part of the objects that became Ready.
func (r *result) done() float64 { return float64(r.Objects) / float64(r.Objects+r.NotReady) }

const (
	// Each kind of write is done so often, or for so long, by so many at once.
	ceilingWrites  = 300
	ceilingTime    = 4 * time.Second
	ceilingWorkers = 16
)

// measureCeiling stops the manager and writes.
func (r *run) measureCeiling(ctx context.Context) error {
	r.manager.kill()
	if err := r.client.Create(ctx, newNamespace(ceilingNamespace)); err != nil {
		return err
	}
	at := r.endpoint(0)
	endpoint, err := r.sample(ctx, kind("MCPEndpoint"), at)
	if err != nil {
		return err
	}
	exposure, err := r.sample(ctx, kind("MCPModelExposure"), types.NamespacedName{Namespace: at.Namespace, Name: at.Name + "-table-1"})
	if err != nil {
		return err
	}
	first := types.NamespacedName{Namespace: at.Namespace, Name: at.Name + "-token-1"}
	token, err := r.sample(ctx, kind("MCPToken"), first)
	if err != nil {
		return err
	}
	tokenSecret, err := r.sample(ctx, schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, first)
	if err != nil {
		return err
	}
	configs, workload, err := r.sampleChildren(ctx, at)
	if err != nil {
		return err
	}
	for _, w := range workload {
		if w.GetKind() == "Role" { // a RoleBinding must lead to one
			if err := r.client.Create(ctx, copyOf(w, w.GetName())); err != nil {
				return err
			}
		}
	}
	// One endpoint and its models are there before its tokens are.
	endpoints, exposures := r.Endpoints, r.Endpoints*r.Exposures
	if endpoints == 1 {
		endpoints, exposures = 0, 0
	}
	// Tokens that are issued meanwhile, to measure how long that takes, are as much work.
	tokens := r.Endpoints*r.Tokens + len(r.result.UnderLoad.Programmed)
	for _, w := range []struct {
		what   string
		needed int
		write  func(i int) error
	}{
		{"create MCPEndpoint", endpoints, r.copies(ctx, r.client, endpoint)},
		{"apply MCPEndpoint status", endpoints, r.statuses(ctx, endpoint)},
		{"create MCPModelExposure", exposures, r.copies(ctx, r.client, exposure)},
		{"apply MCPModelExposure status", exposures, r.statuses(ctx, exposure)},
		{"create MCPToken", tokens, r.copies(ctx, r.client, token)},
		{"apply MCPToken status", tokens, r.statuses(ctx, token)},
		{"create a token's Secret", tokens, r.copies(ctx, r.asManager, tokenSecret)},
		{"create a Config Secret", endpoints * len(configs), r.copies(ctx, r.asManager, configs...)},
		{"create ServiceAccount, Role, RoleBinding, Service or Deployment", endpoints * len(workload), r.copies(ctx, r.asManager, workload...)},
		{"create ReplicaSet and Pod, and write two statuses", endpoints, r.podWrites(ctx, at)},
	} {
		if w.needed == 0 {
			continue
		}
		measured, err := r.measureRate(ctx, w.write)
		if err != nil {
			return fmt.Errorf("%s: %w", w.what, err)
		}
		measured.What, measured.Needed = w.what, w.needed
		r.result.Ceiling.Rates = append(r.result.Ceiling.Rates, measured)
		r.result.Ceiling.Floor += float64(w.needed) / measured.PerSecond
		r.result.Ceiling.FloorCPU += float64(w.needed) * measured.CPU
	}
	return nil
}

// measureRate is how many writes there are in a second, and what each costs.
func (r *run) measureRate(ctx context.Context, write func(i int) error) (rate, error) {
	before, began := r.spent(), time.Now()
	var done atomic.Int64
	err := parallel(ctx, ceilingWorkers, ceilingWrites, func(i int) error {
		if time.Since(began) > ceilingTime {
			return nil
		}
		done.Add(1)
		return write(i)
	})
	writes, cpu := float64(done.Load()), r.spent().since(before)
	return rate{PerSecond: writes / time.Since(began).Seconds(), CPU: (cpu.apiServer + cpu.etcd).Seconds() / writes}, err
}

func kind(name string) schema.GroupVersionKind { return v1alpha1.GroupVersion.WithKind(name) }

// sample reads an object as it can be created again elsewhere, with its status.
func (r *run) sample(ctx context.Context, of schema.GroupVersionKind, at types.NamespacedName) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(of)
	return u, r.client.Get(ctx, at, u)
}

// sampleChildren reads what belongs to an endpoint: the Secrets of its Config, and its workload.
func (r *run) sampleChildren(ctx context.Context, at types.NamespacedName) (configs, workload []*unstructured.Unstructured, err error) {
	for _, of := range []schema.GroupVersionKind{
		{Version: "v1", Kind: "Secret"}, {Version: "v1", Kind: "ServiceAccount"}, {Version: "v1", Kind: "Service"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "RoleBinding"},
		{Group: "apps", Version: "v1", Kind: "Deployment"},
	} {
		component := "server"
		if of.Kind == "Secret" {
			component = "config"
		}
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(of)
		err := r.client.List(ctx, list, client.InNamespace(at.Namespace),
			client.MatchingLabels{"mcpadmin.dev/endpoint": at.Name, "mcpadmin.dev/component": component})
		if err != nil {
			return nil, nil, err
		}
		for i := range list.Items {
			if of.Kind == "Secret" {
				configs = append(configs, &list.Items[i])
			} else {
				workload = append(workload, &list.Items[i])
			}
		}
	}
	return configs, workload, nil
}

// copyOf is an object as new, under another name.
func copyOf(of *unstructured.Unstructured, name string) *unstructured.Unstructured {
	u := of.DeepCopy()
	delete(u.Object, "status")
	meta := map[string]any{"namespace": ceilingNamespace, "name": name}
	for _, kept := range []string{"labels", "annotations", "ownerReferences"} {
		if value, ok := of.Object["metadata"].(map[string]any)[kept]; ok {
			meta[kept] = value
		}
	}
	u.Object["metadata"] = meta
	unstructured.RemoveNestedField(u.Object, "spec", "clusterIP")
	unstructured.RemoveNestedField(u.Object, "spec", "clusterIPs")
	return u
}

func copyName(of client.Object, i int) string { return fmt.Sprintf("%s-copy-%d", of.GetName(), i) }

// copies creates copies of the objects in turn.
func (r *run) copies(ctx context.Context, as client.Client, of ...*unstructured.Unstructured) func(int) error {
	return func(i int) error {
		original := of[i%len(of)]
		return as.Create(ctx, copyOf(original, copyName(original, i)), fieldOwner)
	}
}

const fieldOwner = client.FieldOwner("mcp-admin-manager")

// statuses applies the object's status to its copies, as the manager does.
func (r *run) statuses(ctx context.Context, of *unstructured.Unstructured) func(int) error {
	return func(i int) error {
		u := copyOf(of, copyName(of, i))
		delete(u.Object, "spec")
		u.Object["metadata"] = map[string]any{"namespace": ceilingNamespace, "name": copyName(of, i)}
		u.Object["status"] = of.DeepCopy().Object["status"]
		return r.asManager.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(u), fieldOwner, client.ForceOwnership)
	}
}

// podWrites does what the Deployment's controller and the kubelet do for a pod.
func (r *run) podWrites(ctx context.Context, at types.NamespacedName) func(int) error {
	var d appsv1.Deployment
	if err := r.client.Get(ctx, types.NamespacedName{Namespace: at.Namespace, Name: at.Name + "-mcp"}, &d); err != nil {
		return func(int) error { return err }
	}
	return func(i int) error {
		copied := d.DeepCopy()
		copied.Namespace, copied.Name = ceilingNamespace, copyName(&d, i)
		set, pod := replicaSetAndPod(copied)
		if _, err := r.core.AppsV1().ReplicaSets(ceilingNamespace).Create(ctx, set, metav1.CreateOptions{}); err != nil {
			return err
		}
		pod, err := r.core.CoreV1().Pods(ceilingNamespace).Create(ctx, pod, metav1.CreateOptions{})
		for _, address := range []string{"127.0.0.1", "127.0.0.2"} { // the second stands for the Deployment's status
			if err == nil {
				pod.Status = readyStatus(address)
				pod, err = r.core.CoreV1().Pods(ceilingNamespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
			}
		}
		return err
	}
}
