package compile

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// Rights count what a token may do: of a token whose callers have groups by their claims, the most that any may.
type Rights struct {
	// Models is the number of models on which the token has a verb, Verbs the verbs that it has on any of them.
	Models int
	Verbs  []v1alpha1.Verb
	// Tools is the most tools of its tools/list. Which tools a table allows only the database knows.
	Tools int
}

// Rights returns what a token may do; false if the Config has no entry that is in force for it. They are no part of the
// verdict, so that a change of a group is no news of each of its tokens. They must not be changed.
func (c *Compiler) Rights(key types.NamespacedName) (Rights, bool) {
	state := c.tokens[key]
	if state == nil || !state.verdict.InForce || c.main == nil {
		return Rights{}, false
	}
	class := c.rights.of(c.registry, c.main, state.object, &state.entry)
	if class.rights == nil {
		full := *atMost(&state.entry)
		full.Rules = c.main.RulesOf(&full)
		class.rights = new(rightsOf(&full, c.main, c.rights.lists))
	}
	return *class.rights, true
}

// rightsOf counts what a token with all its rules may do.
func rightsOf(entry *contract.Token, main *contract.Config, lists *listCounter) Rights {
	rights := Rights{Tools: lists.length(entry)}
	var any verbs
	for i := range main.Models {
		v := verbsOn(entry, &main.Models[i])
		if v != (verbs{}) {
			rights.Models++
		}
		any = verbs{any.view || v.view, any.add || v.add, any.change || v.change, any.delete || v.delete, any.export || v.export}
	}
	for _, row := range []struct {
		has  bool
		verb v1alpha1.Verb
	}{
		{any.view, v1alpha1.VerbView}, {any.add, v1alpha1.VerbAdd}, {any.change, v1alpha1.VerbChange}, {any.delete, v1alpha1.VerbDelete}, {any.export, v1alpha1.VerbExport},
	} {
		if row.has {
			rights.Verbs = append(rights.Verbs, row.verb)
		}
	}
	return rights
}
