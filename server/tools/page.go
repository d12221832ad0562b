package tools

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// answerPage reads a plan's rows and answers {count, total_count, results}, behind what opening has: an object's brace
// and members that end with a comma. total_count is left out where it was not asked for. next makes the cursor that goes
// on behind a page; it may be nil.
func (c *call) answerPage(opening string, scope access.Scope, plan *database.Select, next func(last []database.Value) (string, error)) ([]byte, error) {
	plan.MaxBytes, plan.MaxValue = c.settings.MaxResultBytes, maxListValue
	// The rows come first, the counts are known after: room for them is left in front of the rows.
	room := len(opening) + len(`"count":,"total_count":,"results":[`) + 2*20
	out, page, err := c.db.Select(c.ctx, plan, make([]byte, room, 4096))
	if err != nil {
		return nil, explainRead(scope, err)
	}
	var small [128]byte
	head := append(small[:0], opening...)
	head = strconv.AppendInt(append(head, `"count":`...), int64(page.Count), 10)
	if page.Total >= 0 {
		head = strconv.AppendInt(append(head, `,"total_count":`...), page.Total, 10)
	}
	head = append(head, `,"results":[`...)
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
	if notice := pageNotice(scope, plan, page, cursor); notice != "" {
		out = appendJSON(append(out, `,"notice":`...), notice)
	}
	return append(out, '}'), nil
}

// pageNotice says what of the rows is not on the page for its size, and how to get it, and if the pages are not certain to
// have each row once; "" if there is nothing to say.
func pageNotice(scope access.Scope, plan *database.Select, page database.Page, cursor string) string {
	var notices []string
	if page.Cut {
		goOn := "narrow the filters"
		switch {
		case cursor != "":
			goOn = "go on with next_cursor"
		case plan.After == nil:
			goOn = fmt.Sprintf("go on with offset %d", plan.Offset+page.Count)
		}
		notices = append(notices, fmt.Sprintf("the rows were cut off after %d bytes: %s, or ask for fewer fields", plan.MaxBytes, goOn))
	}
	if page.Shortened {
		m := scope.Model()
		notice := fmt.Sprintf("values of more than %d bytes are shortened", plan.MaxValue)
		if len(m.Key) > 0 {
			notice += fmt.Sprintf("; get_%s shows up to %d", m.Name, maxOneValue)
		}
		notices = append(notices, notice)
	}
	if (page.More || plan.Offset > 0) && !isDistinct(scope, plan.Order) {
		notices = append(notices, "nothing tells these rows apart for certain, so that a row may be missing, or be there twice, in pages by offset: narrow the filters until one page has all rows")
	}
	return strings.Join(notices, ". ")
}
