package tools

import (
	"encoding/json"
	"fmt"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
)

var _ = withArguments("get", operation{
	stale: true, extra: []string{"include_inlines", "include_related"}, admit: admitted,
	description:  func(m *catalog.Model) string { return fmt.Sprintf("Get one %s.", one(m)) },
	outputSchema: gotSchema,
	advice:       "one row by its id, as list rows show it",
}, (*call).get,
	argument[getArguments]{name: idName, schema: idSchema, required: always, into: func(a *getArguments) any { return &a.id }},
	argument[getArguments]{name: "fields", into: func(a *getArguments) any { return &a.fields },
		unlisted: true, help: "only these, or relation__field of rows that it leads to"},
	argument[getArguments]{name: "include_inlines", into: func(a *getArguments) any { return &a.inlines },
		offered: showsInlines, empty: true, common: true,
		help: "with _inlines: the rows that belong to it, by model"},
	argument[getArguments]{name: "include_related", into: func(a *getArguments) any { return &a.related },
		offered: leadsToRows, empty: true,
		common: true,
		help:   fmt.Sprintf("with _related: at most %d rows of each relation", mostRelatedRows)},
	argument[getArguments]{name: "field", into: func(a *getArguments) any { return &a.field }, offered: hasLongFields, lacks: "long text, JSON or bytes fields",
		help: "only a piece of this text, JSON or bytes field, as value; next_offset goes on"},
	argument[getArguments]{name: "offset", into: func(a *getArguments) any { return &a.offset }, offered: hasLongFields, lacks: "long text, JSON or bytes fields",
		help: "where the piece begins, in characters (bytes fields: in bytes)"},
	argument[getArguments]{name: "length", into: func(a *getArguments) any { return &a.length }, offered: hasLongFields, lacks: "long text, JSON or bytes fields",
		help: fmt.Sprintf("of the piece; %d without it, and at most", maxPiece)},
)

// gotSchema is the schema of a row with what belongs to it, or of a piece of a value.
func gotSchema(m *catalog.Model) schema {
	row := listedRow(m)
	if m == nil {
		return row
	}
	related := schema{Type: types{"object"}, AdditionalProperties: schema{Type: types{"array"}, Items: &schema{Type: types{"object"}}}}
	row = row.with("_inlines", related).with("_related", related).with("_notice", schema{Type: types{"string"}})
	if !hasLongFields(m) {
		return row
	}
	return oneOf(row, payloadSchema[piece]().with("id", shownID(m)))
}

type getArguments struct {
	id               json.RawMessage
	fields           []string
	inlines, related bool
	field            string
	offset, length   count
}

// get answers the one row that has the id, with the rows that belong to it if they are asked for.
func (c *call) get(a *getArguments) ([]byte, error) {
	where, err := c.wantedRow(a.id)
	if err != nil {
		return nil, err
	}
	if a.field != "" || a.offset.sent || a.length.sent {
		return c.getPiece(a, where)
	}
	plan := planRow(c.scope, where)
	rows := &rowSet{scope: c.scope}
	if plan.Output, err = rows.output(a.fields); err != nil {
		return nil, err
	}
	plan.Joins = rows.joins
	c.lock(plan)
	if !a.inlines && !a.related {
		row, page, err := c.readOne(c.db, c.scope, plan)
		if err == nil && len(row) > c.settings.MaxResultBytes {
			return nil, c.tooLarge(c.scope.Model())
		}
		if page.Shortened {
			row = append(appendJSON(append(row[:len(row)-1], `,"_notice":`...), c.cutNotice(c.scope.Model())), '}')
		}
		return row, err
	}
	k := &relatedReader{call: c, parent: c.scope, plan: plan}
	if a.inlines {
		k.addInlines()
	}
	if a.related {
		k.addRelations()
	}
	return k.answer()
}

// tooLarge is a row that is larger than an answer may be, though each of its values was cut.
func (req *request) tooLarge(m *catalog.Model) error {
	return failf(CodeTooLarge, `%s is larger than an answer may be; %s with filters {%q: …} and only the fields that you need shows it in pieces`, m.Name, req.toolFor("list", m), m.NameOfKey())
}
