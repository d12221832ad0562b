package compile

import (
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// tokenState holds what a Compiler knows about a token.
type tokenState struct {
	// object and given are its last sources.
	object *v1alpha1.MCPToken
	given  *Credential
	// asked reports whether its reconciler waits to hear of this generation or text, whatever comes out.
	asked bool
	// known is the credential that counts: the given one, or the stored Config's.
	known *Credential
	// problems are the problems of the object's expressions.
	problems field.ErrorList
	// owned lists what the token has in Compiler.owners.
	owned []string
	// entry is the token's in the Config; its Revision is 0 if the Config has none.
	entry   contract.Token
	verdict TokenVerdict
	// hash decides in which part it lies.
	hash uint32
	// since is the first revision of any entry of that name; newcomer reports whether that came after the layout had begun to grow.
	since    int64
	newcomer bool
	// rights describe the rights of the token and of tokens like it; nil if it is not in force.
	rights *rightsClass
	// changes is when the verdict will be another for the clock alone; zero is never.
	changes time.Time
}

// tokenID tells a token from another of the same name.
type tokenID struct{ namespace, name, uid string }

func idOf(t *contract.Token) tokenID { return tokenID{t.Namespace, t.Name, t.UID} }

func keyOf(t *v1alpha1.MCPToken) types.NamespacedName {
	return types.NamespacedName{Namespace: t.Namespace, Name: t.Name}
}

// withAllTokens adds the unchanged tokens to the changed ones.
func (c *Compiler) withAllTokens(in Objects) Objects {
	if in.Changed == nil {
		return in
	}
	changed := make(map[types.NamespacedName]bool, len(in.Changed))
	for _, key := range in.Changed {
		changed[key] = true
	}
	in.Tokens = slices.Clone(in.Tokens)
	for key, state := range c.tokens {
		if !changed[key] {
			in.Tokens = append(in.Tokens, state.object)
		}
	}
	in.Changed = nil
	return in
}

// updateTokens compiles the tokens that have changed, and tokens that depend on a change: on other tokens, the clock, or a
// new main part. It returns the tokens that there is news about.
func (c *Compiler) updateTokens(in Objects, next int64, newMain bool) []types.NamespacedName {
	stale := map[*tokenState]struct{}{}
	changed := c.dropTokens(in, next, stale)
	c.takeIn(in, stale)
	passed := func(moment time.Time) bool { return !moment.IsZero() && !in.Now.Before(moment) }
	expired := passed(c.lookAgain)
	if newMain || expired {
		for _, state := range c.tokens {
			if newMain || passed(state.changes) {
				stale[state] = struct{}{}
			}
		}
	}
	for state := range stale {
		if c.compileToken(in, state, next) {
			changed = append(changed, keyOf(state.object))
		}
		c.lookAgain = earliest(c.lookAgain, state.changes)
	}
	if expired || newMain || in.Changed == nil { // all were looked at: it may be later than before
		c.lookAgain = time.Time{}
		for _, state := range c.tokens {
			c.lookAgain = earliest(c.lookAgain, state.changes)
		}
	}
	return changed
}

// credentialOf returns the known facts about a token's text; nil if it was not looked up yet.
func credentialOf(in Objects, t *v1alpha1.MCPToken) *Credential {
	if t.Spec.IssuedElsewhere() {
		return noText
	}
	return in.Credential(t)
}

// takeIn takes in new objects and credentials, and adds the tokens to compile: they changed, or another token owns or owned
// the same.
func (c *Compiler) takeIn(in Objects, stale map[*tokenState]struct{}) {
	for _, t := range in.Tokens {
		if !t.DeletionTimestamp.IsZero() {
			continue
		}
		key := keyOf(t)
		state, given := c.tokens[key], credentialOf(in, t)
		switch {
		case state == nil:
			state = &tokenState{hash: contract.NameHash(t.Namespace, t.Name)}
			c.tokens[key] = state
			c.inParts.put(state, c.layout.wanted.Parts)
		case sameObject(state.object, t) && state.given == given:
			state.object = t
			continue
		case state.object.UID != t.UID:
			c.disown(state, stale)
			*state = tokenState{entry: state.entry, hash: state.hash, since: state.since, newcomer: state.newcomer} // the entry tells what is taken away
		}
		if state.entry.Revision == 0 {
			c.adoptStored(state, t)
		}
		state.asked = state.object == nil || state.object.Generation != t.Generation || !reflect.DeepEqual(state.given, given)
		if state.object == nil || state.object.Generation != t.Generation {
			state.problems = c.expressions(t) // to compile them costs more than all else
		}
		state.object, state.given = t, given
		state.known = knownCredential(state, t)
		if owned := owned(t, state.known); !slices.Equal(state.owned, owned) {
			c.disown(state, stale)
			c.own(state, owned, stale)
		}
		stale[state] = struct{}{}
	}
}

// adoptStored gives a token its entry of the stored Config.
func (c *Compiler) adoptStored(state *tokenState, t *v1alpha1.MCPToken) {
	id := tokenID{t.Namespace, t.Name, string(t.UID)}
	if entry, ok := c.stored[id]; ok {
		state.entry, state.since = entry, entry.Revision
		_, held := c.layout.heldBefore[id]
		state.newcomer = c.layout.wanted.Before > 0 && !held
		delete(c.stored, id)
	}
}

// own gives a token what it owns. Other tokens that own one of it are stale then.
func (c *Compiler) own(state *tokenState, owned []string, stale map[*tokenState]struct{}) {
	state.owned = owned
	for _, key := range owned {
		c.owners[key] = append(c.owners[key], state)
		for _, other := range c.owners[key] {
			stale[other] = struct{}{}
		}
	}
}

// disown takes from a token what it owns. Other tokens that own one of it are stale then.
func (c *Compiler) disown(state *tokenState, stale map[*tokenState]struct{}) {
	for _, key := range state.owned {
		left := slices.DeleteFunc(c.owners[key], func(s *tokenState) bool { return s == state })
		if c.owners[key] = left; len(left) == 0 {
			delete(c.owners, key)
		}
		for _, other := range left {
			stale[other] = struct{}{}
		}
	}
	state.owned = nil
}

// firstOwner is the token that goes before all others which own the same as this one; nil if that is the token itself. It
// owns it even while it is not in force: a younger one must not revive a revoked text, nor let in whom an older one no longer
// lets in.
func (c *Compiler) firstOwner(state *tokenState) *v1alpha1.MCPToken {
	first := state.object
	for _, key := range state.owned {
		for _, other := range c.owners[key] {
			if precedence(other.object, first) < 0 {
				first = other.object
			}
		}
	}
	if first == state.object {
		return nil
	}
	return first
}

// inForce reports whether the Config lets a token in so far. If its part is lost, the revision in the token's status tells
// that it was in one.
func (c *Compiler) inForce(state *tokenState) bool {
	if entry := &state.entry; entry.Revision > 0 {
		return entry.InForce() && entry.UID == string(state.object.UID)
	}
	return state.object.Status.Revision > 0 && c.layout.parts[partOf(state.hash, c.layout.wanted.Parts)].stored == 0
}

// compileToken compiles one token, and reports whether something came out otherwise than before, or its reconciler waits
// for it.
func (c *Compiler) compileToken(in Objects, state *tokenState, next int64) bool {
	t := state.object
	verdict := c.judgeToken(in, state)
	entry := tokenEntry(t, state.known, verdict, c.issuers)
	if err := entry.Validate(); err != nil { // of an object that the API server did not check
		verdict = TokenVerdict{Verdict: invalid(err)}
		entry = tokenEntry(t, state.known, verdict, c.issuers)
	}
	state.changes = time.Time{}
	if expiry := t.EffectiveExpiry(); expiry != nil && t.Spec.EffectiveActive() && in.Now.Before(*expiry) {
		state.changes = *expiry
	}
	before := state.entry
	switch entry.Revision = before.Revision; {
	case before.Revision == 0 && !entry.InForce() && state.given == nil:
		// It was not looked up yet, and the Config never had it: it gets an entry once it was.
	case before.Revision == 0 || !equal(entry, before):
		entry.Revision = c.use(next)
		if before.Revision == 0 {
			state.since, state.newcomer = next, c.layout.wanted.Before > 0
		}
		c.layout.tokenChanged(state, next, before.InForce())
	}
	state.rights = nil
	if verdict.Revision = entry.Revision; verdict.InForce {
		state.rights = c.rights.of(c.registry, c.main, t, &entry)
		verdict.Notes = state.rights.notes
	}
	changed := state.asked || entry.Revision != before.Revision || !reflect.DeepEqual(verdict, state.verdict)
	state.entry, state.verdict, state.asked = entry, verdict, false
	return changed
}

// dropTokens takes away the tokens whose objects are gone or being deleted, and returns them. Tokens that owned the same
// are stale.
func (c *Compiler) dropTokens(in Objects, next int64, stale map[*tokenState]struct{}) []types.NamespacedName {
	living := make(map[types.NamespacedName]struct{}, len(in.Tokens))
	for _, t := range in.Tokens {
		if t.DeletionTimestamp.IsZero() {
			living[keyOf(t)] = struct{}{}
		}
	}
	var gone []types.NamespacedName
	drop := func(key types.NamespacedName) {
		state := c.tokens[key]
		if _, lives := living[key]; lives || state == nil {
			return
		}
		c.disown(state, stale)
		delete(stale, state)
		delete(c.tokens, key)
		c.inParts.remove(state)
		gone = append(gone, key)
		if state.entry.Revision > 0 {
			c.layout.tokenChanged(state, c.use(next), state.entry.InForce())
		}
	}
	for _, key := range in.Changed {
		drop(key)
	}
	if in.Changed == nil {
		for key := range c.tokens {
			drop(key)
		}
	}
	return gone
}

// withoutEndpoint lets every token wait for an endpoint that can be served.
func (c *Compiler) withoutEndpoint(in Objects) []types.NamespacedName {
	waiting := TokenVerdict{Verdict: waitsFor(in.Endpoint, c.endpoint)}
	before := c.tokens
	c.tokens = map[types.NamespacedName]*tokenState{}
	clear(c.owners)
	var changed []types.NamespacedName
	for _, t := range in.Tokens {
		if !t.DeletionTimestamp.IsZero() {
			continue
		}
		key := keyOf(t)
		c.tokens[key] = &tokenState{object: t, given: credentialOf(in, t), verdict: waiting, hash: contract.NameHash(t.Namespace, t.Name)}
		if old := before[key]; old == nil || !sameObject(old.object, t) || !reflect.DeepEqual(old.given, c.tokens[key].given) || !reflect.DeepEqual(old.verdict, waiting) {
			changed = append(changed, key)
		}
	}
	return changed
}

// Refresh takes in a newer state of a token that asks for nothing else, so that the old one is not kept in memory.
func (c *Compiler) Refresh(t *v1alpha1.MCPToken) {
	if state := c.tokens[keyOf(t)]; state != nil && sameObject(state.object, t) {
		state.object = t
	}
}

// Token returns what became of a token, and the object and credential that it was compiled from; false if there is no
// such token.
func (c *Compiler) Token(key types.NamespacedName) (TokenVerdict, *v1alpha1.MCPToken, *Credential, bool) {
	state := c.tokens[key]
	if state == nil {
		return TokenVerdict{}, nil, nil, false
	}
	return state.verdict, state.object, state.given, true
}

// EachToken calls see with the name of every token and its entry, which must not be changed.
func (c *Compiler) EachToken(see func(key types.NamespacedName, entry *contract.Token)) {
	for key, state := range c.tokens {
		see(key, &state.entry)
	}
}

// HasParts reports whether the tokens are laid out in so many parts.
func (c *Compiler) HasParts(parts int) bool { return len(c.inParts) == parts }

// EachTokenOfPart is EachToken for the tokens in the part of that index.
func (c *Compiler) EachTokenOfPart(index int, see func(key types.NamespacedName, entry *contract.Token)) {
	for _, state := range c.inParts[index] {
		see(keyOf(state.object), &state.entry)
	}
}
