package compile

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// layoutState is how a Config's tokens are laid out in parts, and which parts are to be written.
type layoutState struct {
	// wanted is the layout that the parts are compiled for; published is the layout that the main part names. They differ
	// while new parts are being written, so that no pod looks for a part that is not there.
	wanted, published contract.Layout
	main              partState
	parts             []partState
	// fixed reports whether the layout does not change.
	fixed bool
	// heldBefore are the tokens that the stored parts of the layout before hold, if the stored Config is amid a growth.
	heldBefore map[tokenID]struct{}
}

// partState is one part: what it should be, and what is stored.
type partState struct {
	// revision is the wanted content's; stored is the stored part's, 0 if there is none.
	revision, stored int64
	// urgent reports whether the stored part lets somebody do what he may no longer do.
	urgent bool
	// soon reports whether somebody waits for the part: for what other people decided.
	soon bool
	// decisions are those of the wanted content, with what is told of calls that still wait, sorted by name.
	decisions []contract.Decision
}

func (p *partState) changed(revision int64, urgent bool) {
	p.revision, p.urgent = max(p.revision, revision), p.urgent || urgent
}

// load takes over the layout and the parts of a stored Config.
func (l *layoutState) load(c *Compiler, stored Stored) {
	l.published = contract.Layout{Parts: 1}
	if stored.Main != nil {
		l.published = stored.Main.Layout
		l.main = partState{revision: stored.Main.Revision, stored: stored.Main.Revision}
	}
	l.wanted = l.published
	l.parts = make([]partState, l.wanted.Parts)
	for _, part := range stored.Parts {
		c.counter = max(c.counter, part.Revision)
		if part.Index >= len(l.parts) {
			continue
		}
		l.parts[part.Index] = partState{revision: part.Revision, stored: part.Revision, decisions: part.Decided()}
		for i := range part.Tokens {
			t := &part.Tokens[i]
			id := idOf(t)
			if contract.PartOf(t.Namespace, t.Name, l.wanted.Parts) == part.Index {
				c.stored[id] = *t
			}
			if before := l.wanted.Before; before > 0 && contract.PartOf(t.Namespace, t.Name, before) == part.Index {
				l.hold(id)
			}
		}
	}
}

func (l *layoutState) hold(id tokenID) {
	if l.heldBefore == nil {
		l.heldBefore = map[tokenID]struct{}{}
	}
	l.heldBefore[id] = struct{}{}
}

// fit makes what follows from an update: parts that were never written get a revision, and the layout grows if it is too
// small for the tokens.
func (l *layoutState) fit(c *Compiler, next int64) {
	for id := range c.stored { // what is stored and has no object any more is taken away
		l.tokenChanged(&tokenState{hash: contract.NameHash(id.namespace, id.name)}, c.use(next), true)
	}
	c.stored = nil // a map that was emptied would keep its room
	if need := contract.PartsFor(len(c.tokens)); need > l.wanted.Parts && l.settled() {
		l.grow(c, need)
	}
	for i := range l.parts {
		if l.parts[i].revision == 0 {
			l.parts[i].revision = c.use(next)
		}
	}
	if c.Grown() {
		l.publish(c, l.wanted, next)
	}
}

// Grown reports whether all parts of a larger layout are stored, and the next update publishes it.
func (c *Compiler) Grown() bool {
	l := &c.layout
	return l.published != l.wanted && l.newPartsStored()
}

// settled reports whether nothing of an earlier growth is under way.
func (l *layoutState) settled() bool {
	return !l.fixed && l.wanted == l.published && l.wanted.Before == 0
}

// grow makes room for more tokens. Before anything is stored, no pod can have the layout from before. The parts that there are
// hold until the growth ends what they hold now, so that they still fit: tokens that are not stored yet get a place in the
// new layout alone.
func (l *layoutState) grow(c *Compiler, parts int) {
	if l.wanted = (contract.Layout{Parts: parts, Before: l.wanted.Parts}); l.main.stored == 0 {
		l.wanted.Before = 0
		l.published = l.wanted
		main := *c.main
		main.Layout = l.published
		c.main = &main
	}
	for _, state := range c.tokens {
		stored := l.parts[partOf(state.hash, len(l.parts))].stored
		state.newcomer = stored > 0 && state.since > stored
	}
	l.parts = append(l.parts, make([]partState, parts-len(l.parts))...)
	c.inParts.layOut(c.tokens, parts)
}

// widen makes a growth that no pod has heard of larger.
func (l *layoutState) widen(c *Compiler, parts int) {
	from, before := l.wanted.Parts, l.wanted.Before
	for _, state := range c.tokens {
		if partOf(state.hash, from) == partOf(state.hash, before) {
			state.newcomer = false // the part that there was has it
		}
	}
	l.wanted.Parts = parts
	for i := before; i < from; i++ {
		l.parts[i].changed(c.use(c.counter+1), false)
	}
	l.parts = append(l.parts, make([]partState, parts-from)...)
	c.inParts.layOut(c.tokens, parts)
}

// alone reports whether a token lies in its part of the new layout alone, as it came after the growth had begun. Pods that
// have the layout before do not know it.
func (l *layoutState) alone(state *tokenState) bool {
	return state.newcomer && l.wanted.Before > 0 && partOf(state.hash, l.wanted.Parts) != partOf(state.hash, l.wanted.Before)
}

func (l *layoutState) newPartsStored() bool {
	return !slices.ContainsFunc(l.parts[l.wanted.Before:], func(p partState) bool { return p.stored == 0 })
}

// publish makes the main part name a layout.
func (l *layoutState) publish(c *Compiler, layout contract.Layout, next int64) {
	main := *c.main
	main.Layout, main.Revision = layout, c.use(next)
	c.main, l.published, l.wanted = &main, layout, layout
	l.main.changed(main.Revision, false)
}

// tokenChanged notes that the entry of a token became another, in every part that holds it.
func (l *layoutState) tokenChanged(state *tokenState, revision int64, urgent bool) {
	l.parts[partOf(state.hash, l.wanted.Parts)].changed(revision, urgent)
	if l.wanted.Before > 0 && !l.alone(state) {
		l.parts[partOf(state.hash, l.wanted.Before)].changed(revision, urgent)
	}
}

func partOf(hash uint32, parts int) int { return int(hash) & (parts - 1) }

// MainPart stands for the main part where the index of a token part may stand.
const MainPart = -1

// Pending is a part that has to be written.
type Pending struct {
	// Index is a token part's index, or MainPart.
	Index int
	// Urgent reports whether the stored part lets somebody do what he may no longer do.
	Urgent bool
	// Soon reports whether somebody waits for the part, though it takes nothing away.
	Soon bool
	// New reports whether there is no such part yet.
	New bool
}

// Pending returns the parts that have to be written: urgent ones first, then those that somebody waits for, then existing ones, then new ones, and a new main
// part last. Among equals the part with the oldest stored content goes first, so that none waits for ever.
func (c *Compiler) Pending() []Pending {
	if c.main == nil {
		return nil
	}
	var pending []Pending
	l, held := &c.layout, c.held()
	for i := range l.parts {
		if p := &l.parts[i]; p.stored != p.revision && !held[i] {
			pending = append(pending, Pending{Index: i, Urgent: p.urgent, Soon: p.soon && p.stored > 0, New: p.stored == 0})
		}
	}
	if l.main.stored != l.main.revision {
		pending = append(pending, Pending{Index: MainPart, Urgent: l.main.urgent, New: l.main.stored == 0})
	}
	rank := func(p Pending) int {
		switch {
		case p.Index == MainPart && p.New:
			return 4
		case p.Urgent:
			return 0
		case p.Soon:
			return 1
		case !p.New:
			return 2
		}
		return 3
	}
	slices.SortStableFunc(pending, func(a, b Pending) int {
		return cmp.Or(rank(a)-rank(b), cmp.Compare(c.StoredRevision(a.Index), c.StoredRevision(b.Index)))
	})
	return pending
}

// RevisionOf is the revision of a part as it should be.
func (c *Compiler) RevisionOf(index int) int64 {
	if index == MainPart {
		return c.layout.main.revision
	}
	return c.layout.parts[index].revision
}

// TakesAway reports whether a part that has to be written takes something away.
func (c *Compiler) TakesAway() bool {
	return slices.ContainsFunc(c.Pending(), func(p Pending) bool { return p.Urgent })
}

// StoredRevision is the revision of a stored part; 0 if the part is not stored.
func (c *Compiler) StoredRevision(index int) int64 {
	if index == MainPart {
		return c.layout.main.stored
	}
	return c.layout.parts[index].stored
}

// held are the parts that must not be written yet: they are not stored, and the text of a token that was in force has not
// been looked up. Without it that token would be refused.
func (c *Compiler) held() map[int]bool {
	if !slices.ContainsFunc(c.layout.parts, func(p partState) bool { return p.stored == 0 }) {
		return nil
	}
	held := map[int]bool{}
	for _, state := range c.tokens {
		if state.given == nil && state.entry.Revision == 0 && state.object.Status.Revision > 0 && state.object.Spec.EffectiveActive() {
			if i := partOf(state.hash, c.layout.wanted.Parts); c.layout.parts[i].stored == 0 {
				held[i] = true
			}
		}
	}
	return held
}

// TokenPart is a token part as it should be.
func (c *Compiler) TokenPart(index int) *contract.TokenPart {
	part := &contract.TokenPart{Version: contract.Version, Revision: c.layout.parts[index].revision, Index: index, Tokens: []contract.Token{}}
	part.Decide(c.layout.parts[index].decisions)
	for state := range c.inParts.of(index, c.layout.wanted) {
		own := partOf(state.hash, c.layout.wanted.Parts) == index
		if state.entry.Revision > 0 && (own || !c.layout.alone(state)) {
			part.Tokens = append(part.Tokens, state.entry)
		}
	}
	slices.SortFunc(part.Tokens, contract.CompareTokens)
	return part
}

// Written notes that a part was written with that revision; 0 is that it is gone.
func (c *Compiler) Written(index int, revision int64) {
	p := &c.layout.main
	if index != MainPart {
		p = &c.layout.parts[index]
	}
	if p.stored = revision; p.stored == p.revision {
		p.urgent, p.soon = false, false
	}
}

// TooLarge notes that a token part does not fit into a Secret, and reports whether the layout grows for it. A growth that pods
// have heard of ends before the next one. A part of the layout before fits when the growth ends.
func (c *Compiler) TooLarge(index int) bool {
	l := &c.layout
	switch {
	case l.fixed || l.wanted.Parts == contract.MaxTokenParts:
		return false
	case l.settled():
		l.grow(c, contract.Grown(l.wanted.Parts))
		return true
	case l.wanted != l.published && index >= l.wanted.Before:
		l.widen(c, contract.Grown(l.wanted.Parts))
		return true
	}
	return false
}

// GoAbove makes every part be written above a revision, and reports whether none is so far: a pod has had it, and refuses what
// is older.
func (c *Compiler) GoAbove(revision int64) bool {
	if c.main == nil || revision <= c.counter {
		return false
	}
	l, next := &c.layout, c.use(revision+1)
	for i := range l.parts {
		l.parts[i].changed(next, false)
	}
	main := *c.main
	main.Revision, c.main = next, &main
	l.main.changed(next, false)
	return true
}

// Settle ends a growth: every pod has the present layout, and none reads a token where it was before.
func (c *Compiler) Settle() {
	if l := &c.layout; l.wanted == l.published && l.wanted.Before > 0 {
		l.publish(c, contract.Layout{Parts: l.wanted.Parts}, c.counter+1)
	}
}

// Layout is the layout that pods read, and the number of parts that may be written.
func (c *Compiler) Layout() (published contract.Layout, parts int) {
	return c.layout.published, len(c.layout.parts)
}

// Whole is the Config with its tokens in it. Its revision is the highest of all its parts.
func (c *Compiler) Whole() *contract.Config {
	if c.main == nil {
		return nil
	}
	whole := *c.main
	whole.Revision = c.Revision()
	whole.Tokens = make([]contract.Token, 0, len(c.tokens))
	for _, state := range c.tokens {
		if state.entry.Revision > 0 {
			whole.Tokens = append(whole.Tokens, state.entry)
		}
	}
	slices.SortFunc(whole.Tokens, contract.CompareTokens)
	return &whole
}

// Revision is the highest revision of all parts.
func (c *Compiler) Revision() int64 {
	highest := c.layout.main.revision
	for i := range c.layout.parts {
		highest = max(highest, c.layout.parts[i].revision)
	}
	return highest
}

// StoredToken reports whether the stored parts have a token's present entry.
func (c *Compiler) StoredToken(namespace, name string) bool {
	l, state := &c.layout, c.tokens[types.NamespacedName{Namespace: namespace, Name: name}]
	if state == nil || state.entry.Revision == 0 || l.alone(state) && l.published != l.wanted {
		return false
	}
	return l.parts[partOf(state.hash, l.published.Parts)].stored >= state.entry.Revision
}

// NeedsLayout is the number of parts that a pod must know to let a token in, if it must know more than a token's part: 0 if
// every layout has the token.
func (c *Compiler) NeedsLayout(token types.NamespacedName) int {
	if state := c.tokens[token]; state != nil && c.layout.alone(state) {
		return c.layout.wanted.Parts
	}
	return 0
}

// StoredMain reports whether the stored main part is the wanted one.
func (c *Compiler) StoredMain() bool {
	return c.layout.main.stored > 0 && c.layout.main.stored == c.layout.main.revision
}

// HasMain reports whether there is a stored main part.
func (c *Compiler) HasMain() bool { return c.layout.main.stored != 0 }
