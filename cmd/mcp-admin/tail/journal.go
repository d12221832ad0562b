package tail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/call"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
)

// journal reads an endpoint's audit table, through the endpoint, as the holder of an MCPToken that may view it.
type journal struct {
	callee *call.Callee
	// table is the audit table, and model the one that shows it.
	table, model string
}

// openJournal finds the model that shows the audit table, and the token's text with the person's rights. A connection through a pod
// lasts as long as ctx.
func openJournal(ctx context.Context, k *cluster.Cluster, endpoint *v1alpha1.MCPEndpoint, token string, tell func(string)) (*journal, error) {
	if endpoint.Spec.Audit == nil {
		return nil, fmt.Errorf("--journal-as: MCPEndpoint %s keeps no audit table (spec.audit)", endpoint.Name)
	}
	key, table := cluster.Key(endpoint), endpoint.Spec.Audit.Table
	exposures, err := k.Exposures(ctx, key)
	if err != nil {
		return nil, err
	}
	j := &journal{table: table.String()}
	for i := range exposures {
		if of := exposures[i].Spec.Table; of.Name == table.Name && (of.Schema == table.Schema || of.Schema == "" || table.Schema == "") {
			j.model = exposures[i].EffectiveModel()
		}
	}
	if j.model == "" {
		return nil, fmt.Errorf("--journal-as: no MCPModelExposure of MCPEndpoint %s shows the table %s; docs/objects/history.md has one to begin with", endpoint.Name, j.table)
	}
	of, err := k.Token(ctx, token)
	if err != nil {
		return nil, fmt.Errorf("--journal-as: %w", err)
	}
	if of.Endpoint() != key {
		return nil, fmt.Errorf("--journal-as: MCPToken %s is for endpoint %s", token, of.Endpoint())
	}
	if j.callee, err = call.InCluster(ctx, k, token, call.Route{Tell: tell}); err != nil {
		return nil, fmt.Errorf("--journal-as: %w", err)
	}
	return j, nil
}

// journalRow is a row of the audit table (server/audit), without what changed: lines hold no values.
type journalRow struct {
	At                         string
	Token, Action, Model, Call string
	ObjectID                   string `json:"object_id"`
}

// read returns a line for each call that changed something since from, the oldest first; a zero from is any time.
func (j *journal) read(ctx context.Context, from time.Time) ([]line, error) {
	session, err := j.callee.Open(ctx, "mcp-admin tail")
	if err != nil {
		return nil, err
	}
	defer session.Close()
	arguments := map[string]any{
		"fields": []string{"at", "token", "action", "model", "object_id", "call"}, "order_by": []string{"id"}, "total": "none",
	}
	if !from.IsZero() {
		arguments["filters"] = map[string]any{"at__gte": map[string]any{"_now": fmt.Sprintf("-%ds", int(time.Since(from).Seconds()))}}
	}
	var lines []line
	for {
		rows, cursor, err := j.page(ctx, session, arguments)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if lines, err = j.add(lines, row); err != nil {
				return nil, err
			}
		}
		if cursor == "" {
			break
		}
		arguments["cursor"] = cursor
	}
	for i := range lines {
		if lines[i].text, err = json.Marshal(lines[i].record.journalLine()); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

// page reads a page of rows, and returns the cursor of the next one; "" if there is none.
func (j *journal) page(ctx context.Context, session *call.Session, arguments map[string]any) (rows []journalRow, cursor string, err error) {
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "list_" + j.model, Arguments: arguments})
	if err != nil {
		return nil, "", fmt.Errorf("list_%s: %w", j.model, err)
	}
	var answer struct {
		Results    []journalRow
		NextCursor string `json:"next_cursor"`
	}
	text := call.TextOf(result)
	if result.IsError {
		said, _ := call.ReadFailure(text)
		return nil, "", fmt.Errorf("list_%s: %s", j.model, said.Error)
	}
	if json.Unmarshal([]byte(text), &answer) != nil {
		return nil, "", errors.New("list_" + j.model + ": the answer is no list")
	}
	return answer.Results, answer.NextCursor, nil
}

// add adds a row to the lines: to the line of its call if the row before is one of the same call, operation and model.
func (j *journal) add(lines []line, row journalRow) ([]line, error) {
	at, err := journalTime(row.At)
	if err != nil {
		return nil, fmt.Errorf("list_%s: %w", j.model, err)
	}
	if n := len(lines) - 1; n >= 0 && row.Call != "" {
		if r := &lines[n].record; r.Call == row.Call && r.Operation == row.Action && r.Model == row.Model {
			r.IDs, r.Changed = append(r.IDs, row.ObjectID), r.Changed+1
			return lines, nil
		}
	}
	r := record{Time: at, Operation: row.Action, Model: row.Model, IDs: []string{row.ObjectID}, Changed: 1, Outcome: "ok", Call: row.Call, Journal: j.table}
	r.Token, r.Subject, _ = strings.Cut(row.Token, " as ")
	return append(lines, line{at: at, logged: at, record: r}), nil
}

// journalTime reads a time of the audit table; engines without time zones have UTC.
func journalTime(text string) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return at, nil
	}
	return time.Parse("2006-01-02T15:04:05.999999999", text)
}

// journalLine is the line as JSON: an audit line as far as the audit table has its members.
func (r *record) journalLine() any {
	return struct {
		Time      time.Time `json:"time"`
		Message   string    `json:"msg"`
		Journal   string    `json:"journal"`
		Token     string    `json:"token"`
		Subject   string    `json:"subject,omitempty"`
		Operation string    `json:"operation"`
		Model     string    `json:"model"`
		IDs       []string  `json:"ids"`
		Changed   int       `json:"changed"`
		Outcome   string    `json:"outcome"`
		Call      string    `json:"call,omitempty"`
	}{r.Time, "audit", r.Journal, r.Token, r.Subject, r.Operation, r.Model, r.IDs, r.Changed, r.Outcome, r.Call}
}

// withoutLogged leaves out the lines of calls that the logs tell of: they tell more.
func withoutLogged(journal, logged []line) []line {
	told := map[string]bool{}
	for i := range logged {
		told[logged[i].record.Call] = true
	}
	var rest []line
	for _, l := range journal {
		if l.record.Call == "" || !told[l.record.Call] {
			rest = append(rest, l)
		}
	}
	return rest
}
