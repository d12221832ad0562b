package access

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
)

// A ruleSet gives tokens their rights: by groups, and by rules of their own. Tokens with the same share one, whatever part
// they lie in, so that ten thousand tokens need little memory. It outlives the models that its rights are about.
type ruleSet struct {
	groups []string
	rules  []contract.Rule
	// compiled are the rights of the newest grants that were asked for.
	compiled atomic.Pointer[compiledRights]
}

type compiledRights struct {
	grants uint64
	rights *rights
}

// ruleSets finds the rule set of equal groups and rules. It holds none that no token has. Safe for concurrent use.
type ruleSets struct {
	mu    sync.Mutex
	byKey map[string]weak.Pointer[ruleSet]
	// sweepAt is the size at which unused ones are forgotten.
	sweepAt int
}

const minSweep = 256

func newRuleSets() *ruleSets {
	return &ruleSets{byKey: map[string]weak.Pointer[ruleSet]{}, sweepAt: minSweep}
}

func (s *ruleSets) of(groups []string, rules []contract.Rule) *ruleSet {
	key := appendStrings(make([]byte, 0, 128), groups)
	for _, rule := range rules {
		for _, list := range [][]string{rule.Modules, rule.Models, rule.Verbs, rule.Actions} {
			key = appendStrings(key, list)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if set := s.byKey[string(key)].Value(); set != nil {
		return set
	}
	if len(s.byKey) >= s.sweepAt {
		for key, set := range s.byKey {
			if set.Value() == nil {
				delete(s.byKey, key)
			}
		}
		s.sweepAt = max(minSweep, 2*len(s.byKey))
	}
	set := &ruleSet{groups: groups, rules: rules}
	s.byKey[string(key)] = weak.Make(set)
	return set
}

// appendStrings appends a list in a form that no other list has.
func appendStrings(key []byte, list []string) []byte {
	key = binary.AppendUvarint(key, uint64(len(list)))
	for _, text := range list {
		key = appendText(key, text)
	}
	return key
}

// appendText appends a text and where it ends.
func appendText(key []byte, text string) []byte {
	return append(binary.AppendUvarint(key, uint64(len(text))), text...)
}

// grants are the rights that rules grant on the models of one catalog, under one Config's groups. Each rule set's rights
// are compiled when a token of it is first seen.
type grants struct {
	// number is different for each; a rule set remembers it rather than the grants, which it would keep in memory.
	number uint64
	models *catalog.Catalog
	groups map[string][]contract.Rule
	limits limits
}

var grantsMade atomic.Uint64

func newGrants(groups []contract.Group, models *catalog.Catalog) *grants {
	g := &grants{number: grantsMade.Add(1), models: models, groups: make(map[string][]contract.Rule, len(groups))}
	for _, group := range groups {
		g.groups[group.Name] = group.Rules
	}
	return g
}

// of returns the rights of a rule set: from its own rules and its groups. A group that the Config does not have grants
// nothing.
func (g *grants) of(set *ruleSet) *rights {
	if c := set.compiled.Load(); c != nil && c.grants == g.number {
		return c.rights
	}
	rules := set.rules[:len(set.rules):len(set.rules)]
	for _, name := range set.groups {
		rules = append(rules, g.groups[name]...)
	}
	r := compileRights(rules, g.models)
	r.limits = &g.limits
	made := &compiledRights{g.number, r}
	for { // another request may have made them meanwhile: all have the same
		known := set.compiled.Load()
		if known != nil && known.grants == g.number {
			return known.rights
		}
		if set.compiled.CompareAndSwap(known, made) {
			return r
		}
	}
}
