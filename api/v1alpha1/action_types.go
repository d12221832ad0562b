package v1alpha1

// ActionSpec declares exactly one of update, sql and webhook, which act on rows that a caller selects by their ids, and
// report, which answers a question.
//
// +kubebuilder:validation:XValidation:rule="[has(self.update), has(self.sql), has(self.webhook), has(self.report)].filter(x, x).size() == 1",message="exactly one of update, sql, webhook and report must be given"
// +kubebuilder:validation:XValidation:rule="!has(self.report) || !has(self.requires) && !has(self.confirm)",message="a report has neither requires nor confirm: it changes nothing, and runs only if a rule names it"
// +kubebuilder:validation:XValidation:rule="!has(self.report) || !has(self.parameters) || self.parameters.all(p, !(p.name in ['token', 'groups']) && !p.name.startsWith('attribute_'))",message="in a report, token, groups and names that begin with attribute_ stand for the caller"
// +kubebuilder:validation:XValidation:rule="!has(self.update) || self.update.set.all(s, !has(s.parameter) || has(self.parameters) && self.parameters.exists(p, p.name == s.parameter))",message="update sets a field to a parameter that parameters does not declare"
type ActionSpec struct {
	// name is the action's name for callers and in permission rules. delete_selected is the server's own.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9_]*$`
	// +kubebuilder:validation:XValidation:rule="self != 'delete_selected'",message="delete_selected is the server's own action"
	Name string `json:"name,omitempty"`
	// description tells agents what the action does.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1000
	Description string `json:"description,omitempty"`
	// requires are the verbs that a token needs on the model, all of them, to run the action. A token with a rule that
	// names the action needs none of them. Absent, an update needs "change", and sql and webhook need such a rule. Every
	// action needs "view" too.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	Requires []RequiredVerb `json:"requires,omitempty"`
	// confirm makes the action ask before it does anything; absent, it runs at the first call.
	// +optional
	Confirm *ConfirmSpec `json:"confirm,omitempty"`
	// parameters are the values that a caller gives in confirmation_data.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=20
	Parameters []ParameterSpec `json:"parameters,omitempty"`
	// update sets columns of the selected rows.
	// +optional
	Update *UpdateActionSpec `json:"update,omitempty"`
	// sql runs one statement on the selected rows. It needs a model whose key is one column, and is not offered if the
	// endpoint's access is ReadOnly.
	// +optional
	SQL *SQLActionSpec `json:"sql,omitempty"`
	// webhook posts the ids of the selected rows to a service.
	// +optional
	Webhook *WebhookSpec `json:"webhook,omitempty"`
	// report runs one query and answers its rows. It runs only if a rule names it.
	// +optional
	Report *ReportActionSpec `json:"report,omitempty"`
}

// RequiredVerb is a verb that an action needs.
// +kubebuilder:validation:Enum=view;add;change;delete
type RequiredVerb string

// ConfirmSpec is the question that an action asks before it does anything.
type ConfirmSpec struct {
	// message is the question: a Go text template over .count, .model, .action and .parameters, with if and with, but
	// without loops, other templates and functions that make text. Absent, a standard one.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!self.matches('[{][{][^}]*\\\\b(define|block|template|range|printf|print|println|html|js|urlquery|slice|call)\\\\b')",message="define, block, template, range and functions that make text may not be used"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1000
	Message string `json:"message,omitempty"`
	// token says whether the second call must give the confirmation_token of the first. A token is refused if the first
	// call asked about other rows. Optional when absent.
	// +optional
	Token ConfirmationTokenUse `json:"token,omitempty"`
}

// ConfirmationTokenUse says whether something must be given.
// +kubebuilder:validation:Enum=Required;Optional
type ConfirmationTokenUse string

// The uses of a confirmation token.
const (
	ConfirmationTokenRequired ConfirmationTokenUse = "Required"
	ConfirmationTokenOptional ConfirmationTokenUse = "Optional"
)

// ParameterSpec is a value that an action's caller gives.
type ParameterSpec struct {
	// name is the member of confirmation_data, and :name in a sql statement.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9_]*$`
	// +kubebuilder:validation:XValidation:rule="!(self in ['action', 'apply', 'confirm', 'ids', 'post'])",message="action, apply, confirm, ids and post are the form's own"
	Name string `json:"name,omitempty"`
	// type is the type of the value.
	// +required
	Type ParameterType `json:"type,omitempty"`
	// presence says whether the value must be given; Optional when absent. A value that is not given leaves the field as it
	// is in an update, is NULL in a sql statement, and is left out of a webhook's form.
	// +optional
	Presence ParameterPresence `json:"presence,omitempty"`
	// description tells agents what the value is for.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=500
	Description string `json:"description,omitempty"`
	// choices are the only values that may be given; absent, any of the type.
	// +optional
	// +listType=map
	// +listMapKey=value
	// +kubebuilder:validation:MaxItems=100
	Choices []Choice `json:"choices,omitempty"`
}

// ParameterType is the type of a parameter's values.
// +kubebuilder:validation:Enum=String;Integer;Decimal;Boolean;Date;DateTime
type ParameterType string

// ParameterPresence says whether a parameter must be given.
// +kubebuilder:validation:Enum=Required;Optional
type ParameterPresence string

// The presences of a parameter.
const (
	ParameterRequired ParameterPresence = "Required"
	ParameterOptional ParameterPresence = "Optional"
)

// UpdateActionSpec sets columns of those selected rows that meet all of where.
//
// +kubebuilder:validation:XValidation:rule="!has(self.where) || self.where.all(f, !has(f.tokenAttribute) && (!has(f.any) || f.any.all(g, !has(g.tokenAttribute))))",message="tokenAttribute belongs to row policies; the rows that a token sees are all that an action selects from"
type UpdateActionSpec struct {
	// set are the fields to set.
	// +required
	// +listType=map
	// +listMapKey=field
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	Set []FieldAssignment `json:"set,omitempty"`
	// where limits the action to rows that meet all of these; the others are skipped. Absent, all selected rows.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Where []RowFilter `json:"where,omitempty"`
}

// FieldAssignment sets one field.
//
// +kubebuilder:validation:XValidation:rule="has(self.value) == (self.source == 'Value')",message="value belongs to source Value, which needs it"
// +kubebuilder:validation:XValidation:rule="has(self.parameter) == (self.source == 'Parameter')",message="parameter belongs to source Parameter, which needs it"
type FieldAssignment struct {
	// field is the column or field to set. It may be read-only or hidden, because the administrator declares it here. The
	// key and versionField cannot be set.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Field string `json:"field,omitempty"`
	// source is where the value comes from: Value (value), Null, Now (the moment of the call), Parameter (parameter).
	// +required
	Source AssignmentSource `json:"source,omitempty"`
	// value is the constant of source Value, in the text form that rows show ("true", "12.50", "2026-01-31").
	// +optional
	// +kubebuilder:validation:MaxLength=1000
	Value *string `json:"value,omitempty"`
	// parameter names the parameter of source Parameter.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	Parameter string `json:"parameter,omitempty"`
}

// AssignmentSource is where an assigned value comes from.
// +kubebuilder:validation:Enum=Value;Null;Now;Parameter
type AssignmentSource string

// The sources of an assignment.
const (
	AssignValue     AssignmentSource = "Value"
	AssignNull      AssignmentSource = "Null"
	AssignNow       AssignmentSource = "Now"
	AssignParameter AssignmentSource = "Parameter"
)

// SQLActionSpec is one statement, or several that run one after the other.
//
// +kubebuilder:validation:XValidation:rule="has(self.statement) != has(self.statements)",message="exactly one of statement and statements must be given"
type SQLActionSpec struct {
	// statement is exactly one UPDATE, DELETE or INSERT … SELECT. It must contain :ids, which is bound to the keys of the
	// selected rows that the token may see ("where id in (:ids)"). Declared parameters are bound as :name; nothing else
	// is. The statement runs as the database user: row policies do not apply to other rows that it names. The exposure is
	// not Accepted if the statement is of another form.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10000
	Statement string `json:"statement,omitempty"`
	// statements run in their order in one transaction, each of the form of statement. The first must contain :ids; the others
	// may. The first statement counts the rows that the action affected.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=10000
	Statements []string `json:"statements,omitempty"`
}

// All are the action's statements, in their order.
func (a *SQLActionSpec) All() []string {
	if len(a.Statements) > 0 {
		return a.Statements
	}
	return []string{a.Statement}
}
