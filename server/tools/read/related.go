package read

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

var _ = call.WithArguments("related", call.Operation{
	Stale: true, Admit: AdmitExports,
	Description: func(m *catalog.Model) string {
		return fmt.Sprintf("Rows related to one %s.", call.NameOf(m))
	},
	OutputSchema: func(*catalog.Model) call.Schema { return relatedSchema() },
	Advice:       "the rows that a relation of one row leads to",
}, related, withZone(func(a *relatedArguments) *zoneArgument { return &a.zoneArgument }, WithRowsForm(func(a *relatedArguments) *RowsForm { return &a.RowsForm },
	call.Argument[relatedArguments]{Name: call.IDName, Schema: call.IDSchema, Required: call.Always, Into: func(a *relatedArguments) any { return &a.id }},
	call.Argument[relatedArguments]{Name: "relation", Into: func(a *relatedArguments) any { return &a.relation }, Required: call.Always,
		Hint: func(c *call.Call) string {
			return relationsOf(c.Scope)
		},
		Common: true, Help: "the relation's name, as describe has it"},
	call.Argument[relatedArguments]{Name: "filters", Into: func(a *relatedArguments) any { return &a.filters },
		Unlisted: true, Help: "which of them, as in list of their model"},
	call.Argument[relatedArguments]{Name: "order_by", Into: func(a *relatedArguments) any { return &a.orderBy },
		Unlisted: true, Help: "their fields; - descends"},
	call.Argument[relatedArguments]{Name: "fields", Into: func(a *relatedArguments) any { return &a.fields },
		Unlisted: true, Help: "only these of their fields"},
	call.Argument[relatedArguments]{Name: "limit", Into: func(a *relatedArguments) any { return &a.limit }, Schema: relatedLimit},
	call.Argument[relatedArguments]{Name: "offset", Into: func(a *relatedArguments) any { return &a.offset }},
))...)

// relatedLimit is the schema of related's limit, which is another model's for each relation.
func relatedLimit(m *catalog.Model) call.Schema {
	unusual := func(r *catalog.Relation) bool { return r.Target.Declared.DefaultPageSize != call.UsualPage }
	if m != nil && !slices.ContainsFunc(m.Relations, unusual) {
		return call.Schema{Type: call.Types{"integer"}, Default: call.UsualPage}
	}
	return call.Schema{Type: call.Types{"integer"}, Description: "absent: as in list of their model"}
}

// relatedSchema is the schema of a page of related rows, or of the only one. Their model is the relation's.
func relatedSchema() call.Schema {
	name, row := call.Schema{Type: call.Types{"string"}}, call.Schema{Type: call.Types{"object"}}
	many := call.RowsSchema(row, "total_count").With("relation", name).With("type", call.Schema{Enum: []any{"many"}})
	many.Required = append(many.Required, "relation", "type")
	single := call.ClosedObject(map[string]call.Schema{
		"relation": name, "type": {Enum: []any{"single"}}, "result": {Type: call.Types{"object", "null"}}, "notice": {Type: call.Types{"string"}},
	}, "relation", "type", "result")
	return call.OneOf(many, single, call.PayloadSchema[call.Exported]())
}

type relatedArguments struct {
	id            json.RawMessage
	relation      string
	filters       json.RawMessage
	orderBy       []string
	fields        call.Items
	limit, offset call.Count
	RowsForm
	zoneArgument
}

// related answers the rows that a relation of one row leads to: a page of them, or the only one. The row itself must be
// there for the token.
func related(c *call.Call, a *relatedArguments) ([]byte, error) {
	row, err := c.WantedRow(a.id)
	if err != nil {
		return nil, err
	}
	relation, target, ok := c.Scope.Follow(a.relation)
	if !ok {
		return nil, call.Invalid("relation: %s has no relation %q; %s", c.Scope.Model().Name, a.relation, relationsOf(c.Scope))
	}
	if target.Model() != c.Scope.Model() {
		c.Reading.RowsOf = target.Model().Name
	}
	export, err := a.Exporting(c, target, a.limit, false)
	if err != nil {
		return nil, err
	}
	plan := planPage(target, a.limit, a.offset)
	rows := &RowSet{Scope: target}
	if rows.calendar, err = a.calendar(c); err != nil {
		return nil, err
	}
	if plan.Output, err = rows.Output(a.fields); err != nil { // first: other arguments may use the values that it names
		return nil, err
	}
	where, err := rows.conditions("filters", a.filters)
	if err != nil {
		return nil, err
	}
	if plan.Order, err = rows.order(a.orderBy); err != nil {
		return nil, err
	}
	if err = noPagesAtRandom(plan, false); err != nil {
		return nil, err
	}
	plan.Joins = rows.joins
	if export == nil {
		if err := a.Apply(plan, c.Settings.MaxResultBytes); err != nil {
			return nil, err
		}
	}

	k := &relatedReader{call: c, parent: c.Scope, plan: PlanRow(c.Scope, row)}
	k.addColumns(relation)
	if _, k.values, err = ReadRow(&c.Request, c.DB, c.Scope, row, false, k.columns...); err != nil {
		return nil, err
	}
	opening := `{"relation":` + string(call.AppendJSON(nil, a.relation)) + `,"type":`
	condition, any := k.related(relation)
	if !any {
		condition = database.Never
	}
	where = append(where, condition)
	plan.Where = where
	if export != nil {
		return export.Page(plan)
	}
	if relation.Many {
		if plan.Total, err = planTotal(target, "", plan); err != nil {
			return nil, err
		}
		return answerPage(c, opening+`"many",`, target, plan, nil)
	}
	// One row is written as get_ writes it, whatever the form.
	plan.Limit, plan.Offset, plan.More, plan.Form, plan.MaxBytes, plan.MaxValue = 1, 0, false, database.RowObjects, 0, call.MaxOneValue
	out := []byte(opening + `"single","result":`)
	out, page, err := c.DB.Select(c.Ctx, plan, out)
	switch {
	case err != nil:
		return nil, err
	case len(out) > c.Settings.MaxResultBytes:
		return nil, tooLarge(&c.Request, target.Model())
	case page.Count == 0:
		out = append(out, "null"...)
	}
	if page.Shortened {
		out = call.AppendJSON(append(out, `,"notice":`...), cutNotice(&c.Request, target.Model()))
	}
	return append(out, '}'), nil
}

// relationsOf says which relations the token may follow.
func relationsOf(scope access.Scope) string {
	if names := relationNames(scope); names != "" {
		return "its relations are " + names
	}
	return "it has no relation that you may follow"
}

// relationNames are the relations that the token may follow, for a message.
func relationNames(scope access.Scope) string {
	relations := scope.Relations()
	names := make([]string, len(relations))
	for i, r := range relations {
		names[i] = r.Name
	}
	return strings.Join(names, ", ")
}
