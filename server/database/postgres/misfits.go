package postgres

import (
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mcp-admin/mcp-admin-operator/contract/excerpt"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// blame adds to an error about a statement's values what a valid value looks like, and the column, if the server tells
// which value is wrong.
func (c *call) blame(e *database.Error, answer *pgconn.PgError) {
	arg, text := c.atFault(answer)
	if arg == nil {
		return
	}
	e.Column = arg.Column
	if e.Code == database.Invalid && arg.Column != nil {
		e.Message = misfit(arg, text, answer.Code)
	}
}

// atFault returns the value that the server complains of, and the text in which it was sent; nil if the server does not
// tell.
func (c *call) atFault(answer *pgconn.PgError) (*sqltext.Arg, []byte) {
	if answer == nil || !aboutParameter(answer) {
		return nil, nil
	}
	number := 0
	for _, digit := range answer.Where[len(parameterPrefix):] {
		if digit < '0' || digit > '9' {
			break
		}
		number = 10*number + int(digit-'0')
	}
	if number < 1 || number > min(len(c.sql.Args), len(c.params.values)) {
		return nil, nil
	}
	return &c.sql.Args[number-1], c.params.values[number-1]
}

// misfit says what the value must be. The value comes from the caller.
func misfit(arg *sqltext.Arg, text []byte, code string) string {
	c := arg.Column
	message := "must be " + valueForm(c)
	if code == "22003" || code == "22008" {
		message = "must lie in the range of " + c.NativeType
	}
	if arg.List != nil || c.Kind == database.Array {
		return message // the caller would not recognise the form in which it was sent
	}
	sent := excerpt.Of(text, maxExcerpt)
	if _, ok := arg.Value.(string); ok && utf8.ValidString(sent) {
		sent = `"` + sent + `"`
	}
	return message + ", not " + sent
}

// maxExcerpt is the most bytes of a value that a message quotes.
const maxExcerpt = 60

// valueForms say how values of a type are written, if that is not obvious.
var valueForms = map[string]string{
	"inet":     "an IP address, with or without the length of its network: 192.0.2.1 or 192.0.2.0/24",
	"cidr":     "a network without bits of a host: 192.0.2.0/24",
	"macaddr":  "a MAC address: 08:00:2b:01:02:03",
	"macaddr8": "a MAC address of eight bytes: 08:00:2b:01:02:03:04:05",
	"interval": "an interval: 1 day 02:03:04",
	"point":    "a point: (1,2)",
	"xml":      "well-formed XML",
	"tsvector": "a text search vector: 'cat':1 'dog':2",
	"tsquery":  "a text search query: 'cat' & 'dog'",
	"ltree":    "a path of labels: Top.Science.Astronomy",
	"hstore":   `pairs of keys and values: "a"=>"1", "b"=>NULL`,
	"money":    "an amount of money: 12.34",
	"jsonpath": "a JSON path: $.a[*]",
}

func valueForm(c *database.Column) string {
	name := c.NativeType[strings.LastIndexByte(c.NativeType, '.')+1:] // the type of an extension may have its schema before it
	switch form := valueForms[name]; {
	case form != "":
		return form
	case strings.HasSuffix(name, "multirange"):
		return "ranges of the type " + name + ": {[1,3),[5,8)}"
	case strings.HasSuffix(name, "range"):
		return "a range of the type " + name + ": [1,5)"
	}
	return "a value of the type " + c.NativeType
}
