package rights

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/spelling"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// Who is who can reach a model, or one column of it.
type Who struct {
	Endpoint string `json:"endpoint"`
	Model    string `json:"model"`
	Column   string `json:"column,omitempty"`
	// State says of a column whether it is shown, masked, hidden or read-only, or that this is not known.
	State   string  `json:"state,omitempty"`
	Callers []Reach `json:"callers"`
	// Statements are the reports and actions with SQL of their own.
	Statements []string `json:"statements,omitempty"`
	// notAsked says that the database has not told the model's columns.
	notAsked bool
}

// Reach describes what some tokens reach.
type Reach struct {
	Tokens []string `json:"tokens"`
	// Verbs are the verbs that have an effect on the model, or on the column; Rows says which rows.
	Verbs []string `json:"verbs"`
	Rows  string   `json:"rows"`
	// Actions are those that the tokens may run on the model, or of a column those that are known to set it.
	Actions []string `json:"actions,omitempty"`
	// By are the groups and rules that grant view.
	By []string `json:"by,omitempty"`
	// masked says that the values are seen masked.
	masked bool
}

// May says what the tokens may do, in words: "view; actions ship, refund".
func (r *Reach) May() string {
	verbs := slices.Clone(r.Verbs)
	for i, verb := range verbs {
		if r.masked && (verb == "view" || verb == "export") {
			verbs[i] += " (masked)"
		}
	}
	parts := []string{strings.Join(verbs, ", ")}
	switch len(r.Actions) {
	case 0:
	case 1:
		parts = append(parts, "action "+r.Actions[0])
	default:
		parts = append(parts, "actions "+strings.Join(r.Actions, ", "))
	}
	return strings.TrimPrefix(strings.Join(parts, "; "), "; ")
}

// The states of a column.
const (
	shown    = "shown"
	masked   = "masked"
	hidden   = "hidden"
	unknown  = "not known: the database was not asked"
	readOnly = "shown, never written"
)

// Who answers the question for "model" or "model.column".
func (m *Matrix) Who(of string) (*Who, error) {
	name, column, _ := strings.Cut(of, ".")
	model := m.Model(name)
	if model == nil {
		return nil, m.UnknownModel(name)
	}
	w := &Who{Endpoint: m.Endpoint, Model: name, Column: column, Callers: []Reach{}, Statements: model.Statements, notAsked: !model.asked}
	if column != "" {
		var err error
		if w.State, err = model.State(column); err != nil {
			return nil, err
		}
	}
	at := slices.IndexFunc(m.Models, func(other Model) bool { return other.Name == name })
	for i := range m.Callers {
		c := &m.Callers[i]
		r := reach(&c.Access[at], w.State)
		if column != "" {
			r.Actions = m.setting(r.Actions, name, column)
		}
		if len(r.Verbs)+len(r.Actions) > 0 {
			r.Tokens = c.Tokens
			w.Callers = append(w.Callers, r)
		}
	}
	return w, nil
}

// setting are those of some actions that set a column. What an action with SQL of its own sets is not known.
func (m *Matrix) setting(actions []string, model, column string) []string {
	declared := m.Declared(model)
	return slices.DeleteFunc(actions, func(name string) bool {
		i := slices.IndexFunc(declared.Actions, func(a contract.Action) bool { return a.Name == name && a.Update != nil })
		return i < 0 || !slices.ContainsFunc(declared.Actions[i].Update.Set, func(a contract.ActionAssignment) bool { return a.Field == column })
	})
}

// NotServed is the error of a model that is declared and not served.
type NotServed struct{ Model, Why string }

// Error implements error.
func (n *NotServed) Error() string { return n.Model + " is not served: " + n.Why }

// UnknownModel is the error of a model that is not served, with the reason, or that is not there, with the nearest name.
func (m *Matrix) UnknownModel(name string) error {
	if why, withheld := m.Withheld[name]; withheld {
		return &NotServed{name, why}
	}
	names := make([]string, len(m.Models))
	for i := range m.Models {
		names[i] = m.Models[i].Name
	}
	message := fmt.Sprintf("MCPEndpoint %s has no model %q", m.Endpoint, name)
	if i := spelling.Nearest(name, names); i >= 0 {
		message += fmt.Sprintf("; the nearest is %q", names[i])
	} else if len(names) > 0 {
		message += ", but " + strings.Join(names[:min(len(names), 10)], ", ")
	}
	return fmt.Errorf("%s", message)
}

// State says how a column is shown. An error says that the model is known not to have it.
func (m *Model) State(column string) (string, error) {
	switch {
	case slices.Contains(m.Hidden, column):
		return hidden + " " + m.whyHidden(column), nil
	case slices.Contains(m.Masked, column):
		return masked, nil
	case slices.Contains(m.Shown, column) && slices.Contains(m.ReadOnly, column):
		return readOnly, nil
	case slices.Contains(m.Shown, column):
		return shown, nil
	case len(m.Shown) == 0:
		return unknown, nil
	}
	all := slices.Concat(m.Shown, m.Masked)
	message := fmt.Sprintf("model %q shows no column %q, and hides none of that name", m.Name, column)
	if m.included {
		message += "; spec.fields.include may leave it out"
	}
	if i := spelling.Nearest(column, all); i >= 0 {
		message += fmt.Sprintf("; the nearest is %q", all[i])
	}
	return "", fmt.Errorf("%s", message)
}

// reach returns what a caller reaches of a model, or of a column in a state. Nobody reaches a hidden column but by an action that sets it;
// a column that is never written is only viewed; a masked one is given to new rows and never changed; a row can be deleted, not a column.
func reach(a *compile.Access, state string) Reach {
	r := Reach{Rows: "none", Verbs: []string{}, Actions: Actions(a), masked: state == masked}
	if strings.HasPrefix(state, hidden) {
		return r
	}
	for i := range a.Verbs {
		v := &a.Verbs[i]
		ofRow := state != "" && v.Name == "delete"
		if !v.Granted || ofRow || state == readOnly && v.Name != "view" || state == masked && v.Name == "change" {
			continue
		}
		r.Verbs = append(r.Verbs, v.Name)
		if v.Name == "view" {
			r.Rows, r.By = Rows(a), v.By
		}
	}
	return r
}

// show prints the answer for people.
func (w *Who) show(screen *output.Screen) {
	what := w.Model
	if w.Column != "" {
		what += "." + w.Column
		fmt.Fprintf(screen, "%s is %s.\n", what, w.State)
	}
	if len(w.Callers) == 0 {
		fmt.Fprintf(screen, "No token of MCPEndpoint %s reaches %s.\n", w.Endpoint, what)
	} else {
		table := make([][]string, len(w.Callers))
		for i := range w.Callers {
			r := &w.Callers[i]
			c := Caller{Tokens: r.Tokens}
			table[i] = []string{c.Name(), r.May(), r.Rows, strings.Join(r.By, ", ")}
		}
		screen.Table([]string{"TOKEN", "MAY", "ROWS", "VIEWS BY"}, table...)
	}
	if len(w.Statements) > 0 {
		fmt.Fprintf(screen, "Not looked into, as they have SQL of their own: %s.\n", strings.Join(w.Statements, ", "))
	}
	if w.notAsked {
		fmt.Fprintln(screen, notAsked)
	}
}
