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
	lists := &listCounter{endpoint: &main.Endpoint, counted: map[string]int{}}
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
	endpoint        *contract.Endpoint
	exposed, pinned []*contract.Model
	counted         map[string]int
}

// long is how many tools the token's list has at most; 0 if no list of the endpoint can be longer than common clients take.
// It spares the count for each of tens of thousands of tokens that nobody asks about.
func (l *listCounter) long(t *contract.Token) int {
	ofModel := len(contract.ModelOperations())
	generic := len(contract.GlobalOperations()) + ofModel + ofModel*len(l.pinned)
	perModel := len(contract.GlobalOperations()) + ofModel*len(l.exposed)
	switch style := l.endpoint.Catalogue; {
	case style.Style == contract.StyleGeneric:
		perModel = 0
	case style.Style == contract.StylePerModel:
		generic = 0
	case style.MaxTools > 0:
		perModel = min(perModel, style.MaxTools)
	}
	if max(generic, perModel) <= mostTools {
		return 0
	}
	return l.length(t)
}

// length is how many tools the token's list has at most, in the endpoint's own style. The token has all its rules.
func (l *listCounter) length(t *contract.Token) int {
	if len(l.exposed) == 0 {
		return 0
	}
	rules, _ := json.Marshal(t.Rules) // strings only: it cannot fail
	if n, known := l.counted[string(rules)]; known {
		return n
	}
	n := l.count(t)
	l.counted[string(rules)] = n
	return n
}

// global are the global operations that a token's list has at most.
func (l *listCounter) global(t *contract.Token) []*contract.Operation {
	var some []*contract.Operation
	for _, o := range contract.GlobalOperations() {
		if len(l.exposed) > 0 && usableGlobally(l.endpoint, t, l.exposed, o) {
			some = append(some, o)
		}
	}
	return some
}

// names are the names of the tools that a token's list has at most, in the endpoint's own style.
func (l *listCounter) names(t *contract.Token) []string {
	names := []string{}
	if len(l.exposed) == 0 {
		return names
	}
	for _, o := range l.global(t) {
		names = append(names, o.Name)
	}
	ofModels := func(models []*contract.Model, generic bool) {
		for _, o := range contract.ModelOperations() {
			for _, m := range models {
				if !usable(l.endpoint, t, m, verbsOn(t, m), o) {
					continue
				}
				if generic {
					names = append(names, o.Name)
					break
				}
				names = append(names, o.Name+"_"+m.Name)
			}
		}
	}
	if tools, _ := l.toolsOf(t, l.exposed); l.ofEachModel(len(names) + tools) {
		ofModels(l.exposed, false)
		return names
	}
	ofModels(l.exposed, true)
	ofModels(l.pinned, false)
	return names
}

// ofEachModel reports whether a list has the tools of each model, of so many tools then, and not the generic ones.
func (l *listCounter) ofEachModel(tools int) bool {
	style := l.endpoint.Catalogue
	return style.Style == contract.StylePerModel || style.Style != contract.StyleGeneric && (style.MaxTools == 0 || tools <= style.MaxTools)
}

func (l *listCounter) count(t *contract.Token) int {
	global := len(l.global(t))
	tools, generic := l.toolsOf(t, l.exposed)
	if l.ofEachModel(global + tools) {
		return global + tools
	}
	pinned, _ := l.toolsOf(t, l.pinned)
	return global + generic + pinned
}

// toolsOf is how many tools of some models the token has at most, and of how many operations these are.
func (l *listCounter) toolsOf(t *contract.Token, models []*contract.Model) (tools, operations int) {
	found := map[*contract.Operation]bool{}
	for _, m := range models {
		has := verbsOn(t, m)
		if has == (verbs{}) {
			continue
		}
		for _, o := range contract.ModelOperations() {
			if usable(l.endpoint, t, m, has, o) {
				tools++
				found[o] = true
			}
		}
	}
	return tools, len(found)
}
