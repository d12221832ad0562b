package v1alpha1

// EndpointReference names the MCPEndpoint that an object belongs to, in the object's own namespace.
type EndpointReference struct {
	// name is the MCPEndpoint's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`
}

// SecretKeyReference names one key of a Secret in the referencing object's own namespace.
type SecretKeyReference struct {
	// name is the Secret's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="!format.dns1123Subdomain().validate(self).hasValue()",message="must be a name that an object can have: lower-case letters, digits, '-' and '.', first and last a letter or digit"
	Name string `json:"name,omitempty"`
	// key is the key within the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+$`
	Key string `json:"key,omitempty"`
}

// SecretReference names a Secret, whose keys are known, in the referencing object's own namespace.
type SecretReference struct {
	// name is the Secret's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="!format.dns1123Subdomain().validate(self).hasValue()",message="must be a name that an object can have: lower-case letters, digits, '-' and '.', first and last a letter or digit"
	Name string `json:"name,omitempty"`
}

// PermissionRule grants verbs and actions on models. Rules only add; what no rule grants is refused.
type PermissionRule struct {
	// modules limits the rule to models of these modules; absent or "*" is any.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=64
	Modules []string `json:"modules,omitempty"`
	// models names the models that the rule is about; "*" is every model.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=40
	// +kubebuilder:validation:items:Pattern=`^(\*|[a-z][a-z0-9_]*)$`
	Models []string `json:"models,omitempty"`
	// verbs are the verbs granted; "*" is view, add, change and delete. "change" includes "view". "export" lets what may be
	// viewed be fetched as a file, in any number of rows up to the endpoint's limit; no other verb includes it, nor does "*".
	// Absent grants none.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=6
	Verbs []Verb `json:"verbs,omitempty"`
	// actions are the names of declared actions that are granted, whatever they require; "*" is all of them. The token
	// needs the verb "view" as well. Absent grants none.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=40
	// +kubebuilder:validation:items:Pattern=`^(\*|[a-z][a-z0-9_]*)$`
	Actions []string `json:"actions,omitempty"`
}

// Verb is an operation class that a permission rule grants.
// +kubebuilder:validation:Enum=view;add;change;delete;export;*
type Verb string

// The verbs of a permission rule.
const (
	VerbView   Verb = "view"
	VerbAdd    Verb = "add"
	VerbChange Verb = "change"
	VerbDelete Verb = "delete"
	VerbExport Verb = "export"
	VerbAll    Verb = "*"
)

// Choice is a value that may be given, and what people call it.
type Choice struct {
	// value is the value, in the text form that rows show.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	Value string `json:"value,omitempty"`
	// label is the value for people; absent, the value itself.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	Label string `json:"label,omitempty"`
}
