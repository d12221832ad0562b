package tools

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// policyMark says that a row policy stands between the token and the model's rows, so that what it counts is not all
// there is. The member rows holds the rows themselves if they are arrays.
const (
	policyMark          = `,"rows":"policy"`
	policyMarkOfColumns = `,"limited":"policy"`
)

// answerPage reads a plan's rows, which are those of a scope or groups of them, and answers {count, total_count, results},
// or columns and rows instead of results, behind what opening has: an object's brace and members that end with a comma.
// total_count, which is total_groups of groups, is left out if it was not asked for. next makes the cursor that goes on
// behind a page; it may be nil.
func (c *call) answerPage(opening string, scope access.Scope, plan *database.Select, next func(last []database.Value) (string, error)) ([]byte, error) {
	if plan.MaxBytes == 0 {
		plan.MaxBytes = rowBytes(c.settings.MaxResultBytes)
	}
	plan.MaxValue = maxListValue
	// The rows come first, the counts are known after: room for them is left in front of the rows.
	frame := frameOf(opening, scope, plan)
	room := len(frame.opening) + len(frame.total) + len(frame.mark) + len(frame.rest) + len(`"count":`) + 2*20
	out, page, err := c.db.Select(c.ctx, plan, make([]byte, room, 4096))
	if err != nil {
		return nil, explainRead(scope, err)
	}
	var small [128]byte
	head := frame.append(small[:0], page)
	start := room - len(head)
	copy(out[start:], head)
	out = append(out[start:], ']')

	var cursor string
	if page.More && next != nil {
		if cursor, err = next(page.Last); err != nil {
			return nil, err
		}
	}
	if cursor != "" {
		out = append(append(append(out, `,"next_cursor":"`...), cursor...), '"')
	}
	switch page.Precision {
	case database.TotalIsEstimated:
		out = append(out, `,"total_count_estimated":true`...)
	case database.TotalIsAtLeast:
		out = append(out, `,"total_count_at_least":true`...)
	}
	if notice := pageNotice(scope, plan, page, cursor, c.settings.MaxResultBytes); notice != "" {
		out = appendJSON(append(out, `,"notice":`...), notice)
	}
	return append(out, '}'), nil
}

// frame is what stands before the rows of an answer: opening before the counts, mark and rest behind them. total names
// the count of all rows.
type frame struct{ opening, total, mark, rest string }

func frameOf(opening string, scope access.Scope, plan *database.Select) frame {
	f := frame{opening: opening, total: `,"total_count":`, rest: `,"results":[`}
	if plan.From.Groups() != nil {
		f.total = `,"total_groups":`
	}
	arrays := plan.Form == database.RowArrays
	if arrays {
		f.rest = string(appendColumns(nil, plan.Output)) + `,"rows":[`
	}
	switch limited := scope.Limited() || readsLimited(plan); {
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
		dst = strconv.AppendInt(append(dst, f.total...), page.Total, 10)
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
		dst = appendJSON(dst, outputs[i].Name)
	}
	return append(dst, ']')
}

// pageNotice says what of the rows is not on the page for its size, and how to get it, and if the pages are not certain to
// have each row once; "" if there is nothing to say. most is the most bytes that a call may ask for.
func pageNotice(scope access.Scope, plan *database.Select, page database.Page, cursor string, most int) string {
	var notices []string
	if page.Cut {
		notices = append(notices, cutOff(plan, page, cursor, most))
	}
	if page.Shortened {
		m := scope.Model()
		notice := fmt.Sprintf("values of more than %d bytes are shortened", plan.MaxValue)
		if len(m.Key) > 0 {
			notice += fmt.Sprintf("; get_%s shows up to %d", m.Name, maxOneValue)
		}
		notices = append(notices, notice)
	}
	if (page.More || plan.Offset > 0) && plan.From.Groups() == nil && !isDistinct(scope, plan.Order) {
		notices = append(notices, "nothing tells these rows apart for certain, so that a row may be missing, or be there twice, in pages by offset: narrow the filters until one page has all rows")
	}
	return strings.Join(notices, ". ")
}

// cutOff says that rows are not on the page for its size, and how to get them.
func cutOff(plan *database.Select, page database.Page, cursor string, most int) string {
	goOn := "narrow the filters"
	switch {
	case cursor != "":
		goOn = "go on with next_cursor"
	case plan.After == nil:
		goOn = fmt.Sprintf("go on with offset %d", plan.Offset+page.Count)
	}
	less := "fields"
	if plan.From.Groups() != nil {
		less = "measures"
	}
	notice := fmt.Sprintf("the rows were cut off after %d bytes: %s, or ask for fewer %s", plan.MaxBytes, goOn, less)
	if plan.MaxBytes < most {
		notice += fmt.Sprintf(" or more bytes (max_bytes, at most %d)", most)
	}
	return notice
}
