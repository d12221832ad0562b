package sqltext

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// geometryExamples are the types whose values are bytes to MySQL and MariaDB, each with an example. Here they are read
// and written as well-known text. The spatial reference system comes before the text unless it is 0.
var geometryExamples = map[string]string{
	"geometry":           "POINT(1 2)",
	"point":              "POINT(1 2)",
	"linestring":         "LINESTRING(0 0,1 1)",
	"polygon":            "POLYGON((0 0,1 0,1 1,0 0))",
	"multipoint":         "MULTIPOINT((0 0),(1 1))",
	"multilinestring":    "MULTILINESTRING((0 0,1 1))",
	"multipolygon":       "MULTIPOLYGON(((0 0,1 0,1 1,0 0)))",
	"geometrycollection": "GEOMETRYCOLLECTION(POINT(1 2))",
	"geomcollection":     "GEOMETRYCOLLECTION(POINT(1 2))",
}

func isGeometry(c *database.Column) bool {
	return c.Kind == database.Other && geometryExamples[c.NativeType] != ""
}

func geometryExample(c *database.Column) string { return geometryExamples[c.NativeType] }

func geometryName(c *database.Column) string {
	if c.NativeType == "geometry" {
		return "a geometry"
	}
	return "a " + c.NativeType
}

// cutSRID cuts the spatial reference system off a geometry's text ("SRID=4326;POINT(1 2)"); 0 if the text names none.
func cutSRID(v string) (srid uint64, text string, ok bool) {
	found := sridForm.FindStringSubmatch(v)
	if found == nil {
		return 0, v, true
	}
	srid, err := strconv.ParseUint(found[1], 10, 32)
	return srid, v[len(found[0]):], err == nil
}

var sridForm = regexp.MustCompile(`^(?i:\s*SRID=([0-9]+);)`)

// isWellKnownText reports whether a text is exactly one geometry that a column of the type holds. MariaDB stores NULL
// for a text that is not one, and ignores everything after the geometry's end.
func isWellKnownText(text, columnType string) bool {
	r := geometryReader{rest: text}
	found, ok := r.geometry()
	if !ok || r.space() != "" {
		return false
	}
	switch columnType {
	case "geometry", "geometrycollection", "geomcollection": // the servers accept any geometry
		return true
	}
	return columnType == found
}

// geometryReader reads well-known text. Its methods report whether they found what they read.
type geometryReader struct {
	rest  string
	depth int
}

var (
	geometryWord = regexp.MustCompile(`^[A-Za-z]+`)
	coordinate   = regexp.MustCompile(`^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?`)
)

// maxGeometryDepth bounds the nesting of collections.
const maxGeometryDepth = 50

// geometry reads one geometry, and returns its type.
func (r *geometryReader) geometry() (name string, ok bool) {
	if r.depth++; r.depth > maxGeometryDepth {
		return "", false
	}
	defer func() { r.depth-- }()
	r.space()
	word := geometryWord.FindString(r.rest)
	r.rest = r.rest[len(word):]
	switch name = strings.ToLower(word); name {
	case "point":
		return name, r.list(r.position, 1, 1)
	case "linestring":
		return name, r.line(2)
	case "polygon":
		return name, r.polygon()
	case "multipoint":
		return name, r.list(r.multiPosition, 1, 0)
	case "multilinestring":
		return name, r.list(func() bool { return r.line(2) }, 1, 0)
	case "multipolygon":
		return name, r.list(r.polygon, 1, 0)
	case "geometrycollection", "geomcollection":
		return "geometrycollection", r.empty() || r.list(func() bool { _, ok := r.geometry(); return ok }, 1, 0)
	}
	return "", false
}

// space skips blanks, and returns the text after them.
func (r *geometryReader) space() string {
	r.rest = strings.TrimLeft(r.rest, " \t\r\n")
	return r.rest
}

func (r *geometryReader) sign(sign byte) bool {
	if rest := r.space(); rest != "" && rest[0] == sign {
		r.rest = rest[1:]
		return true
	}
	return false
}

func (r *geometryReader) empty() bool {
	const word = "EMPTY"
	if rest := r.space(); len(rest) >= len(word) && strings.EqualFold(rest[:len(word)], word) {
		r.rest = rest[len(word):]
		return true
	}
	before := r.rest
	if r.sign('(') && r.sign(')') {
		return true
	}
	r.rest = before
	return false
}

// list reads (element,element,…): at least so many elements and, unless it is 0, at most so many.
func (r *geometryReader) list(element func() bool, least, most int) bool {
	if !r.sign('(') {
		return false
	}
	n := 0
	for more := true; more; more = r.sign(',') {
		if !element() {
			return false
		}
		n++
	}
	return n >= least && (most == 0 || n <= most) && r.sign(')')
}

func (r *geometryReader) position() bool {
	_, ok := r.numbers()
	return ok
}

// numbers reads the two numbers of a position, and returns their texts.
func (r *geometryReader) numbers() (at [2]string, ok bool) {
	for i := range at {
		before := r.space()
		if !r.number() {
			return at, false
		}
		at[i] = before[:len(before)-len(r.rest)]
	}
	return at, true
}

// multiPosition reads a position, which may stand in parentheses.
func (r *geometryReader) multiPosition() bool {
	if r.space(); strings.HasPrefix(r.rest, "(") {
		return r.list(r.position, 1, 1)
	}
	return r.position()
}

func (r *geometryReader) number() bool {
	r.space()
	text := coordinate.FindString(r.rest)
	if _, err := strconv.ParseFloat(text, 64); err != nil {
		return false
	}
	r.rest = r.rest[len(text):]
	return r.rest == "" || strings.ContainsRune(" \t\r\n,)", rune(r.rest[0]))
}

func (r *geometryReader) line(least int) bool { return r.list(r.position, least, 0) }

// polygon reads rings. Each ring must end at the position at which it begins.
func (r *geometryReader) polygon() bool { return r.list(r.ring, 1, 0) }

func (r *geometryReader) ring() bool {
	var all [][2]string
	position := func() bool {
		at, ok := r.numbers()
		all = append(all, at)
		return ok
	}
	if !r.list(position, 4, 0) {
		return false
	}
	first, last := all[0], all[len(all)-1]
	return sameNumber(first[0], last[0]) && sameNumber(first[1], last[1])
}

func sameNumber(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && x == y
}
