package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/test/jobs/planner"
)

// asked is a plan that is being carried out.
type asked struct {
	*served
	answers map[string]*answer
	// calls is the number of requests, bytes the length of their bodies and of the answers'.
	calls, bytes int
	// log are the requests.
	log []string
}

// answer is the rows of a call, and of how many it was said to be the page.
type answer struct {
	rows  []map[string]any
	total int
}

// fewRows is up to how many rows an answer is as short with the members' names in each of them as with the names once.
const fewRows = 1

// refusal is the server's answer to a call that it does not take.
type refusal string

func (r refusal) Error() string { return string(r) }

// refused is the error in a tool's answer: a refusal if the question cannot be asked so; whatever else it is,
// such as a fault of the server, makes the question's outcome wrong.
func refused(text string) error {
	var told struct{ Error, Code string }
	if err := json.Unmarshal([]byte(text), &told); err != nil {
		return fmt.Errorf("an error that says nothing: %.300s", text)
	}
	switch told.Code {
	case "invalid_argument", "not_found", "permission_denied", "too_large", "timeout":
		return refusal(text)
	}
	return fmt.Errorf("the server fails: %.300s", text)
}

// ask carries out a plan, and returns its rows.
func (a *asked) ask(p *planner.Plan) ([][]any, error) {
	var rows [][]any
	for _, part := range p.Parts {
		if p.Limit >= 0 && len(rows) >= p.Limit {
			break
		}
		got, err := a.answer(part.Call)
		if err != nil {
			return nil, err
		}
		if part.Total {
			rows = append(rows, []any{json.Number(fmt.Sprint(got.total))})
			continue
		}
		if part.NeedsRow && len(got.rows) == 0 {
			return nil, refusal("no row has a smallest or largest value")
		}
		for _, r := range got.rows {
			row := make([]any, len(part.Members))
			for i, member := range part.Members {
				value, ok := r[member]
				if !ok {
					return nil, fmt.Errorf("the answer has no %s", member)
				}
				row[i] = value
			}
			rows = append(rows, row)
		}
	}
	if p.Limit >= 0 && len(rows) > p.Limit {
		rows = rows[:p.Limit]
	}
	return rows, nil
}

// answer makes a call, and follows its pages as long as there is more that is wanted.
func (a *asked) answer(c *planner.Call) (*answer, error) {
	arguments, err := a.resolve(c.Arguments)
	if err != nil {
		return nil, err
	}
	key, err := json.Marshal([]any{c.Operation, c.Model, c.Most, arguments})
	if err != nil {
		return nil, err
	}
	if known := a.answers[string(key)]; known != nil {
		return known, nil
	}
	got := &answer{}
	a.answers[string(key)] = got
	page := arguments.(planner.Object)
	if c.Most < 0 || c.Most > fewRows {
		page["format"] = "columns"
	}
	for {
		more, err := a.page(c, page, got)
		if err != nil || !more || c.Most >= 0 && len(got.rows) >= c.Most {
			return got, err
		}
	}
}

// page makes one request, and reports whether there is more. It changes the arguments so that they ask for that.
func (a *asked) page(c *planner.Call, arguments planner.Object, got *answer) (bool, error) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(planner.Object{"method": "tools/call", "name": c.Operation + "_" + c.Model, "arguments": arguments}); err != nil {
		return false, err
	}
	status, reply := a.Post(a.token, strings.TrimSpace(body.String()))
	a.calls++
	a.bytes += body.Len() - 1 + len(reply)
	a.log = append(a.log, strings.TrimSpace(body.String()))
	var outer struct {
		Content []struct{ Text string }
		IsError bool
		Error   any
	}
	if err := json.Unmarshal([]byte(reply), &outer); err != nil || status != http.StatusOK || len(outer.Content) != 1 {
		return false, fmt.Errorf("no answer of a tool: %d %.300s", status, reply)
	}
	text := outer.Content[0].Text
	if outer.IsError {
		return false, refused(text)
	}
	var answered struct {
		Results     []map[string]any
		Columns     []string
		Rows        [][]any
		TotalCount  *int   `json:"total_count"`
		TotalGroups *int   `json:"total_groups"`
		NextCursor  string `json:"next_cursor"`
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&answered); err != nil {
		return false, err
	}
	for _, values := range answered.Rows {
		row := map[string]any{}
		for i, name := range answered.Columns {
			row[name] = values[i]
		}
		answered.Results = append(answered.Results, row)
	}
	got.rows = append(got.rows, answered.Results...)
	got.total = len(got.rows)
	for _, total := range []*int{answered.TotalCount, answered.TotalGroups} {
		if total != nil {
			got.total = *total
		}
	}
	if answered.NextCursor != "" {
		arguments["cursor"] = answered.NextCursor
		return true, nil
	}
	offset, _ := arguments["offset"].(int) // absent is 0
	arguments["offset"] = offset + len(answered.Results)
	return len(answered.Results) > 0 && arguments["cursor"] == nil && offset+len(answered.Results) < got.total, nil
}

// resolve puts the values of earlier answers in the place of references.
func (a *asked) resolve(value any) (any, error) {
	switch v := value.(type) {
	case planner.Object:
		all := planner.Object{}
		for name, member := range v {
			resolved, err := a.resolve(member)
			if err != nil {
				return nil, err
			}
			if _, conditional := member.(planner.UnlessEmpty); conditional {
				if len(resolved.([]any)) == 0 {
					continue
				}
				resolved = false
			}
			if _, isReference := member.(planner.Reference); isReference && resolved == nil {
				name, resolved = emptyList(name), []any{}
			}
			all[name] = resolved
		}
		return all, nil
	case []any:
		all := make([]any, len(v))
		for i, element := range v {
			resolved, err := a.resolve(element)
			if err != nil {
				return nil, err
			}
			all[i] = resolved
		}
		return all, nil
	case planner.Reference:
		return a.refer(v)
	case planner.UnlessEmpty:
		return a.refer(v.Reference)
	}
	return value, nil
}

// emptyList is the name of the condition that the path of another one is in a list: a comparison with NULL never holds, nor
// does an empty list.
func emptyList(name string) string {
	for _, lookup := range []string{"ne", "gt", "gte", "lt", "lte"} {
		name = strings.TrimSuffix(name, "__"+lookup)
	}
	return name + "__in"
}

func (a *asked) refer(r planner.Reference) (any, error) {
	got, err := a.answer(r.Call)
	if err != nil {
		return nil, err
	}
	if !r.Every {
		if len(got.rows) == 0 {
			return nil, nil
		}
		return got.rows[0][r.Member], nil
	}
	values := []any{}
	for _, row := range got.rows {
		if row[r.Member] != nil {
			values = append(values, row[r.Member])
		}
	}
	return values, nil
}
