package page

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"k8s.io/apimachinery/pkg/types"

	lines "github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/tail"
)

// callDetails is one call.
type callDetails struct {
	lines.Call
	// Key names the call in a path.
	Key, What, When, Took string
	OK                    bool
	// Changed says that rows were changed, Journal that the endpoint records what they were before.
	Changed, Journal bool
	// CanAct says that the token can be revoked here.
	CanAct bool
	// Show is the query that reads the journal; "" if that was done or cannot be. Asked says that it was read.
	Show  string
	Asked bool
	// Rows are the rows before and after, Left how many others were changed; Problem says why there are none.
	Rows    []rowChange
	Left    int
	Problem string
	// History is the command that tells a row before and after. Back says how the call is taken back; nil if only its caller can.
	History string
	Back    *takingBack
	// Since is a moment before the call, from which all that its token changed can be taken back.
	Since string
	// Steps are the lines of the call's steps; Taken is the call that took it back, nil if none is known.
	Steps []callRow
	Taken *back
}

// rowChange is what a call did to a row.
type rowChange struct {
	ID, Label, Action string
	Fields            []fieldChange
}

type fieldChange struct{ Name, Before, After string }

// mostChanges is how many rows of a call are shown as they were and are.
const mostChanges = 5

// near is how much older than a call's own line the lines of its steps can be.
const near = 2 * time.Second

var errNoCall = errors.New("the call is not among those that are known any more")

// knownCall is the call that the path names, by when its line was written.
func (q *request) knownCall() (*lines.Call, error) {
	c, _, err := q.knownCalls()
	return c, err
}

// knownCalls are the call that the path names, and with it the calls since. The lines of its steps are a little older than its own.
func (q *request) knownCalls() (*lines.Call, []lines.Call, error) {
	at, err := strconv.ParseInt(q.PathValue("at"), 10, 64)
	if err != nil {
		return nil, nil, errNoScreen
	}
	calls, err := q.source().Calls(q.Context(), q.key(), time.Unix(0, at).Add(-near))
	if err != nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(calls.Items, func(c lines.Call) bool { return c.At.UnixNano() == at })
	if i < 0 {
		return nil, nil, errNoCall
	}
	q.Unseen = calls.Unseen
	return &calls.Items[i], calls.Items, nil
}

// hasChanged reports whether a call changed rows, for good.
func hasChanged(c *lines.Call) bool { return c.Changed > 0 && !c.DryRun && c.Outcome == "ok" }

// tokenOfCall is the MCPToken that a call's line names.
func tokenOfCall(c *lines.Call) types.NamespacedName {
	namespace, name, _ := strings.Cut(c.Token, "/")
	return types.NamespacedName{Namespace: namespace, Name: name}
}

// call shows one call.
func (q *request) call() (any, error) {
	q.Title = "A call"
	c, calls, err := q.knownCalls()
	if err != nil {
		return nil, err
	}
	d := &callDetails{Call: *c, Key: keyOfCall(c), What: whatOf(c), When: c.At.UTC().Format("2006-01-02 15:04:05.000 UTC"), Took: tookOf(c), OK: isGood(c), CanAct: c.Token != "" && q.source().Cluster() != nil}
	q.Title = cmp.Or(d.What, "A call") + " by " + cmp.Or(c.Token, "an unknown caller")
	d.tellOthers(calls)
	if d.Changed = hasChanged(c); !d.Changed {
		return d, nil
	}
	objects, err := q.source().Objects(q.Context(), q.key())
	if err != nil {
		return nil, err
	}
	d.Journal = objects.Endpoint.Spec.Audit != nil
	if !d.Journal || c.Subject != "" {
		return d, nil // the text that the caller showed is the caller's own
	}
	token := tokenOfCall(c)
	d.Since = c.At.Add(-near).UTC().Format(time.RFC3339)
	if d.Taken != nil && !d.Taken.Again {
		d.Back = nil
	} else if d.Back, err = q.takeBack(c, objects); err != nil {
		d.Back = nil
		q.Unseen = append(q.Unseen, "whether you may take it back: "+Sentence(err))
	}
	if c.Model == "" || len(c.IDs) == 0 || c.Call == "" {
		return d, nil
	}
	d.History = q.source().Command("call", token, token.Name, "history_"+c.Model, "id="+c.IDs[0], "call="+c.Call)
	if q.FormValue("rows") == "" {
		d.Show = "?rows=show"
		return d, nil
	}
	d.Asked, d.Left = true, max(0, c.Changed-mostChanges)
	if err := q.changes(d, token); err != nil {
		d.Problem = Sentence(err)
	}
	return d, nil
}

// changes reads the journal as the token's holder: it tells what the token may see today.
func (q *request) changes(d *callDetails, token types.NamespacedName) error {
	ctx, cancel := context.WithTimeout(q.Context(), trialTime)
	defer cancel()
	session, err := q.openAs(ctx, token)
	if err != nil {
		return err
	}
	defer session.Close()
	for _, id := range d.IDs[:min(len(d.IDs), mostChanges)] {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "history_" + d.Model, Arguments: map[string]any{"id": id, "call": d.Call.Call}})
		if err != nil {
			return err
		}
		told := answerOf(result, 0)
		if told.Error != "" {
			return errors.New(told.Error)
		}
		d.Rows = append(d.Rows, changesIn(id, told.Text)...)
	}
	if len(d.Rows) == 0 {
		d.Problem = "the journal tells nothing of this call that the token may see now"
	}
	return nil
}

// changesIn are the changes of a row that history_ answered.
func changesIn(id, text string) []rowChange {
	var told struct {
		History []struct {
			Action  string `json:"action"`
			Label   string `json:"object_repr"`
			Changes map[string]struct {
				Before json.RawMessage `json:"before"`
				After  json.RawMessage `json:"after"`
			} `json:"changes"`
		} `json:"history"`
	}
	if json.Unmarshal([]byte(text), &told) != nil {
		return nil
	}
	var found []rowChange
	for _, h := range told.History {
		row := rowChange{ID: id, Label: h.Label, Action: h.Action}
		for name, values := range h.Changes {
			row.Fields = append(row.Fields, fieldChange{name, valueOf(values.Before), valueOf(values.After)})
		}
		slices.SortFunc(row.Fields, func(a, b fieldChange) int { return cmp.Compare(a.Name, b.Name) })
		found = append(found, row)
	}
	return found
}

// valueOf is a value for people: NULL is null, a text without characters is "", and what is not there is shown as a dash.
func valueOf(value json.RawMessage) string {
	var text string
	if len(value) > 0 && value[0] == '"' && json.Unmarshal(value, &text) == nil {
		return cmp.Or(text, `""`)
	}
	return string(value)
}
