package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MCPApproval is a call of an agent that waits until people allow it. Only the manager creates one. People add their decisions to
// spec.decisions ("kubectl mcp-admin approve NAME"); nothing else of it can be changed.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=mcpa,categories=mcp
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="Endpoint",type=string,JSONPath=`.spec.endpointRef.name`
// +kubebuilder:printcolumn:name="Token",type=string,JSONPath=`.spec.request.tokenRef.name`
// +kubebuilder:printcolumn:name="Operation",type=string,JSONPath=`.spec.request.operation`
// +kubebuilder:printcolumn:name="Model",type=string,JSONPath=`.spec.request.model`
// +kubebuilder:printcolumn:name="Rows",type=integer,JSONPath=`.spec.request.rows`
// +kubebuilder:printcolumn:name="Expires",type=string,JSONPath=`.spec.request.expiryTime`
// +kubebuilder:printcolumn:name="Subject",type=string,priority=1,JSONPath=`.spec.request.subject`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.reason`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Approved")].message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.startsWith(self.spec.endpointRef.name + '-') && self.metadata.name.size() == self.spec.endpointRef.name.size() + 21",message="metadata.name must be the endpoint's name, '-' and the 20 characters of the approval"
type MCPApproval struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// spec is what is asked for, and what people decided.
	// +required
	Spec MCPApprovalSpec `json:"spec,omitzero"`
	// status is what became of it, as the manager sees it.
	// +optional
	// +kubebuilder:default={observedGeneration:-1,state:Waiting}
	Status MCPApprovalStatus `json:"status,omitempty,omitzero"`
}

// MCPApprovalSpec is what is asked for, and what people decided.
//
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || !has(self.decisions)",message="an MCPApproval is created without decisions",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.decisions) || has(self.decisions) && oldSelf.decisions.all(before, before in self.decisions)",message="a decision cannot be changed or taken back"
type MCPApprovalSpec struct {
	// endpointRef names the endpoint.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="endpointRef cannot be changed"
	EndpointRef EndpointReference `json:"endpointRef,omitzero"`
	// request is the call that waits.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="request cannot be changed"
	Request ApprovalRequest `json:"request,omitzero"`
	// decisions are what people decided, one of each. One more can be added; none can be changed.
	// +optional
	// +listType=map
	// +listMapKey=decidedBy
	// +kubebuilder:validation:MaxItems=20
	Decisions []ApprovalDecision `json:"decisions,omitempty"`
}

// ApprovalRequest is a call that waits.
type ApprovalRequest struct {
	// tokenRef names the MCPToken whose call it is.
	// +required
	TokenRef TokenReference `json:"tokenRef,omitzero"`
	// tokenUID is the MCPToken's identity: another token of that name does not have the approval.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	TokenUID string `json:"tokenUID,omitempty"`
	// tokenSecretRef names the Secret of the token's namespace that holds its text, or its hash, if a policy says fourEyes: Strict: nobody
	// decides who can read it. Absent if there is no such Secret.
	// +optional
	TokenSecretRef *SecretReference `json:"tokenSecretRef,omitempty"`
	// caller tells callers of one token apart.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Caller string `json:"caller,omitempty"`
	// subject is whom the issuer of what the caller showed says that it issued it to; absent if the caller showed the token's own text.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Subject string `json:"subject,omitempty"`
	// tool is the tool as it was called.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Tool string `json:"tool,omitempty"`
	// operation is what the tool does, or action:NAME.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Operation string `json:"operation,omitempty"`
	// model is the model that the call names; absent if it names none.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Model string `json:"model,omitempty"`
	// policies are those that ask for the approval, as they were then.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	Policies []ApprovalAsker `json:"policies,omitempty"`
	// digest stands for the caller, the call, the policies and all that the call would do: only a call with the same digest is allowed.
	// +required
	// +kubebuilder:validation:MinLength=64
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[0-9a-f]+$`
	Digest string `json:"digest,omitempty"`
	// askTime is when the call was made first.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=date-time
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`
	AskTime metav1.Time `json:"askTime,omitempty,omitzero"`
	// expiryTime is the moment from which the call cannot be allowed, and cannot run if it was.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=date-time
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`
	ExpiryTime metav1.Time `json:"expiryTime,omitempty,omitzero"`
	// rows is how many rows would change.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Rows *int64 `json:"rows,omitempty"`
	// changes are what would become of the rows, as much as the policies' show says.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Changes []ApprovalChange `json:"changes,omitempty"`
	// notice says that something of the changes is not told.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=500
	Notice string `json:"notice,omitempty"`
}

// TokenReference names an MCPToken.
type TokenReference struct {
	// name is the MCPToken's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
	// namespace is the MCPToken's namespace.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
}

// ApprovalAsker is a policy that asks for an approval.
type ApprovalAsker struct {
	// name is the policy's name in the endpoint's spec.approvals.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`
	// description is the policy's own: why it is there.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=500
	Description string `json:"description,omitempty"`
	// sum stands for all that the policy said. If it says something else by now, the call has to be asked for anew.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Sum string `json:"sum,omitempty"`
	// minApprovals is how many people must allow the call.
	// +required
	// +kubebuilder:validation:Minimum=1
	MinApprovals int32 `json:"minApprovals,omitempty"`
	// approverGroups are the groups of users who may do so; absent, all who have the verb approve.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	ApproverGroups []string `json:"approverGroups,omitempty"`
	// fourEyes says who counts as the caller, who never decides.
	// +optional
	FourEyes ApprovalFourEyes `json:"fourEyes,omitempty"`
}

// ApprovalChange is what would become of some rows of a model: of one row if it has an id.
type ApprovalChange struct {
	// model is the model of the rows; absent for tables that have none.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Model string `json:"model,omitempty"`
	// change is what would become of them.
	// +required
	Change ApprovalChangeKind `json:"change,omitempty"`
	// rows is how many rows these are.
	// +required
	// +kubebuilder:validation:Minimum=1
	Rows int64 `json:"rows,omitempty"`
	// id is the row's.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=300
	ID string `json:"id,omitempty"`
	// fields are the fields that change, and those that the policies ask of.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=100
	Fields []ApprovalField `json:"fields,omitempty"`
}

// ApprovalChangeKind is what would become of a row.
// +kubebuilder:validation:Enum=Create;Update;Delete
type ApprovalChangeKind string

// What would become of a row.
const (
	ApprovalCreates ApprovalChangeKind = "Create"
	ApprovalUpdates ApprovalChangeKind = "Update"
	ApprovalDeletes ApprovalChangeKind = "Delete"
)

// ApprovalField is a field that would change.
type ApprovalField struct {
	// name is the field's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Name string `json:"name,omitempty"`
	// before is its value as JSON, if values are shown; of a long text the beginning.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1300
	Before string `json:"before,omitempty"`
	// after is the value that it would have.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1300
	After string `json:"after,omitempty"`
}

// ApprovalDecision is what one person decided.
//
// +kubebuilder:validation:XValidation:rule="self.decision != 'Override' || has(self.comment)",message="Override needs a comment that says why"
type ApprovalDecision struct {
	// decidedBy is the name of the user who decides. It must be the user who sends the request.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	DecidedBy string `json:"decidedBy,omitempty"`
	// decision is Approve, Deny, or Override, which allows the call by itself whatever the policies ask, needs the verb override on the
	// endpoint, and is told by a Warning.
	// +required
	Decision ApprovalVerdict `json:"decision,omitempty"`
	// groups are those of the user's groups that count: the approverGroups of policies.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	Groups []string `json:"groups,omitempty"`
	// comment is what the person says about it. The caller sees it.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=500
	Comment string `json:"comment,omitempty"`
}

// ApprovalVerdict is a person's decision.
// +kubebuilder:validation:Enum=Approve;Deny;Override
type ApprovalVerdict string

// The decisions.
const (
	VerdictApprove  ApprovalVerdict = "Approve"
	VerdictDeny     ApprovalVerdict = "Deny"
	VerdictOverride ApprovalVerdict = "Override"
)

// MCPApprovalStatus is what became of a call that waited.
type MCPApprovalStatus struct {
	// conditions: Approved says who allowed the call, or what is missing; Denied, Expired, Executed, Withdrawn and Superseded are there
	// once they are true.
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
	// state says the conditions in one word.
	// +optional
	State ApprovalState `json:"state,omitempty"`
	// reason is what the caller says of the call (approval_reason).
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=500
	Reason string `json:"reason,omitempty"`
	// decisions say of each decision whether it counts, and since when it is known.
	// +optional
	// +listType=map
	// +listMapKey=decidedBy
	// +kubebuilder:validation:MaxItems=20
	Decisions []ApprovalDecisionStatus `json:"decisions,omitempty"`
	// endTime is when it ended: it was denied, expired, executed, withdrawn or superseded.
	// +optional
	EndTime *metav1.MicroTime `json:"endTime,omitempty"`
	// call is the id of the call that was executed, as the journal has it.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Call string `json:"call,omitempty"`
	// supersededBy is the name of the MCPApproval that took its place, as the rows have changed.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	SupersededBy string `json:"supersededBy,omitempty"`
}

// ApprovalDecisionStatus is what the manager makes of a decision.
type ApprovalDecisionStatus struct {
	// decidedBy is the user.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	DecidedBy string `json:"decidedBy,omitempty"`
	// seenTime is when the manager saw the decision first.
	// +required
	SeenTime metav1.Time `json:"seenTime,omitempty,omitzero"`
	// reason is Counted, or why the decision does not count.
	// +required
	Reason ApprovalDecisionReason `json:"reason,omitempty"`
}

// ApprovalDecisionReason says whether a decision counts.
// +kubebuilder:validation:Enum=Counted;NotAnApprover;OwnCall;TooLate;PolicyNotInForce
type ApprovalDecisionReason string

// Whether a decision counts.
const (
	DecisionCounted ApprovalDecisionReason = "Counted"
	// DecisionNotAnApprover: the user is in none of the groups that a policy asks for, or is a ServiceAccount and the policy names no group.
	DecisionNotAnApprover ApprovalDecisionReason = "NotAnApprover"
	// DecisionOwnCall: the call is the user's own.
	DecisionOwnCall ApprovalDecisionReason = "OwnCall"
	// DecisionTooLate: it had ended before.
	DecisionTooLate ApprovalDecisionReason = "TooLate"
	// DecisionPolicyNotInForce: nobody checked who the user is and may do, as the admission policy is not installed.
	DecisionPolicyNotInForce ApprovalDecisionReason = "PolicyNotInForce"
)

// ApprovalState is the state of an MCPApproval.
// +kubebuilder:validation:Enum=Waiting;Approved;Denied;Expired;Executed;Withdrawn;Superseded
type ApprovalState string

// The states of an MCPApproval. All but the first two are ends.
const (
	ApprovalWaiting    ApprovalState = "Waiting"
	ApprovalApproved   ApprovalState = "Approved"
	ApprovalDenied     ApprovalState = "Denied"
	ApprovalExpired    ApprovalState = "Expired"
	ApprovalExecuted   ApprovalState = "Executed"
	ApprovalWithdrawn  ApprovalState = "Withdrawn"
	ApprovalSuperseded ApprovalState = "Superseded"
)

// The reasons of the conditions of an MCPApproval, which is never Ready or not.
const (
	ApprovalReasonWaiting       = "Waiting"
	ApprovalReasonApproved      = "Approved"
	ApprovalReasonOverridden    = "Overridden"
	ApprovalReasonDenied        = "Denied"
	ApprovalReasonExpired       = "Expired"
	ApprovalReasonExecuted      = "Executed"
	ApprovalReasonWithdrawn     = "Withdrawn"
	ApprovalReasonRowsChanged   = "RowsChanged"
	ApprovalReasonPolicyChanged = "PolicyChanged"
	ApprovalReasonTokenGone     = "TokenGone"
)

// MCPApprovalList is a list of MCPApproval.
//
// +kubebuilder:object:root=true
type MCPApprovalList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	// items are the objects.
	Items []MCPApproval `json:"items"`
}
