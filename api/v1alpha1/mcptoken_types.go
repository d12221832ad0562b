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
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="[self.spec, oldSelf.spec].exists(s, has(s.tokenSecretRef) || has(s.tokenHashSecretRef)) || (has(self.spec.secret) && has(self.spec.secret.name) ? self.spec.secret.name : self.metadata.name) == (has(oldSelf.spec.secret) && has(oldSelf.spec.secret.name) ? oldSelf.spec.secret.name : oldSelf.metadata.name)",message="the Secret's name cannot be changed; make a new MCPToken"
// +kubebuilder:validation:XValidation:rule="[self.spec].exists(s, has(s.tokenSecretRef) || has(s.tokenHashSecretRef)) || !(has(self.spec.secret) && has(self.spec.secret.name) ? self.spec.secret.name : self.metadata.name).endsWith('-mcp-config')",message="names that end in -mcp-config are those of endpoints' Secrets; give the token's Secret another name in spec.secret.name"
type MCPToken struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// spec is what is wanted.
	// +required
	Spec MCPTokenSpec `json:"spec,omitzero"`
	// status is what was found. Its observedGeneration is -1 until somebody has looked.
	// +optional
	// +kubebuilder:default={observedGeneration:-1}
	Status MCPTokenStatus `json:"status,omitempty,omitzero"`
}

// MCPTokenSpec says what the token's holder may do, and until when.
//
// +kubebuilder:validation:XValidation:rule="[has(self.tokenSecretRef), has(self.tokenHashSecretRef), has(self.secret)].filter(x, x).size() <= 1",message="at most one of tokenSecretRef, tokenHashSecretRef and secret may be given: secret is for a generated token"
type MCPTokenSpec struct {
	// endpointRef names the endpoint, in this object's namespace.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="endpointRef cannot be changed; make a new MCPToken"
	EndpointRef EndpointReference `json:"endpointRef,omitzero"`
	// active says whether the token may be used at all; true when absent.
	// +optional
	Active *bool `json:"active,omitempty"`
	// expiry is the moment from which the token is refused; never when absent.
	// +optional
	Expiry *metav1.Time `json:"expiry,omitempty"`
	// groups are the groups of the endpoint whose permissions the token has.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	Groups []string `json:"groups,omitempty"`
	// permissions are the token's own, in addition to those of its groups.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Permissions []PermissionRule `json:"permissions,omitempty"`
	// attributes are values that row policies compare with (tokenAttribute).
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 63 && k.matches('^[A-Za-z][A-Za-z0-9_.-]*$'))",message="names of attributes are a letter, then letters, digits, '_', '.' and '-', at most 63 characters"
	Attributes map[string]AttributeValue `json:"attributes,omitempty"`
	// tokenSecretRef names a Secret that holds the token: a text of at least 32 characters. No Secret is written then.
	// +optional
	TokenSecretRef *SecretKeyReference `json:"tokenSecretRef,omitempty"`
	// tokenHashSecretRef names a Secret that holds only the token's hash: the hex SHA-256 of its whole text. No Secret
	// is written then.
	// +optional
	TokenHashSecretRef *SecretKeyReference `json:"tokenHashSecretRef,omitempty"`
	// secret says where a generated token is written; absent, a Secret named like this object.
	// +optional
	Secret *TokenSecretSpec `json:"secret,omitempty"`
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
}

// LabelValue is a Kubernetes label value.
// +kubebuilder:validation:MaxLength=63
type LabelValue string

// AnnotationValue is a Kubernetes annotation value.
// +kubebuilder:validation:MaxLength=4096
type AnnotationValue string

// MCPTokenStatus is what was found.
type MCPTokenStatus struct {
	// conditions: Ready, Accepted, Issued, Programmed; Reconciling, Stalled and Paused while
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
	// expirationTime is the moment from which the token is refused; absent is never.
	// +optional
	ExpirationTime *metav1.Time `json:"expirationTime,omitempty"`
	// notes name rights of the token that have no effect: models and actions that do not exist, and models of which it sees
	// no row. A token with notes can still be Ready.
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

// SecretStatus names a Secret that was written.
type SecretStatus struct {
	// name is the Secret's name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
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
