package can

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/manifests"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/rights"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// objects are the sources of an answer.
type objects struct {
	token     *v1alpha1.MCPToken
	endpoint  *v1alpha1.MCPEndpoint
	exposures []v1alpha1.MCPModelExposure
	// labels are the labels of the token's namespace, if it is not the endpoint's.
	labels map[string]string
}

// fromCluster reads the objects of a cluster.
func fromCluster(ctx context.Context, k *cluster.Cluster, name string) (*answer, error) {
	token, err := k.Token(ctx, name)
	if err != nil {
		return nil, err
	}
	o := objects{token: token}
	if o.endpoint, err = k.Endpoint(ctx, token.Endpoint()); err != nil {
		return nil, err
	}
	if o.exposures, err = k.Exposures(ctx, token.Endpoint()); err != nil {
		return nil, err
	}
	if token.Foreign() {
		var namespace corev1.Namespace
		if err := k.Get(ctx, client.ObjectKey{Name: token.Namespace}, &namespace); err != nil {
			return nil, fmt.Errorf("the labels of the token's namespace, which the endpoint may ask for: %w", cluster.Explain(err))
		}
		o.labels = namespace.Labels
	}
	a := o.answer()
	a.takeStatus(token)
	for i := range o.exposures {
		a.takeResolved(&o.exposures[i])
	}
	return a, nil
}

// answer compiles the objects. The token's text is no part of its rights: it is taken as known.
func (o objects) answer() *answer {
	key := cluster.Key(o.token)
	all := rights.Objects{Endpoint: o.endpoint, Exposures: o.exposures, Tokens: []v1alpha1.MCPToken{*o.token},
		Labels: map[string]map[string]string{o.token.Namespace: o.labels}}
	config, verdicts := all.Compile(time.Now())
	a := &answer{Token: key.String(), Endpoint: o.token.Endpoint().String(), Groups: o.token.Spec.NamedGroups(), Models: []compile.Access{}, Withheld: map[string]string{}}
	verdict, admitted := verdicts.Tokens[key]
	if admitted {
		a.InForce, a.NotInForce, a.Notes = verdict.InForce, verdict.Message, verdict.Notes
	} else {
		a.NotInForce = fmt.Sprintf("MCPEndpoint %s does not allow tokens of namespace %s (spec.allowedTokens)", o.endpoint.Name, o.token.Namespace)
	}
	if config == nil {
		a.NotInForce = verdicts.Endpoint.Message
		return a
	}
	for exposure, verdict := range verdicts.Exposures {
		if !verdict.Accepted {
			a.Withheld[exposure.Name] = verdict.Message
		}
	}
	if admitted {
		a.Models = compile.Explain(config, o.token)
		a.Tools = new(compile.ExplainTools(config, o.token))
	}
	return a
}

// takeStatus says what the controllers know of the token that its object does not tell: its text, and others with the same.
func (a *answer) takeStatus(t *v1alpha1.MCPToken) {
	ready := meta.FindStatusCondition(t.Status.Conditions, v1alpha1.ConditionReady)
	switch {
	case !a.InForce:
	case ready == nil || t.Status.ObservedGeneration != t.Generation:
		a.InForce, a.NotInForce = false, "the manager has not looked at it yet; \"mcp-admin doctor\" says whether it runs"
	case ready.Status != metav1.ConditionTrue:
		a.InForce, a.NotInForce = false, ready.Reason+": "+ready.Message
	}
}

// takeResolved says which models the database keeps from being served.
func (a *answer) takeResolved(e *v1alpha1.MCPModelExposure) {
	c := meta.FindStatusCondition(e.Status.Conditions, v1alpha1.ConditionResolved)
	if c != nil && c.Status == metav1.ConditionFalse && a.Withheld[e.Name] == "" {
		a.Withheld[e.Name] = c.Reason + ": " + c.Message
		a.Models = slices.DeleteFunc(a.Models, func(m compile.Access) bool { return m.Model == e.EffectiveModel() })
	}
}

// fromFiles reads the objects of manifests.
func fromFiles(ctx context.Context, paths []string, namespace, name string) (*answer, error) {
	m, err := manifests.Read(ctx, paths, metav1.NamespaceDefault)
	if err == nil {
		err = m.Err()
	}
	if err != nil {
		return nil, err
	}
	var o objects
	for i := range m.Tokens {
		t := &m.Tokens[i]
		if t.Name != name || namespace != "" && t.Namespace != namespace {
			continue
		}
		if o.token != nil {
			return nil, fmt.Errorf("the files hold MCPToken %q in the namespaces %s and %s; name one with -n", name, o.token.Namespace, t.Namespace)
		}
		o.token = t
	}
	if o.token == nil {
		return nil, fmt.Errorf("the files hold no MCPToken %q", name)
	}
	for i := range m.Endpoints {
		if cluster.Key(&m.Endpoints[i]) == o.token.Endpoint() {
			o.endpoint = &m.Endpoints[i]
		}
	}
	if o.endpoint == nil {
		return nil, fmt.Errorf("the files hold no MCPEndpoint %s, which MCPToken %q names", o.token.Endpoint(), name)
	}
	o.exposures, o.labels = m.Exposures, m.NamespaceLabels[o.token.Namespace]
	return o.answer(), nil
}
