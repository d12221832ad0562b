package read

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// The bounds of fill (docs/design/asking.md, "Bounds"): of the pieces of time, and of the groups.
const (
	maxPieces = 2000
	maxFilled = 5000
)

// times are the parts of a date that follow each other without end: the form of their texts, the name of one of them, and the next.
var times = map[database.GroupPart]struct {
	layout, name string
	next         func(time.Time) time.Time
}{
	database.YearPart:    {"2006", "years", func(t time.Time) time.Time { return t.AddDate(1, 0, 0) }},
	database.QuarterPart: {"", "quarters", func(t time.Time) time.Time { return t.AddDate(0, 3, 0) }},
	database.MonthPart:   {"2006-01", "months", func(t time.Time) time.Time { return t.AddDate(0, 1, 0) }},
	database.WeekPart:    {"", "weeks", func(t time.Time) time.Time { return t.AddDate(0, 0, 7) }},
	database.DayPart:     {time.DateOnly, "days", func(t time.Time) time.Time { return t.AddDate(0, 0, 1) }},
	database.HourPart:    {"2006-01-02T15", "hours", func(t time.Time) time.Time { return t.Add(time.Hour) }},
}

// filled returns the groups with empty ones for the pieces of time, between the first and the last that have one, at which there are
// none. Which these are is asked first.
func (g *groupReader) filled(c *call.Call) (database.Source, error) {
	groups := g.grouping.Source()
	key, err := g.timeKey()
	if err != nil {
		return groups, err
	}
	var others []database.GroupKey
	for i, k := range g.grouping.Keys {
		if i != key {
			others = append(others, k)
		}
	}
	span, err := g.span(c, g.grouping.Keys[key], others)
	if err != nil || span.First == "" {
		return groups, err
	}
	pieces, err := span.pieces(g.grouping.Keys[key])
	if err != nil {
		return groups, err
	}
	if len(pieces)*span.Others > maxFilled {
		return groups, call.Invalid("fill: %d %s for each of %d combinations of the other groups are more than %d groups; narrow the filters, or group by less",
			len(pieces), times[g.grouping.Keys[key].Part].name, span.Others, maxFilled)
	}
	g.hasGaps = len(pieces)*span.Others > span.Groups
	return (&database.Filling{From: groups, Key: key, Keys: len(g.grouping.Keys), Pieces: pieces}).Source(), nil
}

// timeKey returns the place of the key that is filled.
func (g *groupReader) timeKey() (int, error) {
	m := g.rows.Scope.Model()
	if g.grouping.MinRows > 1 {
		return 0, call.Invalid("fill is not offered for %s, as an empty group has fewer rows than its groups show; leave fill out", m.Name)
	}
	key, found := 0, []string(nil)
	for i, k := range g.grouping.Keys {
		if _, ok := times[k.Part]; ok {
			key, found = i, append(found, g.members[i])
		}
	}
	switch len(found) {
	case 0:
		return 0, call.Invalid("fill: group_by has no piece of a date whose gaps could be filled; add one, such as date__month, __year, __quarter, __week, __day or __hour")
	case 1:
		return key, nil
	}
	return 0, call.Invalid("fill: group_by has several pieces of dates, %s; leave one of them", strings.Join(found, ", "))
}

// timeSpan is the first and the last piece of time of groups, as texts, how many groups have one, and how many combinations of their
// other keys there are.
type timeSpan struct {
	First, Last    string
	Groups, Others int
}

// span asks for the time span of the rows.
func (g *groupReader) span(c *call.Call, key database.GroupKey, others []database.GroupKey) (timeSpan, error) {
	of := func(keys ...database.GroupKey) database.Source {
		return (&database.Grouping{From: g.grouping.From, Joins: g.grouping.Joins, Where: g.grouping.Where, Keys: keys}).Source()
	}
	groups := of(append([]database.GroupKey{key}, others...)...)
	piece := database.Ref{Column: groups.Table().Columns[0]}
	plan := &database.Select{Limit: 1, From: (&database.Grouping{From: groups, Measures: []database.Measure{
		{Func: database.Min, Ref: piece}, {Func: database.Max, Ref: piece}, {Func: database.Count, Ref: piece},
	}}).Source()}
	measured := plan.From.Table().Columns
	plan.Output = []database.Output{{Name: "first", Columns: measured[:1]}, {Name: "last", Columns: measured[1:2]}, {Name: "groups", Columns: measured[2:]}}
	if len(others) > 0 {
		counted := (&database.Grouping{From: of(others...), Measures: []database.Measure{{Func: database.CountRows}}}).Source()
		plan.Joins = []*database.Join{{From: counted}}
		plan.Output = append(plan.Output, database.Output{Name: "others", Join: plan.Joins[0], Columns: counted.Table().Columns})
	}
	rows, _, err := call.ReadAll[struct {
		First, Last    json.RawMessage
		Groups, Others int
	}](c.Ctx, c.DB, plan)
	if err != nil || len(rows) == 0 || string(rows[0].First) == "null" {
		return timeSpan{}, explainRead(g.rows.Scope, err)
	}
	text := func(raw json.RawMessage) string { return strings.Trim(string(raw), `"`) }
	return timeSpan{First: text(rows[0].First), Last: text(rows[0].Last), Groups: rows[0].Groups, Others: max(rows[0].Others, 1)}, nil
}

// pieces are the pieces of time of the span.
func (s timeSpan) pieces(key database.GroupKey) ([]database.Value, error) {
	part := times[key.Part]
	zone := time.UTC
	if key.Part == database.HourPart && key.Zone != nil {
		zone = key.Zone
	}
	at, ok := readPiece(key.Part, s.First, zone)
	if _, known := readPiece(key.Part, s.Last, zone); !ok || !known {
		return nil, call.Invalid("fill: the dates are from %s to %s, and only the years 1000 to 9999 are filled; filter them", s.First, s.Last)
	}
	var all []database.Value
	for last := ""; last != s.Last; at = part.next(at) {
		text := pieceOf(key.Part, at)
		if text == last { // the hour at which clocks go back
			continue
		}
		if last = text; len(all) == maxPieces {
			return nil, call.Invalid("fill: from %s to %s there are more than %d %s; filter to a shorter time, or group by longer pieces", s.First, s.Last, maxPieces, part.name)
		}
		if key.Part == database.YearPart {
			all = append(all, int64(at.Year()))
		} else {
			all = append(all, text)
		}
	}
	return all, nil
}

// readPiece reads a piece of time as groups have it; false if it has none of four digits as its year.
func readPiece(part database.GroupPart, text string, zone *time.Location) (at time.Time, ok bool) {
	var year, number int
	var err error
	switch part {
	case database.QuarterPart:
		_, err = fmt.Sscanf(text, "%04d-Q%d", &year, &number)
		at = time.Date(year, time.Month(3*number-2), 1, 0, 0, 0, 0, zone)
	case database.WeekPart:
		_, err = fmt.Sscanf(text, "%04d-W%02d", &year, &number)
		at = time.Date(year, time.January, 4, 0, 0, 0, 0, zone) // which is always in the first week
		at = at.AddDate(0, 0, 7*(number-1)-(int(at.Weekday())+6)%7)
	default:
		at, err = time.ParseInLocation(times[part].layout, text, zone)
	}
	return at, err == nil && pieceOf(part, at) == text && !slices.Contains([]byte("-0"), text[0])
}

// pieceOf is the piece of time in which a moment lies.
func pieceOf(part database.GroupPart, at time.Time) string {
	switch part {
	case database.QuarterPart:
		return fmt.Sprintf("%04d-Q%d", at.Year(), (at.Month()+2)/3)
	case database.WeekPart:
		year, week := at.ISOWeek()
		return fmt.Sprintf("%04d-W%02d", year, week)
	}
	return at.Format(times[part].layout)
}
