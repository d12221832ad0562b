package contract

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// ApprovalPolicy says which calls wait until other people allow them (docs/design/decisions/0012-approvals.md).
type ApprovalPolicy struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Models are names of models; empty is any, and any table that the database changes along.
	Models []string `json:"models,omitempty"`
	// Operations are some of ApprovalOperations, or action:NAME; empty is everything that changes rows.
	Operations []string `json:"operations,omitempty"`
	// Tokens are namespace/name of MCPTokens, Groups are groups of tokens. A token of either is meant; with neither, any is.
	Tokens []string `json:"tokens,omitempty"`
	Groups []string `json:"groups,omitempty"`
	// When narrows the policy further: each of its members that is given must hold.
	When ApprovalWhen `json:"when,omitzero"`
	// MinApprovals is how many people must allow the call, at least 1.
	MinApprovals int `json:"minApprovals"`
	// ExpiresAfter is how long a call waits.
	ExpiresAfter Duration `json:"expiresAfter"`
	// Show is one of the Show… constants.
	Show string `json:"show,omitempty"`
	// Sum stands for all that the policy says, also what only the manager knows: a policy that changes asks anew.
	Sum string `json:"sum"`
	// Problem is why the policy cannot be judged as it is written; "" if it can. It then matches everything of its operations.
	Problem string `json:"problem,omitempty"`
	// Notify gets an event for calls that wait for the policy; nil sends none. Sum does not depend on it.
	Notify *ApprovalNotify `json:"notify,omitempty"`
}

// ApprovalNotify is a webhook that gets events about calls that wait.
type ApprovalNotify struct {
	Webhook
	// States are the states of an Approval that it is told of.
	States []string `json:"states"`
	// PageURL is where people open the page; "" if nobody said so.
	PageURL string `json:"pageURL,omitempty"`
}

// RequiresApprovals stands in Requires of a Config that has Approvals: a server that does not know them would ask nobody.
const RequiresApprovals = "approvals"

// ApprovalWhen is what must be so of the rows that a call changes.
type ApprovalWhen struct {
	// Rows is met if more rows than this are changed; nil asks nothing.
	Rows *int `json:"rows,omitempty"`
	// Before and After are condition objects, as the argument filters has them: met if one row meets it as it was, or as it is.
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
	// Changes are fields: met if one of them changes.
	Changes []string `json:"changes,omitempty"`
}

// The operations of an ApprovalPolicy. create, update and delete are what becomes of rows, by whatever tool; the others are the tools
// that a call uses. report and export change nothing, and are meant only if they are named.
const (
	ApproveCreate   = "create"
	ApproveUpdate   = "update"
	ApproveDelete   = "delete"
	ApproveBulk     = "bulk"
	ApproveAction   = "action"
	ApproveTransact = "transact"
	ApproveUndo     = "undo"
	ApproveReport   = "report"
	ApproveExport   = "export"
	// ApproveActionPrefix stands before the name of one action.
	ApproveActionPrefix = "action:"
)

// ApprovalOperations are the operations of an ApprovalPolicy, beside those with the ApproveActionPrefix.
var ApprovalOperations = []string{ApproveCreate, ApproveUpdate, ApproveDelete, ApproveBulk, ApproveAction, ApproveTransact, ApproveUndo, ApproveReport, ApproveExport}

// What an approval shows of the rows: how many of which models, also the fields of which keys, also their values.
const (
	ShowCounts = "Counts"
	ShowFields = "Fields"
	ShowValues = "Values"
)

// Decision is what people decided about a call. It lies in the part of the call's token.
type Decision struct {
	// Name and Digest are those of the Approval: a decision is good for exactly that.
	Name   string `json:"name"`
	Digest string `json:"digest"`
	// Caller is whose call it is, and Tool what they call.
	Caller string `json:"caller"`
	Tool   string `json:"tool"`
	// State is ApprovalApproved, ApprovalDenied or ApprovalExpired; of what is no decision yet, ApprovalWaiting.
	State string `json:"state"`
	// By are the users who decided, Comment is what they said.
	By      []string `json:"by,omitempty"`
	Comment string   `json:"comment,omitempty"`
	// Expires is the moment from which an approved call may run no more.
	Expires time.Time `json:"expires"`
	// Allowed says of a call that still waits how many people have allowed it, by policy.
	Allowed map[string]int `json:"allowed,omitempty"`
}

// The states of an Approval.
const (
	// ApprovalWaiting: nobody has decided yet.
	ApprovalWaiting = "Waiting"
	// ApprovalApproved, ApprovalDenied, ApprovalExpired: as people decided, or did not in time.
	ApprovalApproved = "Approved"
	ApprovalDenied   = "Denied"
	ApprovalExpired  = "Expired"
	// ApprovalExecuted: the call ran.
	ApprovalExecuted = "Executed"
	// ApprovalWithdrawn: the caller wants it no more.
	ApprovalWithdrawn = "Withdrawn"
	// ApprovalSuperseded: the rows have changed since, and the call waits as another approval.
	ApprovalSuperseded = "Superseded"
)

// Approval is a call that waits, or waited, as a pod tells the manager of it.
type Approval struct {
	// Name is derived from Digest (ApprovalName), the hex SHA-256 of who would do what with which consequences.
	Name   string `json:"name"`
	Digest string `json:"digest"`
	// State is ApprovalWaiting, ApprovalExecuted, ApprovalWithdrawn or ApprovalSuperseded.
	State string `json:"state"`
	// Token is the MCPToken's namespace/name, TokenUID its identity, and Caller tells callers of one token apart.
	Token    string `json:"token"`
	TokenUID string `json:"tokenUID,omitempty"`
	Caller   string `json:"caller"`
	// Subject is whom the issuer of what the caller shows says that it issued it to; "" if it is the token's own text.
	Subject string `json:"subject,omitempty"`
	// Tool is as it was called; Operation is it, or action:NAME; Model is "" if the call names none.
	Tool      string `json:"tool"`
	Operation string `json:"operation"`
	Model     string `json:"model,omitempty"`
	// Policies are the names of those that ask, sorted.
	Policies []string `json:"policies"`
	// Reason is what the caller says of it.
	Reason string    `json:"reason,omitempty"`
	Asked  time.Time `json:"asked"`
	// Rows is how many rows would change, and Changes what would become of them, as much as the policies let be shown.
	Rows    int              `json:"rows"`
	Changes []ApprovalChange `json:"changes,omitempty"`
	// Notice says that something of the changes is not told.
	Notice string `json:"notice,omitempty"`
	// By is the approval that takes its place, if it is superseded. Call is the call's id in the journal, if it was executed.
	By   string `json:"by,omitempty"`
	Call string `json:"call,omitempty"`
	// Ended is when it was executed, withdrawn or superseded.
	Ended *time.Time `json:"ended,omitempty"`
}

// ApprovalChange is what would become of some rows of a model: of one row if it has an id.
type ApprovalChange struct {
	// Model is "" for tables that have no model.
	Model string `json:"model,omitempty"`
	// Change is create, update or delete.
	Change string `json:"change"`
	Rows   int    `json:"rows"`
	// ID is the row's, as the API shows ids.
	ID string `json:"id,omitempty"`
	// Fields are the fields that change, and those that the policies' conditions ask of, sorted. Before and After are their values, if
	// they are shown: equal of a field that stays as it is.
	Fields []string                   `json:"fields,omitempty"`
	Before map[string]json.RawMessage `json:"before,omitempty"`
	After  map[string]json.RawMessage `json:"after,omitempty"`
}

// ApprovalValues is the answer of a server's pod at /approvals/NAME/values on its admin port, for people who decide: to whoever comes from
// within the pod, as "kubectl port-forward" does, and to whoever shows the StatusKey. NAME is an Approval's that waits there.
type ApprovalValues struct {
	Digest string `json:"digest"`
	// Changes have the values before and after, without those of hidden, masked and secret fields, whatever the policies let be shown.
	Changes []ApprovalChange `json:"changes,omitempty"`
	// Notice says that something of the changes is not told.
	Notice string `json:"notice,omitempty"`
}

// The bounds of Approvals as a pod tells of them.
const (
	// MaxApprovalReason is the most characters of a reason or comment.
	MaxApprovalReason = 500
	// MaxApprovalChanges is the most changes that are told one by one, MaxApprovalValue the most bytes of a value.
	MaxApprovalChanges = 50
	MaxApprovalValue   = 200
	// MaxApprovalsPage is the most approvals of one ApprovalPage, MaxApprovalsBytes bounds it as JSON.
	MaxApprovalsPage  = 100
	MaxApprovalsBytes = 8 << 20
	// MaxApprovalValuesBytes bounds the ApprovalValues of one call as JSON.
	MaxApprovalValuesBytes = 64 << 10
)

// ApprovalPage is the answer of a server's pod at /approvals on its admin port, to whoever shows the StatusKey.
//
// GET /approvals?after=CURSOR has the approvals that came or changed their state since the answer with that cursor, at most
// MaxApprovalsPage of them, the oldest change first. A cursor of another process is as good as none. The Status' ApprovalsSerial differs
// if there is more.
type ApprovalPage struct {
	Cursor string `json:"cursor"`
	// More reports whether the next page has more.
	More      bool       `json:"more,omitempty"`
	Approvals []Approval `json:"approvals"`
}

// approvalNameLength is how many characters a name has: 100 bits.
const approvalNameLength = 20

// ApprovalName returns the name of the approval with that digest; "" for what is no digest.
func ApprovalName(digest string) string {
	sum, err := hex.DecodeString(digest)
	if err != nil || len(sum) != 32 {
		return ""
	}
	name := make([]byte, approvalNameLength)
	for i := range name {
		bit := i * 5
		two := uint16(sum[bit/8])<<8 | uint16(sum[bit/8+1])
		name[i] = approvalLetters[two>>(11-bit%8)&31]
	}
	return string(name)
}

// approvalLetters are the letters and digits of base32 in RFC 4648, in small letters, as names of objects have them.
const approvalLetters = "abcdefghijklmnopqrstuvwxyz234567"

// check says what in the policy no server could work with.
func (p *ApprovalPolicy) check(fail fault) {
	if p.Name == "" || p.Sum == "" {
		fail("", "its name or sum is missing")
	}
	if p.MinApprovals < 1 {
		fail("minApprovals", "must be at least 1, is %d", p.MinApprovals)
	}
	if p.ExpiresAfter <= 0 {
		fail("expiresAfter", "must be positive, is %s", time.Duration(p.ExpiresAfter))
	}
	if !slices.Contains([]string{"", ShowCounts, ShowFields, ShowValues}, p.Show) {
		fail("show", "%q is none of %s, %s and %s", p.Show, ShowCounts, ShowFields, ShowValues)
	}
	for i, raw := range []json.RawMessage{p.When.Before, p.When.After} {
		if len(raw) > 0 && (raw[0] != '{' || !json.Valid(raw) || len(raw) > maxMeaning) {
			fail(fmt.Sprintf("when.%s", []string{"before", "after"}[i]), "is no JSON object of at most %d bytes", maxMeaning)
		}
	}
	if p.Notify != nil {
		p.Notify.check(fail.at("notify"))
	}
}

// check says what in the decision no server could work with.
func (d *Decision) check(fail fault) {
	if d.Name == "" || d.Name != ApprovalName(d.Digest) {
		fail("", "%q is not the name of the digest %q", d.Name, d.Digest)
	}
	if !slices.Contains([]string{ApprovalApproved, ApprovalDenied, ApprovalExpired}, d.State) {
		fail("state", "%q is no decision", d.State)
	}
	if d.Expires.IsZero() {
		fail("expires", "is missing")
	}
}
