package contract

import (
	"cmp"
	"crypto/rand"
	"encoding/base64"
	"slices"
	"strings"
	"time"
)

// Version is the form of Config that this package reads and writes: one main part, and tokens in parts of their own.
const Version = 1

// Config is everything that a server needs to answer, but for the database itself. It lies in parts, each a Secret
// (docs/design/controllers.md, "The parts of a Config"). Tokens are known by their hash, and the database's credentials
// are read by the server from its own mount, but a webhook's headers and keys stand in it as they are.
type Config struct {
	// Version is the form of this Config.
	Version int `json:"version"`
	// Requires names what a reader must understand to serve any of this; a reader that does not refuses the Config.
	Requires []string `json:"requires,omitempty"`
	// Revision is the revision of the main part. All parts of an endpoint count with one counter, and a part takes its next
	// value whenever anything else in the part changes.
	Revision int64 `json:"revision"`
	// Layout says in which parts the tokens lie.
	Layout Layout `json:"layout,omitzero"`
	// Pods are those among which the limits of the whole endpoint are shared; zero: each pod has all of them.
	Pods Pods `json:"pods,omitzero"`

	Endpoint Endpoint `json:"endpoint"`
	// Groups are sorted by name.
	Groups []Group `json:"groups,omitempty"`
	// Models are sorted by name; no two share a name or a table.
	Models []Model `json:"models"`
	// Tokens are sorted by namespace and name; no two that are in force share a hash. They lie in parts of their own: the
	// main part has none.
	Tokens []Token `json:"tokens,omitempty"`
}

// Group is a named set of rules, which tokens refer to.
type Group struct {
	Name  string `json:"name"`
	Rules []Rule `json:"rules,omitempty"`
}

// Endpoint is the server's own settings.
type Endpoint struct {
	// Revision is the first revision of the Config that held this entry unchanged.
	Revision  int64  `json:"revision"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// URL is the URL that agents call.
	URL string `json:"url"`
	// BasePath stands before /mcp/ in request paths; "" or "/a/b".
	BasePath string `json:"basePath,omitempty"`
	// StatusKey is the bearer token of the pods' /status.
	StatusKey string `json:"statusKey"`
	// SealKey is 32 random bytes in base64: cursors and confirmation tokens are sealed with keys derived from it.
	SealKey  string   `json:"sealKey"`
	Database Database `json:"database"`
	Limits   Limits   `json:"limits"`
	// Catalogue says what tools/list shows.
	Catalogue Catalogue `json:"catalogue,omitzero"`
	// Audit is the table of the database in which changes are recorded; nil: no table, and no history.
	Audit *AuditTable `json:"audit,omitempty"`
	// AuditLines says what audit lines tell, and where they go.
	AuditLines AuditLines `json:"auditLines,omitzero"`
	// MetricsPerModel is set if the metrics of calls tell the models apart.
	MetricsPerModel bool `json:"metricsPerModel,omitempty"`
	// Tracing says where spans are sent; nil: nowhere, if the environment of the server does not say so.
	Tracing *Tracing `json:"tracing,omitempty"`
	// Idempotency is the table of the database in which the answers of calls with an idempotency key are kept; nil: such calls
	// are refused.
	Idempotency *AuditTable `json:"idempotency,omitempty"`
	// WithheldTables are the tables of exposures that were not accepted, sorted: nobody has rights on their rows, and nobody
	// may see them. A mistake in an exposure must not free its table for what others' deletions take along.
	WithheldTables []TableName `json:"withheldTables,omitempty"`
	// AllowedOrigins are the origins of pages that may call from a browser, beside the URL's own: scheme://host[:port],
	// where a host that begins with "*." stands for those with one more label.
	AllowedOrigins []string `json:"allowedOrigins,omitempty"`
	// Authentication says whose tokens are accepted, beside those whose hashes the Config has.
	Authentication Authentication `json:"authentication,omitzero"`
	// Approvals say which calls wait until other people allow them.
	Approvals []ApprovalPolicy `json:"approvals,omitempty"`
}

// NewSealKey returns a SealKey.
func NewSealKey() string {
	var random [32]byte
	rand.Read(random[:]) // never fails: the program ends if the system has no randomness
	return base64.StdEncoding.EncodeToString(random[:])
}

// The engines, as Config names them.
const (
	EnginePostgreSQL = "PostgreSQL"
	// EngineMySQL is MySQL and MariaDB.
	EngineMySQL  = "MySQL"
	EngineSQLite = "SQLite"
	// EngineDuckDB is DuckDB, and the Parquet and CSV files that it reads. It is only read, and only by programs that are built with C.
	EngineDuckDB = "DuckDB"
)

// DuckDBOnlyReads says why nothing is written over DuckDB.
const DuckDBOnlyReads = "DuckDB databases and files are only read"

// Database says how the server reaches its database. If the credentials and files lie in the pod, the server's command line
// says where.
type Database struct {
	// Engine is one of the Engine… constants; "" if the connection Secret decides.
	Engine string `json:"engine,omitempty"`
	// ConnectionKey is the one key of the connection Secret that holds a URI; "" if well-known keys are looked for.
	ConnectionKey string `json:"connectionKey,omitempty"`
	// Name takes the place of the database's name in the connection Secret; "" leaves it to the Secret.
	Name string `json:"name,omitempty"`
	// TLSMode is libpq's sslmode; "" if the Secret decides.
	TLSMode string `json:"tlsMode,omitempty"`
	// CAKey is the key of the mounted CA Secret; "" if there is none.
	CAKey string `json:"caKey,omitempty"`
	// ClientCertificate reports whether the mounted client certificate Secret has the certificate to show the database.
	ClientCertificate bool `json:"clientCertificate,omitempty"`
	// Schemas are searched in order for tables named without one; empty is the connection's search path.
	Schemas []string `json:"schemas,omitempty"`
	// MaxConnections is the most connections of each pod; of all pods together if ConnectionsShared is set.
	MaxConnections    int      `json:"maxConnections"`
	ConnectionsShared bool     `json:"connectionsShared,omitempty"`
	StatementTimeout  Duration `json:"statementTimeout"`
	ReadOnly          bool     `json:"readOnly,omitempty"`
	// Replicas are servers that follow the database; nil if there are none.
	Replicas *Replicas `json:"replicas,omitempty"`
	// SessionSettings describe the caller to the database in each of the caller's transactions; PostgreSQL only.
	SessionSettings []SessionSetting `json:"sessionSettings,omitempty"`
	// TraceComments reports whether each statement of a caller names the caller and the trace in a comment; PostgreSQL only.
	TraceComments bool `json:"traceComments,omitempty"`
}

// SessionSetting is a setting of the database's session.
type SessionSetting struct {
	Name string `json:"name"`
	// Source is one of the Session… constants; Attribute is the attribute's name of the last.
	Source    string `json:"source"`
	Attribute string `json:"attribute,omitempty"`
}

// The sources of SessionSetting.
const (
	SessionToken     = "Token"
	SessionGroups    = "Groups"
	SessionAttribute = "Attribute"
)

// Source is how the connection Secret is read.
func (d *Database) Source() ConnectionSource {
	return ConnectionSource{Engine: d.Engine, Key: d.ConnectionKey, Database: d.Name, WithCertificate: d.ClientCertificate}
}

// Replica is the database as a replica has it: with the same settings, but only for reading.
func (d *Database) Replica() Database {
	replica := *d
	replica.ConnectionKey = d.Replicas.ConnectionKey
	replica.MaxConnections, replica.ConnectionsShared = d.Replicas.MaxConnections, d.Replicas.ConnectionsShared
	replica.ReadOnly, replica.Replicas = true, nil
	return replica
}

// Replicas are servers that follow a database. The models whose ReadsReplica is set are read from them.
type Replicas struct {
	// ConnectionKey is as in Database, for the replicas' own connection Secret.
	ConnectionKey string `json:"connectionKey,omitempty"`
	// MaxStaleness is how old what they show may be.
	MaxStaleness Duration `json:"maxStaleness"`
	// MaxConnections and ConnectionsShared are as in Database.
	MaxConnections    int  `json:"maxConnections"`
	ConnectionsShared bool `json:"connectionsShared,omitempty"`
}

// Limits bound what requests may cost.
type Limits struct {
	// MaxBodyBytes is the largest request body, in bytes.
	MaxBodyBytes int64 `json:"maxBodyBytes"`
	// MaxConcurrentRequests is how many requests are answered at once.
	MaxConcurrentRequests int `json:"maxConcurrentRequests"`
	// MaxResultBytes is the size, in bytes, at which the rows of one answer are cut off.
	MaxResultBytes int `json:"maxResultBytes"`
	// MaxExportRows is the most rows of one export; 0: nothing can be exported.
	MaxExportRows int `json:"maxExportRows,omitempty"`
	// RequestsPerSecondPerToken is each token's rate, for all pods together; bulk and batch count their items. 0 is no limit.
	RequestsPerSecondPerToken int `json:"requestsPerSecondPerToken,omitempty"`
}

// Catalogue says what tools/list shows, and what comes with each answer.
type Catalogue struct {
	// Style is one of the Style… constants; "" is StyleAuto.
	Style string `json:"style,omitempty"`
	// MaxTools is the most tools of a per-model list under StyleAuto; 0 is any number.
	MaxTools int `json:"maxTools,omitempty"`
	// StructuredContent adds outputSchema to tools and structuredContent to answers.
	StructuredContent bool `json:"structuredContent,omitempty"`
}

// The styles of tools/list (docs/design/catalogue.md, "Styles").
const (
	StylePerModel = "PerModel"
	StyleGeneric  = "Generic"
	StyleAuto     = "Auto"
)

// AuditLines says what audit lines tell, and where they go beside standard output.
type AuditLines struct {
	// Reads is AuditSummary or AuditRows if there are lines about calls that read, "" if there are none.
	Reads string `json:"reads,omitempty"`
	// OCSF has each line be an event of OCSF.
	OCSF bool `json:"ocsf,omitempty"`
	// Required has a call fail if its line cannot be written.
	Required bool `json:"required,omitempty"`
	// Files bounds the files that keep the lines, too, in pods that have a folder for them.
	Files AuditFiles `json:"files,omitzero"`
	// OTLP is the collector that gets the lines, too; nil: none does.
	OTLP *Collector `json:"otlp,omitempty"`
}

// AuditFiles bounds files of audit lines: the bytes of one and of all together, and how long one stays. 0 is no bound.
type AuditFiles struct {
	MaxFileBytes  int64    `json:"maxFileBytes,omitempty"`
	MaxTotalBytes int64    `json:"maxTotalBytes,omitempty"`
	MaxAge        Duration `json:"maxAge,omitempty"`
}

// The values of AuditLines.Reads. With AuditSummary a line tells who asked what, and how many rows the answer had; with AuditRows also their ids.
const (
	AuditSummary = "Summary"
	AuditRows    = "Rows"
)

// AuditTable names a table of the server's own, such as the audit table; the server makes it if it is missing and may.
type AuditTable struct {
	Schema string `json:"schema,omitempty"`
	Name   string `json:"name"`
}

// TableName names a table of the database.
type TableName struct {
	// Schema is "" for the first schema of the search path that has the table, and on engines without schemas.
	Schema string `json:"schema,omitempty"`
	Name   string `json:"name"`
}

// Token is one MCPToken. Without a hash and an identity it is in force no more: the entry stays so that its revision tells when
// the pods refused it.
type Token struct {
	// Revision is the first revision of the Config that held this entry unchanged.
	Revision  int64  `json:"revision"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid,omitempty"`
	// PublicID is the token's name in logs.
	PublicID string `json:"publicID,omitempty"`
	// Refused is why the token is not in force, as a condition's reason; "" if it is. Only the operator learns of it.
	Refused string `json:"refused,omitempty"`
	// RefusedSums tell the operator whose text was refused, if the token has expired or is not active: the RefusedSum of each of its
	// hashes, or of its Identity's. They let nobody in, and would not do so as Hashes.
	RefusedSums []string `json:"refusedSums,omitempty"`
	// Hashes are hex SHA-256 sums of whole texts; any of these texts is this token.
	Hashes []string `json:"hashes,omitempty"`
	// Identity says which callers the token is for, in the place of Hashes.
	Identity *Identity `json:"identity,omitempty"`
	// Expiry is the moment from which the token is refused.
	Expiry *time.Time `json:"expiry,omitempty"`
	// ShortLived is set if the token lives for 30 days at most, from its object's creation to its Expiry: such tokens are followed
	// by others, and nobody need be told of their end.
	ShortLived bool `json:"shortLived,omitempty"`
	// Rules are the token's own. The rules of its Groups hold too; a group that the Config does not have grants nothing.
	Rules []Rule `json:"rules,omitempty"`
	// Groups and Attributes are for row policies.
	Groups     []string          `json:"groups,omitempty"`
	Attributes map[string]string `json:"attributes,omitempty"`
	// Requires names what a reader must understand to let this token in; a reader that does not refuses the token.
	Requires []string `json:"requires,omitempty"`
}

// Rule grants verbs and actions on models; docs/design/rights.md, "Rules".
type Rule struct {
	// Modules is empty if any module will do.
	Modules []string `json:"modules,omitempty"`
	// Models are model names; "*" is any.
	Models []string `json:"models"`
	// Verbs are view, add, change, delete and export; "*" is all but export.
	Verbs []string `json:"verbs,omitempty"`
	// Actions are the names of declared actions, granted whatever they require; "*" is any.
	Actions []string `json:"actions,omitempty"`
}

// The verbs of a Rule.
const (
	VerbView   = "view"
	VerbAdd    = "add"
	VerbChange = "change"
	VerbDelete = "delete"
	VerbExport = "export"
	Wildcard   = "*"
)

// InForce reports whether the token lets anybody in.
func (t *Token) InForce() bool { return len(t.Hashes) > 0 || t.Identity != nil }

// FindModel returns the entry of an exposure, or nil.
func (c *Config) FindModel(exposure, uid string) *Model {
	i := slices.IndexFunc(c.Models, func(m Model) bool { return m.Exposure == exposure && m.UID == uid })
	if i < 0 {
		return nil
	}
	return &c.Models[i]
}

// FindToken returns the entry of an MCPToken, or nil.
func (c *Config) FindToken(namespace, name, uid string) *Token {
	i, found := slices.BinarySearchFunc(c.Tokens, Token{Namespace: namespace, Name: name}, CompareTokens)
	if !found || c.Tokens[i].UID != uid {
		return nil
	}
	return &c.Tokens[i]
}

// FindGroup returns the group of a name, or nil.
func (c *Config) FindGroup(name string) *Group {
	i := slices.IndexFunc(c.Groups, func(g Group) bool { return g.Name == name })
	if i < 0 {
		return nil
	}
	return &c.Groups[i]
}

// RulesOf returns a token's own rules and its groups' rules, together.
func (c *Config) RulesOf(t *Token) []Rule {
	rules := t.Rules[:len(t.Rules):len(t.Rules)]
	for _, name := range t.Groups {
		if group := c.FindGroup(name); group != nil {
			rules = append(rules, group.Rules...)
		}
	}
	return rules
}

// CompareTokens orders tokens by namespace and name.
func CompareTokens(a, b Token) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// Duration is a time.Duration written as Go writes it ("10s").
type Duration time.Duration

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}
