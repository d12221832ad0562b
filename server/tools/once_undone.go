package tools

import (
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// undoneMark stands before the kept answer of a call that was taken back: undone:<the call that did it>:<answer>. The rest of
// the text is the answer as it was, for the case that this is taken back in turn.
const undoneMark = "undone:"

// undoneBy is the call that took back the call of a kept answer; "" if none did.
func undoneBy(answer string) string {
	rest, marked := strings.CutPrefix(answer, undoneMark)
	if !marked {
		return ""
	}
	call, _, _ := strings.Cut(rest, ":")
	return call
}

// keysAtOnce is how many calls' answers are looked at together.
const keysAtOnce = 20

// markKeys marks the kept answers of the calls that made the entries: a caller who repeats such a call learns that it was
// taken back. Answers that one of these calls marked as taken back are as before.
func (u *undoing) markKeys(entries []*undoEntry) error {
	if u.call.catalog.Idempotency() == nil || u.call.dryRun {
		return nil
	}
	var calls []string
	for _, e := range entries {
		if e.Call != "" && !slices.Contains(calls, e.Call) {
			calls = append(calls, e.Call)
		}
	}
	for some := range slices.Chunk(calls, keysAtOnce) {
		if err := u.markKeysOf(some); err != nil {
			return err
		}
	}
	return nil
}

func (u *undoing) markKeysOf(calls []string) error {
	table := u.call.catalog.Idempotency()
	answer := table.Column("answer")
	made := database.In{Column: table.Column("call")}
	which := database.Or{}
	for _, call := range calls {
		made.Values = append(made.Values, call)
		which = append(which, database.Match{Column: answer, Op: database.TextStartsWith, Text: undoneMark + call + ":"})
	}
	from := u.call.token.Unscoped(table)
	plan := &database.Select{From: from, Limit: forgetAtOnce, Order: []database.Order{{Column: table.Column("id")}},
		Where: database.And{textEquals(table, "token", u.call.token.Caller()), database.Not{Condition: database.IsNull{Column: answer}}, append(which, made)}}
	for _, name := range []string{"id", "answer"} {
		plan.Output = append(plan.Output, database.Output{Name: name, Columns: []*database.Column{table.Column(name)}})
	}
	kept, _, err := readAll[struct{ ID, Answer string }](u.call.ctx, u.tx, plan)
	if err != nil {
		return err
	}
	for _, k := range kept {
		text := undoneMark + u.call.id + ":" + k.Answer
		if by := undoneBy(k.Answer); slices.Contains(calls, by) {
			text = strings.TrimPrefix(k.Answer, undoneMark+by+":")
		}
		change := &database.Update{In: from, Where: database.Compare{Column: table.Column("id"), Op: database.Equal, Value: k.ID},
			Set: []database.Assignment{{Column: answer, Value: text}}}
		if _, err := u.tx.Update(u.call.ctx, change); err != nil {
			return err
		}
	}
	return nil
}
