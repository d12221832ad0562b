package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MCPModelExposure registers one table of an endpoint's database as a model.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=mcpm,categories=mcp
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Endpoint",type=string,JSONPath=`.spec.endpointRef.name`
// +kubebuilder:printcolumn:name="Model",type=string,JSONPath=`.status.model`
// +kubebuilder:printcolumn:name="Table",type=string,JSONPath=`.status.table`
// +kubebuilder:printcolumn:name="Exposed",type=boolean,JSONPath=`.spec.expose`
// +kubebuilder:printcolumn:name="Tools",type=integer,JSONPath=`.status.toolCount`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="has(self.spec.model) || self.metadata.name.matches('^[a-z][a-z0-9.-]*$') && self.metadata.name.size() <= 40",message="spec.model is required where metadata.name is no model name: a lower-case letter, then letters, digits, '-' and '.', at most 40 characters"
type MCPModelExposure struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// spec is the desired state.
	// +required
	Spec MCPModelExposureSpec `json:"spec,omitzero"`
	// status is the observed state. Its observedGeneration is -1 until somebody has looked.
	// +optional
	// +kubebuilder:default={observedGeneration:-1}
	Status MCPModelExposureStatus `json:"status,omitempty,omitzero"`
}

// MCPModelExposureSpec says which table is registered as which model, and how it shows itself.
//
// +kubebuilder:validation:XValidation:rule="!has(self.pinned) || !self.pinned || (has(self.expose) && self.expose)",message="pinned needs expose: true"
// +kubebuilder:validation:XValidation:rule="!has(self.rowPolicies) || !has(self.actions) || self.actions.all(a, !has(a.report) || has(a.report.policies))",message="no row policy stands in a report: where the exposure has rowPolicies, the report must say policies: Ignored"
type MCPModelExposureSpec struct {
	// endpointRef names the endpoint, in this object's namespace.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="endpointRef cannot be changed; make a new MCPModelExposure"
	EndpointRef EndpointReference `json:"endpointRef,omitzero"`
	// model is the model's name; absent, the object's name with '-' and '.' as '_'.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9_]*$`
	Model string `json:"model,omitempty"`
	// module is the model's module, for permission rules; absent, the table's schema.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Module string `json:"module,omitempty"`
	// table is the table or view.
	// +required
	Table TableReference `json:"table,omitzero"`
	// expose advertises the model in tools/list and resources/list. Tokens with permission can call a model's tools
	// whether it is advertised or not. Not advertised when absent.
	// +optional
	Expose *bool `json:"expose,omitempty"`
	// pinned keeps the model's own tools in tools/list where the endpoint's catalogue is generic, for the few models that
	// agents use most. Only a model with expose: true can be pinned. Not pinned when absent.
	// +optional
	Pinned *bool `json:"pinned,omitempty"`
	// verboseName is the model's name for people, singular; absent, made from the model's name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=100
	VerboseName string `json:"verboseName,omitempty"`
	// verboseNamePlural is the plural of verboseName; absent, made from it.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=100
	VerboseNamePlural string `json:"verboseNamePlural,omitempty"`
	// description tells agents what a row is; absent, the table's comment.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1000
	Description string `json:"description,omitempty"`
	// synonyms are other words for the model. find_models finds it by them, and describe_ tells them.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	Synonyms []string `json:"synonyms,omitempty"`
	// key names the columns that identify a row, in order. It is for views and for tables without a primary key: without
	// it they have no get, update or delete.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.all(x, self.exists_one(y, x == y))",message="a column stands in the key twice"
	Key []string `json:"key,omitempty"`
	// fields says which columns are visible, and how.
	// +optional
	Fields FieldsSpec `json:"fields,omitempty,omitzero"`
	// displayField is the column whose value stands for the row in autocomplete_ and in history; absent, the first visible
	// text column that is called name, title or label, else the key.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	DisplayField string `json:"displayField,omitempty"`
	// searchFields are searched by `search`: a column, or relation__column; a leading ^ is "starts with", = is "equals".
	// Absent, the visible text columns.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=200
	SearchFields []string `json:"searchFields,omitempty"`
	// searchMode says how `search` finds rows. Auto finds whole words, the best first, by a full-text index of the table
	// (a tsvector, FULLTEXT, FTS5) if it has exactly the searchFields, or without these only visible columns; else as Contains,
	// which finds pieces of texts. Auto when absent.
	// +optional
	SearchMode SearchMode `json:"searchMode,omitempty"`
	// ordering is the order of rows when a call names none; a leading - is descending. Absent, the primary key.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=200
	Ordering []string `json:"ordering,omitempty"`
	// listDisplay names the most useful columns of a row; describe_ tells them to agents. Absent, all visible columns.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=200
	ListDisplay []string `json:"listDisplay,omitempty"`
	// relations lead to rows of other models though no foreign key of the database does: for views, for databases without
	// foreign keys, and for columns that share values. They are followed as a foreign key's relation is, for reading only:
	// nothing is checked or deleted by them.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=50
	Relations []RelationSpec `json:"relations,omitempty"`
	// measures are numbers that agents can ask for by name.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=50
	Measures []MeasureSpec `json:"measures,omitempty"`
	// segments are conditions on rows that agents can name.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=50
	Segments []SegmentSpec `json:"segments,omitempty"`
	// questions are what people ask of the model, each with the call that answers it. Prompts for the model show them.
	// +optional
	// +listType=map
	// +listMapKey=ask
	// +kubebuilder:validation:MaxItems=30
	Questions []QuestionSpec `json:"questions,omitempty"`
	// inlines are models whose rows belong to a row of this model, and are written together with it.
	// +optional
	// +listType=map
	// +listMapKey=model
	// +kubebuilder:validation:MaxItems=20
	Inlines []InlineSpec `json:"inlines,omitempty"`
	// operations limits the tools to these. Absent, all that the table allows. find_models is always there.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=14
	Operations []Operation `json:"operations,omitempty"`
	// actions are the actions that agents can run on selected rows, in addition to delete_selected.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=50
	Actions []ActionSpec `json:"actions,omitempty"`
	// rowPolicies say which rows a token sees. If there are any, a token that matches none of them sees no row. Without
	// row policies, every token that may view the model sees all rows.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=50
	RowPolicies []RowPolicy `json:"rowPolicies,omitempty"`
	// versionField is an integer or timestamp column that the server changes with every write. update_ and delete_ then
	// compare expected_version with it, and refuse if the row has changed. Absent, the last write wins.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	VersionField string `json:"versionField,omitempty"`
	// totalCount is how total_count is found. Auto counts exactly for up to a quarter of a second, then estimates. Exact
	// counts exactly, or fails. Capped stops at 10,000. Auto when absent.
	// +optional
	TotalCount TotalCountMode `json:"totalCount,omitempty"`
	// reads says which servers of the database the rows are read from. Replica is for rows that may be a little old: the tools
	// list, get, related, autocomplete and aggregate then read from one of the endpoint's replicas, with what they join, if
	// one is there and not too far behind; a token that has just written reads from the primary. Primary when absent.
	// +optional
	Reads ReadsFrom `json:"reads,omitempty"`
	// databaseMessages says whether callers see the text with which a trigger or procedure of the database refuses a write.
	// Such a text may name columns and values that callers cannot see. Hidden when absent: callers learn that the database
	// refused the write, and the text is in the server's log.
	// +optional
	DatabaseMessages DatabaseMessages `json:"databaseMessages,omitempty"`
	// aggregate says what aggregate_ may tell.
	// +optional
	Aggregate AggregateSpec `json:"aggregate,omitempty,omitzero"`
	// limits bound the model's pages and bulk calls.
	// +optional
	Limits ModelLimits `json:"limits,omitempty,omitzero"`
}

// AggregateSpec says what aggregate_ may tell.
type AggregateSpec struct {
	// minGroupSize leaves groups of fewer rows out of the answers of aggregate_, for data on people. So is a measure with
	// filters of its own that fewer rows of its group meet. It does not keep a caller from comparing the answers of several
	// calls, nor list_ from showing rows: leave list and get out of operations if rows are not to be seen. Nothing is left
	// out when absent.
	// +optional
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=1000000
	MinGroupSize int32 `json:"minGroupSize,omitempty"`
}

// Operation is one of a model's tools.
// +kubebuilder:validation:Enum=list;get;create;update;delete;describe;actions;action;bulk;related;history;autocomplete;aggregate;report
type Operation string

// SearchMode is how search finds rows.
// +kubebuilder:validation:Enum=Auto;Contains
type SearchMode string

// The ways to search.
const (
	SearchAuto     SearchMode = "Auto"
	SearchContains SearchMode = "Contains"
)

// TotalCountMode is how total_count is found.
// +kubebuilder:validation:Enum=Auto;Exact;Capped
type TotalCountMode string

// The ways to find total_count.
const (
	TotalCountAuto   TotalCountMode = "Auto"
	TotalCountExact  TotalCountMode = "Exact"
	TotalCountCapped TotalCountMode = "Capped"
)

// DatabaseMessages says whether callers see the messages that the database's triggers raise.
// +kubebuilder:validation:Enum=Hidden;Shown
type DatabaseMessages string

// The uses of the texts that triggers raise.
const (
	DatabaseMessagesHidden DatabaseMessages = "Hidden"
	DatabaseMessagesShown  DatabaseMessages = "Shown"
)

// TableReference names a table or view.
type TableReference struct {
	// schema is the table's schema, in MySQL and MariaDB its database; absent, the endpoint's schemas are searched in order.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Schema string `json:"schema,omitempty"`
	// name is the table's name, exactly as the database has it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Name string `json:"name,omitempty"`
}

// ModelLimits bound a model's pages and bulk calls.
//
// +kubebuilder:validation:XValidation:rule="!has(self.defaultPageSize) || self.defaultPageSize <= (has(self.maxPageSize) ? self.maxPageSize : 1000)",message="defaultPageSize must not be larger than maxPageSize"
type ModelLimits struct {
	// defaultPageSize is the page size when a call names none; 100 when absent, or maxPageSize if that is less.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	DefaultPageSize int32 `json:"defaultPageSize,omitempty"`
	// maxPageSize caps the page size that a call names; 1000 when absent.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	MaxPageSize int32 `json:"maxPageSize,omitempty"`
	// maxBulkItems is the most items of one bulk_ call, and ids of one action_ call; 1000 when absent.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxBulkItems int32 `json:"maxBulkItems,omitempty"`
}

// MCPModelExposureStatus is the observed state of an MCPModelExposure.
type MCPModelExposureStatus struct {
	// conditions: Ready, Accepted, Resolved, Programmed; Reconciling, Stalled and Paused while
	// they are true.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +patchStrategy=merge
	// +patchMergeKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`
	// observedGeneration is the newest generation that was evaluated; -1 is none.
	// +optional
	// +kubebuilder:validation:Minimum=-1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// lastHandledReconcileAt is the newest value of the annotation reconcile.mcpadmin.dev/requestedAt that was acted upon.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=100
	LastHandledReconcileAt string `json:"lastHandledReconcileAt,omitempty"`
	// model is the model's name in force.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	Model string `json:"model,omitempty"`
	// table is the table's name, with its schema.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	Table string `json:"table,omitempty"`
	// columns are the visible columns.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	Columns []string `json:"columns,omitempty"`
	// hiddenColumns are the columns that are hidden because they are named like secrets.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	HiddenColumns []string `json:"hiddenColumns,omitempty"`
	// maskedColumns are the visible columns that are shown as ****.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	MaskedColumns []string `json:"maskedColumns,omitempty"`
	// readOnlyColumns are the visible columns that callers cannot write: the exposure says so, or they are generated or the
	// versionField.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	ReadOnlyColumns []string `json:"readOnlyColumns,omitempty"`
	// key are the columns of the key, in its order.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	Key []string `json:"key,omitempty"`
	// foreignKeys are the foreign keys of the table that lead from visible columns to other models.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	ForeignKeys []ForeignKeyStatus `json:"foreignKeys,omitempty"`
	// tools are the model's tools.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=64
	Tools []string `json:"tools,omitempty"`
	// toolCount is the number of tools.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ToolCount *int32 `json:"toolCount,omitempty"`
	// notes say what the model lacks and what would help: why a tool is missing, or why a foreign key has no relation.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=500
	Notes []string `json:"notes,omitempty"`
	// revision is the first revision of the Config that held this exposure in its present form.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Revision int64 `json:"revision,omitempty"`
}

// MCPModelExposureList is a list of MCPModelExposure.
//
// +kubebuilder:object:root=true
type MCPModelExposureList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	// items are the objects.
	Items []MCPModelExposure `json:"items"`
}
