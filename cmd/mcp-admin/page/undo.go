package page

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	actions "github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/acts"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/call"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/rights"
	lines "github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/tail"
)

// takingBack is how a call is taken back. Only the token that made it can: who may read the token's text does it here.
type takingBack struct {
	// Command does it in a terminal; "" if the call has no id.
	Command string
	// Why says why the token cannot do it now, Missing which right of the person is missing. Can reports that neither is so.
	Why     string
	Missing *refusal
	// LetIn is the token to let in again first; "" if that is not what is missing, or cannot be done here.
	LetIn string
}

// Can reports whether the page knows no obstacle. The endpoint still checks the token's own rights.
func (b *takingBack) Can() bool { return b.Why == "" && b.Missing == nil }

// takeBack finds out how to take back a call that changed something, and what prevents it.
func (q *request) takeBack(c *lines.Call, objects *rights.Objects) (*takingBack, error) {
	key := tokenOfCall(c)
	b := &takingBack{}
	if c.Call == "" {
		b.Why = "the line of the call does not say its id, by which it could be taken back"
		return b, nil
	}
	b.Command = q.source().Command("call", key, key.Name, "undo", "call="+c.Call)
	i := slices.IndexFunc(objects.Tokens, func(t v1alpha1.MCPToken) bool { return cluster.Key(&t) == key })
	if i < 0 {
		b.Why = fmt.Sprintf("MCPToken %s is not there any more, or not for you to see; only with it the call can be taken back", key)
		return b, nil
	}
	token := &objects.Tokens[i]
	switch {
	case !token.Spec.EffectiveActive():
		b.Why = fmt.Sprintf("MCPToken %s is not active, and only with it the call can be taken back", key)
		b.LetIn = when(q.source().Cluster() != nil, key.String())
		return b, nil
	case token.Expired(q.page.now()):
		b.Why = fmt.Sprintf("MCPToken %s has expired, and only with it the call can be taken back: give it a later expiry", key)
		return b, nil
	}
	return b, q.tellNeeds(b, objects.Endpoint, token)
}

// tellNeeds says which right the person lacks to call as the token, or why nobody can.
func (q *request) tellNeeds(b *takingBack, endpoint *v1alpha1.MCPEndpoint, token *v1alpha1.MCPToken) error {
	needs, none := q.source().CallNeeds(endpoint, token)
	if b.Why = messageOf(none); b.Why != "" {
		return nil
	}
	for i := range needs {
		missing, err := q.may(&needs[i])
		if b.Missing = missing; err != nil || missing != nil {
			return err
		}
	}
	return nil
}

// messageOf is an error's message; "" if there is none.
func messageOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// reversal describes what would happen if a call were taken back.
type reversal struct {
	*takingBack
	// Key names the call in a path.
	Key, Token, What, When string
	Rows                   []rowReversal
	// More is how many rows are not shown; Notice is the endpoint's remark.
	More   int
	Notice string
	// Refused says why the endpoint would not do it, with its Code. Conflict is a row that was changed since, and Another says that it is another row with the same id.
	Refused, Code string
	Conflict      []fieldChange
	Another       bool
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
}

var errNotChanged = errors.New("the call changed nothing that could be taken back")

// callBack is the call that the path names, and how it is taken back.
func (q *request) callBack() (*lines.Call, *takingBack, *rights.Objects, error) {
	c, err := q.knownCall()
	if err != nil {
		return nil, nil, nil, err
	}
	objects, err := q.source().Objects(q.Context(), q.key())
	switch {
	case err != nil:
		return nil, nil, nil, err
	case !hasChanged(c):
		return nil, nil, nil, errNotChanged
	case objects.Endpoint.Spec.Audit == nil:
		return nil, nil, nil, errors.New("the endpoint keeps no journal (spec.audit), so nobody knows what the rows were before")
	case c.Subject != "":
		return nil, nil, nil, errors.New("the caller showed a token of an identity provider, so only the caller can take the call back, with undo")
	}
	b, err := q.takeBack(c, objects)
	return c, b, objects, err
}

// undoPlan has the endpoint say, in a dry run, what taking a call back would do.
func (q *request) undoPlan() (any, error) {
	q.Title = "Take it back"
	c, b, _, err := q.callBack()
	if err != nil {
		return nil, err
	}
	q.Title = "Take it back: what it would do"
	q.alike(b.Command)
	r := &reversal{takingBack: b, Key: keyOfCall(c), Token: c.Token, What: whatOf(c), When: c.At.UTC().Format("2006-01-02 15:04:05 UTC")}
	if !b.Can() {
		return r, nil
	}
	told, failure, err := q.askUndo(c, true)
	if err != nil {
		return nil, err
	}
	if r.Refused, r.Code = failure.Error, failure.Code; r.Refused != "" {
		r.tellConflict(told)
		return r, nil
	}
	r.Notice = told.Notice
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
	return r, nil
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
func (q *request) askUndo(c *lines.Call, dry bool) (told *undoAnswer, failure call.Failure, err error) {
	ctx, cancel := context.WithTimeout(q.Context(), trialTime)
	defer cancel()
	callee, err := q.source().Callee(ctx, q.key(), tokenOfCall(c))
	if err != nil {
		return nil, failure, err
	}
	session, err := callee.Open(ctx, q.client())
	if err != nil {
		return nil, failure, err
	}
	defer session.Close()
	arguments := map[string]any{"call": c.Call}
	if dry {
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
	return told, failure, nil
}

// undo takes the call back, as the token's holder.
func (q *request) undo() (string, error) {
	c, b, objects, err := q.callBack()
	switch {
	case err != nil:
		return "", err
	case b.Missing != nil:
		return "", errors.New(b.Missing.Why)
	case b.Why != "":
		return "", errors.New(b.Why)
	}
	told, failure, err := q.askUndo(c, false)
	switch {
	case err != nil:
		return "", err
	case failure.Error != "":
		return "", fmt.Errorf("%s: %s", cmp.Or(failure.Code, "refused"), failure.Error)
	}
	values := url.Values{"by": {told.Call}}
	if k := q.source().Cluster(); k != nil && told.Call != "" {
		if err := q.recordUndo(k, objects, tokenOfCall(c), fmt.Sprintf("%s: call %s was taken back by call %s", q.by(), c.Call, told.Call)); err != nil {
			values.Set("noevent", Sentence(err))
		}
	}
	return fmt.Sprintf("e/%s/%s/activity/%s/undo/done?%s", url.PathEscape(q.key().Namespace), url.PathEscape(q.key().Name), url.PathEscape(q.PathValue("at")), values.Encode()), nil
}

func (q *request) recordUndo(k *cluster.Cluster, objects *rights.Objects, key types.NamespacedName, message string) error {
	i := slices.IndexFunc(objects.Tokens, func(t v1alpha1.MCPToken) bool { return cluster.Key(&t) == key }) // takeBack has found it
	return actions.Record(q.Context(), k.In(key.Namespace), &objects.Tokens[i], "CallTakenBack", message)
}

// takenBack holds the audit lines of a call that took another call back.
type takenBack struct {
	// By is its id; "" if there was nothing to do. Key names its line; "" as long as it has not come.
	By, Key string
	Rows    []rowReversal
	// More is how many rows are not named; NoEvent says why nothing was recorded.
	More    int
	NoEvent string
}

// undone says what happened, once the audit lines of it are there.
func (q *request) undone() (any, error) {
	q.Title = "Take it back: what happened"
	at, err := strconv.ParseInt(q.PathValue("at"), 10, 64)
	if err != nil {
		return nil, errNoScreen
	}
	calls, err := q.source().Calls(q.Context(), q.key(), time.Unix(0, at))
	if err != nil {
		return nil, err
	}
	q.Unseen = calls.Unseen
	t := &takenBack{By: q.FormValue("by"), NoEvent: q.FormValue("noevent")}
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
