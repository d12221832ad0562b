package contract

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Version is the form of Config that this package writes.
const Version = 1

// Config is everything that a server needs to answer, but for the database itself. Holds no plain-text secret: tokens
// are known by their hash, and the database's credentials are read by the server from its own mount.
type Config struct {
	// Version is the form of this Config; MinReader the oldest Version whose readers understand it.
	Version   int `json:"version"`
	MinReader int `json:"minReader"`
	// Revision grows by one whenever anything else in the Config changes.
	Revision int64 `json:"revision"`

	Endpoint Endpoint `json:"endpoint"`
	// Models are sorted by name; no two share a name or a table.
	Models []Model `json:"models"`
	// Tokens are sorted by namespace and name; no two that are in force share a hash.
	Tokens []Token `json:"tokens"`
}

// Endpoint is the server's own settings.
type Endpoint struct {
	// Revision is the first revision of the Config that held this entry as it is.
	Revision  int64  `json:"revision"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// URL is what agents call.
	URL string `json:"url"`
	// BasePath stands before /mcp/ in request paths; "" or "/a/b".
	BasePath string `json:"basePath,omitempty"`
	// StatusKey is the bearer token of the pods' /status.
	StatusKey string   `json:"statusKey"`
	Database  Database `json:"database"`
	Limits    Limits   `json:"limits"`
	// AllowedOrigins are the origins of pages that may call from a browser, beside the URL's own: scheme://host[:port],
	// where a host that begins with "*." stands for those with one more label.
	AllowedOrigins []string `json:"allowedOrigins,omitempty"`
}

// The engines, as Config names them.
const (
	EnginePostgreSQL = "PostgreSQL"
	EngineSQLite     = "SQLite"
)

// Database says how the server reaches its database. Where the credentials and files lie in the pod, the server is
// told by its command line.
type Database struct {
	// Engine is EnginePostgreSQL or EngineSQLite; "" where the connection Secret decides.
	Engine string `json:"engine,omitempty"`
	// ConnectionKey is the one key of the connection Secret that holds a URI; "" where well-known keys are looked for.
	ConnectionKey string `json:"connectionKey,omitempty"`
	// TLSMode is libpq's sslmode; "" where the Secret decides.
	TLSMode string `json:"tlsMode,omitempty"`
	// CAKey is the key of the mounted CA Secret; "" where there is none.
	CAKey string `json:"caKey,omitempty"`
	// Schemas are searched in order for tables named without one; empty is the connection's search path.
	Schemas          []string `json:"schemas,omitempty"`
	MaxConnections   int      `json:"maxConnections"`
	StatementTimeout Duration `json:"statementTimeout"`
	ReadOnly         bool     `json:"readOnly,omitempty"`
}

// Limits bound what requests may cost.
type Limits struct {
	// MaxBodyBytes is the largest request body, in bytes.
	MaxBodyBytes int64 `json:"maxBodyBytes"`
	// MaxConcurrentRequests is how many requests are answered at once.
	MaxConcurrentRequests int `json:"maxConcurrentRequests"`
}

// Model is one table under the name that agents use.
type Model struct {
	// Revision is the first revision of the Config that held this entry as it is.
	Revision int64 `json:"revision"`
	// Exposure is the name of the MCPModelExposure, in the endpoint's namespace; UID its identity.
	Exposure string `json:"exposure"`
	UID      string `json:"uid,omitempty"`
	// Created is when the exposure was made: of two that turn out to have one table, the older keeps it, then the one
	// whose name comes first.
	Created time.Time `json:"created,omitzero"`
	Name    string    `json:"name"`
	// Module is "" where it is the table's schema.
	Module            string   `json:"module,omitempty"`
	Schema            string   `json:"schema,omitempty"`
	Table             string   `json:"table"`
	Expose            bool     `json:"expose,omitempty"`
	VerboseName       string   `json:"verboseName"`
	VerboseNamePlural string   `json:"verboseNamePlural"`
	Description       string   `json:"description,omitempty"`
	Include           []string `json:"include,omitempty"`
	Exclude           []string `json:"exclude,omitempty"`
	SearchFields      []string `json:"searchFields,omitempty"`
	Ordering          []string `json:"ordering,omitempty"`
	ListDisplay       []string `json:"listDisplay,omitempty"`
	DefaultPageSize   int      `json:"defaultPageSize"`
	MaxPageSize       int      `json:"maxPageSize"`
}

// Token is one MCPToken. Without a hash it is in force no more: the entry stays so that its revision tells when the
// pods refused it.
type Token struct {
	// Revision is the first revision of the Config that held this entry as it is.
	Revision  int64  `json:"revision"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid,omitempty"`
	// PublicID is the token's name in logs.
	PublicID string `json:"publicID,omitempty"`
	// Hashes are hex SHA-256 sums of the whole text, any of which is this token.
	Hashes []string `json:"hashes,omitempty"`
	// Expiry is the moment from which the token is refused.
	Expiry *time.Time `json:"expiry,omitempty"`
	// Rules are the token's own and its groups', together.
	Rules []Rule `json:"rules,omitempty"`
}

// Rule grants verbs on models; decisions section 8.
type Rule struct {
	// Modules is empty where any module will do.
	Modules []string `json:"modules,omitempty"`
	// Models are model names; "*" is any.
	Models []string `json:"models"`
	// Verbs are view, add, change and delete; "*" is all four.
	Verbs []string `json:"verbs,omitempty"`
}

// The verbs of a Rule.
const (
	VerbView   = "view"
	VerbAdd    = "add"
	VerbChange = "change"
	VerbDelete = "delete"
	Wildcard   = "*"
)

// CompareAge is negative where m wins over other, should both turn out to name the same table: the older exposure does,
// then the one whose name sorts first.
func (m *Model) CompareAge(other *Model) int {
	return cmp.Or(m.Created.Compare(other.Created), strings.Compare(m.Exposure, other.Exposure))
}

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
	i, found := slices.BinarySearchFunc(c.Tokens, Token{Namespace: namespace, Name: name}, func(a, b Token) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	if !found || c.Tokens[i].UID != uid {
		return nil
	}
	return &c.Tokens[i]
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
