package page

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	actions "github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/acts"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/call"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/rights"
)

// reversal describes what would happen if something were taken back.
type reversal struct {
	*takingBack
	// Key names the call in a path, What and When are its; "" if all since a time is taken back.
	Key, Token, What, When string
	Rows                   []rowReversal
	// More is how many rows are not shown; Notice is the endpoint's remark. Waits are the policies by which other people must allow it first.
	More   int
	Notice string
	Waits  []string
	// Refused says why the endpoint would not do it, with its Code. Conflict is a row that was changed since, and Another says that it is another row with the same id.
	Refused, Code string
	Conflict      []fieldChange
	Another       bool
	// Seen stands for all that would be done.
	Seen string
}

// rowReversal describes what would happen to one row. Does is "update", "create" or "delete".
type rowReversal struct {
	Model, ID, Does string
	Fields          []fieldChange
}

// undoAnswer is the payload of the tool undo (server/tools/steps), with what it tells of a conflict.
type undoAnswer struct {
	Changes []struct {
		Model, Change string
		ID            json.RawMessage
		From, To      map[string]json.RawMessage
	}
	Notice, Call  string
	Left, Current map[string]json.RawMessage
	// WouldNeed are, in a dry run, the policies by which the call would wait; approval is the one for which it does.
	WouldNeed []string `json:"would_need_approval"`
	approval  string
}

// tell has the endpoint say, in a dry run, what undo would do with some arguments, unless something prevents it.
func (q *request) tell(r *reversal, token types.NamespacedName, arguments map[string]any) error {
	if !r.Can() {
		return nil
	}
	told, failure, err := q.askUndo(token, arguments, true)
	if err != nil {
		return err
	}
	if r.Refused, r.Code = failure.Error, failure.Code; r.Refused != "" {
		r.tellConflict(told)
		return nil
	}
	r.Notice, r.Waits, r.Seen = told.Notice, told.WouldNeed, seenIn(told)
	for _, change := range told.Changes {
		if len(r.Rows) == perPage {
			r.More++
			continue
		}
		row := rowReversal{Model: change.Model, ID: valueOf(change.ID), Does: change.Change}
		for _, name := range namesIn(change.From, change.To) {
			row.Fields = append(row.Fields, fieldChange{name, valueOf(change.From[name]), valueOf(change.To[name])})
		}
		r.Rows = append(r.Rows, row)
	}
	return nil
}

// tellConflict shows a row that was changed since: as the call left it, and as it is now.
func (r *reversal) tellConflict(told *undoAnswer) {
	names := namesIn(told.Left, nil)
	if r.Another = len(names) == 0 && len(told.Current) > 0; r.Another {
		names = namesIn(told.Current, nil)
	}
	for _, name := range names {
		r.Conflict = append(r.Conflict, fieldChange{name, valueOf(told.Left[name]), valueOf(told.Current[name])})
	}
}

// namesIn are the names of fields, in order.
func namesIn(some, others map[string]json.RawMessage) []string {
	var names []string
	for name := range some {
		names = append(names, name)
	}
	for name := range others {
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// askUndo calls undo as the token's holder. If the endpoint refuses, the failure says why, and has an error.
func (q *request) askUndo(token types.NamespacedName, arguments map[string]any, dry bool) (told *undoAnswer, failure call.Failure, err error) {
	ctx, cancel := context.WithTimeout(q.Context(), trialTime)
	defer cancel()
	session, err := q.openAs(ctx, token)
	if err != nil {
		return nil, failure, err
	}
	defer session.Close()
	if dry {
		arguments = maps.Clone(arguments)
		arguments["dry_run"] = true
	}
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "undo", Arguments: arguments})
	if err != nil {
		return nil, failure, err
	}
	text := call.TextOf(result)
	if result.IsError {
		failure, _ = call.ReadFailure(text)
	}
	told = &undoAnswer{}
	if err := json.Unmarshal([]byte(text), told); err != nil && !result.IsError {
		return nil, failure, fmt.Errorf("the answer of undo cannot be read: %w", err)
	}
	told.approval = call.WaitsFor(result)
	return told, failure, nil
}

// openAs calls the endpoint as a token's holder.
func (q *request) openAs(ctx context.Context, token types.NamespacedName) (*call.Session, error) {
	callee, err := q.source().Callee(ctx, q.key(), token)
	if err != nil {
		return nil, err
	}
	return callee.Open(ctx, q.client())
}

// obstacle is the error that says what prevents it; nil if nothing is known that does.
func (b *takingBack) obstacle() error {
	switch {
	case b.Missing != nil:
		return errors.New(b.Missing.Why)
	case b.Why != "":
		return errors.New(b.Why)
	}
	return nil
}

// reverse takes back what the arguments of undo name, as the token's holder. It returns what the screen that says what happened has to
// know: the call that did it, or the approval for which it waits.
func (q *request) reverse(objects *rights.Objects, token types.NamespacedName, arguments map[string]any, what string) (url.Values, error) {
	told, failure, err := q.askUndo(token, arguments, false)
	switch {
	case err != nil:
		return nil, err
	case failure.Error != "":
		return nil, fmt.Errorf("%s: %s", cmp.Or(failure.Code, "refused"), failure.Error)
	case told.approval != "":
		return url.Values{"waits": {told.approval}}, nil
	}
	values := url.Values{"by": {told.Call}}
	if k := q.source().Cluster(); k != nil && told.Call != "" {
		if err := q.recordUndo(k, objects, token, fmt.Sprintf("%s: %s was taken back by call %s", q.by(), what, told.Call)); err != nil {
			values.Set("noevent", Sentence(err))
		}
	}
	return values, nil
}

func (q *request) recordUndo(k *cluster.Cluster, objects *rights.Objects, key types.NamespacedName, message string) error {
	i := slices.IndexFunc(objects.Tokens, func(t v1alpha1.MCPToken) bool { return cluster.Key(&t) == key }) // takeBackAs has found it
	return actions.Record(q.Context(), k.In(key.Namespace), &objects.Tokens[i], "CallTakenBack", message)
}

// takenBack holds the audit lines of a call that took something back, or the approval for which it waits.
type takenBack struct {
	// By is its id; "" if there was nothing to do. Key names its line; "" as long as it has not come.
	By, Key string
	Rows    []rowReversal
	// More is how many rows are not named; NoEvent says why nothing was recorded.
	More    int
	NoEvent string
	// Waits is the approval; "" if it waits for none. State is the approval's, "" if it is not known, and Again the screen that does it then.
	Waits, Again string
	State        v1alpha1.ApprovalState
}

// Allowed reports whether it runs if somebody asks again.
func (t *takenBack) Allowed() bool { return t.State == v1alpha1.ApprovalApproved }

// Open reports whether it may still be allowed.
func (t *takenBack) Open() bool { return t.State == "" || t.State == v1alpha1.ApprovalWaiting }

// undoneSince says what happened by audit lines since a time. The plan is the screen that asked, below the endpoint's.
func (q *request) undoneSince(from time.Time, plan string) (any, error) {
	q.Title = "Take it back: what happened"
	t := &takenBack{By: q.FormValue("by"), NoEvent: q.FormValue("noevent"), Waits: q.FormValue("waits")}
	if t.Waits != "" {
		q.tellWaiting(t)
		t.Again = q.page.root + q.pathOfEndpoint() + "/" + plan
		return t, nil
	}
	calls, err := q.source().Calls(q.Context(), q.key(), from)
	if err != nil {
		return nil, err
	}
	q.Unseen = calls.Unseen
	for i := range calls.Items {
		c := &calls.Items[i]
		switch {
		case t.By == "" || c.Call != t.By || !hasChanged(c):
		case c.Model == "":
			t.Key = keyOfCall(c)
		default:
			t.More += c.Changed - len(c.IDs)
			for _, id := range c.IDs {
				t.Rows = append(t.Rows, rowReversal{Model: c.Model, ID: id, Does: c.Operation})
			}
		}
	}
	if n := len(t.Rows); n > perPage {
		t.Rows, t.More = t.Rows[:perPage], t.More+n-perPage
	}
	q.Refresh = t.By != "" && t.Key == ""
	q.command("tail")
	return t, nil
}

// tellWaiting says how far the approval has come. The manager makes the MCPApproval a moment after the call.
func (q *request) tellWaiting(t *takenBack) {
	q.command("approvals", t.Waits)
	all, _ := q.allApprovals() // the approval's own screen says why they cannot be read
	for i := range all {
		if all[i].Name == t.Waits || all[i].ShortName() == t.Waits {
			t.Waits, t.State = all[i].Name, all[i].EffectiveState()
		}
	}
	q.Refresh = t.Open()
}

// seenIn stands for all that a dry run says would be done.
func seenIn(told *undoAnswer) string {
	text, err := json.Marshal(told.Changes)
	if err != nil {
		return "" // it came as JSON; an empty text is never taken
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
