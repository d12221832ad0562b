package admin

import (
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// related answers the rows that a relation of one row leads to: a page of them, or the only one. The row itself must be
// there for the token.
func (c *call) related() ([]byte, error) {
	args, err := parseArguments(c.raw, idName, "relation", "limit", "offset")
	if err != nil {
		return nil, err
	}
	where, err := c.wantedRow(args)
	if err != nil {
		return nil, err
	}
	name, err := args.text("relation")
	if err != nil {
		return nil, err
	}
	relation, target, ok := c.scope.Follow(name)
	switch {
	case name == "":
		return nil, invalid("relation parameter is required; the relations of %s are %s", c.scope.Model().Name, relationNames(c.scope))
	case !ok:
		return nil, invalid("relation: %s has no relation %q; its relations are %s", c.scope.Model().Name, name, relationNames(c.scope))
	}
	plan, err := planPage(target, args)
	if err != nil {
		return nil, err
	}
	if plan.Output, err = planOutput(target, nil); err != nil {
		return nil, err
	}

	k := &kin{call: c, parent: c.scope, where: where}
	k.addColumns(relation)
	if _, k.values, err = c.readRow(c.db, c.scope, where, false, k.columns...); err != nil {
		return nil, err
	}
	opening := `{"relation":` + string(appendJSON(nil, name)) + `,"type":`
	condition, any := k.related(relation)
	if !any {
		condition = database.Or{} // which no row meets
	}
	plan.Where = condition
	if relation.Many {
		if plan.Total, err = planTotal(target, nil, plan.Where); err != nil {
			return nil, err
		}
		if plan.Order, err = planOrder(target, nil); err != nil {
			return nil, err
		}
		return c.answerPage(opening+`"many",`, target, plan, nil)
	}
	plan.Limit, plan.Offset, plan.More, plan.MaxValue = 1, 0, false, maxOneValue
	out := []byte(opening + `"single","result":`)
	before := len(out)
	if out, _, err = c.db.Select(c.ctx, plan, out); err != nil {
		return nil, err
	}
	if len(out) == before {
		out = append(out, "null"...)
	}
	return append(out, '}'), nil
}

// relationNames are the relations that the token may follow, for a message.
func relationNames(scope access.Scope) string {
	relations := scope.Relations()
	if len(relations) == 0 {
		return "none that you may follow"
	}
	names := make([]string, len(relations))
	for i, r := range relations {
		names[i] = r.Name
	}
	return strings.Join(names, ", ")
}
