package read

import (
	"encoding/json"
	"fmt"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

var _ = call.WithArguments("get", call.Operation{
	Stale: true, Extra: []string{"include_inlines", "include_related"}, Admit: call.Admitted,
	Description:  func(m *catalog.Model) string { return fmt.Sprintf("Get one %s.", call.NameOf(m)) },
	OutputSchema: gotSchema,
	Advice:       "one row by its id, as list rows show it",
}, get,
	call.Argument[getArguments]{Name: call.IDName, Schema: call.IDSchema, Required: call.Always, Into: func(a *getArguments) any { return &a.id }},
	call.Argument[getArguments]{Name: "fields", Into: func(a *getArguments) any { return &a.fields },
		Unlisted: true, Help: "only these, or relation__field of rows that it leads to"},
	call.Argument[getArguments]{Name: "include_inlines", Into: func(a *getArguments) any { return &a.inlines },
		Offered: call.ShowsInlines, Empty: true, Common: true,
		Help: "with _inlines: the rows that belong to it, by model"},
	call.Argument[getArguments]{Name: "include_related", Into: func(a *getArguments) any { return &a.related },
		Offered: call.LeadsToRows, Empty: true,
		Common: true,
		Help:   fmt.Sprintf("with _related: at most %d rows of each relation", mostRelatedRows)},
	call.Argument[getArguments]{Name: "field", Into: func(a *getArguments) any { return &a.field }, Offered: hasLongFields, Lacks: "long text, JSON or bytes fields",
		Help: "only a piece of this text, JSON or bytes field, as value; next_offset goes on"},
	call.Argument[getArguments]{Name: "offset", Into: func(a *getArguments) any { return &a.offset }, Offered: hasLongFields, Lacks: "long text, JSON or bytes fields",
		Help: "where the piece begins, in characters (bytes fields: in bytes)"},
	call.Argument[getArguments]{Name: "length", Into: func(a *getArguments) any { return &a.length }, Offered: hasLongFields, Lacks: "long text, JSON or bytes fields",
		Help: fmt.Sprintf("of the piece; %d without it, and at most", maxPiece)},
)

// gotSchema is the schema of a row with what belongs to it, or of a piece of a value.
func gotSchema(m *catalog.Model) call.Schema {
	row := call.ListedRow(m)
	if m == nil {
		return row
	}
	related := call.Schema{Type: call.Types{"object"}, AdditionalProperties: call.Schema{Type: call.Types{"array"}, Items: &call.Schema{Type: call.Types{"object"}}}}
	row = row.With("_inlines", related).With("_related", related).With("_notice", call.Schema{Type: call.Types{"string"}})
	if !hasLongFields(m) {
		return row
	}
	return call.OneOf(row, call.PayloadSchema[Piece]().With("id", call.ShownID(m)))
}

type getArguments struct {
	id               json.RawMessage
	fields           call.Items
	inlines, related bool
	field            string
	offset, length   call.Count
}

// get answers the one row that has the id, with the rows that belong to it if they are asked for.
func get(c *call.Call, a *getArguments) ([]byte, error) {
	where, err := c.WantedRow(a.id)
	if err != nil {
		return nil, err
	}
	if a.field != "" || a.offset.Sent || a.length.Sent {
		return getPiece(c, a, where)
	}
	plan := PlanRow(c.Scope, where)
	rows := &RowSet{Scope: c.Scope, calendar: lookup.Calendar{Now: c.Now}}
	if plan.Output, err = rows.Output(a.fields); err != nil {
		return nil, err
	}
	plan.Joins = rows.joins
	c.Lock(plan)
	if !a.inlines && !a.related {
		return getRow(c, plan)
	}
	k := &relatedReader{call: c, parent: c.Scope, plan: plan}
	if a.inlines {
		k.addInlines()
	}
	if a.related {
		k.addRelations()
	}
	return k.answer()
}

// getRow answers the one row of a plan.
func getRow(c *call.Call, plan *database.Select) ([]byte, error) {
	room := c.Room()
	row, page, err := c.ReadOne(c.DB, c.Scope, plan, room.Begin(0))
	if err != nil {
		return nil, err
	}
	if len(row) > c.Settings.MaxResultBytes {
		return nil, tooLarge(&c.Request, c.Scope.Model())
	}
	if page.Shortened {
		row = append(call.AppendJSON(append(row[:len(row)-1], `,"_notice":`...), cutNotice(&c.Request, c.Scope.Model())), '}')
	}
	return room.Holds(row), nil
}

// tooLarge is a row that is larger than an answer may be, though each of its values was cut.
func tooLarge(req *call.Request, m *catalog.Model) error {
	return call.Failf(call.CodeTooLarge, `%s is larger than an answer may be; %s with filters {%q: …} and only the fields that you need shows it in pieces`, m.Name, req.ToolFor("list", m), m.NameOfKey())
}
