package tools

import (
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// need is how a live database meets a need of contract's table.
type need struct {
	// offered reports whether a served model meets it, whoever asks; nil means always.
	offered func(*catalog.Catalog, *catalog.Model) bool
	// useful reports whether a token that has a verb of the operation can do anything with it on a model that meets the need.
	// Lists leave it out otherwise, and a call is told what is missing. nil means always.
	useful func(*catalog.Catalog, access.Scope) bool
}

// needs are filled when the program starts, since whether a model has actions depends on its operations.
var needs map[contract.Need]need

func init() {
	needs = map[contract.Need]need{
		contract.NeedsKey:              {offered: hasKey},
		contract.NeedsRelations:        {offered: hasRelations, useful: canFollow},
		contract.NeedsAddable:          {offered: func(_ *catalog.Catalog, m *catalog.Model) bool { return m.WhyNoCreate() == "" }},
		contract.NeedsChangeable:       {offered: canUpdate},
		contract.NeedsDeletable:        {offered: func(_ *catalog.Catalog, m *catalog.Model) bool { return m.WhyNoDelete() == "" }},
		contract.NeedsWritable:         {offered: canBulk, useful: canWrite},
		contract.NeedsActions:          {offered: hasActions, useful: canAct},
		contract.NeedsReports:          {offered: hasReports, useful: mayReport},
		contract.NeedsActionsOrReports: {offered: hasActionsOrReports},
		contract.NeedsAudit:            {offered: hasHistory},
	}
}

func hasKey(_ *catalog.Catalog, m *catalog.Model) bool { return len(m.Key) > 0 }

func canUpdate(_ *catalog.Catalog, m *catalog.Model) bool { return m.WhyNoUpdate() == "" }

func canBulk(_ *catalog.Catalog, m *catalog.Model) bool { return len(bulkOperations(m)) > 0 }

// canWrite reports whether bulk_ has an operation that the token may use.
func canWrite(_ *catalog.Catalog, scope access.Scope) bool {
	return len(bulkOperationsFor(scope)) > 0
}

func hasRelations(_ *catalog.Catalog, m *catalog.Model) bool {
	return len(m.Key) > 0 && leadsToRows(m)
}

// showsInlines reports whether rows of an inline of the model are to be seen, whoever asks.
func showsInlines(m *catalog.Model) bool {
	return slices.ContainsFunc(m.Inlines, func(in *catalog.Inline) bool { return in.Model.Declared.ShowsRows() })
}

// leadsToRows reports whether a relation of the model leads to rows that are to be seen, whoever asks.
func leadsToRows(m *catalog.Model) bool {
	return slices.ContainsFunc(m.Relations, func(r *catalog.Relation) bool { return r.Target.Declared.ShowsRows() })
}

func canFollow(_ *catalog.Catalog, scope access.Scope) bool { return len(scope.Relations()) > 0 }

func canAct(c *catalog.Catalog, scope access.Scope) bool { return len(actionsOf(c, scope)) > 0 }

func hasHistory(c *catalog.Catalog, m *catalog.Model) bool {
	return len(m.Key) > 0 && m.IsTable() && !m.Audits && c.Audit() != nil && c.Audit().Privileges.Has(database.MaySelect)
}
