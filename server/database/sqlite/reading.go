package sqlite

import (
	"database/sql/driver"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// readPatterns are the patterns of texts that are read as values of a kind, by its name.
var readPatterns = func() map[string]*regexp.Regexp {
	patterns := map[string]*regexp.Regexp{}
	for _, kind := range []database.Kind{database.Integer, database.Decimal, database.Boolean, database.Date, database.Timestamp} {
		patterns[kind.String()] = regexp.MustCompile(`\A(?:` + database.ReadPattern(kind) + `)\z`)
	}
	return patterns
}()

// readText is a text as a value of a kind, which is named first; nil if it is none. A view's column may also hold a number where its
// type says text.
func readText(args []driver.Value) driver.Value {
	kind, _ := args[0].(string)
	text := ""
	switch v := args[1].(type) {
	case string:
		text = v
	case int64:
		text = strconv.FormatInt(v, 10)
	case float64:
		text = strconv.FormatFloat(v, 'f', -1, 64)
	}
	if len(text) > database.MostRead {
		return nil
	}
	text = strings.Trim(text, " ")
	if pattern := readPatterns[kind]; pattern == nil || !pattern.MatchString(text) {
		return nil
	}
	switch kind {
	case database.Integer.String():
		n, _ := strconv.ParseInt(text, 10, 64) // it has too few digits to fail
		return n
	case database.Decimal.String():
		n, _ := parseNumber(text) // the pattern is narrower
		return n.text(database.ReadFractionDigits)
	case database.Boolean.String():
		if strings.ContainsAny(text[:1], "1TtYy") {
			return int64(1)
		}
		return int64(0)
	case database.Date.String():
		return text
	}
	return readMoment(text)
}

// readMoment writes a moment of the pattern in UTC, in the form in which equal moments are equal texts.
func readMoment(text string) driver.Value {
	text = strings.Replace(strings.TrimSuffix(text, "Z"), "T", " ", 1)
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02", "2006-01-02 15:04:05-07:00", "2006-01-02 15:04-07:00"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC().Format("2006-01-02 15:04:05.999999")
		}
	}
	return nil
}
