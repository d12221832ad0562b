package lookup

import (
	"regexp"
	"slices"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// momentLayouts are the accepted forms of dates and times, the form that rows show first. Fractions of a second may follow
// in all that have seconds.
var momentLayouts = map[database.Kind][]string{
	database.Date:        {"2006-01-02"},
	database.Time:        {"15:04:05", "15:04"},
	database.Timestamp:   append(zonelessLayouts, zonedLayouts...),
	database.TimestampTZ: append(zonedLayouts, zonelessLayouts...),
}

// A timestamp is taken with a zone and without one, whichever the column has: without one, it is in UTC, and a column without a
// zone is given the time in UTC.
var (
	zonelessLayouts = []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02"}
	zonedLayouts    = []string{time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04Z07:00"}
)

// The moments that only an engine's own text can say: years before Christ or of five digits, MySQL's days that no
// calendar has, and times of day that are none. Whether the engine has them, it says itself.
var engineMoments = map[database.Kind]*regexp.Regexp{
	database.Date:        regexp.MustCompile(`^(-?infinity|[0-9]{4,7}-[0-9]{2}-[0-9]{2} BC|[0-9]{5,7}-[0-9]{2}-[0-9]{2}|0000-[0-9]{2}-[0-9]{2}|[0-9]{4}-00-[0-9]{2}|[0-9]{4}-[0-9]{2}-00)$`),
	database.Time:        regexp.MustCompile(`^(-?[0-9]{1,3}:[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?)$`),
	database.Timestamp:   timestampOfEngine,
	database.TimestampTZ: timestampOfEngine,
}

var timestampOfEngine = regexp.MustCompile(`^(-?infinity|([0-9]{5,7}-[0-9]{2}-[0-9]{2}|0000-[0-9]{2}-[0-9]{2}|[0-9]{4}-00-[0-9]{2}|[0-9]{4}-[0-9]{2}-00)[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?(Z|[+-][0-9]{2}(:?[0-9]{2})?)?|[0-9]{4,7}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?(Z|[+-][0-9]{2}(:?[0-9]{2})?)? BC)$`)

// parseMoment returns the text in the form that rows show; timestamps are in UTC.
func parseMoment(c *database.Column, text string) (database.Value, error) {
	for _, layout := range momentLayouts[c.Kind] {
		moment, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		switch c.Kind {
		case database.Date:
			return moment.Format("2006-01-02"), nil
		case database.Time:
			return moment.Format("15:04:05.999999"), nil
		}
		fraction := ".999999"
		if c.FractionDigits > 6 { // DuckDB's TIMESTAMP_NS; every other type has microseconds at most
			fraction = ".999999999"
		}
		moment = moment.UTC()
		if moment.Year() < 0 || moment.Year() > 9999 {
			return nil, check(c, text, false)
		}
		if c.Kind == database.TimestampTZ {
			return moment.Format("2006-01-02T15:04:05" + fraction + "Z07:00"), nil
		}
		return moment.Format("2006-01-02T15:04:05" + fraction), nil
	}
	return text, check(c, text, engineMoments[c.Kind].MatchString(text))
}

// isPlainMoment reports whether the text is a date or time that every engine has.
func isPlainMoment(c *database.Column, text string) bool {
	return slices.ContainsFunc(momentLayouts[c.Kind], func(layout string) bool {
		_, err := time.Parse(layout, text)
		return err == nil
	})
}
