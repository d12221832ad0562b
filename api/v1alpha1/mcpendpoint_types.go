package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MCPEndpoint is one MCP server over one database.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.server.replicas,statuspath=.status.currentReplicas,selectorpath=.status.selector
// +kubebuilder:resource:scope=Namespaced,shortName=mcpe,categories=mcp
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.status.url`
// +kubebuilder:printcolumn:name="Database",type=string,JSONPath=`.status.database.display`
// +kubebuilder:printcolumn:name="Models",type=integer,JSONPath=`.status.modelCount`
// +kubebuilder:printcolumn:name="Tokens",type=integer,JSONPath=`.status.tokenCount`
// +kubebuilder:printcolumn:name="Replicas",type=string,JSONPath=`.status.readyDisplay`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || self.metadata.name.size() <= 40 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must be a DNS-1035 label of at most 40 characters: its children are named after it",optionalOldSelf=true
type MCPEndpoint struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// spec is the desired state.
	// +required
	Spec MCPEndpointSpec `json:"spec,omitzero"`
	// status is the observed state. Its observedGeneration is -1 until somebody has looked.
	// +optional
	// +kubebuilder:default={observedGeneration:-1}
	Status MCPEndpointStatus `json:"status,omitempty,omitzero"`
}

// MCPEndpointSpec says which database is served, to which groups, and how the server runs.
//
// +kubebuilder:validation:XValidation:rule="!has(self.observability) || !has(self.observability.podMonitor) || !has(self.network) || !has(self.network.networkPolicy) || has(self.network.networkPolicy.metricsFrom)",message="observability.podMonitor has Prometheus read the metrics, and network.networkPolicy keeps it out; name its pods in network.networkPolicy.metricsFrom"
// +kubebuilder:validation:XValidation:rule="!has(self.database.sqlite) || !has(self.server) || !has(self.server.autoscaling)",message="a SQLite file is served by one pod: remove server.autoscaling"
// +kubebuilder:validation:XValidation:rule="!has(self.database.duckdb) || !has(self.audit) && !has(self.idempotency)",message="audit and idempotency write to a table, and DuckDB only reads: remove them; spec.observability.audit has the audit lines"
// +kubebuilder:validation:XValidation:rule="!has(self.audit) || !has(self.idempotency) || self.audit.table.name != self.idempotency.table.name || has(self.audit.table.schema) != has(self.idempotency.table.schema) || has(self.audit.table.schema) && self.audit.table.schema != self.idempotency.table.schema",message="idempotency.table is the audit table; name another one"
// +kubebuilder:validation:XValidation:rule="!has(self.approvals) || self.approvals.size() == 0 || has(self.idempotency)",message="approvals need idempotency: its table makes an allowed call run once; name a table in idempotency.table"
type MCPEndpointSpec struct {
	// database is the database that the endpoint serves.
	// +required
	Database DatabaseSpec `json:"database,omitzero"`
	// groups are named sets of permissions that tokens join.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=100
	Groups []Group `json:"groups,omitempty"`
	// allowedTokens says which tokens of other namespaces may name this endpoint. Absent, none.
	// +optional
	AllowedTokens *AllowedTokens `json:"allowedTokens,omitempty"`
	// authentication says how callers are known whose tokens somebody else issued: the cluster, or an identity provider.
	// +optional
	Authentication AuthenticationSpec `json:"authentication,omitempty,omitzero"`
	// server says how the server's pods run.
	// +optional
	Server ServerSpec `json:"server,omitempty,omitzero"`
	// network says how agents reach the endpoint.
	// +optional
	Network NetworkSpec `json:"network,omitempty,omitzero"`
	// observability says what can be seen of the endpoint, and who collects it.
	// +optional
	Observability ObservabilitySpec `json:"observability,omitempty,omitzero"`
	// catalogue says what tools/list shows.
	// +optional
	Catalogue CatalogueSpec `json:"catalogue,omitempty,omitzero"`
	// audit records changes in a table of the database; absent, they are in the server's log alone, and there is no
	// history.
	// +optional
	Audit *AuditSpec `json:"audit,omitempty"`
	// idempotency keeps the answers of calls that have an idempotency_key for a day, so that a call whose answer was lost can be
	// sent again and happens once; absent, the argument is refused.
	// +optional
	Idempotency *IdempotencySpec `json:"idempotency,omitempty"`
	// approvals say which calls wait until other people allow them. They need idempotency, by which an allowed call runs once.
	// docs/objects/approvals.md tells who may decide, and how.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=50
	Approvals []ApprovalPolicy `json:"approvals,omitempty"`
}

// CatalogueSpec says what tools/list shows a token. Whatever it shows, a token can call the tools of both styles.
type CatalogueSpec struct {
	// style is PerModel (list_book, get_book, and so on for each model), Generic (list, get, and so on, which take the
	// model as an argument), or Auto: PerModel for a token that would see at most maxTools tools, Generic for one that
	// would see more. Auto when absent.
	// +optional
	Style CatalogueStyle `json:"style,omitempty"`
	// maxTools is the most tools of a per-model list if style is Auto; 100 when absent. Common clients take 40 to 128.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	MaxTools int32 `json:"maxTools,omitempty"`
	// structuredContent adds outputSchema to every tool and structuredContent to every answer, for clients that generate
	// code from them. It doubles the bytes of an answer. Disabled when absent.
	// +optional
	StructuredContent StructuredContent `json:"structuredContent,omitempty"`
}

// CatalogueStyle is how tools/list names the tools.
// +kubebuilder:validation:Enum=PerModel;Generic;Auto
type CatalogueStyle string

// The styles of a catalogue.
const (
	CataloguePerModel CatalogueStyle = "PerModel"
	CatalogueGeneric  CatalogueStyle = "Generic"
	CatalogueAuto     CatalogueStyle = "Auto"
)

// StructuredContent says whether answers have structuredContent.
// +kubebuilder:validation:Enum=Enabled;Disabled
type StructuredContent string

// The uses of structuredContent.
const (
	StructuredContentEnabled  StructuredContent = "Enabled"
	StructuredContentDisabled StructuredContent = "Disabled"
)

// AuditSpec says where changes are recorded.
type AuditSpec struct {
	// table is the audit table. Every change is recorded in it, in the change's own transaction. The server creates a
	// missing table if the database user may; docs/objects/history.md lists its columns.
	// +required
	Table TableReference `json:"table,omitzero"`
}

// IdempotencySpec says where answers are kept.
type IdempotencySpec struct {
	// table holds a row for each idempotency_key, written in the transaction of the call's own changes. The server creates a
	// missing table if the database user may; docs/objects/history.md lists its columns.
	// +required
	Table TableReference `json:"table,omitzero"`
}

// Group is a named set of permissions.
type Group struct {
	// name is the group's name in tokens.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`
	// permissions say what members of the group may do. Absent, nothing.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Permissions []PermissionRule `json:"permissions,omitempty"`
}

// MCPEndpointStatus is the observed state of an MCPEndpoint.
type MCPEndpointStatus struct {
	// conditions: Ready, DatabaseReady, WorkloadAvailable, Routed, Programmed; Monitored if observability asks for a monitor;
	// AuthenticationReady if tokens of other issuers are checked; ApprovalsReady if calls wait for approvals; Reconciling, Stalled and Paused while they are true.
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
	// url is the URL that agents call.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1300
	URL string `json:"url,omitempty"`
	// database describes the database that the server's pods found.
	// +optional
	Database DatabaseStatus `json:"database,omitempty,omitzero"`
	// modelCount is the number of models that are served.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ModelCount *int32 `json:"modelCount,omitempty"`
	// tokenCount is the number of tokens in force.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TokenCount *int32 `json:"tokenCount,omitempty"`
	// notes name models and actions in the groups' permissions that do not exist, models that no agent can find, groups whose
	// tokens have no rights or see no row of a model, and tokens whose list of tools is longer than common clients take. An
	// endpoint with notes can still be Ready.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=500
	Notes []string `json:"notes,omitempty"`
	// revision is the revision of the main part of the Config, which holds everything but the tokens.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Revision int64 `json:"revision,omitempty"`
	// currentReplicas is the number of the server's pods.
	// +optional
	// +kubebuilder:validation:Minimum=0
	CurrentReplicas *int32 `json:"currentReplicas,omitempty"`
	// readyReplicas is the number of the server's pods that are Ready.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ReadyReplicas *int32 `json:"readyReplicas,omitempty"`
	// readyDisplay is the number of pods that are Ready and the number that is wanted, in one text: 2/3.
	// +optional
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=23
	ReadyDisplay string `json:"readyDisplay,omitempty"`
	// selector selects the server's pods, in the form that an autoscaler reads.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	Selector string `json:"selector,omitempty"`
}

// DatabaseStatus is the database as the server's pods found it.
type DatabaseStatus struct {
	// engine is the database engine.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Engine string `json:"engine,omitempty"`
	// version is the engine's version.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Version string `json:"version,omitempty"`
	// display is engine and version in one line.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	Display string `json:"display,omitempty"`
}

// MCPEndpointList is a list of MCPEndpoint.
//
// +kubebuilder:object:root=true
type MCPEndpointList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	// items are the objects.
	Items []MCPEndpoint `json:"items"`
}
