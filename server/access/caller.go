package access

import (
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Groups are the names of the token's groups.
func (t Token) Groups() []string { return slices.Clone(t.holder.set.groups) }

// Attribute is the token's attribute of that name; false if it has none.
func (t Token) Attribute(name string) (string, bool) { return t.holder.attribute(name) }

// Session holds the settings that describe the caller to a database. What the token does not have is empty.
func (t Token) Session(settings []contract.SessionSetting) []database.SessionSetting {
	told := make([]database.SessionSetting, len(settings))
	for i, s := range settings {
		told[i].Name = s.Name
		switch s.Source {
		case contract.SessionToken:
			told[i].Value = t.Caller()
		case contract.SessionGroups:
			told[i].Value = strings.Join(t.Groups(), ",")
		case contract.SessionAttribute:
			told[i].Value, _ = t.Attribute(s.Attribute)
		}
	}
	return told
}

// Reports are the reports that the token may run on the model: it may view it, and a rule names the report
// (docs/design/actions.md, "Reports").
func (s Scope) Reports() []*catalog.Report {
	if !s.Has(View) {
		return nil
	}
	var allowed []*catalog.Report
	for _, r := range s.model.Reports {
		if s.token.rights.names(s.model, r.Name) {
			allowed = append(allowed, r)
		}
	}
	return allowed
}
