package database

import "fmt"

// Reading is what a text column of the same row holds as a value of the computed column's kind: an Integer, Decimal, Boolean, Date or
// Timestamp. It is NULL if the text is written in no form of that kind (docs/design/values.md, "Texts that hold something else"); no
// text is an error. A Reading of the kind Text is the digits of an integer. Unlike other expressions it has no place of its own: a Ref
// to it has the join whose row has the column.
type Reading struct{ Of *Column }

func (Reading) expression() {}

// The bounds of what is read in texts.
const (
	// MostDigits is the most characters of an integer as text, with its sign.
	MostDigits = 20
	// MostRead is the most characters of a text that is read as something else, blanks included.
	MostRead = 64
	// ReadIntegerDigits are the most digits of an integer. ReadWholeDigits and ReadFractionDigits are those of a decimal, before the
	// point and behind it.
	ReadIntegerDigits  = 18
	ReadWholeDigits    = 20
	ReadFractionDigits = QuotientDigits
)

// ReadAs returns the column of what a text column holds as values of a kind, or of the texts of an integer column.
func (c *Column) ReadAs(kind Kind) *Column {
	read := derived(kind)
	read.Name, read.Comment, read.Privileges, read.Expression = c.Name, c.Comment, c.Privileges, Reading{c}
	switch kind {
	case Integer:
		read.NativeType = "bigint"
	case Text:
		read.NativeType, read.MaxLength = "text", MostDigits
	case Decimal:
		read.Computed, read.Scale, read.Precision = Quotient, ReadFractionDigits, ReadWholeDigits+ReadFractionDigits
	case Timestamp:
		read.FractionDigits = momentDigits
	}
	return read
}

// The pieces of the patterns. They are written in what the regular expressions of all engines and of Go have in common, without a
// backslash, a quote or a letter that could be of either case.
var (
	readDate = dates("[1-9][0-9]{3}")
	readTime = "([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?"
	// readZonedDate is of years that are between 1000 and 9999 in UTC, too.
	readZonedDate = dates("(1[1-9][0-9]{2}|10([1-9][0-9]|0[1-9])|[2-8][0-9]{3}|9([0-8][0-9]{2}|9([0-8][0-9]|9[0-8])))")
)

// dates matches YYYY-MM-DD for the days of the calendar, of years between 1000 and 9999. year matches the years whose other days than
// 29 February are meant.
func dates(year string) string {
	const (
		longMonths  = "(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])"
		shortMonths = "(0[469]|11)-(0[1-9]|[12][0-9]|30)"
		february    = "02-(0[1-9]|1[0-9]|2[0-8])"
		leapYears   = "([1-9][0-9](0[48]|[2468][048]|[13579][26])|([2468][048]|[13579][26])00)"
	)
	return "(" + year + "-(" + longMonths + "|" + shortMonths + "|" + february + ")|" + leapYears + "-02-29)"
}

var readPatterns = map[Kind]string{
	Integer: fmt.Sprintf("[+-]?[0-9]{1,%d}", ReadIntegerDigits),
	Decimal: fmt.Sprintf("[+-]?([0-9]{1,%d}([.][0-9]{1,%d})?|[.][0-9]{1,%d})", ReadWholeDigits, ReadFractionDigits, ReadFractionDigits),
	Boolean: "(" + ReadTrue + "|" + ReadFalse + ")",
	Date:    readDate,
	// A moment with a zone is told from others by ReadZone.
	Timestamp: "(" + readDate + "([T ]" + readTime + "Z?)?|" + readZonedDate + "[T ]" + readTime + "[+-](0[0-9]|1[0-4]):[0-5][0-9])",
}

// ReadTrue and ReadFalse match the texts of booleans, and ReadZone what only timestamps with an offset from UTC have.
const (
	ReadTrue  = "([Tt]([Rr][Uu][Ee])?|[Yy]([Ee][Ss])?|1)"
	ReadFalse = "([Ff]([Aa][Ll][Ss][Ee])?|[Nn][Oo]?|0)"
	ReadZone  = "[+-][0-9]{2}:"
)

// ReadPattern matches the whole of a text that is read as a value of the kind, without blanks around it; "" if no text is read as that
// kind.
func ReadPattern(kind Kind) string { return readPatterns[kind] }
