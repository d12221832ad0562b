package admin

import (
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// operations are in the order in which tools/list has them (docs/design/tools.md, "Which tools a token gets").
var operations []operation

// The operations look each other up, which is why the table is filled here.
func init() { operations = allOperations() }

func allOperations() []operation {
	return []operation{
		{name: "list", may: has(access.View), label: "view", run: (*call).list, define: defineList,
			advice: "narrow with filters and search, order with order_by, go on with next_cursor, and ask only for the fields that you need"},
		{name: "get", may: has(access.View), label: "view", run: (*call).get, define: defineGet, offered: hasKey,
			advice: "one row by its id, as list rows show it"},
		{name: "create", may: has(access.Add), label: "add", writes: true, run: (*call).create, define: defineCreate, offered: canInsert,
			advice: "try it with dry_run first; fields that are left out get the database's default"},
		{name: "update", may: has(access.Change), label: "change", writes: true, run: (*call).update, define: defineUpdate, offered: canChange,
			advice: "data holds only the fields to change"},
		{name: "delete", may: has(access.Delete), label: "delete", writes: true, run: (*call).delete, define: defineDelete, offered: canChange,
			advice: "dry_run tells whether it would go through"},
		{name: "describe", may: has(access.View), label: "view", run: (*call).describe, define: defineDescribe,
			advice: "fields, types and relationships: look here before you filter"},
		{name: "actions", may: has(access.View), label: "view", run: (*call).actions, define: defineActions, offered: hasActions, many: true,
			advice: "the actions that you may run, and what each needs"},
		{name: "action", may: mayAct, label: "run actions on", writes: true, run: (*call).action, define: defineAction, offered: hasActions, useful: canAct, many: true,
			advice: "one that needs confirmation answers requires_confirmation first, and runs when it is called again with confirm: true"},
		{name: "bulk", may: mayWrite, label: "change", writes: true, run: (*call).bulk, define: defineBulk, offered: canBulk, useful: canWrite, many: true,
			advice: "many rows in one transaction; atomic: true makes it all or nothing"},
		{name: "related", may: has(access.View), label: "view", run: (*call).related, define: defineRelated, offered: hasRelations, useful: canFollow,
			advice: "the rows that a relation of one row leads to"},
		{name: "history", may: has(access.View), label: "view", run: (*call).history, define: defineHistory, offered: hasHistory,
			advice: "who changed a row, when and how"},
		{name: "autocomplete", may: has(access.View), label: "view", run: (*call).autocomplete, define: defineAutocomplete, offered: hasKey,
			advice: "ids by a piece of a row's name, to use in a foreign key"},
	}
}

func has(verbs access.Verbs) func(access.Scope) bool {
	return func(s access.Scope) bool { return s.Has(verbs) }
}

// mayWrite is whether the token may change rows in any way.
func mayWrite(s access.Scope) bool {
	return s.Has(access.Add) || s.Has(access.Change) || s.Has(access.Delete)
}

// What a model must have to be offered an operation.

func hasKey(_ *catalog.Catalog, m *catalog.Model) bool { return len(m.Key) > 0 }

func canInsert(c *catalog.Catalog, m *catalog.Model) bool {
	return !c.ReadOnly() && c.AuditProblem() == "" && m.Table.Writable && isTable(m)
}

// isTable is whether the model is a table: a view is read only, though the database might write through it.
func isTable(m *catalog.Model) bool {
	return m.Table.Kind == database.BaseTable || m.Table.Kind == database.ForeignTable
}

// canChange is whether single rows can be changed: their keys must be theirs alone.
func canChange(c *catalog.Catalog, m *catalog.Model) bool { return canInsert(c, m) && m.UniqueKey }

func canBulk(c *catalog.Catalog, m *catalog.Model) bool {
	return canInsert(c, m) && (findOperation("create").offeredFor(c, m) || findOperation("update").offeredFor(c, m) || findOperation("delete").offeredFor(c, m))
}

func hasRelations(_ *catalog.Catalog, m *catalog.Model) bool {
	return len(m.Key) > 0 && len(m.Relations) > 0
}

func hasHistory(c *catalog.Catalog, m *catalog.Model) bool {
	return len(m.Key) > 0 && isTable(m) && c.Audit() != nil && m.Table != c.Audit()
}

// offeredFor is whether a served model has the operation: its exposure lists it, and its table allows it.
func (o *operation) offeredFor(c *catalog.Catalog, m *catalog.Model) bool {
	if len(m.Operations) > 0 && !slices.Contains(m.Operations, o.name) {
		return false
	}
	return o.offered == nil || o.offered(c, m)
}

// usable is whether a token can do anything with the operation, on a model that offers it.
func (o *operation) usable(c *catalog.Catalog, scope access.Scope) bool {
	return o.may(scope) && (o.useful == nil || o.useful(c, scope))
}

// What a token needs beyond the verb, so that it can do anything with an operation.

func canAct(c *catalog.Catalog, scope access.Scope) bool { return len(actionsOf(c, scope)) > 0 }

func canFollow(_ *catalog.Catalog, scope access.Scope) bool { return len(scope.Relations()) > 0 }

// canWrite is whether bulk_ has an operation that the token may use.
func canWrite(_ *catalog.Catalog, scope access.Scope) bool {
	return slices.ContainsFunc(bulkOperations(scope.Model()), func(name string) bool { return findOperation(name).may(scope) })
}

// offered are the operations that are of use to the token on a model; none on one that is not served.
func (a *Admin) offered(token *access.Token, m *catalog.Model) []*operation {
	var some []*operation
	scope := token.Reach(m)
	for i := range operations {
		if op := &operations[i]; m.Served() && op.offeredFor(a.catalog, m) && op.usable(a.catalog, scope) {
			some = append(some, op)
		}
	}
	return some
}

// findOperation returns the operation of that name, or nil.
func findOperation(name string) *operation {
	for i := range operations {
		if operations[i].name == name {
			return &operations[i]
		}
	}
	return nil
}

// Tools are the names of the tools that a served model has for a token that may do everything.
func Tools(c *catalog.Catalog, m *catalog.Model) []string {
	var names []string
	for i := range operations {
		if operations[i].offeredFor(c, m) {
			names = append(names, operations[i].name+"_"+m.Name)
		}
	}
	return names
}
