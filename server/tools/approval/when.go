package approval

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/read"
)

// zeroTime is the moment by which conditions are read only to see whether they can be.
var zeroTime time.Time

// metBy returns the policies that ask for an approval of what a call changed.
func (h *held) metBy(tx call.Reader, changes *call.Changes) ([]*policy, error) {
	var met []*policy
	whole := []string{h.call.Op.Name, h.call.Record.Operation}
	for _, p := range h.policies {
		some := p.matching(changes.List(), whole...)
		rows := len(some)
		rows += p.matchingUnnamed(changes.Unnamed(), whole...)
		if rows == 0 {
			continue
		}
		is, err := h.isMet(tx, p, some, rows)
		if err != nil {
			return nil, err
		}
		if is {
			met = append(met, p)
		}
	}
	return met, nil
}

// isMet reports whether what a policy asks of the changes is so.
func (h *held) isMet(tx call.Reader, p *policy, changes []*call.Change, rows int) (bool, error) {
	switch when := &p.When; {
	case p.problem != "":
		return true, nil
	case when.Rows != nil && rows <= *when.Rows:
		return false, nil
	case len(when.Changes) > 0 && !slices.ContainsFunc(changes, func(ch *call.Change) bool { return changesOneOf(ch, when.Changes) }):
		return false, nil
	case len(when.Before) > 0 && !h.met[p]:
		return false, nil
	case len(when.After) > 0:
		return h.someMeets(tx, "when.after", when.After, changes, func(ch *call.Change) *call.Row { return ch.After }, false)
	}
	return true, nil
}

// changesOneOf reports whether a change gives one of the fields another value. Whether a masked value is another one, rows do not
// show: it counts as changed once it is given.
func changesOneOf(ch *call.Change, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		f := ch.Row.Model.Field(name)
		return f != nil && (!bytes.Equal(ch.Before.Value(f.Name), ch.After.Value(f.Name)) || f.Masked && slices.Contains(ch.Given, f))
	})
}

// asksBefore reports whether a policy asks how rows were before the call.
func (h *held) asksBefore() bool {
	return slices.ContainsFunc(h.policies, func(p *policy) bool { return p.problem == "" && len(p.When.Before) > 0 })
}

// lookBack judges the rows that a call would change, as they are now that it is undone. They are locked: the call, when it runs again,
// finds them so.
func (h *held) lookBack(tx call.Reader, changes []call.Change) error {
	h.met = map[*policy]bool{}
	for _, p := range h.policies {
		if p.problem != "" || len(p.When.Before) == 0 {
			continue
		}
		some := p.matching(changes, h.call.Op.Name, h.call.Record.Operation)
		met, err := h.someMeets(tx, "when.before", p.When.Before, some, func(ch *call.Change) *call.Row { return ch.Before }, true)
		if err != nil {
			return err
		}
		h.met[p] = met
	}
	return nil
}

// askedAtOnce is how many rows one statement asks about.
const askedAtOnce = 200

// someMeets reports whether one of the rows meets a condition object, as the database has them now. Rows that cannot be found again,
// or of which the condition cannot be asked though the policy names their model, count as meeting it.
func (h *held) someMeets(tx call.Reader, argument string, raw json.RawMessage, changes []*call.Change, of func(*call.Change) *call.Row, lock bool) (bool, error) {
	keys := map[*catalog.Model][]database.Condition{}
	var models []*catalog.Model
	for _, ch := range changes {
		row := of(ch)
		if row == nil {
			continue
		}
		m := row.Model
		if !m.UniqueKey || len(m.Key) == 0 {
			return true, nil
		}
		where, err := call.KeyEquals(m, row.ID())
		if err != nil {
			return true, nil // a row that its id does not find cannot be looked at
		}
		if keys[m] == nil {
			models = append(models, m)
		}
		keys[m] = append(keys[m], where)
	}
	for _, m := range models {
		conditions, err := read.Conditions(h.gate.inspector.Reach(m), h.call.Now, argument, raw)
		if err != nil {
			continue // a policy for any model; one that names this model has a problem
		}
		for chunk := range slices.Chunk(keys[m], askedAtOnce) {
			plan := conditions.Plan(database.And{call.Either(chunk)})
			plan.Lock = lock && len(plan.Joins) == 0 && call.Lockable(m.Table)
			_, page, err := tx.Select(h.call.Ctx, plan, nil)
			if err != nil {
				return false, err
			}
			if page.Count > 0 {
				return true, nil
			}
		}
	}
	return false, nil
}
