package compile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// mostTools is the longest list that common clients take; some take no more than 40.
const mostTools = 128

// genericTools is how many tools a generic list has beside those of pinned models.
const genericTools = 14

// longLists is the note about the tokens whose tools/list is longer than common clients take. Which tools a table allows
// only the database knows: a list may be shorter than is said here.
func (c *Compiler) longLists() []string {
	var names []string
	longest := 0
	for key, state := range c.tokens {
		if !state.verdict.InForce {
			continue
		}
		if class := c.rights.of(c.registry, c.main, state.object, &state.entry); class.tools > mostTools {
			names, longest = append(names, key.Namespace+"/"+key.Name), max(longest, class.tools)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	whose := strings.Join(names[:min(len(names), maxHints)], ", ")
	if more := len(names) - maxHints; more > 0 {
		whose += fmt.Sprintf(" and %d more", more)
	}
	return []string{fmt.Sprintf("tools/list has up to %d tools for %s, and common clients take 40 to %d. "+
		"Leave spec.catalogue.style to Auto, with a maxTools that they take, and pin fewer models, or expose fewer.", longest, whose, mostTools)}
}

func newListCounter(main *contract.Config) *listCounter {
	lists := &listCounter{config: main, counted: map[string]int{}}
	for i := range main.Models {
		if m := &main.Models[i]; m.Expose {
			lists.exposed = append(lists.exposed, m)
			if m.Pinned {
				lists.pinned = append(lists.pinned, m)
			}
		}
	}
	return lists
}

// listCounter counts the tools of tokens' lists. Tokens with equal rules are counted once.
type listCounter struct {
	config          *contract.Config
	exposed, pinned []*contract.Model
	counted         map[string]int
}

// length is how many tools the token's list has at most, in the endpoint's own style.
func (l *listCounter) length(t *contract.Token) int {
	const mostOfModel = 13
	style := l.config.Endpoint.Catalogue
	if style.Style != contract.StyleGeneric {
		most := 1 + mostOfModel*len(l.exposed)
		if most > mostTools {
			most = l.count(t, l.exposed, 1)
		}
		if style.Style == contract.StylePerModel || most <= style.MaxTools {
			return most
		}
	}
	if most := genericTools + mostOfModel*len(l.pinned); most <= mostTools {
		return most
	}
	return l.count(t, l.pinned, genericTools)
}

// count is how many tools a list has at most with those of some models, beside others.
func (l *listCounter) count(t *contract.Token, models []*contract.Model, others int) int {
	rules, _ := json.Marshal(t.Rules) // strings only: it cannot fail
	key := fmt.Sprint(others, " ", string(rules))
	if n, known := l.counted[key]; known {
		return n
	}
	n := others
	for _, m := range models {
		n += l.toolsOf(t, m)
	}
	l.counted[key] = n
	return n
}

// toolsOf is how many tools of a model a token has at most.
func (l *listCounter) toolsOf(t *contract.Token, m *contract.Model) int {
	v := verbsOn(t, m)
	writes := !l.config.Endpoint.Database.ReadOnly
	has := map[string]bool{
		"create": writes && v.add, "update": writes && v.change, "delete": writes && v.delete, "bulk": writes && (v.add || v.change || v.delete),
		"report": v.view && len(m.Reports) > 0,
		"action": v.view && (len(m.Actions) > 0 || writes && v.change && v.delete), "history": v.view && l.config.Endpoint.Audit != nil,
	}
	for _, shows := range []string{"list", "get", "describe", "aggregate", "actions", "related", "autocomplete"} {
		has[shows] = v.view
	}
	n := 0
	if len(m.Operations) == 0 {
		for _, offered := range has {
			if offered {
				n++
			}
		}
		return n
	}
	for _, operation := range m.Operations {
		if has[operation] {
			n++
		}
	}
	return n
}
