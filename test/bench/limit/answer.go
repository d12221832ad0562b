package main

import (
	"bytes"
	"crypto/rand"
	"strconv"
)

// field is a column of an answer. Its kind says how the driver's text becomes JSON: a number as it is, the others in quotes.
type field struct {
	name string
	kind kind
}

type kind byte

const (
	number kind = iota
	text
	boolean
	moment // 2026-01-31 08:00:00+00 becomes 2026-01-31T08:00:00Z
	price  // a decimal of two places
	mean   // a decimal without its last zeros
)

var bookFields = []field{
	{"id", number}, {"title", text}, {"author_id", number}, {"price", price}, {"published", text},
	{"in_stock", boolean}, {"description", text}, {"created_at", moment},
}

var groupFields = []field{{"published__year", number}, {"n", number}, {"mean", mean}, {"latest", moment}}

// appendRow appends a row as a JSON object.
func appendRow(out []byte, fields []field, row [][]byte) []byte {
	for i, f := range fields {
		if i == 0 {
			out = append(out, `{"`...)
		} else {
			out = append(out, `,"`...)
		}
		out = append(out, f.name...)
		out = append(out, `":`...)
		out = appendValue(out, f.kind, row[i])
	}
	return append(out, '}')
}

func appendValue(out []byte, k kind, value []byte) []byte {
	switch {
	case value == nil:
		return append(out, "null"...)
	case k == number:
		return append(out, value...)
	case k == boolean:
		return strconv.AppendBool(out, value[0] == 't' || value[0] == '1')
	case k == moment:
		day, hour := value[:len("2026-01-31")], value[len("2026-01-31 "):]
		out = append(append(append(out, '"'), day...), 'T')
		if hour, zoned := bytes.CutSuffix(hour, []byte("+00")); zoned {
			return append(append(out, hour...), `Z"`...)
		}
		return append(append(out, hour...), '"')
	case k == price:
		out = append(append(out, '"'), value...)
		switch places(value) {
		case 0:
			out = append(out, ".00"...)
		case 1:
			out = append(out, '0')
		}
		return append(out, '"')
	case k == mean:
		for places(value) > leastPlaces && value[len(value)-1] == '0' {
			value = value[:len(value)-1]
		}
	}
	return appendString(out, value)
}

// leastPlaces is how many decimal places a mean keeps.
const leastPlaces = 6

// places is how many decimal places a number has.
func places(value []byte) int {
	if point := bytes.IndexByte(value, '.'); point >= 0 {
		return len(value) - 1 - point
	}
	return 0
}

// pageSize is how many rows agents ask for. One more is read, to see whether there is one.
const pageSize = 50

// page has the rows of an answer, and how many were read.
type page struct {
	rows []byte
	n    int
}

func (p *page) reset() { p.rows, p.n = p.rows[:0], 0 }

// add takes the next row.
func (p *page) add(fields []field, row [][]byte) {
	if p.n++; p.n > pageSize {
		return
	}
	if p.n > 1 {
		p.rows = append(p.rows, ',')
	}
	p.rows = appendRow(p.rows, fields, row)
}

// appendPage appends the answer; total is nil if nothing was counted.
func appendPage(out []byte, p *page, total []byte) []byte {
	out = append(out, `{"count":`...)
	out = strconv.AppendInt(out, int64(min(p.n, pageSize)), 10)
	if total != nil {
		out = append(append(out, `,"total_count":`...), total...)
	}
	out = append(append(out, `,"rows":"policy","results":[`...), p.rows...)
	return append(out, "]}"...)
}

// appendCreated appends the answer to a create.
func appendCreated(out []byte, row [][]byte, call string) []byte {
	out = append(append(out, `{"success":true,"id":`...), row[0]...)
	out = appendRow(append(out, `,"object":`...), bookFields, row)
	return append(append(append(out, `,"call":"`...), call...), `"}`...)
}

// appendUpdated appends the answer to an update.
func appendUpdated(out []byte, row [][]byte, call string) []byte {
	out = appendRow(append(out, `{"success":true,"object":`...), bookFields, row)
	return append(append(append(out, `,"inlines":null,"call":"`...), call...), `"}`...)
}

// appendChanges appends what the journal keeps of a change: each column that differs, as it was and is.
func appendChanges(out []byte, before, after [][]byte) []byte {
	separator := byte('{')
	for i, f := range bookFields {
		if before != nil && bytes.Equal(before[i], after[i]) {
			continue
		}
		out = append(append(append(out, separator, '"'), f.name...), `":{`...)
		if before != nil {
			out = append(appendValue(append(out, `"before":`...), f.kind, before[i]), ',')
		}
		out = append(appendValue(append(out, `"after":`...), f.kind, after[i]), '}')
		separator = ','
	}
	if separator == '{' {
		out = append(out, '{')
	}
	return append(out, '}')
}

// newCall is the id of a call.
func newCall() string { return rand.Text()[:16] }

const hexadecimal = "0123456789abcdef"

// appendString appends a JSON string.
func appendString(out, s []byte) []byte {
	out = append(out, '"')
	begin := 0
	for i, c := range s {
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		out = append(out, s[begin:i]...)
		begin = i + 1
		switch c {
		case '"', '\\':
			out = append(out, '\\', c)
		case '\n':
			out = append(out, `\n`...)
		case '\t':
			out = append(out, `\t`...)
		case '\r':
			out = append(out, `\r`...)
		default:
			out = append(out, `\u00`...)
			out = append(out, hexadecimal[c>>4], hexadecimal[c&15])
		}
	}
	return append(append(out, s[begin:]...), '"')
}
