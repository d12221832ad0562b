package read

import (
	"encoding/json"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// ReadRow reads the one row of the scope that meets a condition, as get_ shows it, and its values of some columns. With
// lock it stays locked until the transaction ends. If there is none, the error is not_found.
func ReadRow(req *call.Request, from call.Reader, scope access.Scope, where database.Condition, lock bool, columns ...*database.Column) (json.RawMessage, []database.Value, error) {
	plan := PlanRow(scope, where)
	plan.Cursor, plan.Lock = database.Refs(columns...), lock
	text, page, err := req.ReadOne(from, scope, plan, nil)
	return text, page.Last, err
}

// PlanRow is the plan of the one row of the scope that meets a condition, as get_ shows it.
func PlanRow(scope access.Scope, where database.Condition) *database.Select {
	return &database.Select{From: scope.Source(), Output: PlanOutput(scope), Where: where, Limit: 1, MaxValue: call.MaxOneValue}
}
