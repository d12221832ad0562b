package planner

import "github.com/mcp-admin/mcp-admin-operator/test/jobs/sqltree"

func (b *builder) compound(q *sqltree.Query) (*answer, error) { return nil, unable("set") }
