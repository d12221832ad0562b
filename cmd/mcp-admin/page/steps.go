package page

import (
	lines "github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/tail"
)

// made is a call with the lines of its steps: those of transact, and the changes by which undo takes others back.
type made struct {
	lines.Call
	Steps []lines.Call
}

// isWhole reports whether a line is about a call as a whole, whose steps have lines of their own with the same id.
func isWhole(c *lines.Call) bool { return c.Call != "" && c.Model == "" }

// folded are calls with their steps, in the order of the calls. A step whose call is not among the lines stays by itself.
func folded(calls []lines.Call) []made {
	wholes := map[string]int{}
	var all []made
	for i := range calls {
		if isWhole(&calls[i]) {
			wholes[calls[i].Call] = -1
		}
	}
	var steps []*lines.Call
	for i := range calls {
		c := &calls[i]
		if _, isStep := wholes[c.Call]; isStep && !isWhole(c) {
			steps = append(steps, c)
			continue
		}
		if isWhole(c) {
			wholes[c.Call] = len(all)
		}
		all = append(all, made{Call: *c})
	}
	for _, c := range steps {
		at := wholes[c.Call]
		all[at].Steps = append(all[at].Steps, *c)
	}
	return all
}

// any reports whether the call or one of its steps is such a one.
func (m *made) any(such func(*lines.Call) bool) bool {
	for i := range m.Steps {
		if such(&m.Steps[i]) {
			return true
		}
	}
	return such(&m.Call)
}

// back is the call that took another one back.
type back struct {
	By lines.Call
	// Again says that a later call has taken something about the same rows back, so that they may be as the first call left them.
	Again bool
}

// When is when it was, Key its screen.
func (b *back) When() string { return moment(b.By.At) }
func (b *back) Key() string  { return keyOfCall(&b.By) }

// touched is a change of a row, as one line tells it.
type touched struct {
	call   *made
	caller string
}

// takenBackCalls are the calls that were taken back, by their keys, as far as the lines show it for sure: the next call that changed any
// of their rows is one undo of the same caller. A line does not say what an undo took back.
func takenBackCalls(calls []made) map[string]*back {
	rows := map[[2]string][]touched{}
	each := func(m *made, do func(row [2]string)) {
		for _, of := range append([]lines.Call{m.Call}, m.Steps...) {
			for _, id := range of.IDs {
				if of.Model != "" && hasChanged(&of) {
					do([2]string{of.Model, id})
				}
			}
		}
	}
	for i := len(calls) - 1; i >= 0; i-- { // the oldest first
		m := &calls[i]
		each(m, func(row [2]string) {
			if had := rows[row]; len(had) == 0 || had[len(had)-1].call != m {
				rows[row] = append(had, touched{m, m.Token + "\x00" + m.Subject})
			}
		})
	}
	taken := map[string]*back{}
	for i := range calls {
		m := &calls[i]
		if isUndo(m) || !hasChanged(&m.Call) {
			continue
		}
		var by *made
		sure, again := true, false
		each(m, func(row [2]string) {
			all := rows[row]
			at := 0
			for at < len(all) && all[at].call != m {
				at++
			}
			if at+1 >= len(all) || !isUndo(all[at+1].call) || all[at+1].caller != all[at].caller || by != nil && by != all[at+1].call {
				sure = false
				return
			}
			by = all[at+1].call
			for _, later := range all[at+2:] {
				again = again || isUndo(later.call)
			}
		})
		if sure && by != nil {
			taken[keyOfCall(&m.Call)] = &back{by.Call, again}
		}
	}
	return taken
}

func isUndo(m *made) bool { return m.Operation == "undo" && hasChanged(&m.Call) }

// tellOthers says of a call which steps it has, and which call took it back.
func (d *callDetails) tellOthers(calls []lines.Call) {
	all := folded(calls)
	d.Taken = takenBackCalls(all)[d.Key]
	for i := range all {
		if keyOfCall(&all[i].Call) != d.Key {
			continue
		}
		for j := len(all[i].Steps) - 1; j >= 0; j-- { // as they were made
			d.Steps = append(d.Steps, rowOfCall(&all[i].Steps[j], true))
			d.Steps[len(d.Steps)-1].IDs = all[i].Steps[j].IDs
		}
	}
}
