package main

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// configSelector selects the Secrets in which the endpoints' Configs lie.
const configSelector = "mcpadmin.dev/component=config"

// endpointOf is the endpoint that a child belongs to.
func endpointOf(namespace string, labels map[string]string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: labels["mcpadmin.dev/endpoint"]}
}

// podConfig is an endpoint's Config as a pod has applied it. What the laboratory knows of the form of a Config is in this
// file. Others may read it while a copy of it hears more.
type podConfig struct {
	main *contract.Config
	// models is the pod's report of the main part's models, count the number of main parts so far.
	models []contract.ModelStatus
	count  int
	// parts are the token parts by index; nil is one that is missing.
	parts   []*tokenPart
	refused *contract.Refusal
}

// tokenPart is a token part as a pod knows it: the tokens that it lets in.
type tokenPart struct {
	revision int64
	lets     map[tokenName]bool
}

type tokenName struct{ namespace, name string }

// hear takes a Secret of the Config in its present state; deleted reports that it is gone.
func (c *podConfig) hear(secret *corev1.Secret, deleted bool) {
	base := (&v1alpha1.MCPEndpoint{ObjectMeta: metav1.ObjectMeta{Name: endpointOf(secret.Namespace, secret.Labels).Name}}).ConfigSecretName()
	index, _ := strconv.Atoi(string(secret.Data[contract.PartKeyIndex]))
	var err error
	switch {
	case secret.Name == contract.MainSecret(base) && deleted:
		c.main, c.models = nil, nil
	case secret.Name == contract.MainSecret(base):
		err = c.hearMain(secret.Data)
	case secret.Name == contract.TokensSecret(base, index):
		c.parts = slices.Clone(c.parts)
		for len(c.parts) <= index {
			c.parts = append(c.parts, nil)
		}
		c.parts[index], err = readTokens(secret.Data, index, deleted)
	default: // it is for servers of another release
		return
	}
	if c.refused = nil; err != nil {
		c.refused = &contract.Refusal{Secret: secret.Name, Message: err.Error()}
	}
}

func (c *podConfig) hearMain(data contract.Part) error {
	main, err := contract.DecodeMain(data)
	if err != nil {
		return err
	}
	c.main, c.models = main, make([]contract.ModelStatus, len(main.Models))
	for i := range main.Models {
		c.models[i] = servedModel(&main.Models[i])
	}
	c.count++
	return nil
}

func readTokens(data contract.Part, index int, deleted bool) (*tokenPart, error) {
	if deleted {
		return nil, nil
	}
	content, err := contract.DecodeTokens(data, index)
	if err != nil {
		return nil, err
	}
	part := &tokenPart{content.Revision, make(map[tokenName]bool, len(content.Tokens))}
	for i := range content.Tokens {
		if t := &content.Tokens[i]; t.InForce() {
			part.lets[tokenName{t.Namespace, t.Name}] = true
		}
	}
	return part, nil
}

// statusKey opens the pod's /status; "" is a pod without a Config, which answers nobody.
func (c *podConfig) statusKey() string {
	if c.main == nil {
		return ""
	}
	return c.main.Endpoint.StatusKey
}

// tokenParts are the parts that the pod answers from: the former layout's as long as some of the present one are
// missing.
func (c *podConfig) tokenParts() []*tokenPart {
	parts := make([]*tokenPart, c.main.Layout.Parts)
	copy(parts, c.parts)
	if before := c.main.Layout.Before; before > 0 && slices.Contains(parts, nil) && !slices.Contains(parts[:before], nil) {
		return parts[:before]
	}
	return parts
}

// lets reports whether the pod would answer the holder of a token.
func (c *podConfig) lets(namespace, name string) bool {
	if c.main == nil {
		return false
	}
	parts := c.tokenParts()
	part := parts[contract.PartOf(namespace, name, len(parts))]
	return part != nil && part.lets[tokenName{namespace, name}]
}

// status is the pod's report: it serves every model.
func (c *podConfig) status() contract.Status {
	s := contract.Status{
		Version: contract.Version, Refused: c.refused,
		Database: contract.DatabaseStatus{Reason: contract.ReasonConnected, Engine: "PostgreSQL", Version: "17.2", Name: "shop"},
	}
	if c.main == nil {
		return s
	}
	s.Revision, s.Ready = c.main.Revision, true
	for _, part := range c.tokenParts() {
		revision := int64(0)
		if part != nil {
			revision = part.revision
		}
		s.TokenParts = append(s.TokenParts, revision)
	}
	s.Models, s.ModelsSerial = c.models, strconv.Itoa(c.count)
	return s
}

var (
	columns = []string{"id", "name", "state", "price", "created_at", "updated_at", "customer_id", "note"}
	verbs   = []string{"list", "get", "create", "update", "delete", "bulk", "action", "describe", "history", "lookup", "aggregate", "related", "export"}
)

// servedModel is a model with as much to tell as one of a common table has.
func servedModel(m *contract.Model) contract.ModelStatus {
	s := contract.ModelStatus{
		Exposure: m.Exposure, UID: m.UID, Name: m.Name, Reason: contract.ReasonServed,
		Table: "public." + m.Table, Columns: columns, Key: columns[:1],
	}
	for _, verb := range verbs {
		s.Tools = append(s.Tools, verb+"_"+m.Name)
	}
	return s
}
