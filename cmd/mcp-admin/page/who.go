package page

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/rights"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// perMatrix is how many models are side by side at most.
const perMatrix = 12

// matrixScreen is who can see what: a row for callers with the same rights, a column for each model.
type matrixScreen struct {
	Models []string
	Rows   []matrixRow
	// Filter looks into tokens and groups, Model into models' names; Sort is "groups" or "" for tokens.
	Filter, Model, Sort string
	// All is how many sets of rights there are, Tokens how many tokens have them, NotInForce how many let nobody in.
	All, Tokens, NotInForce, Found int
	Pages, ModelPages              pages
	Concealed                      []concealed
	Withheld                       map[string]string
}

type matrixRow struct {
	rights.Caller
	// Namespace and Token are those of the first token, by which the row is opened; More is how many others it is for.
	Namespace, Token string
	More             int
	Cells            []matrixCell
}

type matrixCell struct {
	Model string
	// Text is what "mcp-admin matrix" prints; Said is the same in words.
	Text, Said string
	Letters    []letter
	// Rows are the row policies that narrow the rows; "" if all are seen.
	Rows string
	// Actions are those that it may run.
	Actions []string
}

// letter is a verb, by its first letter.
type letter struct {
	Verb, Letter string
	Granted      bool
}

// concealed is a model with columns that are not shown as they are.
type concealed struct {
	Model, Text string
}

// matrix works out the matrix of the endpoint.
func (q *request) matrix() (*rights.Matrix, *rights.Objects, error) {
	objects, err := q.source().Objects(q.Context(), q.key())
	if err != nil {
		return nil, nil, err
	}
	m, err := objects.Matrix(q.page.now())
	return m, objects, err
}

func (q *request) who() (any, error) {
	q.Title = "Who can see what"
	m, _, err := q.matrix()
	if err != nil {
		return nil, err
	}
	q.command("matrix")
	s := &matrixScreen{Filter: q.FormValue("q"), Model: q.FormValue("model"), Sort: q.FormValue("sort"), All: len(m.Callers), NotInForce: len(m.NotInForce), Withheld: m.Withheld}
	var models []int
	for i := range m.Models {
		if contains(m.Models[i].Name, s.Model) {
			models = append(models, i)
		}
		if text := m.Models[i].Concealed(); text != "" && len(s.Concealed) < perPage {
			s.Concealed = append(s.Concealed, concealed{m.Models[i].Name, text})
		}
	}
	s.ModelPages = q.pagesOf(len(models), perMatrix, "models", "models")
	models = models[s.ModelPages.first:s.ModelPages.last]
	for _, i := range models {
		s.Models = append(s.Models, m.Models[i].Name)
	}
	var found []*rights.Caller
	for i := range m.Callers {
		c := &m.Callers[i]
		s.Tokens += len(c.Tokens)
		if hasToken(c, s.Filter) {
			found = append(found, c)
		}
	}
	slices.SortStableFunc(found, func(a, b *rights.Caller) int {
		if s.Sort == "groups" {
			return cmp.Or(slices.Compare(a.Groups, b.Groups), cmp.Compare(a.Tokens[0], b.Tokens[0]))
		}
		return cmp.Compare(a.Tokens[0], b.Tokens[0])
	})
	s.Found = len(found)
	s.Pages = q.pages(len(found), "tokens")
	for _, c := range found[s.Pages.first:s.Pages.last] {
		s.Rows = append(s.Rows, rowOfCaller(c, models))
	}
	return s, nil
}

// hasToken reports whether a caller has a token or a group that a filter looks for.
func hasToken(c *rights.Caller, filter string) bool {
	return filter == "" || contains(strings.Join(c.Groups, " "), filter) || slices.ContainsFunc(c.Tokens, func(name string) bool { return contains(name, filter) })
}

func rowOfCaller(c *rights.Caller, models []int) matrixRow {
	row := matrixRow{Caller: *c, More: len(c.Tokens) - 1}
	row.Namespace, row.Token, _ = strings.Cut(c.Tokens[0], "/")
	for _, i := range models {
		row.Cells = append(row.Cells, cellOf(&c.Access[i]))
	}
	return row
}

func cellOf(a *compile.Access) matrixCell {
	cell := matrixCell{Model: a.Model, Text: rights.Cell(a), Actions: rights.Actions(a)}
	var may []string
	for i := range a.Verbs {
		v := &a.Verbs[i]
		cell.Letters = append(cell.Letters, letter{v.Name, v.Name[:1], v.Granted})
		if v.Granted {
			may = append(may, v.Name)
		}
	}
	cell.Said = "nothing"
	if len(may) > 0 {
		cell.Said = (&rights.Reach{Verbs: may, Actions: cell.Actions}).May()
	}
	if a.Verbs[0].Granted && !a.Rows.All {
		cell.Rows = rights.Rows(a)
	}
	return cell
}

// opened is one cell: what a token may do to a model, and why.
type opened struct {
	Token, Namespace, Name, Model string
	Caller                        *rights.Caller
	More                          int
	Access                        compile.Access
	Columns                       []column
	Unknown                       bool
	Policies                      []rights.Policy
	Statements                    []string
	// Attributes are the token's values that these policies compare with. They may be others for tokens with the same rights.
	Attributes []comparedAttribute
	// Rows says that the token's tools that read can be tried, CanAct that it can be revoked here.
	Rows, CanAct bool
	// Changed are the objects that decide it, with their last change.
	Changed []change
}

type column struct{ Name, State string }

// Class is the state in one word.
func (c column) Class() string {
	word, _, _ := strings.Cut(c.State, " ")
	return strings.TrimSuffix(word, ",")
}

// change is the last change of an object.
type change struct {
	Object, By string
	Generation int64
	At         time.Time
	// Revision is the first of the Config that held the object as it is now; 0 if that is not known. Of an endpoint nobody tells it.
	Revision int64
}

// cell opens a cell.
func (q *request) cell() (any, error) {
	m, objects, err := q.matrix()
	if err != nil {
		return nil, err
	}
	token, model := q.PathValue("tokens")+"/"+q.PathValue("token"), q.PathValue("model")
	q.Title = token + " on " + model
	told := m.Model(model)
	if told == nil {
		return nil, m.UnknownModel(model)
	}
	i := slices.IndexFunc(m.Callers, func(c rights.Caller) bool { return slices.Contains(c.Tokens, token) })
	if i < 0 {
		return nil, &unknownToken{token, m.NotInForce[token]}
	}
	q.command("can", q.PathValue("token"), model, "--explain")
	c := &m.Callers[i]
	o := &opened{Token: token, Namespace: q.PathValue("tokens"), Name: q.PathValue("token"), Model: model, Caller: c, More: len(c.Tokens) - 1, Statements: told.Statements, Columns: columnsOf(told), Unknown: len(told.Shown) == 0}
	o.Access = c.Access[slices.IndexFunc(c.Access, func(a compile.Access) bool { return a.Model == model })]
	if len(o.Access.Rows.Policies) > 0 {
		o.Policies = m.Policies(model, o.Access.Rows.Policies)
	}
	o.CanAct = q.source().Cluster() != nil
	o.since("MCPEndpoint", objects.Endpoint, 0)
	for i := range objects.Exposures {
		if x := &objects.Exposures[i]; x.EffectiveModel() == model {
			o.since("MCPModelExposure", x, known(x.Generation, x.Status.ObservedGeneration, x.Status.Revision))
		}
	}
	for i := range objects.Tokens {
		if t := &objects.Tokens[i]; cluster.Key(t).String() == token {
			o.Rows = o.Access.Verbs[0].Granted && t.Spec.OIDC == nil
			o.Attributes = attributesFor(m.Declared(model), o.Access.Rows.Policies, t)
			o.since("MCPToken", t, known(t.Generation, t.Status.ObservedGeneration, t.Status.Revision))
		}
	}
	return o, nil
}

// A comparedAttribute is an attribute of a token that a row policy compares with. It is Missing if the token lacks it: an attribute may be "".
type comparedAttribute struct {
	Name, Value string
	Missing     bool
}

// attributesFor are the attributes of a token, by name, that some of a model's row policies compare with. Those that a caller of an identity provider brings are left out: nobody knows them here.
func attributesFor(m *contract.Model, policies []string, t *v1alpha1.MCPToken) []comparedAttribute {
	if m == nil {
		return nil
	}
	var all []comparedAttribute
	note := func(f *contract.Filter) {
		if f.TokenAttribute == "" || t.Spec.OIDC != nil && t.Spec.OIDC.Attributes[f.TokenAttribute] != "" {
			return
		}
		value, has := t.Spec.Attributes[f.TokenAttribute]
		all = append(all, comparedAttribute{f.TokenAttribute, string(value), !has})
	}
	for i := range m.RowPolicies {
		if !slices.Contains(policies, m.RowPolicies[i].Name) {
			continue
		}
		for _, f := range m.RowPolicies[i].Filters {
			note(&f)
			for j := range f.Any {
				note(&f.Any[j])
			}
		}
	}
	slices.SortFunc(all, func(a, b comparedAttribute) int { return cmp.Compare(a.Name, b.Name) })
	return slices.Compact(all)
}

type unknownToken struct{ token, why string }

// Error implements error.
func (u *unknownToken) Error() string {
	if u.why != "" {
		return "MCPToken " + u.token + " lets nobody in: " + u.why
	}
	return "the endpoint has no MCPToken " + u.token
}

// columnsOf are a model's columns with how each is shown.
func columnsOf(m *rights.Model) []column {
	var all []column
	for _, name := range slices.Concat(m.Shown, m.Masked, m.Hidden) {
		state, err := m.State(name)
		if err == nil && !slices.ContainsFunc(all, func(c column) bool { return c.Name == name }) {
			all = append(all, column{name, state})
		}
	}
	return all
}

// since notes the last change of an object that was not one of its status. Objects from files have none.
func (o *opened) since(kind string, of client.Object, revision int64) {
	c := change{Object: kind + " " + cluster.Key(of).String(), Generation: of.GetGeneration(), At: of.GetCreationTimestamp().Time, Revision: revision}
	for _, f := range of.GetManagedFields() {
		if f.Subresource == "" && f.Time != nil && !f.Time.Time.Before(c.At) {
			c.At, c.By = f.Time.Time, f.Manager
		}
	}
	if !c.At.IsZero() {
		o.Changed = append(o.Changed, c)
	}
}

// known is the revision that a status tells, if the status is about the object as it is now.
func known(generation, observed, revision int64) int64 {
	if generation != observed {
		return 0
	}
	return revision
}

// Date is when it was.
func (c change) Date() string {
	return c.At.UTC().Format("2006-01-02 15:04 UTC")
}

// reach answers who can read or change a model, or one of its columns.
type reach struct {
	Of string
	*rights.Who
	Rows   []reachRow
	Pages  pages
	Models []string
	Why    string
}

type reachRow struct {
	rights.Reach
	Namespace, Token string
	More             int
}

func (q *request) reach() (any, error) {
	q.Title = "Who can read it?"
	m, _, err := q.matrix()
	if err != nil {
		return nil, err
	}
	answer := &reach{Of: strings.TrimSpace(q.FormValue("of"))}
	for i := range m.Models[:min(len(m.Models), 1000)] {
		answer.Models = append(answer.Models, m.Models[i].Name)
	}
	if answer.Of == "" {
		return answer, nil
	}
	q.Title = "Who can read " + answer.Of + "?"
	if answer.Who, err = m.Who(answer.Of); err != nil {
		answer.Why = sentenceCase(err.Error())
		return answer, nil
	}
	q.command("who", answer.Of)
	answer.Pages = q.pages(len(answer.Callers), "tokens")
	for _, r := range answer.Callers[answer.Pages.first:answer.Pages.last] {
		row := reachRow{Reach: r, More: len(r.Tokens) - 1}
		row.Namespace, row.Token, _ = strings.Cut(r.Tokens[0], "/")
		answer.Rows = append(answer.Rows, row)
	}
	return answer, nil
}

// matrixCSV and matrixJSON are what "mcp-admin matrix" prints with --csv and -o json.
func (q *request) matrixCSV(w http.ResponseWriter) error {
	m, _, err := q.matrix()
	if err != nil {
		return err
	}
	return m.WriteCSV(w)
}

func (q *request) matrixJSON(w http.ResponseWriter) error {
	m, _, err := q.matrix()
	if err != nil {
		return err
	}
	return output.JSON.Print(w, m, nil)
}
