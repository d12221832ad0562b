package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MCPToken lets one agent call an endpoint. It says what the agent may do, until when, and which Secret holds the token.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=mcpt,categories=mcp
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Endpoint",type=string,JSONPath=`.spec.endpointRef.name`
// +kubebuilder:printcolumn:name="Groups",type=string,JSONPath=`.status.groupsDisplay`
// +kubebuilder:printcolumn:name="Expires",type=string,JSONPath=`.status.expirationTime`
// +kubebuilder:printcolumn:name="Secret",type=string,JSONPath=`.status.secret.name`
// +kubebuilder:printcolumn:name="Caller",type=string,JSONPath=`.status.callerDisplay`
// +kubebuilder:printcolumn:name="Last used",type=date,priority=1,JSONPath=`.status.lastUsedTime`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="[self.spec].exists(s, has(s.tokenSecretRef) || has(s.tokenHashSecretRef) || has(s.serviceAccountRef) || has(s.oidc)) || (has(self.spec.secret) && has(self.spec.secret.name) ? self.spec.secret.name : self.metadata.name) == (has(oldSelf.spec.secret) && has(oldSelf.spec.secret.name) ? oldSelf.spec.secret.name : oldSelf.metadata.name)",message="the Secret's name cannot be changed; make a new MCPToken"
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || [self.spec].exists(s, has(s.tokenSecretRef) || has(s.tokenHashSecretRef) || has(s.serviceAccountRef) || has(s.oidc)) || !(has(self.spec.secret) && has(self.spec.secret.name) ? self.spec.secret.name : self.metadata.name).matches('-mcp-config(-v[0-9]+)?(-tokens-[0-9]+)?$')",message="names that end in -mcp-config, with or without a version or part, are those of endpoints' Secrets; give the token's Secret another name in spec.secret.name",optionalOldSelf=true
type MCPToken struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// spec is the desired state.
	// +required
	Spec MCPTokenSpec `json:"spec,omitzero"`
	// status is the observed state. Its observedGeneration is -1 until somebody has looked.
	// +optional
	// +kubebuilder:default={observedGeneration:-1}
	Status MCPTokenStatus `json:"status,omitempty,omitzero"`
}

// MCPTokenSpec says what the token's holder may do, and until when.
//
// +kubebuilder:validation:XValidation:rule="[has(self.tokenSecretRef), has(self.tokenHashSecretRef), has(self.serviceAccountRef), has(self.oidc), has(self.secret)].filter(x, x).size() <= 1",message="at most one of tokenSecretRef, tokenHashSecretRef, serviceAccountRef, oidc and secret may be given: secret is for a generated token"
// +kubebuilder:validation:XValidation:rule="(has(self.tokenSecretRef) || has(self.tokenHashSecretRef)) == (has(oldSelf.tokenSecretRef) || has(oldSelf.tokenHashSecretRef)) && has(self.serviceAccountRef) == has(oldSelf.serviceAccountRef) && has(self.oidc) == has(oldSelf.oidc)",message="a token stays what it is: generated, given in a Secret, for a serviceAccountRef or for oidc; make a new MCPToken"
// +kubebuilder:validation:XValidation:rule="!has(self.expiry) || !has(self.ttl)",message="at most one of expiry and ttl may be given"
// +kubebuilder:validation:XValidation:rule="!has(self.expiryWarning) || has(self.expiry) || has(self.ttl)",message="expiryWarning is for a token that expires; give it expiry or ttl, or leave expiryWarning out"
// +kubebuilder:validation:XValidation:rule="!has(self.expiryWarning) || !has(self.ttl) || !self.expiryWarning.matches('^([0-9]+([.][0-9]+)?(ns|us|ms|s|m|h))+$') || !self.ttl.matches('^([0-9]+([.][0-9]+)?(ns|us|ms|s|m|h))+$') || duration(self.expiryWarning) < duration(self.ttl)",message="expiryWarning must be shorter than ttl"
// +kubebuilder:validation:XValidation:rule="!has(self.rotation) || (!has(self.tokenSecretRef) && !has(self.tokenHashSecretRef) && !has(self.serviceAccountRef) && !has(self.oidc))",message="rotation is for a generated token; leave it out: a text of your own is changed in its Secret, and other issuers replace their tokens themselves"
// +kubebuilder:validation:XValidation:rule="!has(self.rotation) || !has(self.secret) || !has(self.secret.mutability) || self.secret.mutability != 'Immutable'",message="a token in an immutable Secret cannot be rotated; leave out rotation, or secret.mutability"
// +kubebuilder:validation:XValidation:rule="!has(self.endpointRef.__namespace__) || (!has(self.permissions) && !has(self.attributes) && !(has(self.oidc) && has(self.oidc.attributes)))",message="a token of an endpoint in another namespace has no permissions and no attributes of its own, nor oidc.attributes; leave them out, or leave out endpointRef.namespace"
// +kubebuilder:validation:XValidation:rule="!has(self.attributes) || !has(self.oidc) || !has(self.oidc.attributes) || self.oidc.attributes.all(k, !(k in self.attributes))",message="an attribute is in attributes or in oidc.attributes, not in both"
type MCPTokenSpec struct {
	// endpointRef names the endpoint.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="endpointRef cannot be changed; make a new MCPToken"
	EndpointRef TokenEndpointReference `json:"endpointRef,omitzero"`
	// active says whether the token may be used at all; true when absent.
	// +optional
	Active *bool `json:"active,omitempty"`
	// expiry is the moment from which the token is refused; never when absent.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=date-time
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`
	Expiry *metav1.Time `json:"expiry,omitempty"`
	// ttl is how long after this object's creation the token is refused, in place of expiry.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ns|us|ms|s|m|h))+$') && duration(self) >= duration('1m') && duration(self) <= duration('87600h')",message="must be a duration such as 90s, 36h or 720h (30 days), between 1m and 87600h (ten years)"
	TTL *metav1.Duration `json:"ttl,omitempty"`
	// expiryWarning is how long before the token expires the condition ExpiresSoon and an event say so; 0s is not at all. Absent: 168h (7
	// days) if it expires more than 720h (30 days) after this object's creation, and not at all otherwise.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ns|us|ms|s|m|h))+$') && duration(self) >= duration('0s') && duration(self) <= duration('87600h')",message="must be a duration such as 90s, 36h or 168h (7 days), between 0s and 87600h (ten years)"
	ExpiryWarning *metav1.Duration `json:"expiryWarning,omitempty"`
	// groups are the groups of the endpoint whose permissions the token has.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.map(g, g.size()).sum() <= 1024",message="the names must have at most 1024 characters together"
	Groups []string `json:"groups,omitempty"`
	// permissions are the token's own, in addition to its groups' permissions.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:XValidation:rule="self.map(p, (has(p.modules) ? p.modules : []).map(x, x.size()).sum() + p.models.map(x, x.size()).sum() + (has(p.actions) ? p.actions : []).map(x, x.size()).sum()).sum() <= 4096",message="the names in them must have at most 4096 characters together; put what several tokens may do into a group of the endpoint"
	Permissions []PermissionRule `json:"permissions,omitempty"`
	// attributes are values that row policies compare with (tokenAttribute).
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 63 && k.matches('^[A-Za-z][A-Za-z0-9_.-]*$'))",message="names of attributes are a letter, then letters, digits, '_', '.' and '-', at most 63 characters"
	// +kubebuilder:validation:XValidation:rule="self.map(k, k.size() + self[k].size()).sum() <= 3072",message="names and values must have at most 3072 characters together"
	Attributes map[string]AttributeValue `json:"attributes,omitempty"`
	// tokenSecretRef names a Secret that holds the token: a text of at least 32 characters. No Secret is written then.
	// +optional
	TokenSecretRef *SecretKeyReference `json:"tokenSecretRef,omitempty"`
	// tokenHashSecretRef names a Secret that holds only the token's hash: the hex SHA-256 of its whole text. No Secret
	// is written then.
	// +optional
	TokenHashSecretRef *SecretKeyReference `json:"tokenHashSecretRef,omitempty"`
	// serviceAccountRef names a ServiceAccount: its pods call with the tokens that the cluster issues to them, with the
	// endpoint's URL as their audience. No Secret is written then.
	// +optional
	ServiceAccountRef *ServiceAccountReference `json:"serviceAccountRef,omitempty"`
	// oidc says which callers of an identity provider the token is for. No Secret is written then.
	// +optional
	OIDC *OIDCIdentity `json:"oidc,omitempty"`
	// secret says where a generated token is written; absent, a Secret named like this object.
	// +optional
	Secret *TokenSecretSpec `json:"secret,omitempty"`
	// rotation replaces a generated token's text from time to time. Absent, the text stays until somebody asks for another
	// one with the annotation mcpadmin.dev/rotate.
	// +optional
	Rotation *TokenRotation `json:"rotation,omitempty"`
}

// TokenEndpointReference names the MCPEndpoint that a token is for.
type TokenEndpointReference struct {
	// name is the MCPEndpoint's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`
	// namespace is the MCPEndpoint's namespace if it is another than the token's. The endpoint must allow it
	// (spec.allowedTokens).
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Namespace string `json:"namespace,omitempty"`
}

// TokenRotation says when a generated token's text is replaced, and how long the text before it works on.
//
// +kubebuilder:validation:XValidation:rule="!has(self.every) || !self.every.matches('^([0-9]+([.][0-9]+)?(ns|us|ms|s|m|h))+$') || has(self.overlap) && !self.overlap.matches('^([0-9]+([.][0-9]+)?(ns|us|ms|s|m|h))+$') || duration(has(self.overlap) ? self.overlap : '1h') < duration(self.every)",message="overlap (1h when absent) must be shorter than every"
type TokenRotation struct {
	// every is the longest time that a text is in use. Tokens that were made together are rotated up to a tenth of it
	// earlier, so that they are not all rotated at once. Absent, the text is replaced only on request.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ns|us|ms|s|m|h))+$') && duration(self) >= duration('10m') && duration(self) <= duration('87600h')",message="must be a duration such as 90s, 36h or 720h (30 days), between 10m and 87600h (ten years)"
	Every *metav1.Duration `json:"every,omitempty"`
	// overlap is how long the old text works on after the new one was written to the Secret; 1h when absent. An agent
	// must read the Secret again within that time.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ns|us|ms|s|m|h))+$') && duration(self) >= duration('0s') && duration(self) <= duration('720h')",message="must be a duration such as 90s, 36h or 720h (30 days), between 0s and 720h"
	Overlap *metav1.Duration `json:"overlap,omitempty"`
}

// AttributeValue is the value of a token's attribute, in the text form that rows show.
// +kubebuilder:validation:MaxLength=1000
type AttributeValue string

// TokenSecretSpec says where a generated token is written.
type TokenSecretSpec struct {
	// name is the Secret's name; absent, the MCPToken's.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="!format.dns1123Subdomain().validate(self).hasValue()",message="must be a name that an object can have: lower-case letters, digits, '-' and '.', first and last a letter or digit"
	Name string `json:"name,omitempty"`
	// labels are added to the Secret.
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="self.all(k, !format.qualifiedName().validate(k).hasValue() && !format.labelValue().validate(self[k]).hasValue() && !k.startsWith('mcpadmin.dev/'))",message="must be labels, and none of mcpadmin.dev, whose labels are the controllers' own"
	Labels map[string]LabelValue `json:"labels,omitempty"`
	// annotations are added to the Secret.
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="self.all(k, !format.qualifiedName().validate(k).hasValue() && !k.startsWith('mcpadmin.dev/'))",message="must be annotations, and none of mcpadmin.dev, whose annotations are the controllers' own"
	Annotations map[string]AnnotationValue `json:"annotations,omitempty"`
	// type is the Secret's type; Opaque when absent.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][A-Za-z0-9./_-]*$`
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('kubernetes.io/') && !self.startsWith('bootstrap.kubernetes.io/')",message="types of Kubernetes itself demand other keys; name a type of your own"
	Type string `json:"type,omitempty"`
	// mutability says whether the Secret's content may change: Immutable makes it an immutable Secret, whose token cannot
	// be rotated. Mutable when absent.
	// +optional
	Mutability SecretMutability `json:"mutability,omitempty"`
	// deletionPolicy says what becomes of the Secret if this object is deleted: Delete, or Retain, which leaves it. The
	// token in it is refused either way. Delete when absent.
	// +optional
	DeletionPolicy SecretDeletionPolicy `json:"deletionPolicy,omitempty"`
	// keys are the Secret's keys; one must have the format Token. Absent: token, url, and mcp.json with the format
	// MCPServers.
	// +optional
	// +listType=map
	// +listMapKey=key
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:XValidation:rule="self.exists(k, k.format == 'Token')",message="one key must have the format Token: the controllers read the text there"
	Keys []TokenSecretKey `json:"keys,omitempty"`
}

// SecretMutability says whether a Secret's content may change.
// +kubebuilder:validation:Enum=Mutable;Immutable
type SecretMutability string

// The mutabilities of a Secret.
const (
	SecretMutable   SecretMutability = "Mutable"
	SecretImmutable SecretMutability = "Immutable"
)

// SecretDeletionPolicy says what becomes of a Secret when the object that it was made for is deleted.
// +kubebuilder:validation:Enum=Delete;Retain
type SecretDeletionPolicy string

// The deletion policies of a Secret.
const (
	SecretDelete SecretDeletionPolicy = "Delete"
	SecretRetain SecretDeletionPolicy = "Retain"
)

// TokenSecretKey is one key of a generated token's Secret.
type TokenSecretKey struct {
	// key is the key within the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+$`
	// +kubebuilder:validation:XValidation:rule="self != '.' && !self.startsWith('..')",message="must not be '.', nor begin with '..'"
	Key string `json:"key,omitempty"`
	// format is the format of the value under the key.
	// +required
	Format TokenFormat `json:"format,omitempty"`
}

// TokenFormat is the form in which a token, or what a client needs beside it, is written: Token (the text alone), URL,
// MCPServers (the JSON of Claude Code's .mcp.json, Cursor and most others), VSCode (its mcp.json), Codex (TOML for its
// config.toml), GeminiCLI (JSON for its settings.json), or DotEnv (MCP_URL and MCP_TOKEN as environment variables).
// +kubebuilder:validation:Enum=Token;URL;MCPServers;VSCode;Codex;GeminiCLI;DotEnv
type TokenFormat string

// The formats of a Secret's keys.
const (
	FormatToken      TokenFormat = "Token"
	FormatURL        TokenFormat = "URL"
	FormatMCPServers TokenFormat = "MCPServers"
	FormatVSCode     TokenFormat = "VSCode"
	FormatCodex      TokenFormat = "Codex"
	FormatGeminiCLI  TokenFormat = "GeminiCLI"
	FormatDotEnv     TokenFormat = "DotEnv"
)

// LabelValue is a Kubernetes label value.
// +kubebuilder:validation:MaxLength=63
type LabelValue string

// AnnotationValue is a Kubernetes annotation value.
// +kubebuilder:validation:MaxLength=4096
type AnnotationValue string

// MCPTokenStatus is the observed state of an MCPToken.
type MCPTokenStatus struct {
	// conditions: Ready, Accepted, Issued, Programmed; Reconciling, Stalled, Paused and ExpiresSoon while
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
	// secret is the Secret that holds the token, if one was written.
	// +optional
	Secret SecretStatus `json:"secret,omitempty,omitzero"`
	// publicID is the public part of the token; logs name the token by it.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	PublicID string `json:"publicID,omitempty"`
	// groupsDisplay are the groups of spec, in one line.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	GroupsDisplay string `json:"groupsDisplay,omitempty"`
	// callerDisplay are those whom the token is for if somebody else issues their tokens, in one line: a ServiceAccount as
	// namespace/name, or an issuer with a subject or with claims.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	CallerDisplay string `json:"callerDisplay,omitempty"`
	// expirationTime is the moment from which the token is refused, as expiry or ttl say; absent, it never is.
	// +optional
	ExpirationTime *metav1.Time `json:"expirationTime,omitempty"`
	// lastRotation is when the text in use was written to the Secret.
	// +optional
	LastRotation *metav1.Time `json:"lastRotation,omitempty"`
	// nextRotation is when the text is replaced, if spec.rotation says so.
	// +optional
	NextRotation *metav1.Time `json:"nextRotation,omitempty"`
	// lastUsedTime is the hour in which the token was last used, as far as the server's pods have told.
	// +optional
	LastUsedTime *metav1.Time `json:"lastUsedTime,omitempty"`
	// lastRefusedTime is the hour in which somebody last showed the token and was refused, since it has expired or is not active, as far as
	// the server's pods have told. Absent while the token is in force.
	// +optional
	LastRefusedTime *metav1.Time `json:"lastRefusedTime,omitempty"`
	// rights count what the token may do.
	// +optional
	Rights *RightsStatus `json:"rights,omitempty"`
	// notes name rights of the token that have no effect: models and actions that do not exist, and models without a row
	// that it sees. What its groups make of all of their tokens the MCPEndpoint notes. A token with notes can still be
	// Ready.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=500
	Notes []string `json:"notes,omitempty"`
	// revision is the first revision of the Config that held this token in its present form.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Revision int64 `json:"revision,omitempty"`
}

// RightsStatus counts what a token may do. It is renewed whenever the rest of the status is, so that a change of a group is
// not a write of each of its tokens; revision says how old it is. If callers have groups by the claims of their own tokens
// (oidc.groups), all groups that they can have are counted: it is the most that any caller may do.
type RightsStatus struct {
	// models is the number of models on which the token has any right.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Models *int32 `json:"models,omitempty"`
	// verbs are the verbs that the token has on at least one model.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=6
	Verbs []Verb `json:"verbs,omitempty"`
	// tools is the most tools that the token can see in tools/list; the database may allow fewer.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Tools *int32 `json:"tools,omitempty"`
	// revision is the revision of the endpoint's settings, groups and models by which the rights were counted. What came
	// later is not counted; mcp-admin can tells the present rights.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Revision int64 `json:"revision,omitempty"`
}

// SecretStatus tells which Secret was written, and with which token.
type SecretStatus struct {
	// name is the Secret's name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
	// fingerprint is the first half of the SHA-256 of the token in it, in hex. If the manager's key is lost, the Secret is known
	// by it.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Fingerprint string `json:"fingerprint,omitempty"`
}

// MCPTokenList is a list of MCPToken.
//
// +kubebuilder:object:root=true
type MCPTokenList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	// items are the objects.
	Items []MCPToken `json:"items"`
}
