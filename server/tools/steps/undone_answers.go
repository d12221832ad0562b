package steps

import (
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/once"
)

// keysAtOnce is how many calls' answers are looked at together.
const keysAtOnce = 20

// markKeys marks the kept answers of the calls that made the entries: a caller who repeats such a call learns that it was
// taken back. Answers that one of these calls marked as taken back are as before.
func (u *undoing) markKeys(entries []*undoEntry) error {
	if u.call.Catalog.Idempotency() == nil || u.call.DryRun {
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
	table := u.call.Catalog.Idempotency()
	answer := table.Column("answer")
	made := database.In{Column: table.Column("call")}
	which := database.Or{}
	for _, call := range calls {
		made.Values = append(made.Values, call)
		which = append(which, database.Match{Column: answer, Op: database.TextStartsWith, Text: once.UndoneMark + call + ":"})
	}
	from := u.call.Token.Unscoped(table)
	plan := &database.Select{From: from, Limit: call.ForgetAtOnce, Order: []database.Order{{Column: table.Column("id")}},
		Where: database.And{textEquals(table, "token", u.call.Token.Caller()), database.Not{Condition: database.IsNull{Column: answer}}, append(which, made)}}
	for _, name := range []string{"id", "answer"} {
		plan.Output = append(plan.Output, database.Output{Name: name, Columns: []*database.Column{table.Column(name)}})
	}
	kept, _, err := call.ReadAll[struct{ ID, Answer string }](u.call.Ctx, u.tx, plan)
	if err != nil {
		return err
	}
	for _, k := range kept {
		text := once.UndoneMark + u.call.ID + ":" + k.Answer
		if by := once.UndoneBy(k.Answer); slices.Contains(calls, by) {
			text = strings.TrimPrefix(k.Answer, once.UndoneMark+by+":")
		}
		change := &database.Update{In: from, Where: database.Compare{Column: table.Column("id"), Op: database.Equal, Value: k.ID},
			Set: []database.Assignment{{Column: answer, Value: text}}}
		if _, err := u.tx.Update(u.call.Ctx, change); err != nil {
			return err
		}
	}
	return nil
}
