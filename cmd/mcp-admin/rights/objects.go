// Package rights works out what the objects of an endpoint let tokens do, by the controllers' own compile step. It has the
// commands "mcp-admin matrix" and "mcp-admin who", which show it. The command can builds on it, too.
package rights

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/manifests"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// Objects are an endpoint with what belongs to it.
type Objects struct {
	Endpoint  *v1alpha1.MCPEndpoint
	Exposures []v1alpha1.MCPModelExposure
	Tokens    []v1alpha1.MCPToken
	// Labels are the labels of other namespaces whose tokens the endpoint may admit.
	Labels map[string]map[string]string
}

// Compile compiles the objects. The text of a token is no part of its rights, so each is taken as known. config is nil if the
// endpoint is not valid.
func (o *Objects) Compile(now time.Time) (config *contract.Config, verdicts compile.Verdicts) {
	credentials := map[types.NamespacedName]compile.Credential{}
	for i := range o.Tokens {
		key := cluster.Key(&o.Tokens[i])
		credentials[key] = compile.Credential{Hashes: []string{contract.HashToken(key.String())}}
	}
	config, verdicts = compile.Compile(compile.Inputs{
		Endpoint: o.Endpoint, Exposures: o.Exposures, Tokens: o.Tokens, NamespaceLabels: o.Labels, Credentials: credentials,
		Webhooks: o.webhooks(), Now: now,
	})
	if config != nil {
		o.completeModules(config)
	}
	return config, verdicts
}

// webhooks are stand-ins for the Secrets of webhooks, which are not read: whether one can be called is no right.
func (o *Objects) webhooks() map[string]compile.WebhookSecret {
	secrets := map[string]compile.WebhookSecret{}
	for i := range o.Exposures {
		for _, action := range o.Exposures[i].Spec.Actions {
			if action.Webhook != nil && action.Webhook.HeadersSecretRef != nil {
				secrets[action.Webhook.HeadersSecretRef.Name] = compile.WebhookSecret{Unsure: true}
			}
		}
	}
	return secrets
}

// completeModules gives models without a module their table's module, from their exposures' status.
func (o *Objects) completeModules(config *contract.Config) {
	for i := range config.Models {
		m := &config.Models[i]
		if schema, _, qualified := strings.Cut(o.exposure(m.Exposure).Status.Table, "."); m.Module == "" && qualified {
			m.Module = schema
		}
	}
}

// exposure returns the exposure of a name, which is there.
func (o *Objects) exposure(name string) *v1alpha1.MCPModelExposure {
	return &o.Exposures[slices.IndexFunc(o.Exposures, func(e v1alpha1.MCPModelExposure) bool { return e.Name == name })]
}

// FromCluster reads an endpoint with all that belongs to it. Of namespaces other than its own, tokens and labels are read if the
// endpoint admits any of them.
func FromCluster(ctx context.Context, k *cluster.Cluster, name string) (*Objects, error) {
	key := types.NamespacedName{Namespace: k.Namespace, Name: name}
	o := &Objects{Labels: map[string]map[string]string{}}
	var err error
	if o.Endpoint, err = k.Endpoint(ctx, key); err != nil {
		return nil, err
	}
	if o.Exposures, err = k.Exposures(ctx, key); err != nil {
		return nil, err
	}
	if o.Tokens, err = k.Tokens(ctx, key, o.Endpoint.Spec.AllowedTokens != nil); err != nil {
		return nil, err
	}
	for i := range o.Tokens {
		namespace := o.Tokens[i].Namespace
		if _, known := o.Labels[namespace]; known || namespace == k.Namespace {
			continue
		}
		var read corev1.Namespace
		if err := k.Get(ctx, types.NamespacedName{Name: namespace}, &read); err != nil {
			return nil, fmt.Errorf("the labels of namespace %s, which the endpoint may ask for: %w", namespace, cluster.Explain(err))
		}
		o.Labels[namespace] = read.Labels
	}
	return o, nil
}

// FromFiles reads the objects of manifests. An endpoint need not be named if there is one.
func FromFiles(ctx context.Context, paths []string, namespace, name string) (*Objects, error) {
	m, err := manifests.Read(ctx, paths, metav1.NamespaceDefault)
	if err == nil {
		err = m.Err()
	}
	if err != nil {
		return nil, err
	}
	var named []*v1alpha1.MCPEndpoint
	for i := range m.Endpoints {
		if e := &m.Endpoints[i]; (name == "" || e.Name == name) && (namespace == "" || e.Namespace == namespace) {
			named = append(named, e)
		}
	}
	switch {
	case len(named) == 0:
		return nil, fmt.Errorf("the files hold no MCPEndpoint %q", name)
	case len(named) > 1:
		return nil, fmt.Errorf("the files hold %d MCPEndpoints; name one, and its namespace with -n", len(named))
	}
	o := &Objects{Endpoint: named[0], Labels: m.NamespaceLabels}
	for i := range m.Exposures {
		if e := &m.Exposures[i]; e.Namespace == o.Endpoint.Namespace && e.Spec.EndpointRef.Name == o.Endpoint.Name {
			o.Exposures = append(o.Exposures, *e)
		}
	}
	for i := range m.Tokens {
		if t := &m.Tokens[i]; t.Endpoint() == cluster.Key(o.Endpoint) {
			o.Tokens = append(o.Tokens, *t)
		}
	}
	return o, nil
}
