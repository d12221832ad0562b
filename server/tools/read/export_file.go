package read

import (
	"bytes"
	"encoding/json"
	"io"
	"regexp"
	"unicode/utf8"

	"github.com/mcp-admin/mcp-admin-operator/contract/formula"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// A rowFile writes rows as a file, one after the other, in the memory of one row.
type rowFile interface {
	// begin writes what stands before the rows, whose members have these names.
	begin(names []string) error
	// row writes a row, which is in the form that the file wants.
	row(members []database.Output, row []byte) error
	// form is how the file wants its rows.
	form() database.RowForm
}

// newRowFile returns a file of a format.
func newRowFile(format string, to io.Writer) rowFile {
	if format == call.ExportCSV {
		return &csvFile{to: to}
	}
	return &ndjsonFile{to: to}
}

// ndjsonFile writes a row a line: the object that an answer has.
type ndjsonFile struct {
	to   io.Writer
	line []byte
}

func (*ndjsonFile) form() database.RowForm { return database.RowObjects }

func (f *ndjsonFile) begin([]string) error {
	_, err := f.to.Write(nil) // the file begins, though it may stay empty
	return err
}

func (f *ndjsonFile) row(_ []database.Output, row []byte) error {
	f.line = append(f.line[:0], row...)
	for i, c := range f.line { // a document may be written in several lines; within a string they are escaped
		if c == '\n' || c == '\r' {
			f.line[i] = ' '
		}
	}
	f.line = append(validText(f.line), '\n')
	_, err := f.to.Write(f.line)
	return err
}

// csvFile writes a row a record, by RFC 4180 (docs/design/exports.md, "CSV").
type csvFile struct {
	to     io.Writer
	record []byte
}

func (*csvFile) form() database.RowForm { return database.RowArrays }

func (f *csvFile) begin(names []string) error {
	f.record = f.record[:0]
	for i, name := range names {
		f.separate(i)
		f.appendText(name)
	}
	return f.end()
}

func (f *csvFile) row(members []database.Output, row []byte) error {
	f.record = f.record[:0]
	i := 0
	for _, value := range jsontext.Inside(row) {
		f.separate(i)
		f.appendValue(&members[i], value)
		i++
	}
	return f.end()
}

func (f *csvFile) separate(i int) {
	if i > 0 {
		f.record = append(f.record, ',')
	}
}

func (f *csvFile) end() error {
	if len(f.record) == 0 { // a null alone in its row: readers pass over empty lines
		f.record = append(f.record, `""`...)
	}
	f.record = append(f.record, "\r\n"...)
	_, err := f.to.Write(f.record)
	return err
}

// appendValue appends a value: a text as itself, null as nothing, and what is nested as JSON.
func (f *csvFile) appendValue(member *database.Output, value []byte) {
	text, isText := jsontext.ReadString(value)
	switch {
	case call.IsNull(json.RawMessage(value)):
	case !isText || isDocument(member):
		f.appendQuoted(validText(value)) // JSON begins with no sign of a formula but the minus of a number
	case isNumeric(member) && shownNumber.MatchString(text):
		f.record = append(f.record, text...)
	default:
		f.appendText(text)
	}
}

// appendText appends a text that a spreadsheet takes for one.
func (f *csvFile) appendText(text string) { f.appendQuoted(validText([]byte(formula.Disarm(text)))) }

// appendQuoted appends a field, in quotes if it needs them. An empty text has them, too: without them it would be null. NUL, which no
// reader of CSV expects and which ends the file for some, is replaced as what is not UTF-8 is.
func (f *csvFile) appendQuoted(text []byte) {
	if bytes.IndexByte(text, 0) >= 0 {
		text = bytes.ReplaceAll(text, []byte{0}, []byte("\ufffd"))
	}
	if len(text) > 0 && !bytes.ContainsAny(text, "\",\r\n") && text[0] != ' ' && text[len(text)-1] != ' ' {
		f.record = append(f.record, text...)
		return
	}
	f.record = append(f.record, '"')
	for _, c := range text {
		if c == '"' {
			f.record = append(f.record, '"')
		}
		f.record = append(f.record, c)
	}
	f.record = append(f.record, '"')
}

// shownNumber is a number as rows write it: decimals are strings there, as clients' numbers would round them.
var shownNumber = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// isNumeric reports whether a member's values are numbers by their column's type.
func isNumeric(member *database.Output) bool {
	if len(member.Columns) != 1 || member.Mask || member.Slice != nil {
		return false
	}
	switch member.Columns[0].Kind {
	case database.Integer, database.Float, database.Decimal:
		return true
	}
	return false
}

// isDocument reports whether a member's values are JSON documents: their strings are documents, too, and no texts.
func isDocument(member *database.Output) bool {
	return len(member.Columns) == 1 && !member.Mask && member.Slice == nil && member.Columns[0].Kind == database.JSON
}

// validText is a text without what is not UTF-8: a database may hold anything.
func validText(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	return bytes.ToValidUTF8(text, []byte("\ufffd"))
}
