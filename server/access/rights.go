package access

import (
	"encoding/json"
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
)

// Has is whether all of the wanted verbs are in the set.
func (v Verbs) Has(wanted Verbs) bool { return v&wanted == wanted }

// rights are the verbs that a set of rules grants on each model of a catalog, by Model.Index.
type rights struct {
	verbs []Verbs
}

// compileRights evaluates rules once for all models. Equal rules give the same rights, which is what keeps ten
// thousand tokens small.
func compileRights(rules []contract.Rule, models *catalog.Catalog, shared map[string]*rights) *rights {
	key, _ := json.Marshal(rules) // rules are strings only: it cannot fail
	if r := shared[string(key)]; r != nil {
		return r
	}
	r := &rights{verbs: make([]Verbs, len(models.Models()))}
	for _, m := range models.Models() {
		for _, rule := range rules {
			if matches(rule, m) {
				r.verbs[m.Index] |= granted(rule.Verbs)
			}
		}
	}
	shared[string(key)] = r
	return r
}

// matches is whether a rule is about a model. No modules is any; no models is none.
func matches(rule contract.Rule, m *catalog.Model) bool {
	return (len(rule.Modules) == 0 || names(rule.Modules, m.Module)) && names(rule.Models, m.Name)
}

func names(list []string, name string) bool {
	return slices.Contains(list, contract.Wildcard) || slices.Contains(list, name)
}

// granted adds up verbs: "*" is all four, change implies view, add and delete do not (decisions section 8).
func granted(verbs []string) Verbs {
	var v Verbs
	for _, verb := range verbs {
		switch verb {
		case contract.Wildcard:
			v |= View | Add | Change | Delete
		case contract.VerbView:
			v |= View
		case contract.VerbAdd:
			v |= Add
		case contract.VerbChange:
			v |= Change | View
		case contract.VerbDelete:
			v |= Delete
		}
	}
	return v
}
