package dev

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/manifests"
)

// Manifests are the objects that dev works with.
type Manifests struct {
	*manifests.Objects
	// leftOut are the tables for which no model was guessed, with the reasons.
	leftOut []string
	// uncheckedKeys are the models whose keys were guessed, with their columns.
	uncheckedKeys []string
}

// token is the MCPToken of a name; nil if there is none.
func (m *Manifests) token(key types.NamespacedName) *v1alpha1.MCPToken {
	for i := range m.Tokens {
		if t := &m.Tokens[i]; t.Namespace == key.Namespace && t.Name == key.Name {
			return t
		}
	}
	return nil
}

// secret is the data of the Secret that an endpoint's field names.
func (m *Manifests) secret(field, namespace, name string) (map[string][]byte, error) {
	key := types.NamespacedName{Namespace: namespace, Name: name}
	data, ok := m.Secrets[key]
	if !ok {
		return nil, fmt.Errorf("%s: the manifests hold no Secret %s", field, key)
	}
	return data, nil
}

// Endpoint returns the endpoint of that name ("name" or "namespace/name"), or the only one if the name is empty.
func (m *Manifests) Endpoint(name string) (*v1alpha1.MCPEndpoint, error) {
	var names []string
	var found []*v1alpha1.MCPEndpoint
	for i := range m.Endpoints {
		e := &m.Endpoints[i]
		full := e.Namespace + "/" + e.Name
		names = append(names, full)
		if name == "" || name == e.Name || name == full {
			found = append(found, e)
		}
	}
	switch {
	case len(names) == 0:
		return nil, errors.New("the manifests hold no MCPEndpoint")
	case len(found) == 0:
		return nil, fmt.Errorf("the manifests hold no MCPEndpoint %s, but %s", name, strings.Join(names, ", "))
	case len(found) > 1:
		return nil, fmt.Errorf("the manifests hold several MCPEndpoints: say which with --endpoint %s", strings.Join(names, " or --endpoint "))
	}
	return found[0], nil
}

// strays are the objects whose endpoint is not among the manifests.
func (m *Manifests) strays() []string {
	known := map[types.NamespacedName]bool{}
	for _, e := range m.Endpoints {
		known[types.NamespacedName{Namespace: e.Namespace, Name: e.Name}] = true
	}
	var strays []string
	check := func(kind, namespace, name string, endpoint types.NamespacedName) {
		if !known[endpoint] {
			strays = append(strays, fmt.Sprintf("%s %s/%s, since there is no MCPEndpoint %s", kind, namespace, name, endpoint))
		}
	}
	for _, e := range m.Exposures {
		check("MCPModelExposure", e.Namespace, e.Name, types.NamespacedName{Namespace: e.Namespace, Name: e.Spec.EndpointRef.Name})
	}
	for i := range m.Tokens {
		check("MCPToken", m.Tokens[i].Namespace, m.Tokens[i].Name, m.Tokens[i].Endpoint())
	}
	return strays
}
