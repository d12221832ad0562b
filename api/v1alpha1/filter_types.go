package v1alpha1

// RowPolicy lets tokens see rows, and so change them. Policies that match a token add to each other.
//
// +kubebuilder:validation:XValidation:rule="has(self.groups) != (has(self.appliesTo) && self.appliesTo == 'Everyone')",message="groups must be given, or appliesTo: Everyone instead of them"
// +kubebuilder:validation:XValidation:rule="has(self.filters) != (has(self.allRows) && self.allRows)",message="filters must be given, or allRows: true instead of them"
type RowPolicy struct {
	// name tells the policy from others.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`
	// appliesTo says which tokens the policy matches: those in one of the groups, or everyone. Groups when absent.
	// +optional
	AppliesTo RowPolicySubject `json:"appliesTo,omitempty"`
	// groups are groups of the endpoint. The policy matches tokens that are in any of them.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	Groups []string `json:"groups,omitempty"`
	// allRows lets them see every row.
	// +optional
	AllRows *bool `json:"allRows,omitempty"`
	// filters are conditions. Callers see a row if it meets all of them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Filters []RowFilter `json:"filters,omitempty"`
}

// RowFilter is a condition on a row: a FieldFilter, or a list of them, and the row must meet at least one.
//
// +kubebuilder:validation:XValidation:rule="has(self.any) != has(self.field)",message="field must be given, or any instead of it"
// +kubebuilder:validation:XValidation:rule="[has(self.value), has(self.values), has(self.tokenAttribute)].filter(x, x).size() == (has(self.any) ? 0 : 1)",message="exactly one of value, values and tokenAttribute must be given, and none beside any"
// +kubebuilder:validation:XValidation:rule="!has(self.any) || !has(self.lookup)",message="lookup must not be given beside any"
// +kubebuilder:validation:XValidation:rule="(has(self.lookup) && self.lookup in ['in', 'range', 'contained_by', 'overlap']) == has(self.values)",message="values belongs to the lookups in, range, contained_by and overlap, which need it"
// +kubebuilder:validation:XValidation:rule="!has(self.lookup) || self.lookup != 'range' || !has(self.values) || self.values.size() == 2",message="range needs two values"
// +kubebuilder:validation:XValidation:rule="!has(self.lookup) || self.lookup != 'isnull' || has(self.value) && self.value in ['true', 'false']",message="isnull needs the value \"true\" or \"false\""
type RowFilter struct {
	// field is a column or field of the model, hidden or not, or relation__column or relation__relation__column: a column of
	// the rows to which one or two relations lead. One of these rows at least must meet the condition. A relation is one of
	// the model's (author), its reverse (book_by_author), or a foreign key's column.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	Field string `json:"field,omitempty"`
	// lookup is how the field is compared; exact when absent.
	// +optional
	Lookup Lookup `json:"lookup,omitempty"`
	// value is compared with the field, in the text form that rows show ("true", "12.50", "2026-01-31").
	// +optional
	// +kubebuilder:validation:MaxLength=1000
	Value *string `json:"value,omitempty"`
	// values are the values of in, contained_by and overlap, or the two ends of range. Both ends are included.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	// +kubebuilder:validation:items:MaxLength=1000
	Values []string `json:"values,omitempty"`
	// tokenAttribute names an attribute of the token to compare with. If the token does not have it, no row meets the
	// condition.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z][A-Za-z0-9_.-]*$`
	TokenAttribute string `json:"tokenAttribute,omitempty"`
	// any are conditions. A row must meet at least one. The filter then has nothing else.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Any []FieldFilter `json:"any,omitempty"`
}

// RowPolicySubject says whose policy a row policy is.
// +kubebuilder:validation:Enum=Everyone;Groups
type RowPolicySubject string

// The subjects of a row policy.
const (
	AppliesToEveryone RowPolicySubject = "Everyone"
	AppliesToGroups   RowPolicySubject = "Groups"
)

// FieldFilter is a condition on a field, against a constant or, in a row policy, an attribute of the token.
//
// +kubebuilder:validation:XValidation:rule="[has(self.value), has(self.values), has(self.tokenAttribute)].filter(x, x).size() == 1",message="exactly one of value, values and tokenAttribute must be given"
// +kubebuilder:validation:XValidation:rule="(has(self.lookup) && self.lookup in ['in', 'range', 'contained_by', 'overlap']) == has(self.values)",message="values belongs to the lookups in, range, contained_by and overlap, which need it"
// +kubebuilder:validation:XValidation:rule="!has(self.lookup) || self.lookup != 'range' || !has(self.values) || self.values.size() == 2",message="range needs two values"
// +kubebuilder:validation:XValidation:rule="!has(self.lookup) || self.lookup != 'isnull' || has(self.value) && self.value in ['true', 'false']",message="isnull needs the value \"true\" or \"false\""
type FieldFilter struct {
	// field is a column or field of the model, hidden or not. It may also be relation__column or
	// relation__relation__column: a column of the rows to which one or two relations lead.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	Field string `json:"field,omitempty"`
	// lookup is how the field is compared; exact when absent.
	// +optional
	Lookup Lookup `json:"lookup,omitempty"`
	// value is compared with the field, in the text form that rows show ("true", "12.50", "2026-01-31").
	// +optional
	// +kubebuilder:validation:MaxLength=1000
	Value *string `json:"value,omitempty"`
	// values are the values of in, contained_by and overlap, or the two ends of range. Both ends are included.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	// +kubebuilder:validation:items:MaxLength=1000
	Values []string `json:"values,omitempty"`
	// tokenAttribute names an attribute of the token to compare with. If the token does not have it, no row meets the
	// condition.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z][A-Za-z0-9_.-]*$`
	TokenAttribute string `json:"tokenAttribute,omitempty"`
}

// Lookup is how a field is compared: the lookups of filters (list_<model>), by the same names.
// +kubebuilder:validation:Enum=exact;iexact;contains;icontains;startswith;istartswith;endswith;iendswith;gt;gte;lt;lte;in;range;isnull;ne;date;year;month;day;quarter;week;weekday;hour;contained_by;overlap;has_key
type Lookup string
