package access

import (
	"sync"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// A limit narrows the rows of a model, for one token, to those that its row policies show.
type limit struct {
	// A row must meet condition; nil if the token sees all rows.
	condition database.Condition
	// print is the Fingerprint.
	print string
}

// unlimited is the limit of a token that sees all rows.
var unlimited limit

// limits are the limits of the tokens that call, so that attributes are not read again for each call. They belong to the
// rights on one catalog. Safe for concurrent use.
type limits struct {
	mu    sync.RWMutex
	known map[limited]*limit
}

// limited is a model for a token.
type limited struct {
	holder *holder
	model  int // Model.Index
}

// maxLimits is how many limits are remembered; each takes about half a kilobyte.
const maxLimits = 4096

// limit returns the limit of the scope.
func (s Scope) limit() *limit {
	if len(s.model.Policies) == 0 {
		return &unlimited
	}
	key, all := limited{s.token.holder, s.model.Index}, s.token.rights.limits
	all.mu.RLock()
	found := all.known[key]
	all.mu.RUnlock()
	if found != nil {
		return found
	}
	found = s.findLimit()
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.known == nil || len(all.known) >= maxLimits {
		all.known = map[limited]*limit{}
	}
	all.known[key] = found
	return found
}

// findLimit reads the policies of the model that match the token. They limit nothing if one of them gives all rows. If
// several match, a row must meet only one (docs/design/rights.md, "Row policies").
func (s Scope) findLimit() *limit {
	matching, limited := s.policies()
	if !limited {
		return &unlimited
	}
	any := make(database.Or, 0, len(matching))
	for _, p := range matching {
		any = append(any, s.token.all(p.Filters))
	}
	return &limit{any, s.token.fingerprint(matching)}
}

// Limited reports whether a row policy stands between the token and the model's rows. Such a token must not see the
// planner's estimates, which know nothing of policies.
func (s Scope) Limited() bool { return s.limit().condition != nil }

// Fingerprint identifies the rows that the token may see: equal policies with equal attributes give equal ones, and "" is
// every row. A cursor is bound to it. It has the attributes in it, and is not for anybody to read.
func (s Scope) Fingerprint() string { return s.limit().print }
