package v1alpha1

// ReportActionSpec is one query. It runs in a transaction that only reads, for no longer than the statement timeout.
type ReportActionSpec struct {
	// statement is exactly one SELECT; a WITH may stand before it. Declared parameters are bound as :name. :token is the
	// caller's name, :groups are the token's groups ("where team in (:groups)"), and :attribute_region is the token's
	// attribute region; each is NULL if the token has none. The statement runs as the database user: no row policy stands
	// in it. The exposure is not Accepted if the statement is of another form.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10000
	Statement string `json:"statement,omitempty"`
	// policies must be Ignored if the exposure has rowPolicies: the report shows what its statement selects, whatever rows
	// the token sees.
	// +optional
	Policies ReportPolicies `json:"policies,omitempty"`
}

// ReportPolicies says what a report makes of the model's row policies.
// +kubebuilder:validation:Enum=Ignored
type ReportPolicies string

// ReportPoliciesIgnored says that the report shows rows that row policies hide.
const ReportPoliciesIgnored ReportPolicies = "Ignored"

// SessionSetting is a setting of PostgreSQL that each transaction of a caller has.
//
// +kubebuilder:validation:XValidation:rule="has(self.attribute) == (self.source == 'Attribute')",message="attribute belongs to source Attribute, which needs it"
type SessionSetting struct {
	// name is the setting's name: a class and a name of your own, as in app.token.
	// +required
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z_][a-z0-9_]*[.][a-z_][a-z0-9_]*$`
	Name string `json:"name,omitempty"`
	// source says what the setting holds: Token (the caller's name), Groups (the token's groups, joined by commas), or
	// Attribute (one of the token's attributes). It is empty if the token has none.
	// +required
	Source SessionSettingSource `json:"source,omitempty"`
	// attribute names the attribute of source Attribute.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Attribute string `json:"attribute,omitempty"`
}

// SessionSettingSource says what a session setting holds.
// +kubebuilder:validation:Enum=Token;Groups;Attribute
type SessionSettingSource string

// The sources of a session setting.
const (
	SessionToken     SessionSettingSource = "Token"
	SessionGroups    SessionSettingSource = "Groups"
	SessionAttribute SessionSettingSource = "Attribute"
)
