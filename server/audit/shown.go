package audit

import (
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

// Shown tells which rows an answer has, and which of their fields.
type Shown struct {
	// Fields are the names of the values in each row. Rows is the number of rows; rows within a row count, too.
	Fields []string
	Rows   int
	// IDs are the ids of the first rows, as the API shows ids; nil if nobody asked for them.
	IDs []string
	// Of is the model of the rows, if it is not the one that was called; else "".
	Of string
}

// ShownBy reads the payload of an answer, which is JSON. It has one row if oneRow is set; else its rows are the member results, history
// or rows. The ids are read if ids is set.
func ShownBy(payload []byte, oneRow, ids bool) Shown {
	var s Shown
	if ids {
		s.IDs = []string{}
	}
	if oneRow {
		s.row(payload)
		return s
	}
	var columns []byte
	for quoted, value := range jsontext.Inside(payload) {
		switch string(quoted) {
		case `"columns"`:
			columns = value
		case `"results"`, `"rows"`, `"history"`:
			s.rows(value, columns)
		}
	}
	return s
}

// rows notes the rows of an array. Rows that are arrays have columns, the names of their values.
func (s *Shown) rows(array, columns []byte) {
	at := -1 // where the id is in a row that is an array
	if columns != nil {
		n := 0
		for _, quoted := range jsontext.Inside(columns) {
			name, _ := jsontext.ReadString(quoted)
			s.Fields = append(s.Fields, name)
			if name == "id" {
				at = n
			}
			n++
		}
	}
	for _, row := range jsontext.Inside(array) {
		if row[0] == '{' {
			s.row(row)
			continue
		}
		s.Rows++
		if id, ok := jsontext.Element(row, at); ok && at >= 0 {
			s.id(id)
		}
	}
}

// Row notes one row of those that come one by one: an object, or an array whose values have the names Fields.
func (s *Shown) Row(row []byte) {
	s.Rows++
	if s.IDs == nil || len(s.IDs) == MaxIDs {
		return
	}
	if row[0] == '[' {
		if at := slices.Index(s.Fields, "id"); at >= 0 {
			if id, ok := jsontext.Element(row, at); ok {
				s.id(id)
			}
		}
		return
	}
	for quoted, value := range jsontext.Inside(row) {
		if string(quoted) == `"id"` {
			s.id(value)
		}
	}
}

// row notes a row that is an object, and the rows that belong to it.
func (s *Shown) row(object []byte) {
	s.Rows++
	named := len(s.Fields) > 0
	if named && (s.IDs == nil || len(s.IDs) == MaxIDs) {
		return
	}
	for quoted, value := range jsontext.Inside(object) {
		switch string(quoted) {
		case `"_inlines"`, `"_related"`:
			for _, rows := range jsontext.Inside(value) {
				for range jsontext.Inside(rows) {
					s.Rows++
				}
			}
		case `"id"`:
			s.id(value)
		}
		if !named {
			name, _ := jsontext.ReadString(quoted)
			s.Fields = append(s.Fields, name)
		}
	}
}

// id notes the id of a row.
func (s *Shown) id(value []byte) {
	if s.IDs == nil || len(s.IDs) == MaxIDs {
		return
	}
	text, isText := jsontext.ReadString(value)
	if !isText {
		text = string(value)
	}
	s.IDs = append(s.IDs, text)
}
