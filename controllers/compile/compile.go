package compile

import (
	"encoding/json"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// Inputs is everything that a Config depends on. None of it is changed.
type Inputs struct {
	// Endpoint is required.
	Endpoint *v1alpha1.MCPEndpoint
	// Exposures and Tokens may come in any order; those of other endpoints and those being deleted are passed over, and so
	// are tokens of namespaces that the endpoint does not admit.
	Exposures []v1alpha1.MCPModelExposure
	Tokens    []v1alpha1.MCPToken
	// NamespaceLabels are the labels of the tokens' namespaces, beside the endpoint's own.
	NamespaceLabels map[string]map[string]string
	// SomeNamespaces reports whether the manager watches only some namespaces: no token of another namespace is admitted.
	SomeNamespaces bool
	// Credentials are what the caller found of the tokens' texts. A token without an entry has not been looked up yet: it
	// keeps the hashes that the previous Config has for it, so that a manager that has just started drops no living token.
	Credentials map[types.NamespacedName]Credential
	// Webhooks are the Secrets that the exposures' webhooks name, by their names. One without an entry does not exist.
	Webhooks map[string]WebhookSecret
	// StatusKey protects the pods' /status; SealKey, 32 bytes in base64, cursors and confirmation tokens. Both are made
	// once, and then those of Previous.
	StatusKey, SealKey string
	// Now decides what has expired.
	Now time.Time
	// Previous is the Config that is written at present; nil if there is none.
	Previous *contract.Config
	// Floor is the highest revision that any pod may have applied, or any object's status may name. A Previous below it
	// is not what the pods have, so that the revision continues above Floor and every entry counts as new.
	Floor int64
}

// Compile returns the Config of an endpoint, and what became of each object. Equal inputs give equal bytes, whatever
// the order of the objects. The Config is nil only if the endpoint is not valid and there is no Previous whose
// settings could be kept.
//
// An entry that equals the previous one keeps its revision, others get the new one; the Config's revision grows by one
// exactly if an entry is new, changed or gone (docs/design/controllers.md, "Revision and Programmed").
func Compile(in Inputs) (*contract.Config, Verdicts) {
	verdicts := Verdicts{
		Endpoint:  judgeEndpoint(in.Endpoint),
		Exposures: map[types.NamespacedName]Verdict{},
		Tokens:    map[types.NamespacedName]TokenVerdict{},
	}
	previous := in.Previous
	if previous != nil && previous.Revision < in.Floor {
		previous = nil
	}
	config := &contract.Config{Version: contract.Version, MinReader: contract.Version}
	switch {
	case verdicts.Endpoint.Accepted:
		config.Endpoint = endpointEntry(in)
	case in.Previous != nil:
		config.Endpoint = in.Previous.Endpoint
	default:
		verdicts.withoutEndpoint(in)
		return nil, verdicts
	}
	verdicts.Endpoint.Lack = in.unwatched()
	config.Models, config.Endpoint.WithheldTables = compileModels(in, verdicts)
	config.Tokens = compileTokens(in, &verdicts)
	noteRights(in, config, &verdicts)
	next := in.Floor + 1
	if previous != nil {
		next = previous.Revision + 1
	}
	assignRevisions(config, previous, next)

	verdicts.Endpoint.Revision = config.Endpoint.Revision
	for _, m := range config.Models {
		key := types.NamespacedName{Namespace: config.Endpoint.Namespace, Name: m.Exposure}
		v := verdicts.Exposures[key]
		v.Revision = m.Revision
		verdicts.Exposures[key] = v
	}
	for _, t := range config.Tokens {
		key := types.NamespacedName{Namespace: t.Namespace, Name: t.Name}
		v := verdicts.Tokens[key]
		v.Revision = t.Revision
		verdicts.Tokens[key] = v
	}
	return config, verdicts
}

// assignRevisions gives each entry its previous revision if it is the same but for that, and next otherwise.
func assignRevisions(config, previous *contract.Config, next int64) {
	if previous == nil {
		previous = &contract.Config{}
	}
	old := indexed(previous)
	changed := config.Version != previous.Version || config.MinReader != previous.MinReader ||
		len(config.Models) != len(previous.Models) || len(config.Tokens) != len(previous.Tokens)

	config.Endpoint.Revision = previous.Endpoint.Revision
	if !equal(config.Endpoint, previous.Endpoint) {
		config.Endpoint.Revision, changed = next, true
	}
	for i := range config.Models {
		m := &config.Models[i]
		before := old.models[modelKey(m)]
		if m.Revision = before.Revision; !equal(*m, before) {
			m.Revision, changed = next, true
		}
	}
	for i := range config.Tokens {
		t := &config.Tokens[i]
		before := old.tokens[tokenKey(t)]
		if t.Revision = before.Revision; !equal(*t, before) {
			t.Revision, changed = next, true
		}
	}
	if config.Revision = previous.Revision; changed {
		config.Revision = next
	}
}

// entries are a Config's, by the object that each is made of.
type entries struct {
	models map[[2]string]contract.Model
	tokens map[[3]string]contract.Token
}

func indexed(c *contract.Config) entries {
	e := entries{make(map[[2]string]contract.Model, len(c.Models)), make(map[[3]string]contract.Token, len(c.Tokens))}
	for i := range c.Models {
		e.models[modelKey(&c.Models[i])] = c.Models[i]
	}
	for i := range c.Tokens {
		e.tokens[tokenKey(&c.Tokens[i])] = c.Tokens[i]
	}
	return e
}

func modelKey(m *contract.Model) [2]string { return [2]string{m.Exposure, m.UID} }

func tokenKey(t *contract.Token) [3]string { return [3]string{t.Namespace, t.Name, t.UID} }

// equal compares two entries as they are written, so that an entry read back equals the one that was written.
func equal[T any](a, b T) bool {
	left, errLeft := json.Marshal(a)
	right, errRight := json.Marshal(b)
	return errLeft == nil && errRight == nil && string(left) == string(right)
}

// OnlyAdds reports whether next takes nothing away that previous gives: it only adds models and tokens, or puts tokens
// in force. Only such a change may be gathered with others before it is written (docs/design/controllers.md, "Gathering
// changes").
func OnlyAdds(previous, next *contract.Config) bool {
	if previous == nil {
		return true
	}
	if !equal(previous.Endpoint, next.Endpoint) {
		return false
	}
	now := indexed(next)
	for i := range previous.Models {
		m := &previous.Models[i]
		if still, ok := now.models[modelKey(m)]; !ok || still.Revision != m.Revision {
			return false
		}
	}
	for i := range previous.Tokens {
		t := &previous.Tokens[i]
		if still, ok := now.tokens[tokenKey(t)]; len(t.Hashes) > 0 && (!ok || still.Revision != t.Revision) {
			return false
		}
	}
	return true
}

// WithoutAdditions returns next without its additions to previous: new models and tokens, and tokens that are in force
// again. What next removes or changes stays removed or changed.
func WithoutAdditions(previous, next *contract.Config) *contract.Config {
	narrowed := *next
	narrowed.Models, narrowed.Tokens = nil, nil
	for _, m := range next.Models {
		if previous.FindModel(m.Exposure, m.UID) != nil {
			narrowed.Models = append(narrowed.Models, m)
		}
	}
	for _, t := range next.Tokens {
		old := previous.FindToken(t.Namespace, t.Name, t.UID)
		switch {
		case old == nil:
		case len(old.Hashes) == 0:
			narrowed.Tokens = append(narrowed.Tokens, *old)
		default:
			narrowed.Tokens = append(narrowed.Tokens, t)
		}
	}
	return &narrowed
}

func judgeEndpoint(e *v1alpha1.MCPEndpoint) Verdict {
	if errs := v1alpha1.ValidateMCPEndpoint(e); len(errs) > 0 {
		return invalid(errs)
	}
	return accepted()
}

// tlsModes are the API's words for libpq's sslmode.
var tlsModes = map[v1alpha1.TLSMode]string{
	"Disable": "disable", "Prefer": "prefer", "Require": "require", "VerifyCA": "verify-ca", "VerifyFull": "verify-full",
}

func endpointEntry(in Inputs) contract.Endpoint {
	e := in.Endpoint
	database, limits := &e.Spec.Database, e.Spec.Server.Limits
	entry := contract.Endpoint{
		Namespace: e.Namespace,
		Name:      e.Name,
		URL:       e.EffectiveURL(),
		BasePath:  e.Spec.Server.BasePath,
		StatusKey: in.StatusKey,
		SealKey:   in.SealKey,
		Database: contract.Database{
			Engine:           string(database.Engine),
			Schemas:          slices.Clone(database.Schemas),
			MaxConnections:   int(database.Pool.EffectiveMaxConnections()),
			StatementTimeout: contract.Duration(database.EffectiveStatementTimeout()),
			ReadOnly:         database.EffectiveAccess() == v1alpha1.DatabaseReadOnly,
		},
		Limits: contract.Limits{
			MaxBodyBytes:              limits.EffectiveMaxBodyBytes(),
			MaxConcurrentRequests:     int(limits.EffectiveMaxConcurrentRequests()),
			MaxResultBytes:            int(limits.EffectiveMaxResultBytes()),
			RequestsPerSecondPerToken: int(limits.RequestsPerSecondPerToken),
		},
	}
	entry.Catalogue = contract.Catalogue{
		Style:             string(e.Spec.Catalogue.EffectiveStyle()),
		MaxTools:          int(e.Spec.Catalogue.EffectiveMaxTools()),
		StructuredContent: e.Spec.Catalogue.StructuredContent == v1alpha1.StructuredContentEnabled,
	}
	if audit := e.Spec.Audit; audit != nil {
		entry.Audit = &contract.AuditTable{Schema: audit.Table.Schema, Name: audit.Table.Name}
	}
	if cors := e.Spec.Network.CORS; cors != nil {
		for _, origin := range cors.AllowedOrigins {
			entry.AllowedOrigins = append(entry.AllowedOrigins, string(origin))
		}
	}
	if database.SQLite != nil {
		entry.Database.Engine = contract.EngineSQLite
	}
	if ref := database.ConnectionSecretRef; ref != nil {
		entry.Database.ConnectionKey = ref.Key
	}
	if tls := database.TLS; tls != nil {
		entry.Database.TLSMode = tlsModes[tls.Mode]
		if tls.CASecretRef != nil {
			entry.Database.CAKey = tls.CASecretRef.Key
		}
	}
	return entry
}
