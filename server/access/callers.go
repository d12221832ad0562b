package access

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"weak"

	"github.com/mcp-admin/mcp-admin-operator/contract/claims"
	"github.com/mcp-admin/mcp-admin-operator/server/identity"
)

// The reasons to refuse a caller whose own token is good, besides the reasons of package identity.
const (
	// NoToken: no MCPToken is for the caller.
	NoToken identity.Refusal = "no_mcptoken"
	// Ambiguous: two MCPTokens are for the caller, and none of them is more specific.
	Ambiguous identity.Refusal = "ambiguous"
	// Incomplete: a part of the tokens is missing, which may have a more specific one than the known parts.
	Incomplete identity.Refusal = "incomplete"
)

// A Refused is why no token was found for a caller. The zero Refused is no refusal.
type Refused struct {
	Reason identity.Refusal
	// Tokens are the two MCPTokens between which an Ambiguous caller stands.
	Tokens [2]string
}

// A visitor is a token as one caller has it: with the attributes and groups that the caller's claims give. Expressions may
// cost milliseconds, so they are evaluated once, however many requests of a caller come at the same time.
type visitor struct {
	holder
	caller, subject string
	evaluated       sync.Once
}

// visitors are the visitors of the callers that were seen, and keep no caller in memory. Safe for concurrent use.
type visitors struct {
	mu       sync.RWMutex
	byCaller map[weak.Pointer[identity.Caller]]*visitor
}

// maxVisitors is how many visitors are remembered.
const maxVisitors = 4096

// find returns a visitor whose token has not expired, or nil.
func (v *visitors) find(key weak.Pointer[identity.Caller], now time.Time) *visitor {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if found := v.byCaller[key]; found != nil && !found.expired(now) {
		return found
	}
	return nil
}

// remember notes that a caller has a token, and returns the visitor: the one whom another request has noted meanwhile, if
// there is one.
func (v *visitors) remember(key weak.Pointer[identity.Caller], h *holder, caller *identity.Caller) *visitor {
	v.mu.Lock()
	defer v.mu.Unlock()
	if known := v.byCaller[key]; known != nil && known.name == h.name && sameTime(known.expiry, h.expiry) {
		return known
	}
	if v.byCaller == nil || len(v.byCaller) >= maxVisitors {
		v.byCaller = map[weak.Pointer[identity.Caller]]*visitor{}
	}
	one := &visitor{holder: *h, caller: callerName(h.name, caller.Subject), subject: caller.Subject}
	v.byCaller[key] = one
	return one
}

// Identify returns the token that is for a caller, or nobody and why: the most specific one (rank). If two are equally
// specific, nobody is let in: what several tokens grant is never added up. A caller who comes again, as the same pointer,
// costs a look-up.
func (t *Tokens) Identify(caller *identity.Caller, now time.Time) (Token, Refused) {
	key := weak.Make(caller)
	v := t.visitors.find(key, now)
	if v == nil {
		found, refused := t.tokenFor(caller, now)
		if found == nil {
			return Token{}, refused
		}
		v = t.visitors.remember(key, found, caller)
	}
	v.evaluated.Do(func() { t.directory.evaluate(v, caller) })
	return Token{holder: &v.holder, rights: t.grants.of(v.set), visitor: v, caller: caller}, Refused{}
}

// rank orders the tokens that are for one caller. A token of the endpoint's own namespace goes before tokens of others, so
// that nobody who may write these takes a caller from it. Then one for the caller's subject goes before those for callers
// with claims, and of these the one with the most claims goes first.
func (t *Tokens) rank(h *holder) int {
	const subject, own = 1 << 20, 1 << 21
	rank := len(h.identity.Claims)
	if h.identity.Subject != "" {
		rank = subject
	}
	if t.owns(h) {
		rank += own
	}
	return rank
}

// owns reports whether a token is of the endpoint's own namespace.
func (t *Tokens) owns(h *holder) bool {
	namespace, _, _ := strings.Cut(h.name, "/")
	return namespace == t.namespace
}

// tokenFor finds the token of the highest rank. One that has expired is passed over, as if it were deleted.
func (t *Tokens) tokenFor(caller *identity.Caller, now time.Time) (*holder, Refused) {
	best := t.directory.tokenOf(caller, now)
	switch {
	case best != nil && (caller.ServiceAccount != "" || t.owns(best)):
		return best, Refused{} // none goes before it
	case caller.ServiceAccount != "" || caller.Subject == "":
		return nil, Refused{Reason: NoToken}
	case t.Incomplete():
		return nil, Refused{Reason: Incomplete}
	}
	var rival *holder
	t.directory.eachByClaims(caller, now, func(h *holder) {
		switch {
		case best == nil || t.rank(h) > t.rank(best):
			best, rival = h, nil
		case h != best && t.rank(h) == t.rank(best):
			rival = h
		}
	})
	switch {
	case best == nil:
		return nil, Refused{Reason: NoToken}
	case rival != nil:
		return nil, Refused{Ambiguous, [2]string{best.name, rival.name}}
	}
	return best, Refused{}
}

// evaluate gives a visitor what the caller's claims give. What an expression cannot give, the caller does not have.
func (d *Directory) evaluate(v *visitor, caller *identity.Caller) {
	if len(v.identity.Attributes) > 0 {
		v.attributes = d.attributesOf(&v.holder, caller)
	}
	if v.identity.Groups != "" {
		v.set = d.sets.of(d.groupsOf(&v.holder, caller), v.set.rules)
	}
}

// attributesOf returns the token's own attributes, and the ones that the caller's claims give. An attribute that claims are
// to give is never the token's own.
func (d *Directory) attributesOf(h *holder, caller *identity.Caller) []attribute {
	expressions := h.identity.Attributes
	all := slices.DeleteFunc(slices.Clone(h.attributes), func(a attribute) bool { _, given := expressions[a.name]; return given })
	for name, expression := range expressions {
		if value, ok := d.expressions.text(expression, caller); ok {
			all = append(all, attribute{name, value})
		}
	}
	slices.SortFunc(all, attribute.compare)
	return all
}

// groupsOf returns the token's own groups, and the groups from the caller's claims that may count.
func (d *Directory) groupsOf(h *holder, caller *identity.Caller) []string {
	all := slices.Clip(h.set.groups)
	given := d.expressions.list(h.identity.Groups, caller)
	for _, group := range h.identity.Among {
		if slices.Contains(given, group) && !slices.Contains(all, group) {
			all = append(all, group)
		}
	}
	return all
}

// maxSubject is how many characters of a subject stand in a caller's name.
const maxSubject = 200

// callerName names a caller of a token: in printable ASCII, which every database takes, in some hundred characters, and
// each caller otherwise.
func callerName(token, subject string) string {
	quoted := strconv.QuoteToASCII(subject)
	quoted = quoted[1 : len(quoted)-1]
	if len(quoted) > maxSubject {
		sum := sha256.Sum256([]byte(subject))
		quoted = quoted[:maxSubject] + "..." + hex.EncodeToString(sum[:16])
	}
	return token + " as " + quoted
}

// expressions are the programs of expressions, by their texts: tokens by the thousand have the same few. Safe for
// concurrent use.
type expressions struct {
	mu     sync.Mutex
	byText map[string]*claims.Expression
}

// maxExpressions is how many programs are remembered; each takes some ten kilobytes.
const maxExpressions = 256

// text evaluates an expression that gives a text; false if it does not.
func (e *expressions) text(expression string, caller *identity.Caller) (string, bool) {
	program := e.compiled(expression)
	if program == nil {
		return "", false
	}
	return program.Text(caller.Claims, caller.Subject)
}

// list evaluates an expression that gives a list; nil if it does not.
func (e *expressions) list(expression string, caller *identity.Caller) []string {
	program := e.compiled(expression)
	if program == nil {
		return nil
	}
	list, _ := program.List(caller.Claims, caller.Subject)
	return list
}

// compiled returns the program of an expression; nil if it cannot be compiled, which the manager refuses.
func (e *expressions) compiled(expression string) *claims.Expression {
	e.mu.Lock()
	defer e.mu.Unlock()
	program, known := e.byText[expression]
	if known {
		return program
	}
	program, err := claims.Compile(expression)
	if err != nil {
		program = nil
	}
	if e.byText == nil || len(e.byText) >= maxExpressions {
		e.byText = map[string]*claims.Expression{}
	}
	e.byText[expression] = program
	return program
}
