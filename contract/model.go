package contract

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"
)

// Model is one table under the name that agents use.
type Model struct {
	// Revision is the first revision of the Config that held this entry unchanged.
	Revision int64 `json:"revision"`
	// Exposure is the name of the MCPModelExposure, in the endpoint's namespace; UID its identity.
	Exposure string `json:"exposure"`
	UID      string `json:"uid,omitempty"`
	// Created is when the exposure was made: of two that turn out to have one table, the older keeps it, then the one
	// whose name comes first.
	Created time.Time `json:"created,omitzero"`
	Name    string    `json:"name"`
	// Module is "" if it is the table's schema.
	Module string `json:"module,omitempty"`
	Schema string `json:"schema,omitempty"`
	Table  string `json:"table"`
	Expose bool   `json:"expose,omitempty"`
	// Pinned keeps the model's own tools in a generic list.
	Pinned            bool   `json:"pinned,omitempty"`
	VerboseName       string `json:"verboseName"`
	VerboseNamePlural string `json:"verboseNamePlural"`
	Description       string `json:"description,omitempty"`
	// Synonyms are other words for the model.
	Synonyms []string `json:"synonyms,omitempty"`
	// Key names the columns of the key if the table declares none.
	Key []string `json:"key,omitempty"`
	// Lists of fields hold column or API names.
	Include      []string        `json:"include,omitempty"`
	Exclude      []string        `json:"exclude,omitempty"`
	ReadOnly     []string        `json:"readOnly,omitempty"`
	Masked       []MaskedField   `json:"masked,omitempty"`
	Overrides    []FieldOverride `json:"overrides,omitempty"`
	DisplayField string          `json:"displayField,omitempty"`
	SearchFields []string        `json:"searchFields,omitempty"`
	// SearchMode is SearchContains, or "" to use the full-text index that the table has.
	SearchMode  string     `json:"searchMode,omitempty"`
	Ordering    []string   `json:"ordering,omitempty"`
	ListDisplay []string   `json:"listDisplay,omitempty"`
	Relations   []Relation `json:"relations,omitempty"`
	// Measures and Segments have names of their own, each its list.
	Measures []Declared `json:"measures,omitempty"`
	Segments []Declared `json:"segments,omitempty"`
	// Questions are what people ask, each once.
	Questions []Question `json:"questions,omitempty"`
	Inlines   []Inline   `json:"inlines,omitempty"`
	// Operations are the tools offered ("list", "create", …); empty is all that the table allows.
	Operations []string `json:"operations,omitempty"`
	Actions    []Action `json:"actions,omitempty"`
	// Reports are the declared queries. They are apart from Actions: a reader that does not know them leaves them out.
	Reports []Report `json:"reports,omitempty"`
	// RowPolicies say which rows a token sees; if there is any, a token that matches none sees no row.
	RowPolicies []RowPolicy `json:"rowPolicies,omitempty"`
	// DatabaseMessages reports whether callers see the texts that triggers and procedures raise.
	DatabaseMessages bool `json:"databaseMessages,omitempty"`
	// VersionField is the column of optimistic concurrency; "" is none.
	VersionField string `json:"versionField,omitempty"`
	// TotalCount is one of the Total… constants.
	TotalCount      string `json:"totalCount,omitempty"`
	DefaultPageSize int    `json:"defaultPageSize"`
	MaxPageSize     int    `json:"maxPageSize"`
	MaxBulkItems    int    `json:"maxBulkItems"`
	// ReadsReplica lets tools that show rows read them from a replica, if the endpoint has any.
	ReadsReplica bool `json:"readsReplica,omitempty"`
	// MinGroupSize leaves groups of fewer rows out of aggregates; 0 leaves out none.
	MinGroupSize int `json:"minGroupSize,omitempty"`
	// Requires names what a reader must understand to serve the model; a reader that does not withholds it.
	Requires []string `json:"requires,omitempty"`
}

// The ways of total_count (docs/design/tools.md, "Total counts"); "" is TotalAuto.
const (
	TotalAuto   = "Auto"
	TotalExact  = "Exact"
	TotalCapped = "Capped"
)

// SearchContains has search look for pieces of texts, whatever full-text index the table has.
const SearchContains = "Contains"

// MaskedField is a field that is readable only as **** and its last characters.
type MaskedField struct {
	Name     string `json:"name"`
	KeepLast int    `json:"keepLast,omitempty"`
}

// FieldOverride says more of a field than the database does.
type FieldOverride struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Synonyms are other words for the field.
	Synonyms []string `json:"synonyms,omitempty"`
	// Type is TypeInteger or TypeBoolean, for a column that can be either; "" leaves it to the schema.
	Type string `json:"type,omitempty"`
	// Reads is one of Readings: what the texts of the column hold, or TypeText for integers that are codes; "" is neither.
	Reads string `json:"reads,omitempty"`
	// Examples lets describe_ show values of a column that has few.
	Examples bool     `json:"examples,omitempty"`
	Choices  []Choice `json:"choices,omitempty"`
	// Relation is the name of the foreign key's relation, and <relation>_id then the field's; "" is the rule's own.
	Relation string `json:"relation,omitempty"`
	// Rename is the field's name for callers; "" is the column's own.
	Rename string `json:"rename,omitempty"`
}

// Types of Readings.
const (
	TypeTimestamp = "Timestamp"
	TypeText      = "Text"
)

// Readings are the types of values that texts of a column may hold, and TypeText.
var Readings = []string{TypeInteger, TypeDecimal, TypeBoolean, TypeDate, TypeTimestamp, TypeText}

// Choice is a value that a field may have, in the text form that values have in keys.
type Choice struct {
	Value string `json:"value"`
	Label string `json:"label,omitempty"`
}

// Relation leads to the rows of a model whose columns have the same values, though no foreign key does.
type Relation struct {
	Name string `json:"name"`
	// Columns name this model's columns, References the columns of Model in the same order; without References, Model's key is
	// meant. Both lists take column names and API names.
	Columns    []string `json:"columns"`
	Model      string   `json:"model"`
	References []string `json:"references,omitempty"`
	// ReverseName is the name of the relation back; "" is <this model>_by_<Name>.
	ReverseName string `json:"reverseName,omitempty"`
}

// Declared is a piece of a call that agents name instead of sending it: a measure, or the conditions of a segment.
type Declared struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Synonyms    []string `json:"synonyms,omitempty"`
	// Means is the JSON object that the name stands for.
	Means json.RawMessage `json:"means"`
}

// Question is what people ask of a model, and the call that answers it.
type Question struct {
	Ask string `json:"ask"`
	// Tool is one of QuestionTools, and Arguments the JSON object that it is sent; nil is none.
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// QuestionTools are the operations that answer questions.
var QuestionTools = []string{"list", "get", "aggregate", "related", "autocomplete", "describe"}

// Inline is a model whose rows belong to one row of this model.
type Inline struct {
	Model string `json:"model"`
	// ForeignKey is the column or field of the inline's model that leads here; "" if there is only one.
	ForeignKey string `json:"foreignKey,omitempty"`
	// Max is the most rows that one call shows or changes.
	Max int `json:"max"`
}

// RowPolicy lets some tokens see some rows. Several that match a token are ORed.
type RowPolicy struct {
	Name string `json:"name"`
	// Everyone or one of Groups makes the policy match a token.
	Groups   []string `json:"groups,omitempty"`
	Everyone bool     `json:"everyone,omitempty"`
	// AllRows lets them see every row; otherwise they see the rows that meet all of Filters.
	AllRows bool     `json:"allRows,omitempty"`
	Filters []Filter `json:"filters,omitempty"`
}

// Filter is a condition on a field, as an administrator writes it. Values are texts, in the form that values have in
// keys. A missing token attribute matches nothing.
type Filter struct {
	Field string `json:"field,omitempty"`
	// Lookup is a lookup's name; "" is exact.
	Lookup string `json:"lookup,omitempty"`
	Value  string `json:"value,omitempty"`
	// Values are the values of in (any number) and range (two).
	Values         []string `json:"values,omitempty"`
	TokenAttribute string   `json:"tokenAttribute,omitempty"`
	// Any are filters of a row policy. A row must meet at least one. A filter with them has nothing else.
	Any []Filter `json:"any,omitempty"`
}

// Action is a declared action; exactly one of Update, SQL and Webhook is there.
type Action struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Requires are verbs. A token needs all of them if none of its rules names the action. Empty: only a rule that names
	// the action grants it.
	Requires   []string      `json:"requires,omitempty"`
	Confirm    *Confirmation `json:"confirm,omitempty"`
	Parameters []Parameter   `json:"parameters,omitempty"`
	Update     *UpdateAction `json:"update,omitempty"`
	SQL        *SQLAction    `json:"sql,omitempty"`
	Webhook    *Webhook      `json:"webhook,omitempty"`
}

// Confirmation makes an action ask first.
type Confirmation struct {
	// Message is a template over .count, .model, .action and .parameters; "" is a standard one.
	Message string `json:"message,omitempty"`
	// TokenRequired reports whether the second call must show the first one's confirmation_token.
	TokenRequired bool `json:"tokenRequired,omitempty"`
}

// Parameter is a value that an action's caller gives in confirmation_data.
type Parameter struct {
	Name string `json:"name"`
	// Type is one of the Type… constants.
	Type        string   `json:"type"`
	Required    bool     `json:"required,omitempty"`
	Description string   `json:"description,omitempty"`
	Choices     []Choice `json:"choices,omitempty"`
}

// The types of Parameter.
const (
	TypeString   = "String"
	TypeInteger  = "Integer"
	TypeDecimal  = "Decimal"
	TypeBoolean  = "Boolean"
	TypeDate     = "Date"
	TypeDateTime = "DateTime"
)

// UpdateAction sets columns of the selected rows that meet Where.
type UpdateAction struct {
	Set   []ActionAssignment `json:"set"`
	Where []Filter           `json:"where,omitempty"`
}

// ActionAssignment sets one field.
type ActionAssignment struct {
	Field string `json:"field"`
	// Source is one of the Source… constants.
	Source    string `json:"source"`
	Value     string `json:"value,omitempty"`
	Parameter string `json:"parameter,omitempty"`
}

// The sources of ActionAssignment.
const (
	SourceValue     = "Value"
	SourceNull      = "Null"
	SourceNow       = "Now"
	SourceParameter = "Parameter"
)

// SQLAction is DML statements that contract/sqlscan accepts.
type SQLAction struct {
	Statement string `json:"statement"`
	// More run after it, in the same transaction.
	More []string `json:"more,omitempty"`
}

// All are the action's statements, in their order.
func (a *SQLAction) All() []string { return append([]string{a.Statement}, a.More...) }

// Report is one SELECT that contract/sqlscan accepts, with typed parameters. Only a rule that names it grants it.
type Report struct {
	Name        string      `json:"name"`
	Description string      `json:"description,omitempty"`
	Parameters  []Parameter `json:"parameters,omitempty"`
	Statement   string      `json:"statement"`
	// IgnoresPolicies says that the report may be of a model with row policies, which do not stand in it.
	IgnoresPolicies bool `json:"ignoresPolicies,omitempty"`
}

// Webhook is a service that is called: with the selection of an action, or with the news of a call that waits.
type Webhook struct {
	URL string `json:"url"`
	// Headers go with the request; SigningKey makes its HMAC header. Both are secret.
	Headers    map[string]string `json:"headers,omitempty"`
	SigningKey string            `json:"signingKey,omitempty"`
	Timeout    Duration          `json:"timeout"`
	// Problem is why the webhook cannot be called, as its headers' Secret is missing; "" if it can.
	Problem string `json:"problem,omitempty"`
}

// CompareAge is negative if m wins over other, should both turn out to name the same table: the older exposure does,
// then the one whose name sorts first.
func (m *Model) CompareAge(other *Model) int {
	return cmp.Or(m.Created.Compare(other.Created), strings.Compare(m.Exposure, other.Exposure))
}
