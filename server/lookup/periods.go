package lookup

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

// period is what the value of a group of dates names, such as 2026-04: all from its first moment up to the one at which the
// next begins. Both are in the calendar's zone.
type period struct {
	part     database.DatePart
	from, to time.Time
}

// periodText are the values of such groups: year, quarter, month, week, day, hour.
var periodText = regexp.MustCompile(`^([0-9]{4})(?:-Q([1-4])|-W([0-5][0-9])|-([01][0-9])(?:-([0-3][0-9])(?:T([0-2][0-9]))?)?)?$`)

// parsePeriod reads the value of a group; false if it is none.
func (cal Calendar) parsePeriod(text string) (p period, ok bool) {
	found := periodText.FindStringSubmatch(text)
	if found == nil {
		return p, false
	}
	number := func(i int) int {
		n, _ := strconv.Atoi(found[i]) // digits, or nothing
		return n
	}
	year, month, day, hour := number(1), 1, 1, 0
	var next func(time.Time) time.Time
	months := func(n int) func(time.Time) time.Time {
		return func(at time.Time) time.Time { return at.AddDate(0, n, 0) }
	}
	days := func(n int) func(time.Time) time.Time {
		return func(at time.Time) time.Time { return at.AddDate(0, 0, n) }
	}
	switch {
	case found[2] != "":
		p.part, month, next = database.Quarter, 3*number(2)-2, months(3)
	case found[3] != "":
		week := number(3)
		p.part, next = database.Week, days(7)
		fourth := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC) // always in the first week
		monday := fourth.AddDate(0, 0, 7*(week-1)-(int(fourth.Weekday())+6)%7)
		if y, w := monday.ISOWeek(); y != year || w != week {
			return p, false
		}
		var m time.Month
		year, m, day = monday.Date()
		month = int(m)
	case found[6] != "":
		p.part, month, day, hour = database.Hour, number(4), number(5), number(6)
		next = func(at time.Time) time.Time { return at.Add(time.Hour) }
	case found[5] != "":
		p.part, month, day, next = database.Day, number(4), number(5), days(1)
	case found[4] != "":
		p.part, month, next = database.Month, number(4), months(1)
	default:
		p.part, next = database.Year, months(12)
	}
	begin := time.Date(year, time.Month(month), day, hour, 0, 0, 0, time.UTC)
	if number(1) == 0 || hour > 23 || begin.Day() != day || int(begin.Month()) != month {
		return p, false
	}
	start := func(at time.Time) time.Time {
		return startOfHour(at.Year(), at.Month(), at.Day(), at.Hour(), cal.zone())
	}
	p.from, p.to = start(begin), start(next(begin))
	return p, true
}

// periodOf reads the value of a group that a JSON value may be, where a column's own value is wanted; false if it is none. A
// date is a day already.
func (cal Calendar) periodOf(c *database.Column, raw json.RawMessage) (p period, ok bool) {
	if len(raw) == 0 || raw[0] != '"' || len(raw) > len(`"2026-04-05T13"`) {
		return p, false
	}
	text, ok := jsontext.ReadString(raw)
	if !ok {
		return p, false
	}
	return cal.periodOfText(c, text)
}

func (cal Calendar) periodOfText(c *database.Column, text string) (p period, ok bool) {
	if c.Kind != database.Date && c.Kind != database.Timestamp && c.Kind != database.TimestampTZ {
		return p, false
	}
	p, ok = cal.parsePeriod(text)
	return p, ok && (c.Kind != database.Date || p.part != database.Day && p.part != database.Hour)
}

// compare compares a column with the period: it is greater from the period's end, and less before its beginning.
func (p period) compare(c *database.Column, op database.CompareOp) database.Condition {
	least, end := p.from, p.to
	switch op {
	case database.Equal:
		return database.And{p.compare(c, database.GreaterOrEqual), p.compare(c, database.LessOrEqual)}
	case database.GreaterOrEqual, database.Less:
		return database.Compare{Column: c, Op: op, Value: boundText(c, least)}
	}
	last := end.Year() > 9999 || end.UTC().Year() > 9999 // no engine's calendar goes on for certain
	switch {
	case last && op == database.Greater:
		return database.Compare{Column: c, Op: database.Greater, Value: boundText(c, end)}
	case last:
		return database.Compare{Column: c, Op: database.LessOrEqual, Value: boundText(c, end)}
	case op == database.Greater:
		return database.Compare{Column: c, Op: database.GreaterOrEqual, Value: boundText(c, end)}
	}
	return database.Compare{Column: c, Op: database.Less, Value: boundText(c, end)}
}

// boundText is a bound of a period as a column's value, within the years that every engine has.
func boundText(c *database.Column, at time.Time) database.Value {
	if c.Kind != database.Date {
		at = at.UTC()
	}
	switch {
	case at.Year() > 9999:
		at = time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, at.Location())
	case at.Year() < 1:
		at = time.Date(1, 1, 1, 0, 0, 0, 0, at.Location())
	}
	return momentText(c, at)
}

// wholePeriod is the condition that a column lies in the period that a part of dates names: "2026-04" of months.
func (cal Calendar) wholePeriod(c *database.Column, which database.DatePart, raw json.RawMessage) (database.Condition, error) {
	text, _ := jsontext.ReadString(raw)
	p, ok := cal.parsePeriod(text)
	if !ok || p.part != which || c.Kind == database.Date && which == database.Hour {
		return nil, fmt.Errorf("must be an integer%s, not %s", periodExamples[which], Excerpt(raw))
	}
	return p.compare(c, database.Equal), nil
}

// periodExamples say what a part is compared with besides the integer.
var periodExamples = map[database.DatePart]string{
	database.Year: "", database.Quarter: `, or a group's value, as "2026-Q2"`, database.Month: `, or a group's value, as "2026-04"`,
	database.Week: `, or a group's value, as "2026-W14"`, database.Day: `, or a group's value, as "2026-04-05"`, database.Hour: `, or a group's value, as "2026-04-05T13"`,
}
