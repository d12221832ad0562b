package read

import (
	"fmt"
	"strconv"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// policyMark says that a row policy stands between the token and the model's rows, so that what it counts is not all
// there is. The member rows holds the rows themselves if they are arrays.
const (
	policyMark          = `,"rows":"policy"`
	policyMarkOfColumns = `,"limited":"policy"`
)

// answerPage reads a plan's rows (rows of a scope, or groups of them), and answers {count, total_count, results},
// or columns and rows instead of results, behind what opening has: an object's brace and members that end with a comma.
// total_count, which is total_groups of groups, is left out if it was not asked for or is not known exactly. next makes the
// cursor that goes on behind a page; it may be nil. notes are what else to say.
func answerPage(c *call.Call, opening string, scope access.Scope, plan *database.Select, next func(last []database.Value) (string, error), notes ...string) ([]byte, error) {
	if plan.MaxBytes == 0 {
		plan.MaxBytes = RowBytes(c.Settings.MaxResultBytes)
	}
	plan.MaxValue = call.MaxListValue
	// The rows come first, the counts are known after: room for them is left in front of the rows.
	frame := frameOf(opening, scope, plan)
	most := len(frame.opening) + longestTotal + len(frame.mark) + len(frame.rest) + len(`"count":`) + 2*20
	room := c.Room()
	out, page, err := c.DB.Select(c.Ctx, plan, room.Begin(most))
	if err != nil {
		return nil, explainRead(scope, err)
	}
	c.Rows = page.Count
	end, err := pageEnding(c, scope, plan, page, next)
	if err != nil {
		return nil, err
	}
	for _, note := range notes {
		end.Note(note)
	}
	out = room.Holds(append(end.AppendTo(append(out, ']')), '}'))

	var small [128]byte
	head := frame.append(small[:0], page)
	start := most - len(head)
	copy(out[start:], head)
	return out[start:], nil
}

// pageEnding says how a page ended before its rows did, and what else to know about them.
func pageEnding(c *call.Call, scope access.Scope, plan *database.Select, page database.Page, next func(last []database.Value) (string, error)) (call.Ending, error) {
	declared := scope.Model().Declared
	p := call.PageEnd{Things: "rows", Less: "fields", Narrow: "narrow the filters", Offset: max(plan.Offset, 0), Count: page.Count, More: page.More, Cut: page.Cut,
		Bytes: plan.MaxBytes, MostBytes: c.Settings.MaxResultBytes, Limit: plan.Limit,
		UsualLimit: declared.DefaultPageSize, MostLimit: declared.MaxPageSize, Fixed: plan.After != nil}
	groups := plan.From.Groups() != nil
	if groups {
		p.Things, p.Less = "groups", "measures"
	}
	random := isRandom(plan.Order)
	if random {
		p.Fixed, p.Narrow = true, "the order is random, so the same call brings others"
	}
	if page.More && next != nil && !random {
		var err error
		if p.Cursor, err = next(page.Last); err != nil {
			return call.Ending{}, err
		}
	}
	end := p.Ending()
	if groups && page.More && page.Total < 0 && plan.Limit == declared.DefaultPageSize {
		end.Note("total: exact counts them all")
	}
	if page.Shortened {
		end.Note(shortened(&c.Request, scope.Model(), plan.MaxValue))
	}
	if (page.More || plan.Offset > 0) && !groups && !random && !isDistinct(scope, plan.Order) {
		end.Note("nothing tells these rows apart for certain, so that a row may be missing, or be there twice, in pages by offset: narrow the filters until one page has all rows")
	}
	return end, nil
}

// shortened says that values of more bytes are not whole.
func shortened(req *call.Request, m *catalog.Model, bytes int) string {
	notice := fmt.Sprintf("values of more than %d bytes are shortened", bytes)
	if len(m.Key) > 0 {
		notice += fmt.Sprintf("; %s shows up to %d", req.ToolFor("get", m), call.MaxOneValue)
	}
	return notice
}

// frame holds the texts around an answer's counts, before the rows: opening before the counts, mark and rest behind them.
// total names the count of all things.
type frame struct{ opening, total, mark, rest string }

// The members beside total_count: a number that is not exact has a name of its own.
var totalMembers = map[database.Precision]string{
	database.TotalIsEstimated: `,"total_count_estimated":`,
	database.TotalIsAtLeast:   `,"total_count_at_least":`,
}

// longestTotal is the longest of them.
const longestTotal = len(`,"total_count_estimated":`)

func frameOf(opening string, scope access.Scope, plan *database.Select) frame {
	f := frame{opening: opening, total: `,"total_count":`, rest: `,"results":[`}
	if plan.From.Groups() != nil {
		f.total = `,"total_groups":`
	}
	arrays := plan.Form == database.RowArrays
	if arrays {
		f.rest = string(appendColumns(nil, plan.Output)) + `,"rows":[`
	}
	// A join for what rows show, or are ordered by, narrows no total, and yet leaves out what the token may not see.
	switch limited := scope.Limited() || readsLimited(plan) || showsLimited(plan); {
	case limited && arrays:
		f.mark = policyMarkOfColumns
	case limited:
		f.mark = policyMark
	}
	return f
}

// append appends the frame of a page.
func (f *frame) append(dst []byte, page database.Page) []byte {
	dst = append(dst, f.opening...)
	dst = strconv.AppendInt(append(dst, `"count":`...), int64(page.Count), 10)
	if page.Total >= 0 {
		total := f.total
		if page.Precision != database.TotalIsExact {
			total = totalMembers[page.Precision]
		}
		dst = strconv.AppendInt(append(dst, total...), page.Total, 10)
	}
	return append(append(dst, f.mark...), f.rest...)
}

// appendColumns appends the member that names the values of each row.
func appendColumns(dst []byte, outputs []database.Output) []byte {
	dst = append(dst, `,"columns":[`...)
	for i := range outputs {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = call.AppendJSON(dst, outputs[i].Name)
	}
	return append(dst, ']')
}
