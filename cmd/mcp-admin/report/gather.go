package report

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/status"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/version"
)

const (
	// logLines and maxLog bound what is read of one container's log: lines, and bytes.
	logLines = 2000
	maxLog   = 2 << 20
)

// gather reads all that the report has. It fails only if the endpoint cannot be read.
func gather(ctx context.Context, k *cluster.Cluster, key types.NamespacedName, now time.Time) (*report, error) {
	e, err := k.Endpoint(ctx, key)
	if err != nil {
		return nil, err
	}
	r := &report{left: []string{
		"the content of Secrets and ConfigMaps: only their names are there",
		"annotations, labels that are not the operator's, podTemplate, env, SQL, URLs, filters and texts that people wrote",
		"in messages and logs, what looks like a password, a token, a key or a URL's login",
	}}
	r.versions(k)
	r.status(ctx, k, key, now)
	r.addObject("objects/mcpendpoint.yaml", "the MCPEndpoint", r.cleaned(&e.ObjectMeta, e.Spec, e.Status))
	r.dependents(ctx, k, key)
	r.workload(ctx, k, e)
	pods, err := k.Pods(ctx, key)
	if err != nil {
		r.missing("pods", err)
	}
	for i := range pods {
		r.pod(ctx, k, &pods[i])
	}
	r.events(ctx, k, e)
	r.config(ctx, k, e)
	return r, nil
}

func (r *report) versions(k *cluster.Cluster) {
	v := map[string]string{"mcp-admin": version.String()}
	d, err := discovery.NewDiscoveryClientForConfig(k.Config)
	if err == nil {
		info, asked := d.ServerVersion()
		if err = asked; err == nil {
			v["kubernetes"] = info.GitVersion
		}
	}
	if err != nil {
		r.missing("the version of Kubernetes", err)
	}
	r.addObject("versions.yaml", "versions of mcp-admin and Kubernetes; those of the images are with the pods", v)
}

func (r *report) status(ctx context.Context, k *cluster.Cluster, key types.NamespacedName, now time.Time) {
	s, err := status.Collect(ctx, k, key, now)
	if err != nil {
		r.missing("the status", err)
		return
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		r.missing("the status", err)
		return
	}
	for _, unseen := range s.Unseen {
		r.left = append(r.left, string(blot([]byte(unseen))))
	}
	r.add("status.json", "what \"mcp-admin status -o json\" prints", text)
}

// cleaned is an object as the report has it.
func (r *report) cleaned(meta *metav1.ObjectMeta, spec, state any) map[string]any {
	kept, err := cleanSpec(spec)
	if err != nil {
		r.missing("the spec of "+meta.Name, err)
	}
	return map[string]any{"metadata": about(meta), "spec": kept, "status": state}
}

func (r *report) dependents(ctx context.Context, k *cluster.Cluster, key types.NamespacedName) {
	exposures, err := k.Exposures(ctx, key)
	if err != nil {
		r.missing("mcpmodelexposures", err)
	}
	var all []any
	for i := range exposures {
		x := &exposures[i]
		all = append(all, r.cleaned(&x.ObjectMeta, x.Spec, x.Status))
	}
	r.addObject("objects/mcpmodelexposures.yaml", "its MCPModelExposures", all)
	tokens, err := k.TokensInReach(ctx, key)
	if err != nil {
		r.missing("mcptokens", err)
	}
	all = nil
	for i := range tokens {
		t := &tokens[i]
		all = append(all, r.cleaned(&t.ObjectMeta, t.Spec, t.Status))
	}
	r.addObject("objects/mcptokens.yaml", "its MCPTokens; no text or hash of one", all)
}

// workload has the Deployment without its template, in which people may have written anything.
func (r *report) workload(ctx context.Context, k *cluster.Cluster, e *v1alpha1.MCPEndpoint) {
	var d appsv1.Deployment
	if err := k.Get(ctx, client.ObjectKey{Namespace: e.Namespace, Name: e.ServiceName()}, &d); err != nil {
		r.missing("the Deployment", cluster.Explain(err))
		return
	}
	r.addObject("objects/deployment.yaml", "its Deployment, without the pods' template", map[string]any{
		"metadata": about(&d.ObjectMeta), "replicas": d.Spec.Replicas, "strategy": d.Spec.Strategy, "status": d.Status,
	})
}

// pod has a pod's state, its logs and its metrics.
func (r *report) pod(ctx context.Context, k *cluster.Cluster, pod *corev1.Pod) {
	var containers []any
	for _, c := range pod.Spec.Containers {
		containers = append(containers, map[string]any{"name": c.Name, "image": c.Image, "resources": c.Resources})
	}
	folder := "pods/" + pod.Name + "/"
	r.addObject(folder+"pod.yaml", "the pod's containers and state", map[string]any{
		"metadata": about(&pod.ObjectMeta), "node": pod.Spec.NodeName, "containers": containers, "status": pod.Status,
	})
	r.log(ctx, k, pod, folder+"log.txt", corev1.PodLogOptions{})
	if slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool { return c.RestartCount > 0 }) {
		r.log(ctx, k, pod, folder+"log-previous.txt", corev1.PodLogOptions{Previous: true})
	}
	if text, err := k.Metrics(ctx, pod); err != nil {
		r.missing(folder+"metrics.txt", err)
	} else {
		r.add(folder+"metrics.txt", "the pod's metrics", text)
	}
}

func (r *report) log(ctx context.Context, k *cluster.Cluster, pod *corev1.Pod, name string, options corev1.PodLogOptions) {
	options.Container, options.TailLines, options.LimitBytes = cluster.ServerContainer, new(int64(logLines)), new(int64(maxLog))
	stream, err := k.Core.Pods(pod.Namespace).GetLogs(pod.Name, &options).Stream(ctx)
	if err != nil {
		r.missing(name, cluster.Explain(err))
		return
	}
	defer stream.Close()
	text, err := io.ReadAll(io.LimitReader(stream, maxLog))
	if err != nil {
		r.missing("the end of "+name, err)
	}
	r.add(name, fmt.Sprintf("the last %d lines of its log", logLines), text)
}

// event describes an event of Kubernetes in the report.
type event struct {
	Object  string    `json:"object"`
	Type    string    `json:"type"`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`
	Count   int32     `json:"count,omitempty"`
	Last    time.Time `json:"last,omitzero"`
}

// events adds the events of the endpoint, its models and tokens, and its pods.
func (r *report) events(ctx context.Context, k *cluster.Cluster, e *v1alpha1.MCPEndpoint) {
	var list corev1.EventList
	if err := k.List(ctx, &list, client.InNamespace(e.Namespace)); err != nil {
		r.missing("events", cluster.Explain(err))
		return
	}
	all := []event{}
	for i := range list.Items {
		v := &list.Items[i]
		o := v.InvolvedObject
		ours := o.Name == e.Name || o.Name == e.ServiceName() || strings.HasPrefix(o.Name, e.ServiceName()+"-") || o.Kind == "MCPModelExposure" || o.Kind == "MCPToken"
		if !ours {
			continue
		}
		last := v.LastTimestamp.Time
		if last.IsZero() {
			last = v.EventTime.Time
		}
		all = append(all, event{o.Kind + " " + o.Name, v.Type, v.Reason, v.Message, v.Count, last})
	}
	slices.SortStableFunc(all, func(a, b event) int { return a.Last.Compare(b.Last) })
	r.addObject("events.yaml", "events of the endpoint, its models and tokens, and its pods", all)
}

// shape describes one Secret of an endpoint's Config. It holds no entry of a token, and no setting.
type shape struct {
	Secret   string   `json:"secret"`
	Bytes    int      `json:"bytes"`
	Revision string   `json:"revision"`
	Version  int      `json:"version,omitempty"`
	Groups   []string `json:"groups,omitempty"`
	Models   []string `json:"models,omitempty"`
	Tokens   *int     `json:"tokens,omitempty"`
	Problem  string   `json:"problem,omitempty"`
}

// config adds the shapes of the endpoint's Config.
func (r *report) config(ctx context.Context, k *cluster.Cluster, e *v1alpha1.MCPEndpoint) {
	base := e.ConfigSecretName()
	var all []shape
	read := func(name string, see func(contract.Part, *shape) error) {
		var s corev1.Secret
		if err := k.Get(ctx, client.ObjectKey{Namespace: e.Namespace, Name: name}, &s); err != nil {
			r.missing("the shape of the Config in Secret "+name, cluster.Explain(err))
			return
		}
		out := shape{Secret: name, Revision: string(s.Data[contract.PartKeyRevision]), Bytes: len(s.Data[contract.PartKeyConfig])}
		if err := see(s.Data, &out); err != nil {
			out.Problem = err.Error()
		}
		all = append(all, out)
	}
	parts := 0
	read(contract.MainSecret(base), func(p contract.Part, out *shape) error {
		c, err := contract.DecodeMain(p)
		if err != nil {
			return err
		}
		parts, out.Version = c.Layout.Parts, c.Version
		for i := range c.Groups {
			out.Groups = append(out.Groups, c.Groups[i].Name)
		}
		for i := range c.Models {
			out.Models = append(out.Models, c.Models[i].Name)
		}
		return nil
	})
	for i := range parts {
		read(contract.TokensSecret(base, i), func(p contract.Part, out *shape) error {
			t, err := contract.DecodeTokens(p, i)
			if err == nil {
				out.Tokens = new(len(t.Tokens))
			}
			return err
		})
	}
	if len(all) > 0 {
		r.addObject("config.yaml", "the parts of its Config: sizes, revisions, names of models and groups, and how many tokens", all)
	}
}
