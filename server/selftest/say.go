package selftest

import (
	"errors"
	"regexp"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// answered is an error of PostgreSQL's protocol, numbered one of MySQL's. Neither has a value in its words by the time that the
// engine's package returns it.
type (
	answered interface {
		error
		SQLState() string
	}
	numbered interface {
		error
		StatusCode() string
	}
)

// say says what an engine answered, without a name of the connection.
func (r *run) say(err error) string {
	var told unexpected
	var other differently
	var refused *refusal
	switch {
	case errors.As(err, &told):
		return r.hidden(told.answer)
	case errors.As(err, &other):
		return r.hidden(other.answer)
	case errors.As(err, &refused):
		return r.hidden(refused.Error() + r.cause(refused.cause))
	}
	e := database.AsError(err)
	if e.Code == database.Unreachable || e.Code == database.Busy {
		return string(e.Code) + " (" + e.Reason + ")" // its words name the address
	}
	return r.hidden(string(e.Code) + r.cause(err))
}

// cause is what the engine itself said, with ": " before it; "" if it said nothing.
func (r *run) cause(err error) string {
	var answer answered
	var number numbered
	var e *database.Error
	switch {
	case errors.As(err, &answer):
		return ": " + answer.Error()
	case errors.As(err, &number):
		return ": " + number.Error()
	case errors.As(err, &e) && e.Code != database.Unreachable:
		return ": " + e.Message
	}
	return ""
}

// hidden is a text in which an ellipsis stands for what must not be told.
func (r *run) hidden(text string) string {
	hide := append(slices.Clone(r.Hide), r.Schema)
	if r.schema != nil {
		hide = append(hide, r.schema.Database)
		for _, t := range r.schema.Tables {
			if !slices.Contains(r.SQL.Names, t.Name) {
				hide = append(hide, t.Schema, t.Name)
			}
		}
	}
	slices.SortFunc(hide, func(a, b string) int { return len(b) - len(a) })
	for _, name := range slices.Compact(hide) {
		if name != "" {
			text = whole(name).ReplaceAllLiteralString(text, "…")
		}
	}
	return text
}

// whole matches a name that is no part of a longer word.
func whole(name string) *regexp.Regexp {
	pattern := regexp.QuoteMeta(name)
	if word.MatchString(name[:1]) {
		pattern = `\b` + pattern
	}
	if word.MatchString(name[len(name)-1:]) {
		pattern += `\b`
	}
	return regexp.MustCompile(pattern)
}

var word = regexp.MustCompile(`^\w$`)
