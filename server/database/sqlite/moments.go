package sqlite

import (
	"database/sql/driver"
	"regexp"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/zoneinfo"
)

// momentText is a moment as programs keep it: its day, what stands before the time, the time, its fraction, the zone.
var momentText = regexp.MustCompile(`^\d{4}-\d\d-\d\d(?:([T ])\d\d:\d\d(:\d\d)?(?:\.(\d+))?(Z|[+-]\d\d:\d\d)?)?$`)

// inFormOf writes a moment as another one is written, so that a column keeps one form: with the same zone, the same sign
// between day and time, and at least as many digits of a second. Other values stay as they are.
func inFormOf(args []driver.Value) driver.Value {
	moment, isText := args[0].(string)
	other, wasText := args[1].(string)
	form := momentText.FindStringSubmatch(other)
	at, ok := parseMoment(moment)
	if !isText || !wasText || form == nil || !ok {
		return args[0]
	}
	separator, seconds, digits, zone := form[1], form[2], len(form[3]), form[4]
	midnight := at.Equal(at.Truncate(24 * time.Hour))
	switch {
	case separator == "" && midnight:
		return at.Format(time.DateOnly)
	case separator == "":
		return args[0]
	}
	layout := "2006-01-02" + separator + "15:04:05"
	if seconds == "" && at.Equal(at.Truncate(time.Minute)) {
		layout = "2006-01-02" + separator + "15:04"
	} else if own := len(strings.TrimRight(at.Format(".000000000"), "0")) - len("."); max(own, digits) > 0 {
		layout += "." + strings.Repeat("0", min(max(own, digits), 9))
	}
	switch zone {
	case "":
	case "Z":
		layout += "Z"
	default:
		offset, err := time.Parse("-07:00", zone)
		if err != nil {
			return args[0]
		}
		at = at.In(offset.Location())
		layout += "-07:00"
	}
	return at.Format(layout)
}

// localTime is what the clocks of a zone show at a moment in UTC.
func localTime(args []driver.Value) driver.Value {
	moment, _ := args[0].(string)
	name, _ := args[1].(string)
	at, err := time.Parse("2006-01-02 15:04:05.999", moment)
	zone, ok := zoneinfo.Load(name)
	if err != nil || !ok {
		return nil
	}
	return at.In(zone).Format("2006-01-02 15:04:05.000")
}

// parseMoment reads a moment in its bound form.
func parseMoment(text string) (time.Time, bool) {
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00", time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}
