package read

import (
	"encoding/json"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// EndpointConditions are conditions on rows that no caller asks, but the endpoint itself.
type EndpointConditions struct {
	rows *RowSet
	all  database.And
}

// Conditions reads a condition object about rows of a scope. argument is where it stands, for messages; now is the moment that its
// relative moments count from.
func Conditions(scope access.Scope, now time.Time, argument string, raw json.RawMessage) (*EndpointConditions, error) {
	rows := &RowSet{Scope: scope, calendar: lookup.Calendar{Now: now}}
	all, err := rows.conditions(argument, raw)
	return &EndpointConditions{rows, all}, err
}

// Plan is the plan of one row that meets the conditions and another one. It shows the row's key, or a field if it has none.
func (c *EndpointConditions) Plan(where database.Condition) *database.Select {
	m := c.rows.Scope.Model()
	shown := []database.Output{KeyOutput(m, call.IDName)}
	return &database.Select{From: c.rows.Scope.Source(), Joins: c.rows.joins, Output: shown, Where: append(database.And{where}, c.all...), Limit: 1}
}
