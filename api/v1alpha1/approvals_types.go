package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ApprovalPolicy says which calls wait until other people allow them. A call waits if all that match says is so of what it would do.
// If several policies match, each must be satisfied.
type ApprovalPolicy struct {
	// name is the policy's name. Callers and those who decide see it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`
	// description tells callers and those who decide why the policy is there.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=500
	Description string `json:"description,omitempty"`
	// match says which calls wait. Absent, everything that changes rows does.
	// +optional
	Match ApprovalMatch `json:"match,omitempty,omitzero"`
	// approvers says who may decide, among those with the verb approve on this endpoint. Absent, all of them.
	// +optional
	Approvers *Approvers `json:"approvers,omitempty"`
	// minApprovals is how many people must allow a call; 1 when absent.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	MinApprovals int32 `json:"minApprovals,omitempty"`
	// expiresAfter is how long after it was asked for a call can be allowed and run; 1h when absent. What nobody allowed by then is
	// refused.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ns|us|ms|s|m|h))+$') && duration(self) >= duration('1m') && duration(self) <= duration('168h')",message="must be a duration such as 30m, 1h or 24h, between 1m and 168h (7 days)"
	ExpiresAfter *metav1.Duration `json:"expiresAfter,omitempty"`
	// show is what the MCPApproval tells of the rows: Counts says how many rows of which models, Fields also which fields of which
	// ids, Values also their values before and after, without masked and secret ones. Fields when absent. Values are then in etcd.
	// +optional
	Show ApprovalShow `json:"show,omitempty"`
	// keepFor is how long an MCPApproval stays after it ended; 1h when absent.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ns|us|ms|s|m|h))+$') && duration(self) >= duration('1m') && duration(self) <= duration('168h')",message="must be a duration such as 30m, 1h or 24h, between 1m and 168h (7 days)"
	KeepFor *metav1.Duration `json:"keepFor,omitempty"`
	// fourEyes says who counts as the caller, who never decides. Caller means whom the issuer of what the caller showed names; Strict also
	// means everybody who can read the Secret with the token's text, as cluster administrators can. Caller when absent.
	// +optional
	FourEyes ApprovalFourEyes `json:"fourEyes,omitempty"`
	// notify is a webhook that gets an event when a call begins to wait for this policy, so that a chat can lead people to it. The event has
	// no values of rows. The call does not depend on the webhook.
	// +optional
	Notify *ApprovalNotify `json:"notify,omitempty"`
}

// ApprovalNotify is a webhook. It gets a CloudEvent each time the state of a waiting call changes. Events are signed like those of
// webhook actions.
type ApprovalNotify struct {
	WebhookSpec `json:",inline"`
	// states are those for which the webhook gets an event; Waiting alone when absent.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=7
	States []ApprovalState `json:"states,omitempty"`
	// pageURL is where people open the page in the cluster. The event then has the address of the call's screen there.
	// +optional
	// +kubebuilder:validation:MinLength=8
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="isURL(self) && url(self).getScheme() in ['http', 'https'] && url(self).getHost() != '' && !self.matches('[?#@]')",message="must be an http or https URL with a host, without user, query or fragment"
	PageURL string `json:"pageURL,omitempty"`
}

// ApprovalFourEyes says who counts as the caller.
// +kubebuilder:validation:Enum=Caller;Strict
type ApprovalFourEyes string

// Who counts as the caller.
const (
	FourEyesCaller ApprovalFourEyes = "Caller"
	FourEyesStrict ApprovalFourEyes = "Strict"
)

// ApprovalMatch says which calls wait. Each field that is given must match.
type ApprovalMatch struct {
	// models are the models whose rows change. Absent, any, and any table that the database changes along.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=40
	// +kubebuilder:validation:items:Pattern=`^[a-z][a-z0-9_]*$`
	Models []string `json:"models,omitempty"`
	// operations are what becomes of rows, by whatever tool (create, update, delete), or the tools that change them (bulk, action,
	// action:NAME, transact, undo). report and export change nothing, and wait only if they are named. Absent, everything that changes
	// rows.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=47
	// +kubebuilder:validation:items:Pattern=`^(create|update|delete|bulk|action|action:[a-z][a-z0-9_]*|transact|undo|report|export)$`
	Operations []string `json:"operations,omitempty"`
	// tokens are names of MCPTokens whose calls wait; one of another namespace is written namespace/name. A token that is named here or
	// in a group of groups is meant. With neither field, any is.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=317
	// +kubebuilder:validation:items:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?/)?[a-z0-9]([-.a-z0-9]*[a-z0-9])?$`
	Tokens []string `json:"tokens,omitempty"`
	// groups are groups of this endpoint: calls of tokens in one of them wait.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	Groups []string `json:"groups,omitempty"`
	// when is what must be so of the rows. Absent, nothing.
	// +optional
	When *ApprovalWhen `json:"when,omitempty"`
}

// ApprovalWhen is what must be so of the rows that a call changes. Each field that is given must hold.
// +kubebuilder:validation:MinProperties=1
type ApprovalWhen struct {
	// rows holds if more rows than this change, those that the database deletes along included.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Rows *int32 `json:"rows,omitempty"`
	// before holds if one of the rows meets it as it was: conditions as a call of list_ would send them as filters
	// ({status: paid}).
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	Before *runtime.RawExtension `json:"before,omitempty"`
	// after holds if one of the rows meets it as it would be: conditions as in before ({amount__gt: "500"}).
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	After *runtime.RawExtension `json:"after,omitempty"`
	// changes are fields, and hold if one of them changes.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	Changes []string `json:"changes,omitempty"`
}

// Approvers says who may decide.
type Approvers struct {
	// groups are groups of users as the cluster knows them: who is in one of them may decide. The verb approve is needed all the same.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	Groups []string `json:"groups,omitempty"`
}

// ApprovalShow says what an MCPApproval tells of the rows that would change.
// +kubebuilder:validation:Enum=Counts;Fields;Values
type ApprovalShow string

// What an MCPApproval tells.
const (
	ApprovalShowCounts ApprovalShow = "Counts"
	ApprovalShowFields ApprovalShow = "Fields"
	ApprovalShowValues ApprovalShow = "Values"
)
