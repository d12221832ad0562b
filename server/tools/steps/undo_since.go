package steps

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// sinceThen is what became of a row since the oldest of its entries that are taken back.
type sinceThen struct {
	// others says that there are entries beside these; later are those of them that nobody took back, oldest first.
	others bool
	later  []*undoEntry
	// takenBackBy is the call that took the newest of the row's entries back; "" if none did.
	takenBackBy string
}

// unchangedSince refuses a row that is not as the newest of its entries left it, or that others changed since the oldest of
// them. What an undo took back is no change.
func (u *undoing) unchangedSince(r *reversal, row *undoneRow, now json.RawMessage) error {
	since, err := u.sinceThen(row)
	switch {
	case err != nil:
		return err
	case since.takenBackBy != "":
		return &call.ToolError{Code: call.CodeConflict, Message: fmt.Sprintf("%s of %s %s was taken back already, by call %s; nothing was undone. To have the change again, undo that call", r.entry.what(), r.model.Name, r.entry.Row, since.takenBackBy)}
	case len(since.later) > 0, (r.entry.Action == "delete") != (now == nil):
		return u.conflict(r, now, since)
	case !holds(now, r.lasting(since)) && !u.isRestored(r, now):
		return u.conflict(r, now, since)
	}
	return nil
}

// lasting is what the row must still hold of what the entry left: what an undo that followed does not bring back is left out.
func (r *reversal) lasting(since *sinceThen) map[string]json.RawMessage {
	if !since.others {
		return r.after
	}
	left := maps.Clone(r.after)
	maps.DeleteFunc(left, func(name string, _ json.RawMessage) bool {
		return r.aside[name] && !slices.Contains(r.settled, name)
	})
	return left
}

// sinceThen reads what became of a row.
func (u *undoing) sinceThen(row *undoneRow) (*sinceThen, error) {
	oldest := row.entries[len(row.entries)-1]
	entries, err := u.entriesFrom(oldest, len(row.entries)+1)
	if err != nil || len(entries) <= len(row.entries) {
		return &sinceThen{}, err
	}
	if entries, err = u.entriesFrom(oldest, maxUndone, "changes"); err != nil {
		return nil, err
	}
	slices.Reverse(entries)
	since := &sinceThen{others: true}
	mine := map[string]bool{}
	for _, e := range row.entries {
		mine[string(e.ID)] = true
	}
	if newest := row.entries[0]; len(entries) == maxUndone {
		since.later = entries // there may be more, and nobody knows what those are
		return since, nil
	} else if left, by := inForce(entries, newest); by != nil && !mine[string(by.ID)] {
		since.takenBackBy = by.Call
		return since, nil
	} else if alone, _ := inForce(slices.DeleteFunc(slices.Clone(entries), func(e *undoEntry) bool { return !mine[string(e.ID)] }), newest); !slices.Equal(left, alone) {
		since.later = slices.DeleteFunc(left, func(e *undoEntry) bool { return mine[string(e.ID)] })
		if len(since.later) == 0 {
			since.later = entries // some of those that are to be taken back were taken back by others of them
		}
	}
	return since, nil
}

// inForce are those of the entries about a row, oldest first, that no later one took back; by is the one that took back a certain one.
// An entry that took others back leaves what was in force before the oldest of these. What comes to nothing within one call is no change.
func inForce(entries []*undoEntry, which *undoEntry) (left []*undoEntry, by *undoEntry) {
	before := map[string][]*undoEntry{}
	isIn, idle := false, idleOf(entries)
	for _, e := range entries {
		before[call.PlainText(e.ID)] = left
		if was, known := before[e.takesBack()]; known {
			left = was
		} else if !idle[e] {
			left = append(slices.Clip(left), e)
		}
		was := isIn
		if isIn = slices.ContainsFunc(left, func(o *undoEntry) bool { return string(o.ID) == string(which.ID) }); isIn {
			by = nil
		} else if was {
			by = e
		}
	}
	return left, by
}

// idleOf are those of the entries about a row, oldest first, that come to nothing with the others of their call.
func idleOf(entries []*undoEntry) map[*undoEntry]bool {
	idle := map[*undoEntry]bool{}
	for begin := 0; begin < len(entries); {
		end := begin + 1
		for end < len(entries) && entries[begin].Call != "" && entries[end].Call == entries[begin].Call {
			end++
		}
		newest := slices.Clone(entries[begin:end])
		slices.Reverse(newest)
		if !slices.ContainsFunc(netted(newest), (*undoEntry).changesSomething) {
			for _, e := range newest {
				idle[e] = true
			}
		}
		begin = end
	}
	return idle
}

// changesSomething reports whether an entry tells of more than what the database and the server set beside a change.
func (e *undoEntry) changesSomething() bool {
	if e.Action != "update" {
		return true
	}
	for _, change := range e.fieldsChanged() {
		if !change.Aside {
			return true
		}
	}
	return false
}

// takesBack is the id of the oldest entry that the entry took back; "" if it took none back.
func (e *undoEntry) takesBack() string {
	_, from, _ := strings.Cut(e.Message, call.TookBack)
	from, _, _ = strings.Cut(from, ";")
	return from
}

// entriesFrom returns the entries about the row of an entry, from that one on, newest first. Entries of this call are left out.
func (u *undoing) entriesFrom(e *undoEntry, limit int, more ...string) ([]*undoEntry, error) {
	table := u.call.Catalog.Audit()
	id, err := lookup.ParseShown(table.Column("id"), e.ID)
	if err != nil {
		return nil, err
	}
	name := e.rowName()
	entries, _, err := u.journal(database.And{
		textEquals(table, "table_schema", name.schema), textEquals(table, "table_name", name.table), textEquals(table, "object_id", name.row),
		database.Compare{Column: table.Column("id"), Op: database.GreaterOrEqual, Value: id},
		database.Not{Condition: textEquals(table, "call", u.call.ID)},
	}, limit, append(more, "id", "action", "call", "token", "message")...)
	return entries, err
}

// conflict is the error about a row that was changed since: it shows what the change left, and what is there now. That a row is gone
// and that it is out of the token's sight are one answer, which shows nothing. If another row has its key now, it shows that one alone:
// whoever sees it may not see the row before.
func (u *undoing) conflict(r *reversal, now json.RawMessage, since *sinceThen) error {
	if now == nil {
		now = json.RawMessage("null")
	}
	told := &call.ToolError{Code: call.CodeConflict, Current: now}
	isAnother := slices.ContainsFunc(since.later, func(e *undoEntry) bool { return e.Action == "create" || e.Action == "delete" })
	what, todo := "was changed since: current is the row now, left is what your change left of it", u.whatFirst(since)
	switch {
	case r.entry.Action == "delete":
		told.Left = json.RawMessage("null")
	case call.IsNull(now):
		what, todo = "is gone, or out of your sight now", whatFirst
	case isAnother:
		what = "was deleted since, and current is the row that has its id now"
	default:
		var err error
		if told.Left, err = json.Marshal(r.after); err != nil {
			return err
		}
	}
	told.Message = fmt.Sprintf("%s %s %s; nothing was undone. %s, or write yourself what is right", r.model.Name, r.entry.Row, what, todo)
	return told
}

// whatFirst is what a caller does who wants to take back a change that was not the last one.
const whatFirst = "Undo what was done since first, if it was you"

// whatFirst names the caller's own call that is to be undone first, if the last change was the caller's.
func (u *undoing) whatFirst(since *sinceThen) string {
	if last := len(since.later) - 1; last >= 0 && since.later[last].Token == u.call.Token.Caller() && since.later[last].Call != "" {
		return "Undo call " + since.later[last].Call + " of yours first, which changed it later"
	}
	return whatFirst
}
