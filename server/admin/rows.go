package admin

import (
	"context"
	"encoding/json"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// reader is the database, or a transaction of it.
type reader interface {
	Select(ctx context.Context, plan *database.Select, out []byte) ([]byte, database.Page, error)
}

// maxOneValue is the most bytes that a value shows where one row is asked for, maxListValue where several are.
const (
	maxOneValue  = 256 << 10
	maxListValue = 16 << 10
)

// rowWhere returns the one row of the scope that meets a condition, with all visible fields, as get_ shows it. With lock
// it stays locked until the transaction ends. Where there is none, the error is not_found.
func (c *call) rowWhere(from reader, scope access.Scope, where database.Condition, lock bool) (json.RawMessage, error) {
	row, _, err := c.rowAndValues(from, scope, where, lock, nil)
	return row, err
}

// rowAndValues is rowWhere, and returns the row's values of some columns as well.
func (c *call) rowAndValues(from reader, scope access.Scope, where database.Condition, lock bool, columns []*database.Column) (json.RawMessage, []database.Value, error) {
	output, err := planOutput(scope, nil)
	if err != nil {
		return nil, nil, err
	}
	plan := &database.Select{From: scope.Source(), Output: output, Where: where, Limit: 1, MaxValue: maxOneValue, Cursor: columns, Lock: lock}
	row, page, err := from.Select(c.ctx, plan, nil)
	if err != nil {
		return nil, nil, err
	}
	if page.Count == 0 {
		return nil, nil, rowNotFound(scope.Model())
	}
	return row, page.Last, nil
}

// wantedRow is the condition that a row is the one that the argument id names.
func (c *call) wantedRow(args arguments) (database.Condition, error) {
	id, ok := args[idName]
	if !ok {
		return nil, invalid("id parameter is required")
	}
	return keyEquals(c.scope.Model(), id)
}
