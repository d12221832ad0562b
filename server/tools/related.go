package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

var _ = withArguments("related", operation{
	stale: true, admit: admitted,
	description: func(m *catalog.Model) string {
		return fmt.Sprintf("Rows related to one %s.", one(m))
	},
	outputSchema: func(*catalog.Model) schema { return relatedSchema() },
	advice:       "the rows that a relation of one row leads to",
}, (*call).related, withRowsForm(func(a *relatedArguments) *rowsForm { return &a.rowsForm },
	argument[relatedArguments]{name: idName, schema: idSchema, required: always, into: func(a *relatedArguments) any { return &a.id }},
	argument[relatedArguments]{name: "relation", into: func(a *relatedArguments) any { return &a.relation }, required: always,
		hint: func(c *call) string {
			return relationsOf(c.scope)
		},
		common: true, help: "the relation's name, as describe has it"},
	argument[relatedArguments]{name: "filters", into: func(a *relatedArguments) any { return &a.filters },
		unlisted: true, help: "which of them, as in list of their model"},
	argument[relatedArguments]{name: "order_by", into: func(a *relatedArguments) any { return &a.orderBy },
		unlisted: true, help: "their fields; - descends"},
	argument[relatedArguments]{name: "fields", into: func(a *relatedArguments) any { return &a.fields },
		unlisted: true, help: "only these of their fields"},
	argument[relatedArguments]{name: "limit", into: func(a *relatedArguments) any { return &a.limit }, schema: relatedLimit},
	argument[relatedArguments]{name: "offset", into: func(a *relatedArguments) any { return &a.offset }},
)...)

// relatedLimit is the schema of related's limit, which is another model's for each relation.
func relatedLimit(m *catalog.Model) schema {
	unusual := func(r *catalog.Relation) bool { return r.Target.Declared.DefaultPageSize != usualPage }
	if m != nil && !slices.ContainsFunc(m.Relations, unusual) {
		return schema{Type: types{"integer"}, Default: usualPage}
	}
	return schema{Type: types{"integer"}, Description: "absent: as in list of their model"}
}

// relatedSchema is the schema of a page of related rows, or of the only one. Their model is the relation's.
func relatedSchema() schema {
	name, row := schema{Type: types{"string"}}, schema{Type: types{"object"}}
	many := rowsSchema(row, "total_count").with("relation", name).with("type", schema{Enum: []any{"many"}})
	many.Required = append(many.Required, "relation", "type")
	single := closed(map[string]schema{
		"relation": name, "type": {Enum: []any{"single"}}, "result": {Type: types{"object", "null"}}, "notice": {Type: types{"string"}},
	}, "relation", "type", "result")
	return oneOf(many, single)
}

type relatedArguments struct {
	id              json.RawMessage
	relation        string
	filters         json.RawMessage
	orderBy, fields []string
	limit, offset   count
	rowsForm
}

// related answers the rows that a relation of one row leads to: a page of them, or the only one. The row itself must be
// there for the token.
func (c *call) related(a *relatedArguments) ([]byte, error) {
	row, err := c.wantedRow(a.id)
	if err != nil {
		return nil, err
	}
	relation, target, ok := c.scope.Follow(a.relation)
	if !ok {
		return nil, invalid("relation: %s has no relation %q; %s", c.scope.Model().Name, a.relation, relationsOf(c.scope))
	}
	plan := planPage(target, a.limit, a.offset)
	rows := &rowSet{scope: target}
	where, err := rows.conditions("filters", a.filters)
	if err != nil {
		return nil, err
	}
	if plan.Order, err = rows.order(a.orderBy); err != nil {
		return nil, err
	}
	if plan.Output, err = rows.output(a.fields); err != nil {
		return nil, err
	}
	plan.Joins = rows.joins
	if err := a.apply(plan, c.settings.MaxResultBytes); err != nil {
		return nil, err
	}

	k := &relatedReader{call: c, parent: c.scope, plan: planRow(c.scope, row)}
	k.addColumns(relation)
	if _, k.values, err = c.readRow(c.db, c.scope, row, false, k.columns...); err != nil {
		return nil, err
	}
	opening := `{"relation":` + string(appendJSON(nil, a.relation)) + `,"type":`
	condition, any := k.related(relation)
	if !any {
		condition = database.Never
	}
	where = append(where, condition)
	plan.Where = where
	if relation.Many {
		if plan.Total, err = planTotal(target, "", plan); err != nil {
			return nil, err
		}
		return c.answerPage(opening+`"many",`, target, plan, nil)
	}
	// One row is written as get_ writes it, whatever the form.
	plan.Limit, plan.Offset, plan.More, plan.Form, plan.MaxBytes, plan.MaxValue = 1, 0, false, database.RowObjects, 0, maxOneValue
	out := []byte(opening + `"single","result":`)
	out, page, err := c.db.Select(c.ctx, plan, out)
	switch {
	case err != nil:
		return nil, err
	case len(out) > c.settings.MaxResultBytes:
		return nil, c.tooLarge(target.Model())
	case page.Count == 0:
		out = append(out, "null"...)
	}
	if page.Shortened {
		out = appendJSON(append(out, `,"notice":`...), c.cutNotice(target.Model()))
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
