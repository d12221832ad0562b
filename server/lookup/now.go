package lookup

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

// wordNow is the member that makes a value a moment relative to now: {"_now": "-30d"}.
const wordNow = "_now"

// nowForm says how such a moment is written.
const nowForm = `{"_now": "-30d"}, with the units s, min, h, d, w, mo, q, y, and rounded down by a second one: "-1mo/mo" is the start of last month, "/d" of today`

// relativeMoment is what _now says: how far from now, and the unit whose beginning is meant; "" is none.
type relativeMoment struct {
	count            int
	unit, roundsDown string
}

// relativeText is the text of a _now. The word now itself may stand in front.
var relativeText = regexp.MustCompile(`^(?:now)?(?:([+-][0-9]{1,9}|0)(s|min|h|d|w|mo|q|y))?(?:/(s|min|h|d|w|mo|q|y))?$`)

func parseRelative(text string) (m relativeMoment, ok bool) {
	parts := relativeText.FindStringSubmatch(text)
	if parts == nil {
		return m, false
	}
	m.count, _ = strconv.Atoi(parts[1]) // nothing is 0
	m.unit, m.roundsDown = parts[2], parts[3]
	return m, true
}

// from returns the moment as seen from now, whose location is the one of the calendar; false if no column has such a year.
// Days, weeks and months keep the time of day, and a month that has fewer days ends it.
func (m relativeMoment) from(now time.Time) (time.Time, bool) {
	at := now
	switch m.unit {
	case "s":
		at = time.Unix(now.Unix()+int64(m.count), int64(now.Nanosecond())).In(now.Location())
	case "min":
		at = time.Unix(now.Unix()+60*int64(m.count), int64(now.Nanosecond())).In(now.Location())
	case "h":
		at = time.Unix(now.Unix()+3600*int64(m.count), int64(now.Nanosecond())).In(now.Location())
	case "d":
		at = now.AddDate(0, 0, m.count)
	case "w":
		at = now.AddDate(0, 0, 7*m.count)
	case "mo":
		at = addMonths(now, m.count)
	case "q":
		at = addMonths(now, 3*m.count)
	case "y":
		at = addMonths(now, 12*m.count)
	}
	if at.Year() < 1 || at.Year() > 9999 {
		return at, false
	}
	at = beginning(m.roundsDown, at)
	return at, at.Year() >= 1
}

// addMonths moves a moment to the same day of another month, or to that month's last day.
func addMonths(at time.Time, months int) time.Time {
	year, month, day := at.Date()
	last := time.Date(year, month+time.Month(months)+1, 0, 0, 0, 0, 0, time.UTC)
	hour, minute, second := at.Clock()
	return time.Date(last.Year(), last.Month(), min(day, last.Day()), hour, minute, second, at.Nanosecond(), at.Location())
}

// beginning is the first moment of the unit in which a moment lies; "" leaves it.
func beginning(unit string, at time.Time) time.Time {
	year, month, day := at.Date()
	switch unit {
	case "s":
		return at.Truncate(time.Second)
	case "min":
		return at.Add(-time.Duration(at.Second())*time.Second - time.Duration(at.Nanosecond()))
	case "h":
		return at.Add(-time.Duration(at.Minute())*time.Minute - time.Duration(at.Second())*time.Second - time.Duration(at.Nanosecond()))
	case "w":
		day -= (int(at.Weekday()) + 6) % 7
	case "mo":
		day = 1
	case "q":
		month, day = month-(month-1)%3, 1
	case "y":
		month, day = 1, 1
	case "":
		return at
	}
	return startOfHour(year, month, day, 0, at.Location())
}

// startOfHour is the first moment at which the clocks of a zone show an hour of a day, or a later one if they skip it.
func startOfHour(year int, month time.Month, day, hour int, zone *time.Location) time.Time {
	wall := time.Date(year, month, day, hour, 0, 0, 0, time.UTC)
	at := time.Date(year, month, day, hour, 0, 0, 0, zone)
	start, end := at.ZoneBounds()
	_, offset := at.Zone()
	if shown := at.Add(time.Duration(offset) * time.Second).UTC(); shown.Before(wall) { // the hour is skipped
		return end.In(zone)
	} else if shown.After(wall) {
		return start.In(zone)
	}
	if start.IsZero() {
		return at
	}
	_, before := start.Add(-time.Nanosecond).Zone()
	if first := wall.Add(-time.Duration(before) * time.Second); first.Before(start) { // the hour comes twice
		return first.In(zone)
	}
	return at
}

// Calendar says how a call reads moments. Now is the same for all of its values; Zone is the one whose days, weeks and months
// it means.
type Calendar struct {
	Now time.Time
	// Zone is nil if it is UTC.
	Zone *time.Location
}

func (cal Calendar) zone() *time.Location {
	if cal.Zone == nil {
		return time.UTC
	}
	return cal.Zone
}

// shifts reports whether the zone makes a difference to a column's values.
func (cal Calendar) shifts(c *database.Column) bool { return cal.Zone != nil && c.Kind.IsMoment() }

// textOf is the text of a JSON string; "" if it is none.
func textOf(raw json.RawMessage) string {
	text, _ := jsontext.ReadString(raw)
	return text
}

// withMoments replaces each {"_now": …} in a value that a field of dates or timestamps is compared with by the moment that it
// means. Other values stay as they are.
func (cal Calendar) withMoments(c *database.Column, raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 || raw[0] != '{' && raw[0] != '[' {
		return raw, nil
	}
	switch c.Kind {
	case database.JSON, database.Array: // their own values may look like it
		return raw, nil
	}
	if raw[0] == '{' {
		return cal.moment(c, raw)
	}
	var all []json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fmt.Errorf("must be an array of values, not %s", Excerpt(raw))
	}
	replaced := false
	for i, one := range all {
		if len(one) == 0 || one[0] != '{' {
			continue
		}
		var err error
		if all[i], err = cal.moment(c, one); err != nil {
			return nil, fmt.Errorf("each value %w", err)
		}
		replaced = true
	}
	if !replaced {
		return raw, nil
	}
	return json.Marshal(all)
}

// Moment is the timestamp in UTC that {"_now": …} means, or the text of a date or timestamp; false if the value is neither. A text
// is in UTC if it has no zone; but a day begins in the calendar's zone if the column beside it, which may be nil, has moments.
func (cal Calendar) Moment(raw json.RawMessage, beside *database.Column) (text string, ok bool, err error) {
	if written, isText := jsontext.ReadString(raw); isText {
		if text, ok = cal.written(written, beside); !ok && looksLikeDate.MatchString(written) {
			return "", true, fmt.Errorf("%s is no date or time; they are written as 2026-01-31 and 2026-01-31T12:00:00Z", Excerpt(raw))
		}
		return text, ok, nil
	}
	given, _ := jsontext.ReadObject(raw)
	if _, ok := given.Find(wordNow); !ok {
		return "", false, nil
	}
	quoted, err := cal.moment(timestamps, raw)
	if err != nil {
		return "", true, err
	}
	text, _ = jsontext.ReadString(quoted)
	return text, true, nil
}

// looksLikeDate matches what no name of a field looks like.
var looksLikeDate = regexp.MustCompile(`^[0-9]{1,4}[-/.][0-9]`)

// timestamps are values without a zone, in UTC.
var timestamps = &database.Column{Kind: database.Timestamp}

// written is the timestamp in UTC that a text tells.
func (cal Calendar) written(text string, beside *database.Column) (string, bool) {
	if !isPlainMoment(timestamps, text) {
		return "", false
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil && beside != nil && cal.shifts(beside) {
		year, month, of := day.Date()
		return momentText(timestamps, startOfHour(year, month, of, 0, cal.Zone)), true
	}
	value, err := parseMoment(timestamps, text)
	moment, isText := value.(string)
	return moment, err == nil && isText
}

// moment is the moment that an object means.
func (cal Calendar) moment(c *database.Column, raw json.RawMessage) (json.RawMessage, error) {
	given, _ := jsontext.ReadObject(raw)
	sent, ok := given.Find(wordNow)
	isDate := c.Kind == database.Date
	switch {
	case !isDate && !c.Kind.IsMoment() && ok:
		return nil, fmt.Errorf("must be %s: %s is for dates and timestamps", form(c), wordNow)
	case !isDate && !c.Kind.IsMoment():
		return raw, nil
	case !ok || len(given) != 1:
		return nil, fmt.Errorf("must be %s, or %s; not %s", form(c), nowForm, Excerpt(raw))
	}
	text, _ := jsontext.ReadString(sent)
	relative, ok := parseRelative(text)
	if !ok || len(sent) == 0 || sent[0] != '"' {
		return nil, fmt.Errorf("must be %s; not %s", nowForm, Excerpt(raw))
	}
	at, ok := relative.from(cal.Now.In(cal.zone()))
	if !ok {
		return nil, fmt.Errorf("must lie in the years 1 to 9999, and %s does not", Excerpt(raw))
	}
	return json.Marshal(momentText(c, at))
}

// momentText is a moment as a column's value: a date is the day on which it lies in its own location.
func momentText(c *database.Column, at time.Time) string {
	switch c.Kind {
	case database.Date:
		return at.Format(time.DateOnly)
	case database.TimestampTZ:
		return at.UTC().Format("2006-01-02T15:04:05.999999Z07:00")
	}
	return at.UTC().Format("2006-01-02T15:04:05.999999")
}

// errOneMoment is about a timestamp that is to equal a moment relative to now.
var errOneMoment = errors.New(`{"_now": …} is one moment, which hardly any row has; say from when and up to when: __gte {"_now": "/d"} and __lt {"_now": "+1d/d"} are today`)

// Words in which other languages tell a moment relative to now.
var (
	relativeWords = regexp.MustCompile(`(?i)^\s*(now|today|yesterday|tomorrow|current|last|this|next|past|sysdate|getdate|[+-]?[0-9]+ ?(s|min|h|d|w|mo|y|q)[a-z]*( ago)?\s*$|[+-]\s*[0-9]+)`)
	relativeCount = regexp.MustCompile(`(?i)([+-]?)[ (']*(?:interval[ ']*)?([0-9]{1,9})[ ']*(s|min|h|d|w|mo|q|y)`)
)

// fromWords is the _now that a text means which tells a moment in another language's words; false if it tells none.
func fromWords(raw json.RawMessage) (text string, ok bool) {
	words, ok := jsontext.ReadString(raw)
	if !ok || !relativeWords.MatchString(words) {
		return "", false
	}
	found := relativeCount.FindStringSubmatch(words)
	lower := strings.ToLower(strings.TrimSpace(words))
	switch {
	case found != nil && (found[1] == "+" || strings.HasPrefix(lower, "next")):
		return "+" + found[2] + strings.ToLower(found[3]), true
	case found != nil:
		return "-" + found[2] + strings.ToLower(found[3]), true
	case strings.HasPrefix(lower, "yesterday"):
		return "-1d/d", true
	case strings.HasPrefix(lower, "tomorrow"):
		return "+1d/d", true
	case strings.HasPrefix(lower, "today"), strings.HasPrefix(lower, "current_date"):
		return "/d", true
	case strings.HasPrefix(lower, "now"):
		return "now", true
	}
	return "-30d", true
}
