package call

import "github.com/mcp-admin/mcp-admin-operator/server/catalog"

// Change is a change of one row, for the audit table, history, and whoever has to allow the call.
type Change struct {
	// Row is the row that changed.
	Row *Row
	// Action is create, update, delete, or action:<name>.
	Action string
	// Message says in words what happened.
	Message string
	// Before and After are the row as it was and is; nil before a create, after a delete, and where it is not told.
	Before, After *Row
	// Given are the fields that the caller gave values.
	Given []*catalog.Field
	// Sets are the fields that the change is about; what else changed was set aside, by the database or the server. Nil if nobody knows.
	Sets []*catalog.Field
	// Operation is what made the change: a part's own name if the call has parts.
	Operation string
}

// Kind is what became of the row: create, update or delete.
func (ch *Change) Kind() string {
	switch {
	case ch.Action == "create" || ch.Action == "delete":
		return ch.Action
	case ch.Before != nil && ch.After == nil:
		return "delete"
	}
	return "update"
}

// Changes gathers what a call and its parts change, in a transaction that is not committed yet. A nil Changes gathers nothing.
type Changes struct {
	list    []Change
	unnamed Unnamed
}

// Unnamed is how many rows of tables that are no model are changed, and how many are deleted.
type Unnamed struct{ Updated, Deleted int }

// All is how many rows they are.
func (u Unnamed) All() int { return u.Updated + u.Deleted }

// ChangesOf are changes that are known already.
func ChangesOf(list []Change) *Changes { return &Changes{list: list} }

// Gathers reports whether somebody wants to know the changes.
func (c *Changes) Gathers() bool { return c != nil }

// Add adds a change.
func (c *Changes) Add(ch Change) { c.list = append(c.list, ch) }

// AddUnnamed adds rows of tables that are no model.
func (c *Changes) AddUnnamed(rows Unnamed) {
	if c != nil {
		c.unnamed.Updated += rows.Updated
		c.unnamed.Deleted += rows.Deleted
	}
}

// List are the changes so far.
func (c *Changes) List() []Change { return c.list }

// Unnamed are the rows of tables that are no model.
func (c *Changes) Unnamed() Unnamed { return c.unnamed }

// Mark is a place to go back to.
type Mark struct {
	changes int
	unnamed Unnamed
}

// Mark returns the present place.
func (c *Changes) Mark() Mark {
	if c == nil {
		return Mark{}
	}
	return Mark{len(c.list), c.unnamed}
}

// Back forgets what was added since a mark: it was undone. The zero Mark is the beginning.
func (c *Changes) Back(to Mark) {
	if c != nil {
		c.list, c.unnamed = c.list[:to.changes:to.changes], to.unnamed
	}
}
