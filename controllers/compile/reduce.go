package compile

import (
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// Reduced is written in the place of a token part that takes something away and does not fit into a Secret: the tokens that
// are stored, as they should be, without the ones that were taken away. What is new waits until there is room. If even that
// does not fit, tokens that became larger are refused: nothing that was taken away may stay.
func (c *Compiler) Reduced(index int, stored *contract.TokenPart, leaner bool) *contract.TokenPart {
	before := make(map[tokenID]*contract.Token, len(stored.Tokens))
	for i := range stored.Tokens {
		before[idOf(&stored.Tokens[i])] = &stored.Tokens[i]
	}
	reduced := c.TokenPart(index)
	reduced.Tokens = slices.DeleteFunc(reduced.Tokens, func(t contract.Token) bool { return before[idOf(&t)] == nil })
	if leaner {
		reduced.Decide(nil) // without a decision nothing is allowed
		for i := range reduced.Tokens {
			if t := &reduced.Tokens[i]; !equal(*t, *before[idOf(t)]) {
				*t = contract.Token{Revision: t.Revision, Namespace: t.Namespace, Name: t.Name, UID: t.UID}
			}
		}
	}
	return reduced
}

// WroteReduced notes that a part was written as Reduced made it. What it lacks gets a later revision, so that nobody takes it for
// stored.
func (c *Compiler) WroteReduced(reduced *contract.TokenPart) {
	has := make(map[tokenID]*contract.Token, len(reduced.Tokens))
	for i := range reduced.Tokens {
		has[idOf(&reduced.Tokens[i])] = &reduced.Tokens[i]
	}
	l, next := &c.layout, c.counter+1
	for state := range c.inParts.of(reduced.Index, l.wanted) {
		entry := has[idOf(&state.entry)]
		own := partOf(state.hash, l.wanted.Parts) == reduced.Index
		if state.entry.Revision == 0 || !own && l.alone(state) || entry != nil && equal(*entry, state.entry) {
			continue
		}
		state.entry.Revision = c.use(next)
		state.verdict.Revision = next
		if entry == nil {
			state.since, state.newcomer = next, l.wanted.Before > 0
		}
		l.tokenChanged(state, next, false)
	}
	part := &l.parts[reduced.Index]
	part.stored, part.urgent, part.decisions = reduced.Revision, false, reduced.Decided()
	part.changed(c.use(next), false) // the part as it should be is another one
}
