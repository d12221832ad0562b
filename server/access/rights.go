package access

import (
	"crypto/sha256"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
)

// Verbs is a set of verbs.
type Verbs uint8

// The verbs that rules grant.
const (
	View Verbs = 1 << iota
	Add
	Change
	Delete
	// Export lets what may be viewed be fetched as a file.
	Export
)

// Has reports whether all of the wanted verbs are in the set.
func (v Verbs) Has(wanted Verbs) bool { return v&wanted == wanted }

// rights are the rights that a set of rules grants on each model of a catalog, by Model.Index.
type rights struct {
	verbs []Verbs
	// limits remembers the limits of the tokens that have these rights.
	limits *limits
	// actions are the names of actions that rules grant, whatever the actions require; nil if no rule names any.
	actions [][]string
	// key is the same for equal rights.
	key RightsKey
}

// RightsKey stands for rights on the models of one catalog: tokens with the same key have the same rights, whichever rules gave
// them. It is a hash of all verbs and actions, so that nobody can make two rights share one.
type RightsKey [sha256.Size]byte

// keyOf is the key of rights.
func keyOf(r *rights) RightsKey {
	text := make([]byte, 0, 2*len(r.verbs))
	for _, verbs := range r.verbs {
		text = append(text, byte(verbs))
	}
	for _, actions := range r.actions {
		text = appendStrings(text, actions)
	}
	return sha256.Sum256(text)
}

// compileRights evaluates rules for all models.
func compileRights(rules []contract.Rule, models *catalog.Catalog) *rights {
	r := &rights{verbs: make([]Verbs, len(models.Models()))}
	for _, m := range models.Models() {
		for _, rule := range rules {
			if matches(rule, m) {
				r.grant(rule, m, len(models.Models()))
			}
		}
		if m.Audits {
			r.verbs[m.Index] &= View | Export // what the audit says must stay said
		}
	}
	r.key = keyOf(r)
	return r
}

func (r *rights) grant(rule contract.Rule, m *catalog.Model, models int) {
	r.verbs[m.Index] |= granted(rule.Verbs)
	if len(rule.Actions) == 0 {
		return
	}
	if r.actions == nil {
		r.actions = make([][]string, models)
	}
	r.actions[m.Index] = append(r.actions[m.Index], rule.Actions...)
}

// names reports whether a rule names an action of the model.
func (r *rights) names(m *catalog.Model, action string) bool {
	return r.actions != nil && names(r.actions[m.Index], action)
}

// matches reports whether a rule is about a model. No modules means any; no models means none. If the model's table is
// not known, its module matches any rule: nothing of such a model is served, and the caller learns that it is unavailable,
// not that it is forbidden.
func matches(rule contract.Rule, m *catalog.Model) bool {
	unknown := m.Table == nil && m.Module == ""
	return (len(rule.Modules) == 0 || unknown || names(rule.Modules, m.Module)) && names(rule.Models, m.Name)
}

func names(list []string, name string) bool {
	return slices.Contains(list, contract.Wildcard) || slices.Contains(list, name)
}

// VerbsOf are the verbs that a rule with a verb of that name grants.
func VerbsOf(name string) Verbs { return verbsOf[name] }

// granted adds up verbs: "*" is view, add, change and delete, change implies view, add and delete do not (docs/design/rights.md, "Rules").
func granted(verbs []string) Verbs {
	var v Verbs
	for _, verb := range verbs {
		v |= verbsOf[verb]
	}
	return v
}

// verbsOf are the verbs that a verb of a rule stands for.
var verbsOf = map[string]Verbs{
	contract.Wildcard: View | Add | Change | Delete, contract.VerbView: View, contract.VerbAdd: Add,
	contract.VerbChange: Change | View, contract.VerbDelete: Delete, contract.VerbExport: Export,
}

// required are the verbs that an action requires; false if one of them is unknown.
func required(verbs []string) (Verbs, bool) {
	known := !slices.ContainsFunc(verbs, func(verb string) bool { return verbsOf[verb] == 0 })
	return granted(verbs), known
}
