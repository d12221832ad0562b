package compile

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// Inputs is everything that a Config depends on. None of it is changed.
type Inputs struct {
	// Endpoint is required.
	Endpoint *v1alpha1.MCPEndpoint
	// Exposures and Tokens may come in any order; objects of other endpoints and objects being deleted are passed over, and
	// so are tokens of namespaces that the endpoint does not admit.
	Exposures []v1alpha1.MCPModelExposure
	Tokens    []v1alpha1.MCPToken
	// NamespaceLabels are the labels of the tokens' namespaces, beside the endpoint's own.
	NamespaceLabels map[string]map[string]string
	// Credentials hold what the caller found out about the tokens' texts. A token without an entry has not been looked up
	// yet.
	Credentials map[types.NamespacedName]Credential
	// Webhooks are the Secrets that webhooks of the endpoint and its exposures name, by their names. One without an entry does not exist.
	Webhooks map[string]WebhookSecret
	// StatusKey protects the pods' /status; SealKey, 32 bytes in base64, cursors and confirmation tokens. Both are made
	// once, and then taken from Previous.
	StatusKey, SealKey string
	// Now decides what has expired.
	Now time.Time
	// Previous is the Config from before; nil if there is none.
	Previous *contract.Config
}

// Compile returns the whole Config of an endpoint, and what became of each object. Equal inputs give equal bytes, whatever
// the order of the objects. The Config is nil only if the endpoint is not valid and there is no Previous whose settings
// could be kept.
//
// An entry that equals the previous one keeps its revision, others get the new one; the Config's revision grows exactly
// if an entry is new, changed or gone (docs/design/controllers.md, "Revision and Programmed").
func Compile(in Inputs) (*contract.Config, Verdicts) {
	stored := Stored{StatusKey: in.StatusKey, SealKey: in.SealKey}
	if in.Previous != nil {
		main := *in.Previous
		main.Tokens = nil
		stored.Main = &main
		stored.Parts = []*contract.TokenPart{{Version: contract.Version, Revision: main.Revision, Tokens: in.Previous.Tokens}}
	}
	c := NewCompiler(stored)
	c.layout.fixed = true // the whole is one piece
	objects := Objects{Endpoint: in.Endpoint, Webhooks: in.Webhooks, Now: in.Now, Credential: func(t *v1alpha1.MCPToken) *Credential {
		if credential, ok := in.Credentials[keyOf(t)]; ok {
			return &credential
		}
		return nil
	}}
	of := types.NamespacedName{Namespace: in.Endpoint.Namespace, Name: in.Endpoint.Name}
	for i := range in.Exposures {
		if e := &in.Exposures[i]; e.Namespace == in.Endpoint.Namespace && e.Spec.EndpointRef.Name == in.Endpoint.Name {
			objects.Exposures = append(objects.Exposures, e)
		}
	}
	for i := range in.Tokens {
		t := &in.Tokens[i]
		if t.Endpoint() == of && Admits(in.Endpoint, t.Namespace, in.NamespaceLabels[t.Namespace]) {
			objects.Tokens = append(objects.Tokens, t)
		}
	}
	outcome := c.Update(objects)
	verdicts := Verdicts{
		Endpoint: c.Endpoint(), Exposures: c.Exposures(), LookAgain: outcome.LookAgain,
		Tokens: make(map[types.NamespacedName]TokenVerdict, len(c.tokens)),
	}
	for key, state := range c.tokens {
		verdicts.Tokens[key] = state.verdict
	}
	return c.Whole(), verdicts
}

// equal compares the written forms of two entries, so that an entry read back equals the one that was written.
func equal[T any](a, b T) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	left, errLeft := json.Marshal(a)
	right, errRight := json.Marshal(b)
	return errLeft == nil && errRight == nil && string(left) == string(right)
}

// judgeEndpoint tells whether an endpoint can be served. The API server has checked the object by its schema, if it was written
// since a rule was there; that no server could work with its entries is checked here in any case.
func judgeEndpoint(e *v1alpha1.MCPEndpoint, entry *contract.Endpoint, groups []contract.Group) Verdict {
	if errs := v1alpha1.ValidateMCPEndpoint(e); len(errs) > 0 {
		return invalid(errs.ToAggregate())
	}
	if kindsOf(&e.Spec.Database) != 1 { // what makes the pods takes it for granted
		return invalid(field.Invalid(field.NewPath("spec", "database"), field.OmitValueType{}, "exactly one of connectionSecretRef, sqlite and duckdb must be given"))
	}
	if err := entry.Validate(); err != nil {
		return invalid(err)
	}
	for i := range groups {
		if err := groups[i].Validate(); err != nil {
			return invalid(fmt.Errorf("group %q: %w", groups[i].Name, err))
		}
	}
	return accepted()
}

// kindsOf is how many kinds of database a spec has.
func kindsOf(d *v1alpha1.DatabaseSpec) int {
	kinds := 0
	for _, has := range []bool{d.ConnectionSecretRef != nil, d.SQLite != nil, d.DuckDB != nil} {
		if has {
			kinds++
		}
	}
	return kinds
}

// tlsModes are the API's words for libpq's sslmode.
var tlsModes = map[v1alpha1.TLSMode]string{
	"Disable": "disable", "Prefer": "prefer", "Require": "require", "VerifyCA": "verify-ca", "VerifyFull": "verify-full",
}

func (c *Compiler) endpointEntry(e *v1alpha1.MCPEndpoint) contract.Endpoint {
	database, limits := &e.Spec.Database, e.Spec.Server.Limits
	entry := contract.Endpoint{
		Namespace: e.Namespace,
		Name:      e.Name,
		URL:       e.EffectiveURL(),
		BasePath:  e.Spec.Server.BasePath,
		StatusKey: c.statusKey,
		SealKey:   c.sealKey,
		Database: contract.Database{
			Engine:            string(database.Engine),
			Schemas:           slices.Clone(database.Schemas),
			MaxConnections:    int(database.Pool.EffectiveMaxConnections()),
			ConnectionsShared: database.Pool.MaxConnections > 0 && database.SQLite == nil,
			StatementTimeout:  contract.Duration(database.EffectiveStatementTimeout()),
			ReadOnly:          database.EffectiveAccess() == v1alpha1.DatabaseReadOnly,
			SessionSettings:   sessionSettings(database.SessionSettings),
			TraceComments:     database.Comment == v1alpha1.CommentTrace,
		},
		Limits: contract.Limits{
			MaxBodyBytes:              limits.EffectiveMaxBodyBytes(),
			MaxConcurrentRequests:     int(limits.EffectiveMaxConcurrentRequests()),
			MaxResultBytes:            int(limits.EffectiveMaxResultBytes()),
			MaxExportRows:             int(limits.EffectiveMaxExportRows()),
			RequestsPerSecondPerToken: int(limits.RequestsPerSecondPerToken),
		},
	}
	entry.Authentication = authenticationEntry(e)
	entry.Approvals = approvalEntries(e)
	entry.Catalogue = contract.Catalogue{
		Style:             string(e.Spec.Catalogue.EffectiveStyle()),
		MaxTools:          int(e.Spec.Catalogue.EffectiveMaxTools()),
		StructuredContent: e.Spec.Catalogue.StructuredContent == v1alpha1.StructuredContentEnabled,
	}
	if audit := e.Spec.Audit; audit != nil {
		entry.Audit = &contract.AuditTable{Schema: audit.Table.Schema, Name: audit.Table.Name}
	}
	entry.AuditLines = auditLines(&e.Spec.Observability.Audit)
	entry.MetricsPerModel = e.Spec.Observability.Metrics == v1alpha1.MetricsPerModel
	if tracing := e.Spec.Observability.Tracing; tracing != nil {
		entry.Tracing = &contract.Tracing{
			Collector:      collectorEntry(&tracing.CollectorSpec),
			RatePerMillion: int(tracing.EffectiveSamplingRatePerMillion()),
			Arguments:      tracing.RecordArguments == v1alpha1.RecordArgumentNames,
			Statements:     tracing.RecordStatements == v1alpha1.RecordStatementText,
		}
	}
	if kept := e.Spec.Idempotency; kept != nil {
		entry.Idempotency = &contract.AuditTable{Schema: kept.Table.Schema, Name: kept.Table.Name}
	}
	if cors := e.Spec.Network.CORS; cors != nil {
		for _, origin := range cors.AllowedOrigins {
			entry.AllowedOrigins = append(entry.AllowedOrigins, string(origin))
		}
	}
	switch {
	case database.SQLite != nil:
		entry.Database.Engine = contract.EngineSQLite
	case database.DuckDB != nil:
		entry.Database.Engine = contract.EngineDuckDB
	}
	if ref := database.ConnectionSecretRef; ref != nil {
		entry.Database.ConnectionKey, entry.Database.Name = ref.Key, database.Name
		entry.Database.Replicas = replicasEntry(database.Replicas)
	}
	if tls := database.TLS; tls != nil {
		entry.Database.TLSMode = tlsModes[tls.Mode]
		if tls.CASecretRef != nil {
			entry.Database.CAKey = tls.CASecretRef.Key
		}
		entry.Database.ClientCertificate = tls.ClientCertificateSecretRef != nil
	}
	return entry
}

// groupEntries are the endpoint's groups with their rules, sorted by name.
func groupEntries(e *v1alpha1.MCPEndpoint) []contract.Group {
	var groups []contract.Group
	for i := range e.Spec.Groups {
		groups = append(groups, contract.Group{Name: e.Spec.Groups[i].Name, Rules: appendRules(nil, e.Spec.Groups[i].Permissions)})
	}
	slices.SortFunc(groups, func(a, b contract.Group) int { return cmp.Compare(a.Name, b.Name) })
	return groups
}

// groupNames are the names of the endpoint's groups.
func groupNames(e *v1alpha1.MCPEndpoint) []string {
	var names []string
	for i := range e.Spec.Groups {
		names = append(names, e.Spec.Groups[i].Name)
	}
	return names
}

// auditLines is what audit lines tell, and where they go.
func auditLines(spec *v1alpha1.AuditLinesSpec) contract.AuditLines {
	lines := contract.AuditLines{OCSF: spec.Format == v1alpha1.AuditFormatOCSF, Required: spec.Delivery == v1alpha1.AuditDeliveryRequired}
	if spec.Reads != v1alpha1.AuditReadsNone {
		lines.Reads = string(spec.Reads)
	}
	if files := spec.Files; files != nil {
		lines.Files = contract.AuditFiles{MaxFileBytes: files.EffectiveMaxFileBytes(), MaxTotalBytes: files.MaxTotalBytes}
		if files.RetentionPeriod != nil {
			lines.Files.MaxAge = contract.Duration(files.RetentionPeriod.Duration)
		}
	}
	if to := spec.OTLP; to != nil {
		lines.OTLP = new(collectorEntry(to))
	}
	return lines
}

func collectorEntry(spec *v1alpha1.CollectorSpec) contract.Collector {
	return contract.Collector{URL: spec.Endpoint, Protocol: string(spec.EffectiveProtocol()), Headers: spec.HeadersSecretRef != nil}
}
