package sqlite

import (
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// readTextIndexes finds the FTS5 tables: each is an index of its own rows, and of the rows of the table whose content it has.
func readTextIndexes(s *database.Schema, tables []found) {
	for _, table := range tables {
		if !table.virtual || !slices.Contains(s.Tables, table.Table) {
			continue
		}
		options, columns, ok := fts5(table)
		if !ok {
			continue
		}
		index := func(of *database.Table, row *database.Column) {
			x := &database.TextIndex{Name: table.Name, Table: table.Table, Row: row, RanksByAll: true}
			for _, name := range columns {
				x.Columns = append(x.Columns, findColumn(of, name))
			}
			if row != nil && len(x.Columns) > 0 && !slices.Contains(x.Columns, nil) {
				of.TextIndexes = append(of.TextIndexes, x)
			}
		}
		if findColumn(table.Table, "rowid") == nil {
			index(table.Table, rowID(table.Table))
		}
		if content := options["content"]; content != "" {
			if at := slices.IndexFunc(s.Tables, func(t *database.Table) bool { return sameName(t.Name, content) }); at >= 0 {
				of := s.Tables[at]
				index(of, contentRow(of, options["content_rowid"]))
			}
		}
	}
}

// contentRow is the column by which an FTS5 table names the rows of its content: the number of the row if it names none.
func contentRow(of *database.Table, name string) *database.Column {
	if name != "" {
		if column := findColumn(of, name); column != nil {
			return column
		}
	}
	if name == "" || sameName(name, "rowid") {
		return of.RowID
	}
	return nil
}

// fts5 reads the definition of an FTS5 table: its options, and the columns whose words it has. It returns false for any other table,
// and for one whose words are not known: tokens by other characters than letters and digits, no places of words, no content.
func fts5(table found) (options map[string]string, columns []string, ok bool) {
	all := tokens(table.sql)
	at := slices.IndexFunc(all, func(t token) bool { return t.is("USING") })
	if at < 0 || at+2 >= len(all) || !all[at+1].is("fts5") || !all[at+2].isSign("(") {
		return nil, nil, false
	}
	end := closing(all, at+2)
	if end < 0 {
		return nil, nil, false
	}
	options = map[string]string{}
	for _, argument := range arguments(all[at+3 : end]) {
		switch {
		case len(argument) == 0:
		case len(argument) >= 3 && argument[1].isSign("="):
			options[strings.ToLower(argument[0].text)] = argument[2].text
			if len(argument) > 3 {
				return nil, nil, false
			}
		case !slices.ContainsFunc(argument[1:], func(t token) bool { return t.is("UNINDEXED") }):
			columns = append(columns, argument[0].text)
		}
	}
	content, isSet := options["content"]
	if isSet && content == "" || options["detail"] != "" && !sameName(options["detail"], "full") {
		return nil, nil, false
	}
	return options, columns, len(columns) > 0 && knownTokens(options["tokenize"])
}

// knownTokens reports whether words are of letters and digits.
func knownTokens(tokenize string) bool {
	for n, word := range strings.Fields(strings.ToLower(strings.NewReplacer("'", " ", `"`, " ").Replace(tokenize))) {
		switch word {
		case "unicode61", "ascii", "porter", "remove_diacritics":
		case "0", "1", "2":
			if n == 0 {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// arguments splits tokens at commas.
func arguments(all []token) [][]token {
	parts := [][]token{nil}
	for _, t := range all {
		if t.isSign(",") {
			parts = append(parts, nil)
			continue
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], t)
	}
	return parts
}
