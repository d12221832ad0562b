package v1alpha1

// RelationSpec leads from rows of the model at hand to the rows of a model whose columns have the same values. It leads to one row
// if references are that model's key, or unique, and else to many.
//
// +kubebuilder:validation:XValidation:rule="!has(self.references) || self.references.size() == self.columns.size()",message="references must have as many columns as columns"
type RelationSpec struct {
	// name is the relation's name in paths (name__field) and in related_.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`
	Name string `json:"name,omitempty"`
	// columns are this model's columns or fields, in the order of references.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	Columns []string `json:"columns,omitempty"`
	// model is the other model, of the same endpoint. It may be the same one.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9_]*$`
	Model string `json:"model,omitempty"`
	// references are the other model's columns or fields that have the same values; absent, its key.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	References []string `json:"references,omitempty"`
	// reverseName is the name of the relation back, from a row of the other model to the rows of this one; absent,
	// <this model>_by_<name>.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=120
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`
	ReverseName string `json:"reverseName,omitempty"`
}

// InlineSpec is a model whose rows belong to a row of the model at hand.
type InlineSpec struct {
	// model is the inline's model, of the same endpoint.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9_]*$`
	Model string `json:"model,omitempty"`
	// foreignKey is the inline's column or field that refers to this model; absent, its only foreign key that does.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	ForeignKey string `json:"foreignKey,omitempty"`
	// max is the most rows that one call shows or changes; 100 when absent.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Max int32 `json:"max,omitempty"`
}

// ForeignKeyStatus is a foreign key that the database declares.
type ForeignKeyStatus struct {
	// columns are the columns of the key, in its order.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	Columns []string `json:"columns,omitempty"`
	// model is the model that the rows name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	Model string `json:"model,omitempty"`
}
