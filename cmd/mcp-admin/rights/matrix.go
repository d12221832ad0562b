package rights

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// Matrix is who may do what to which model.
type Matrix struct {
	Endpoint string  `json:"endpoint"`
	Models   []Model `json:"models"`
	// Callers are the tokens; those with the same rights are one.
	Callers []Caller `json:"callers"`
	// NotInForce are the tokens that let nobody in, with the reason.
	NotInForce map[string]string `json:"notInForce,omitempty"`
	// Withheld are the models that are not served, with the reason: as their objects are wrong, or as the database says.
	Withheld map[string]string `json:"withheld,omitempty"`
	// config is what the objects were compiled to.
	config *contract.Config
}

// Model is a model with its columns, as far as they are known: from files the database is not asked.
type Model struct {
	Name   string   `json:"name"`
	Shown  []string `json:"shown,omitempty"`
	Masked []string `json:"masked,omitempty"`
	Hidden []string `json:"hidden,omitempty"`
	// Excluded are those of Hidden that spec.fields.exclude hides. The others are hidden for their names.
	Excluded []string `json:"excluded,omitempty"`
	ReadOnly []string `json:"readOnly,omitempty"`
	// Statements are the reports and actions with SQL of their own: which columns they show is not known.
	Statements []string `json:"statements,omitempty"`
	// asked reports whether the database has told its columns, included whether spec.fields.include chooses among them.
	asked, included bool
}

// Caller is some tokens, and what each of them may do to each model, in the order of the models.
type Caller struct {
	Tokens []string         `json:"tokens"`
	Groups []string         `json:"groups,omitempty"`
	Access []compile.Access `json:"access"`
}

// Matrix works out who may do what.
func (o *Objects) Matrix(now time.Time) (*Matrix, error) {
	config, verdicts := o.Compile(now)
	if config == nil {
		return nil, fmt.Errorf("MCPEndpoint %s is not valid: %s", cluster.Key(o.Endpoint), verdicts.Endpoint.Message)
	}
	m := &Matrix{Endpoint: cluster.Key(o.Endpoint).String(), Models: []Model{}, Callers: []Caller{}, NotInForce: map[string]string{}, Withheld: o.withheld(config, &verdicts), config: config}
	for i := range config.Models {
		if model := &config.Models[i]; m.Withheld[model.Name] == "" {
			m.Models = append(m.Models, o.model(model))
		}
	}
	byRights := map[string]int{}
	for i := range o.Tokens {
		t := &o.Tokens[i]
		key := cluster.Key(t)
		if v, admitted := verdicts.Tokens[key]; !admitted || !v.InForce {
			m.NotInForce[key.String()] = why(v, admitted)
			continue
		}
		like, err := rightsKey(t)
		if err != nil {
			return nil, err
		}
		at, known := byRights[like]
		if !known {
			at = len(m.Callers)
			byRights[like] = at
			access := slices.DeleteFunc(compile.Explain(config, t), func(a compile.Access) bool { return m.Withheld[a.Model] != "" })
			m.Callers = append(m.Callers, Caller{Groups: t.Spec.NamedGroups(), Access: access})
		}
		m.Callers[at].Tokens = append(m.Callers[at].Tokens, key.String())
	}
	return m, nil
}

// withheld are the models that are not served, with the reason.
func (o *Objects) withheld(config *contract.Config, verdicts *compile.Verdicts) map[string]string {
	withheld := map[string]string{}
	for i := range o.Exposures {
		x := &o.Exposures[i]
		if v, judged := verdicts.Exposures[cluster.Key(x)]; judged && !v.Accepted {
			withheld[x.EffectiveModel()] = v.Message
		}
	}
	for i := range config.Models {
		model := &config.Models[i]
		delete(withheld, model.Name) // another exposure gives the model
		if c := meta.FindStatusCondition(o.exposure(model.Exposure).Status.Conditions, v1alpha1.ConditionResolved); c != nil && c.Status == metav1.ConditionFalse {
			withheld[model.Name] = c.Reason + ": " + c.Message
		}
	}
	return withheld
}

func why(v compile.TokenVerdict, admitted bool) string {
	if !admitted {
		return "the endpoint does not allow tokens of its namespace (spec.allowedTokens)"
	}
	return v.Message
}

// rightsKey is the same for tokens that have the same rights. The values of attributes choose rows, not rights.
func rightsKey(t *v1alpha1.MCPToken) (string, error) {
	var attributes []string
	for name := range t.Spec.Attributes {
		attributes = append(attributes, name)
	}
	slices.Sort(attributes)
	groups := slices.Sorted(slices.Values(t.Spec.NamedGroups()))
	encoded, err := json.Marshal([]any{groups, t.Spec.Permissions, attributes, t.Spec.OIDC})
	return string(encoded), err
}

// model tells the columns of a model by its exposure's status, or as far as its spec says.
func (o *Objects) model(m *contract.Model) Model {
	status := &o.exposure(m.Exposure).Status
	told := Model{Name: m.Name, Masked: status.MaskedColumns, Hidden: slices.Concat(m.Exclude, status.HiddenColumns), Excluded: m.Exclude, ReadOnly: status.ReadOnlyColumns,
		asked: len(status.Columns) > 0, included: len(m.Include) > 0}
	slices.Sort(told.Hidden)
	told.Hidden = slices.Compact(told.Hidden) // one that is named like a secret may be excluded, too
	for _, column := range status.Columns {
		if !slices.Contains(told.Masked, column) {
			told.Shown = append(told.Shown, column)
		}
	}
	if !told.asked {
		told.Shown, told.ReadOnly = m.Include, m.ReadOnly
		for _, f := range m.Masked {
			told.Masked = append(told.Masked, f.Name)
		}
	}
	for i := range m.Reports {
		told.Statements = append(told.Statements, "report "+m.Reports[i].Name)
	}
	for i := range m.Actions {
		if a := &m.Actions[i]; a.Update == nil && a.Webhook == nil {
			told.Statements = append(told.Statements, "action "+a.Name)
		}
	}
	return told
}

// Cell says what a caller may do to a model, in short: a letter for each verb, the rows if they are not all, and the actions.
func Cell(a *compile.Access) string {
	letters := []byte("-----")
	for i := range a.Verbs {
		if a.Verbs[i].Granted {
			letters[i] = a.Verbs[i].Name[0]
		}
	}
	text := string(letters)
	if text[0] == 'v' && !a.Rows.All {
		text += " " + Rows(a)
	}
	for _, name := range Actions(a) {
		text += " +" + name
	}
	return text
}

// Actions are the names of the actions that a caller may run on a model, without the one that every caller who may delete has.
func Actions(a *compile.Access) []string {
	var names []string
	for i := range a.Actions {
		if a.Actions[i].Granted && a.Actions[i].Name != contract.DeleteSelected {
			names = append(names, a.Actions[i].Name)
		}
	}
	return names
}

// Rows says which rows a caller sees.
func Rows(a *compile.Access) string {
	switch {
	case a.Rows.All:
		return "all"
	case len(a.Rows.Policies) == 0:
		return "none"
	}
	return strings.Join(a.Rows.Policies, "+")
}

// Name names a caller in a line.
func (c *Caller) Name() string {
	if len(c.Tokens) == 1 {
		return c.Tokens[0]
	}
	return fmt.Sprintf("%s and %d like it", c.Tokens[0], len(c.Tokens)-1)
}

// show prints the matrix for people.
func (m *Matrix) show(screen *output.Screen) {
	fmt.Fprintf(screen, "Who may do what at MCPEndpoint %s\n\n", m.Endpoint)
	header := []string{"TOKEN", "GROUPS"}
	for i := range m.Models {
		header = append(header, strings.ToUpper(m.Models[i].Name))
	}
	var table [][]string
	for i := range m.Callers {
		c := &m.Callers[i]
		row := []string{c.Name(), strings.Join(c.Groups, ", ")}
		for j := range c.Access {
			row = append(row, Cell(&c.Access[j]))
		}
		table = append(table, row)
	}
	if len(table) == 0 {
		fmt.Fprintln(screen, "No token is in force.")
	} else {
		screen.Table(header, table...)
		fmt.Fprintln(screen, "\nv view, a add, c change, d delete, e export; after them the row policies, if they narrow the rows, and + each action.")
	}
	for i := range m.Models {
		if text := m.Models[i].Concealed(); text != "" {
			fmt.Fprintf(screen, "%s: %s\n", m.Models[i].Name, text)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Withheld)) {
		fmt.Fprintf(screen, "%s is not served: %s\n", name, m.Withheld[name])
	}
	if slices.ContainsFunc(m.Models, func(model Model) bool { return !model.asked }) {
		fmt.Fprintln(screen, notAsked)
	}
	if n := len(m.NotInForce); n > 0 {
		fmt.Fprintf(screen, "Tokens that let nobody in: %d; -o json says why.\n", n)
	}
}

// notAsked says what is not known of a model whose columns no pod has told.
const notAsked = "The database was not asked: only it knows which columns are hidden for their names, and whether those are there that the YAML names."

// Concealed says which columns of the model are not shown as they are, and of the hidden ones why.
func (m *Model) Concealed() string {
	var parts, hides []string
	for _, name := range m.Hidden {
		hides = append(hides, name+" ("+m.whyHidden(name)+")")
	}
	for _, kind := range []struct {
		word    string
		columns []string
	}{{"masked", m.Masked}, {"hidden", hides}, {"with statements of its own", m.Statements}} {
		if len(kind.columns) > 0 {
			parts = append(parts, kind.word+": "+strings.Join(kind.columns, ", "))
		}
	}
	return strings.Join(parts, "; ")
}

// whyHidden says why a hidden column is.
func (m *Model) whyHidden(column string) string {
	if slices.Contains(m.Excluded, column) {
		return "by spec.fields.exclude"
	}
	return "for its name"
}

// WriteCSV writes a line for each token and model.
func (m *Matrix) WriteCSV(to io.Writer) error {
	w := csv.NewWriter(to)
	if err := w.Write([]string{"token", "groups", "model", "view", "add", "change", "delete", "export", "actions", "rows", "masked", "hidden"}); err != nil {
		return err
	}
	for i := range m.Callers {
		c := &m.Callers[i]
		for _, token := range c.Tokens {
			for j := range c.Access {
				if err := w.Write(append([]string{token, strings.Join(c.Groups, " ")}, m.record(&c.Access[j])...)); err != nil {
					return err
				}
			}
		}
	}
	w.Flush()
	return w.Error()
}

// record is a line of CSV about one model.
func (m *Matrix) record(a *compile.Access) []string {
	record := []string{a.Model}
	for i := range a.Verbs {
		record = append(record, strconv.FormatBool(a.Verbs[i].Granted))
	}
	var actions []string
	for i := range a.Actions {
		if a.Actions[i].Granted {
			actions = append(actions, a.Actions[i].Name)
		}
	}
	seen := ""
	if a.Verbs[0].Granted {
		seen = Rows(a)
	}
	model := m.Model(a.Model)
	return append(record, strings.Join(actions, " "), seen, strings.Join(model.Masked, " "), strings.Join(model.Hidden, " "))
}

// Model returns the model of a name; nil if there is none.
func (m *Matrix) Model(name string) *Model {
	if i := slices.IndexFunc(m.Models, func(model Model) bool { return model.Name == name }); i >= 0 {
		return &m.Models[i]
	}
	return nil
}
