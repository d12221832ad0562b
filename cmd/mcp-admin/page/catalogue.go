package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/rights"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// catalogue is the models and their relations.
type catalogue struct {
	Filter     string
	All, Found int
	Diagram    *diagram
	Rows       []modelRow
	Pages      pages
	Relations  []relation
	// Unknown says that no schema has been read yet, so that only the relations of the YAML are known.
	Unknown bool
	Zoom    string
}

type modelRow struct {
	Name, Table, Reason, Message string
	Served                       bool
	Columns, Viewers             int
	Tools                        int
}

// relation leads from a model to another.
type relation struct {
	From, To, Name, Columns string
	// Real reports whether the database declares it; else the YAML does.
	Real bool
}

// Zooms are the sizes of the diagram, in percent.
func (c *catalogue) Zooms() []int { return []int{100, 150, 200} }

// mostNodes is how many models a diagram has at most.
const mostNodes = 48

func (q *request) models() (any, error) {
	q.Title = "Models"
	m, objects, err := q.matrix()
	if err != nil {
		return nil, err
	}
	q.command("exposures")
	c := &catalogue{Filter: q.FormValue("q"), All: len(objects.Exposures), Zoom: q.FormValue("zoom")}
	var rows []modelRow
	for i := range objects.Exposures {
		x := &objects.Exposures[i]
		if contains(x.EffectiveModel()+" "+x.Status.Table, c.Filter) {
			rows = append(rows, modelRowOf(x, m))
		}
	}
	slices.SortFunc(rows, func(a, b modelRow) int { return strings.Compare(a.Name, b.Name) })
	c.Found = len(rows)
	all := relations(m, objects)
	c.Unknown = !slices.ContainsFunc(objects.Exposures, func(x v1alpha1.MCPModelExposure) bool { return len(x.Status.Columns) > 0 })
	var nodes []node
	for i := range rows[:min(len(rows), mostNodes)] {
		nodes = append(nodes, nodeOf(&rows[i], len(m.Callers)))
	}
	var edges []edge
	for _, r := range all {
		edges = append(edges, edge{From: r.From, To: r.To, Label: r.From + " to " + r.To + " by " + r.Columns, Class: when(!r.Real, "declared")})
	}
	if len(nodes) > 0 {
		c.Diagram = draw(nodes, edges)
		if zoom, err := strconv.Atoi(c.Zoom); err == nil && zoom >= 25 && zoom <= 400 {
			c.Diagram.Shown = c.Diagram.Width * zoom / 100
		}
	}
	c.Relations = all[:min(len(all), 4*perPage)]
	c.Pages = q.pages(len(rows), "models")
	c.Rows = rows[c.Pages.first:c.Pages.last]
	return c, nil
}

func modelRowOf(x *v1alpha1.MCPModelExposure, m *rights.Matrix) modelRow {
	row := modelRow{Name: x.EffectiveModel(), Table: x.Status.Table, Columns: len(x.Status.Columns), Tools: len(x.Status.Tools), Viewers: viewers(m, x.EffectiveModel())}
	if ready := meta.FindStatusCondition(x.Status.Conditions, v1alpha1.ConditionReady); ready != nil {
		row.Served, row.Reason, row.Message = ready.Status == metav1.ConditionTrue, ready.Reason, ready.Message
	}
	return row
}

// viewers is how many sets of rights view a model.
func viewers(m *rights.Matrix, model string) int {
	n := 0
	i := slices.IndexFunc(m.Models, func(other rights.Model) bool { return other.Name == model })
	for j := range m.Callers {
		if i >= 0 && m.Callers[j].Access[i].Verbs[0].Granted {
			n++
		}
	}
	return n
}

func nodeOf(row *modelRow, callers int) node {
	n := node{Name: row.Name, Label: bounded(row.Name, nodeChars)}
	switch {
	case !row.Served:
		n.Class, n.Note = "withheld", "not served"
	case row.Viewers == 0:
		n.Class, n.Note = "nobody", "nobody views it"
	case row.Viewers == callers:
		n.Class, n.Note = "everyone", "all tokens view it"
	default:
		n.Class, n.Note = "some", fmt.Sprintf("%d of %d view it", row.Viewers, callers)
	}
	return n
}

// relations returns the foreign keys that the pods report, and the relations that the YAML declares.
func relations(m *rights.Matrix, objects *rights.Objects) []relation {
	var all []relation
	for i := range objects.Exposures {
		x := &objects.Exposures[i]
		for _, fk := range x.Status.ForeignKeys {
			all = append(all, relation{From: x.EffectiveModel(), To: fk.Model, Columns: strings.Join(fk.Columns, ", "), Real: true})
		}
	}
	for i := range m.Models {
		declared := m.Declared(m.Models[i].Name)
		for j := range declared.Relations {
			r := &declared.Relations[j]
			all = append(all, relation{From: declared.Name, To: r.Model, Name: r.Name, Columns: strings.Join(r.Columns, ", ")})
		}
		for j := range declared.Inlines {
			l := &declared.Inlines[j]
			if !slices.ContainsFunc(all, func(r relation) bool { return r.From == l.Model && r.To == declared.Name }) {
				all = append(all, relation{From: l.Model, To: declared.Name, Name: "rows of each " + declared.Name, Columns: l.ForeignKey})
			}
		}
	}
	return all
}

// modelScreen is one model.
type modelScreen struct {
	Row      modelRow
	Declared *contract.Model
	Exposure string
	Columns  []column
	Unknown  bool
	Policies []rights.Policy
	Key      string
	Notes    []string
	Tools    []string
	Callers  int
	Actions  []actionRow
	Measures []declaredRow
	Segments []declaredRow
	From, To []relation
}

type actionRow struct{ Name, Description, Does, Requires string }

type declaredRow struct{ Name, Description, Means string }

func (q *request) model() (any, error) {
	m, objects, err := q.matrix()
	if err != nil {
		return nil, err
	}
	name := q.PathValue("model")
	q.Title = name
	i := slices.IndexFunc(objects.Exposures, func(x v1alpha1.MCPModelExposure) bool { return x.EffectiveModel() == name })
	if i < 0 {
		return nil, m.UnknownModel(name)
	}
	x := &objects.Exposures[i]
	q.command("who", name)
	q.command("exposure", x.Name)
	s := &modelScreen{Row: modelRowOf(x, m), Declared: m.Declared(name), Exposure: x.Name, Policies: m.Policies(name, nil), Key: strings.Join(x.Status.Key, ", "),
		Notes: x.Status.Notes, Tools: x.Status.Tools, Callers: len(m.Callers)}
	if told := m.Model(name); told != nil {
		s.Columns, s.Unknown = columnsOf(told), len(told.Shown) == 0
	}
	if s.Declared == nil {
		return s, nil
	}
	for i := range s.Declared.Actions {
		s.Actions = append(s.Actions, actionRowOf(&s.Declared.Actions[i]))
	}
	s.Measures, s.Segments = declaredRows(s.Declared.Measures), declaredRows(s.Declared.Segments)
	for _, r := range relations(m, objects) {
		if r.From == name {
			s.To = append(s.To, r)
		} else if r.To == name {
			s.From = append(s.From, r)
		}
	}
	return s, nil
}

func actionRowOf(a *contract.Action) actionRow {
	row := actionRow{Name: a.Name, Description: a.Description, Requires: "a rule that names it"}
	if len(a.Requires) > 0 {
		row.Requires = strings.Join(a.Requires, ", ")
	}
	switch {
	case a.Update != nil:
		row.Does = "sets columns"
	case a.Webhook != nil:
		row.Does = "calls a webhook"
	default:
		row.Does = "runs SQL of its own"
	}
	if a.Confirm != nil {
		row.Does += ", after a confirmation"
	}
	return row
}

func declaredRows(all []contract.Declared) []declaredRow {
	var rows []declaredRow
	for i := range all {
		rows = append(rows, declaredRow{all[i].Name, all[i].Description, string(all[i].Means)})
	}
	return rows
}
