package admin

import (
	"context"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// get answers the one row that has the id.
func (a *Admin) get(ctx context.Context, scope access.Scope, raw []byte) ([]byte, error) {
	args, err := parseArguments(raw, idName)
	if err != nil {
		return nil, err
	}
	id, ok := args[idName]
	if !ok {
		return nil, invalid("id parameter is required")
	}
	m := scope.Model()
	where, err := keyEquals(m, id)
	if err != nil {
		return nil, err
	}
	output, err := planOutput(scope, nil)
	if err != nil {
		return nil, err
	}
	row, page, err := a.db.Select(ctx, &database.Select{From: scope.Source(), Output: output, Where: where, Limit: 1}, nil)
	if err != nil {
		return nil, err
	}
	if page.Count == 0 {
		return nil, failf(CodeNotFound, "%s not found", m.Name)
	}
	return row, nil
}
