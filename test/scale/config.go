package main

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// configSelector selects the Secrets in which the endpoints' Configs lie.
const configSelector = "mcpadmin.dev/component=config"

// endpointOf is the endpoint that a child belongs to.
func endpointOf(namespace string, labels map[string]string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: labels["mcpadmin.dev/endpoint"]}
}

// podConfig is an endpoint's Config as a pod has applied it. What it knows of the form of a Config is in this file.
type podConfig struct {
	config  *contract.Config
	refused *contract.Refusal
}

// hear takes a Secret of the Config as it is now; deleted reports that it is gone.
func (c *podConfig) hear(secret *corev1.Secret, deleted bool) {
	if deleted {
		*c = podConfig{}
		return
	}
	config, err := contract.Decode([]contract.Part{secret.Data})
	if err != nil {
		c.refused = &contract.Refusal{Message: err.Error()}
		return
	}
	c.config, c.refused = config, nil
}

// statusKey opens the pod's /status; "" is a pod without a Config, which answers nobody.
func (c *podConfig) statusKey() string {
	if c.config == nil {
		return ""
	}
	return c.config.Endpoint.StatusKey
}

// lets reports whether the pod would answer the holder of a token.
func (c *podConfig) lets(namespace, name string) bool {
	return c.config != nil && slices.ContainsFunc(c.config.Tokens, func(t contract.Token) bool {
		return t.Namespace == namespace && t.Name == name && len(t.Hashes) > 0
	})
}

// status is what the pod reports: it serves every model.
func (c *podConfig) status() contract.Status {
	s := contract.Status{
		Refused:  c.refused,
		Database: contract.DatabaseStatus{Reason: contract.ReasonConnected, Engine: "PostgreSQL", Version: "17.2", Name: "shop"},
	}
	if c.config == nil {
		return s
	}
	s.Revision, s.Ready = c.config.Revision, true
	for i := range c.config.Models {
		s.Models = append(s.Models, servedModel(&c.config.Models[i]))
	}
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
