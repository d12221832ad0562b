package v1alpha1

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// What absent fields mean. The schema writes no defaults, so that an object holds what its author wrote and nothing
// else; whoever needs the value in force asks here.
const (
	DefaultMaxConnections        = 8
	DefaultStatementTimeout      = 10 * time.Second
	DefaultMaxStaleness          = 10 * time.Second
	DefaultMaxBodyBytes          = 4 << 20
	DefaultMaxConcurrentRequests = 200
	DefaultPageSize              = 100
	DefaultMaxPageSize           = 1000
	DefaultMaxBulkItems          = 1000
	DefaultMaxResultBytes        = 1 << 20
	DefaultMaxExportRows         = 100_000
	DefaultMaxTools              = 100
	DefaultInlineMax             = 100
	DefaultWebhookTimeout        = 10 * time.Second
)

// EffectiveModel is the model's name in force.
func (e *MCPModelExposure) EffectiveModel() string {
	if e.Spec.Model != "" {
		return e.Spec.Model
	}
	return strings.NewReplacer("-", "_", ".", "_").Replace(e.Name)
}

// EffectiveVerboseName is the model's name for people, singular.
func (e *MCPModelExposure) EffectiveVerboseName() string {
	if e.Spec.VerboseName != "" {
		return e.Spec.VerboseName
	}
	return strings.ReplaceAll(e.EffectiveModel(), "_", " ")
}

// EffectiveVerboseNamePlural is the model's name for people, plural. A name that is plural already does not change; many
// tables have such names.
func (e *MCPModelExposure) EffectiveVerboseNamePlural() string {
	if e.Spec.VerboseNamePlural != "" {
		return e.Spec.VerboseNamePlural
	}
	name := e.EffectiveVerboseName()
	if isPlural(name) {
		return name
	}
	switch stem, y := strings.CutSuffix(name, "y"); {
	case y && stem != "" && !strings.ContainsAny(stem[len(stem)-1:], "aeiou"):
		return stem + "ies"
	case hasAnySuffix(name, "s", "x", "z", "ch", "sh"):
		return name + "es"
	}
	return name + "s"
}

// isPlural reports whether a name looks like an English plural. Words that end in s and are singular end in ss, us or is,
// with few exceptions.
func isPlural(name string) bool {
	last := strings.ToLower(name[strings.LastIndexByte(name, ' ')+1:])
	if slices.Contains([]string{"people", "children", "men", "women", "mice", "data", "media", "criteria", "series", "news"}, last) {
		return true
	}
	singular := hasAnySuffix(last, "ss", "us", "is") || slices.Contains([]string{"s", "gas", "bias", "alias", "atlas", "canvas", "lens"}, last)
	return strings.HasSuffix(last, "s") && !singular
}

func hasAnySuffix(s string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(s, suffix) })
}

// String returns schema.name, or the name alone if there is no schema.
func (t TableReference) String() string {
	if t.Schema == "" {
		return t.Name
	}
	return t.Schema + "." + t.Name
}

// EffectiveExpose says whether the model is advertised.
func (s *MCPModelExposureSpec) EffectiveExpose() bool { return s.Expose != nil && *s.Expose }

// EffectivePinned says whether the model's own tools stay in a generic list.
func (s *MCPModelExposureSpec) EffectivePinned() bool { return s.Pinned != nil && *s.Pinned }

// EffectiveMaxPageSize caps the `limit` of a call.
func (l ModelLimits) EffectiveMaxPageSize() int32 {
	return positiveOr(l.MaxPageSize, DefaultMaxPageSize)
}

// EffectiveDefaultPageSize is the `limit` of a call that names none.
func (l ModelLimits) EffectiveDefaultPageSize() int32 {
	return min(positiveOr(l.DefaultPageSize, DefaultPageSize), l.EffectiveMaxPageSize())
}

// EffectiveMaxBulkItems is the most items of one bulk call.
func (l ModelLimits) EffectiveMaxBulkItems() int32 {
	return positiveOr(l.MaxBulkItems, DefaultMaxBulkItems)
}

// EffectiveMax is the most rows of the inline that one call shows or changes.
func (i InlineSpec) EffectiveMax() int32 { return positiveOr(i.Max, DefaultInlineMax) }

// EffectiveTotalCount is how total_count is found.
func (s *MCPModelExposureSpec) EffectiveTotalCount() TotalCountMode {
	if s.TotalCount != "" {
		return s.TotalCount
	}
	return TotalCountAuto
}

// EffectiveLookup is how the field is compared.
func (f FieldFilter) EffectiveLookup() Lookup {
	if f.Lookup != "" {
		return f.Lookup
	}
	return "exact"
}

// EffectiveRequires are the verbs that let a token run the action though no rule of it names the action; none if only
// such a rule does.
func (a *ActionSpec) EffectiveRequires() []RequiredVerb {
	if len(a.Requires) == 0 && a.Update != nil {
		return []RequiredVerb{RequiredVerb(VerbChange)}
	}
	return a.Requires
}

// EffectiveTimeout is the longest that the webhook may take.
func (w *WebhookSpec) EffectiveTimeout() time.Duration {
	if w.Timeout != nil {
		return w.Timeout.Duration
	}
	return DefaultWebhookTimeout
}

// ServiceName is the name of the endpoint's Service, Deployment, ServiceAccount, Role and RoleBinding.
func (e *MCPEndpoint) ServiceName() string { return e.Name + "-mcp" }

// ConfigSecretName is the name of the Secret with the endpoint's Config.
func (e *MCPEndpoint) ConfigSecretName() string { return e.Name + configSuffix }

// configSuffix ends the names of the Secrets with Configs, before the number of a token part.
const configSuffix = "-mcp-config"

// configNames is the form of the names of Secrets with Configs, also of other releases.
var configNames = regexp.MustCompile(configSuffix + `(-v[0-9]+)?(-tokens-[0-9]+)?$`)

// IsConfigSecretName reports whether only an endpoint's Config may be in a Secret of that name. MCPToken's schema refuses such
// names, too.
func IsConfigSecretName(name string) bool { return configNames.MatchString(name) }

// EffectiveMaxConnections is the most database connections of all pods together; of each pod if the pool names no number.
func (p PoolSpec) EffectiveMaxConnections() int32 {
	return positiveOr(p.MaxConnections, DefaultMaxConnections)
}

// EffectiveStatementTimeout is the longest that one statement may run.
func (d *DatabaseSpec) EffectiveStatementTimeout() time.Duration {
	if d.StatementTimeout != nil {
		return d.StatementTimeout.Duration
	}
	return DefaultStatementTimeout
}

// EffectiveMaxStaleness is how old the rows of a replica may be.
func (r *DatabaseReplicas) EffectiveMaxStaleness() time.Duration {
	if r.MaxStaleness != nil {
		return r.MaxStaleness.Duration
	}
	return DefaultMaxStaleness
}

// EffectiveAccess says what the server may do in its database.
func (d *DatabaseSpec) EffectiveAccess() DatabaseAccess {
	switch {
	case d.DuckDB != nil:
		return DatabaseReadOnly
	case d.Access != "":
		return d.Access
	}
	return DatabaseReadWrite
}

// EffectiveStyle is how tools/list names the tools.
func (c CatalogueSpec) EffectiveStyle() CatalogueStyle {
	if c.Style != "" {
		return c.Style
	}
	return CatalogueAuto
}

// EffectiveMaxTools is the most tools of a per-model list if the style is Auto.
func (c CatalogueSpec) EffectiveMaxTools() int32 { return positiveOr(c.MaxTools, DefaultMaxTools) }

// EffectiveMaxBodyBytes is the largest request body.
func (l ServerLimits) EffectiveMaxBodyBytes() int64 {
	return positiveOr(l.MaxBodyBytes, DefaultMaxBodyBytes)
}

// EffectiveMaxConcurrentRequests is how many requests one pod answers at once.
func (l ServerLimits) EffectiveMaxConcurrentRequests() int32 {
	return positiveOr(l.MaxConcurrentRequests, DefaultMaxConcurrentRequests)
}

// EffectiveMaxResultBytes is the most bytes of rows that a call may ask for.
func (l ServerLimits) EffectiveMaxResultBytes() int64 {
	return positiveOr(l.MaxResultBytes, DefaultMaxResultBytes)
}

// EffectiveMaxExportRows is the most rows of one export.
func (l ServerLimits) EffectiveMaxExportRows() int32 {
	return positiveOr(l.MaxExportRows, DefaultMaxExportRows)
}

// RequiresAuditLines reports whether a call fails whose audit line cannot be written.
func (e *MCPEndpoint) RequiresAuditLines() bool {
	return e.Spec.Observability.Audit.Delivery == AuditDeliveryRequired
}

func positiveOr[N int32 | int64](n, otherwise N) N {
	if n > 0 {
		return n
	}
	return otherwise
}

// Plain is the filter without any.
func (f RowFilter) Plain() FieldFilter {
	return FieldFilter{Field: f.Field, Lookup: f.Lookup, Value: f.Value, Values: f.Values, TokenAttribute: f.TokenAttribute}
}
