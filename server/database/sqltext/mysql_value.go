package sqltext

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// value binds a value as one of the column's type. For some texts that are not of the type the server would take NULL,
// zero or a part of the text, with a warning at most. Such texts are checked here.
func (d mysql) value(w *writer, c *database.Column, value database.Value) {
	switch v := value.(type) {
	case float64:
		d.float(w, c, v)
	case []byte:
		d.bytes(w, c, v)
	case string:
		d.textValue(w, c, v)
	case uint64:
		d.unsigned(w, c, v)
	default:
		w.bind(Arg{Kind: c.Kind, Value: value})
	}
}

func (mysql) declared(w *writer, arg Arg) { w.bind(arg) }

// unsigned binds a number beyond int64. A gateway (vtgate) takes it for a negative one, but not its digits; MySQL takes a parameter that
// is cast for a number unless it is converted first.
func (d mysql) unsigned(w *writer, c *database.Column, v uint64) {
	if d.mariaDB {
		w.bind(Arg{Kind: c.Kind, Value: v})
		return
	}
	w.text("CAST(CONVERT(")
	w.bind(Arg{Kind: c.Kind, Value: strconv.FormatUint(v, 10)})
	w.text(" USING utf8mb4) AS UNSIGNED)")
}

// float binds the part of a number that the column can hold.
func (mysql) float(w *writer, c *database.Column, v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		w.invalid(c, "must be a finite number")
	}
	if near := float64(float32(v)); strings.HasPrefix(c.NativeType, "float") && !math.IsInf(near, 0) {
		v = near
	}
	w.bind(Arg{Kind: c.Kind, Value: v})
}

func (d mysql) bytes(w *writer, c *database.Column, v []byte) {
	if c.Kind != database.JSON {
		w.bind(Arg{Kind: c.Kind, Value: v})
		return
	}
	arg := Arg{Kind: c.Kind, Value: string(v)} // the server accepts no bytes for JSON
	if d.mariaDB {
		w.bind(arg)
		return
	}
	if why := notStorable(v); why != "" {
		w.invalid(c, "%s", why)
	}
	w.cast(arg, "JSON")
}

// notStorable says why MySQL's binary JSON cannot hold a document; "" if it can.
func notStorable(document []byte) string {
	if !json.Valid(document) {
		return "must be JSON"
	}
	tokens := json.NewDecoder(bytes.NewReader(document))
	tokens.UseNumber()
	for {
		token, err := tokens.Token()
		if errors.Is(err, io.EOF) {
			return ""
		}
		if n, ok := token.(json.Number); ok {
			if _, err := n.Float64(); err != nil {
				return "must have no number that is too large for a double"
			}
		}
	}
}

func (d mysql) textValue(w *writer, c *database.Column, v string) {
	switch c.Kind {
	case database.Decimal:
		if !decimalForm.MatchString(v) {
			w.invalid(c, "must be a finite number")
		}
		w.cast(Arg{Kind: c.Kind, Value: v}, widestDecimal(c, v))
	case database.Date, database.Time, database.Timestamp, database.TimestampTZ:
		d.moment(w, c, v)
	case database.Enum:
		w.bind(Arg{Kind: database.Integer, Value: enumPlace(w, c, v)})
	case database.Other:
		d.other(w, c, v)
	default:
		w.bind(Arg{Kind: c.Kind, Value: v})
	}
}

var (
	decimalForm = regexp.MustCompile(`^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?$`)
	dateForm    = regexp.MustCompile(`^([0-9]{4}-[0-9]{2}-[0-9]{2})()$`)
	momentForm  = regexp.MustCompile(`^([0-9]{4}-[0-9]{2}-[0-9]{2})([T ]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?Z?)?$`)
	timeForm    = regexp.MustCompile(`^-?([0-9]{2}|[0-7][0-9]{2}|8[0-2][0-9]|83[0-8]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?$`)
)

// moment casts to a type that keeps every digit of a moment. The server rounds only when it stores the value.
func (d mysql) moment(w *writer, c *database.Column, v string) {
	arg := Arg{Kind: c.Kind, Value: v}
	switch c.Kind {
	case database.Date:
		if !isDay(dateForm, v) {
			w.invalid(c, "must be a date between 0000-01-01 and 9999-12-31, written YYYY-MM-DD")
		}
		w.cast(arg, "DATE")
	case database.Time:
		if !timeForm.MatchString(v) {
			w.invalid(c, "must be a time between -838:59:59 and 838:59:59, written HH:MM:SS")
		}
		if d.mariaDB {
			w.cast(arg, "TIME(6)")
			return
		}
		// If a parameter is cast to a time, MySQL takes it for a date with a time.
		w.text("CAST(CONVERT(")
		w.bind(arg)
		w.text(" USING utf8mb4) AS TIME(6))")
	default:
		if !isDay(momentForm, v) {
			w.invalid(c, "must be a moment between the years 0000 and 9999, written YYYY-MM-DDTHH:MM:SS")
		}
		w.cast(arg, "DATETIME(6)")
	}
}

// isDay reports whether a text has the form of a day, and is a day of the calendar or one of zeros: servers store such
// days, and cursors name them.
func isDay(form *regexp.Regexp, text string) bool {
	if !form.MatchString(text) {
		return false
	}
	_, err := time.Parse(time.DateOnly, text[:10])
	return err == nil || text[5:7] == "00" || text[8:10] == "00"
}

// enumPlace is the place of a value among the choices. The server stores and sorts the value as this number. "" stands
// for a value that was not a choice; its place is 0.
func enumPlace(w *writer, c *database.Column, v string) int64 {
	place := slices.Index(c.Choices, v)
	if place < 0 && v != "" {
		w.invalid(c, "must be one of %s", strings.Join(c.Choices, ", "))
	}
	return int64(place + 1)
}

func (d mysql) other(w *writer, c *database.Column, v string) {
	switch {
	case isGeometry(c):
		srid, text, ok := cutSRID(v)
		if !ok || !isWellKnownText(text, c.NativeType) {
			w.invalid(c, "must be %s as well-known text, such as %s, with SRID=4326; before it if it has a spatial reference system", geometryName(c), geometryExample(c))
		}
		w.text("ST_GeomFromText(")
		w.bind(Arg{Kind: c.Kind, Value: text})
		w.text(", ")
		w.bind(Arg{Kind: database.Integer, Value: srid})
		w.text(")")
	case strings.HasPrefix(c.NativeType, "bit("):
		n, err := strconv.ParseUint(v, 2, 64)
		if err != nil || len(v) > c.MaxLength {
			w.invalid(c, "must be zeros and ones, at most %d", c.MaxLength)
		}
		w.bind(Arg{Kind: database.Integer, Value: n})
	case strings.HasPrefix(c.NativeType, "set("):
		w.bind(Arg{Kind: database.Integer, Value: setBits(w, c, v)})
	default:
		w.bind(Arg{Kind: c.Kind, Value: v})
	}
}

// setBits is the number by which the server stores members of a set. The members may come in any order.
func setBits(w *writer, c *database.Column, v string) (bits uint64) {
	if v == "" {
		return 0
	}
	for _, member := range strings.Split(v, ",") {
		place := slices.Index(c.Choices, member)
		if place < 0 {
			w.invalid(c, "must be any of %s, joined by commas", strings.Join(c.Choices, ", "))
			return 0
		}
		bits |= 1 << place
	}
	return bits
}

// cast writes a value as one of a type.
func (w *writer) cast(arg Arg, as string) {
	w.text("CAST(")
	w.bind(arg)
	w.text(" AS " + as + ")")
}

// widestDecimal is the decimal type with room for all whole digits of the column and of a value. The rest of its room is for
// the fraction.
func widestDecimal(c *database.Column, value string) string {
	const digits, fraction = 65, 30
	whole := max(c.Precision-max(c.Scale, 0), digits-fraction, wholeDigits(value))
	return "DECIMAL(65," + strconv.Itoa(digits-min(whole, digits)) + ")"
}

// wholeDigits is how many digits a number has before the point at most.
func wholeDigits(number string) int {
	mantissa, exponent := number, 0
	if at := strings.IndexAny(number, "eE"); at >= 0 {
		mantissa = number[:at]
		exponent, _ = strconv.Atoi(number[at+1:]) // decimalForm has judged it
	}
	whole, _, _ := strings.Cut(strings.TrimLeft(mantissa, "+-"), ".")
	return max(0, len(whole)+exponent)
}
