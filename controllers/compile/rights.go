package compile

import (
	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// Rights count what a token may do.
type Rights struct {
	// Models is the number of models on which the token has a verb, Verbs those that it has on any of them.
	Models int
	Verbs  []v1alpha1.Verb
	// Tools is the most tools of its tools/list. Which tools a table allows only the database knows.
	Tools int
}

// Registry tells what the tokens of one Config may do. It is safe for concurrent use.
type Registry struct {
	config *contract.Config
	lists  listCounter
}

// NewRegistry returns the Registry of a Config; nil if there is none.
func NewRegistry(c *contract.Config) *Registry {
	if c == nil {
		return nil
	}
	return &Registry{c, newListCounter(c)}
}

// RightsOf returns what a token may do; false if the Config has no entry that is in force for it. A nil Registry has none.
func (r *Registry) RightsOf(t *v1alpha1.MCPToken) (Rights, bool) {
	if r == nil {
		return Rights{}, false
	}
	entry := r.config.FindToken(t.Namespace, t.Name, string(t.UID))
	if entry == nil || len(entry.Hashes) == 0 {
		return Rights{}, false
	}
	return rightsOf(entry, r), true
}

func rightsOf(entry *contract.Token, r *Registry) Rights {
	rights := Rights{Tools: r.lists.tools(entry)}
	var any verbs
	for i := range r.config.Models {
		v := verbsOn(entry, &r.config.Models[i])
		if v != (verbs{}) {
			rights.Models++
		}
		any = verbs{any.view || v.view, any.add || v.add, any.change || v.change, any.delete || v.delete}
	}
	for _, row := range []struct {
		has  bool
		verb v1alpha1.Verb
	}{
		{any.view, v1alpha1.VerbView}, {any.add, v1alpha1.VerbAdd}, {any.change, v1alpha1.VerbChange}, {any.delete, v1alpha1.VerbDelete},
	} {
		if row.has {
			rights.Verbs = append(rights.Verbs, row.verb)
		}
	}
	return rights
}

// tools is how many tools a token's list has at most, counted for this token.
func (l *listCounter) tools(t *contract.Token) int {
	if len(l.exposed) == 0 {
		return 0
	}
	of := func(models []*contract.Model, others int) int {
		for _, m := range models {
			others += l.toolsOf(t, m)
		}
		return others
	}
	style := l.config.Endpoint.Catalogue
	if style.Style != contract.StyleGeneric {
		if n := of(l.exposed, 1); style.Style == contract.StylePerModel || style.MaxTools == 0 || n <= style.MaxTools {
			return n
		}
	}
	return of(l.pinned, genericTools)
}
