package generate

import (
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// The names, as their words, of columns by which programs delete a row without removing it.
var (
	deletionTimes = []string{"deleted at", "deleted on", "deleted", "delete time", "delete date", "date deleted", "deletion date", "deletion time", "removed at", "removed on", "trashed at"}
	deletionFlags = []string{"deleted", "is deleted", "isdeleted", "removed", "is removed", "soft deleted", "del flag", "trashed", "is trashed"}
)

// guessPolicy hides the rows that a program has deleted without removing them.
func (m *Model) guessPolicy() {
	for _, c := range m.Table.Columns {
		filter := notDeleted(c)
		if filter == nil || !c.Privileges.Has(database.MaySelect) {
			continue
		}
		m.Exposure.Spec.RowPolicies = []v1alpha1.RowPolicy{{Name: "not-deleted", AppliesTo: v1alpha1.AppliesToEveryone, Filters: []v1alpha1.RowFilter{*filter}}}
		m.because("rowPolicies", "%s marks deleted rows, by its name", c.Name)
		return
	}
}

// notDeleted is the condition that a column's row is not deleted; nil if the column does not tell.
func notDeleted(c *database.Column) *v1alpha1.RowFilter {
	name, isTrue := strings.Join(catalog.Words(c.Name), " "), "true"
	switch c.Kind {
	case database.Timestamp, database.TimestampTZ, database.Date:
		if slices.Contains(deletionTimes, name) && c.Nullable {
			return &v1alpha1.RowFilter{Field: c.Name, Lookup: "isnull", Value: &isTrue}
		}
		return nil
	case database.Boolean, database.Integer:
	default:
		return nil
	}
	if !slices.Contains(deletionFlags, name) {
		return nil
	}
	no := "false"
	if c.Kind == database.Integer {
		no = "0"
	}
	if c.Nullable {
		return &v1alpha1.RowFilter{Any: []v1alpha1.FieldFilter{{Field: c.Name, Value: &no}, {Field: c.Name, Lookup: "isnull", Value: &isTrue}}}
	}
	return &v1alpha1.RowFilter{Field: c.Name, Value: &no}
}
