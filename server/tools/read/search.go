package read

import (
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// maxWords bounds the words of a search.
const maxWords = 10

// appendSearch adds one condition for each word of a search: the word must be in one of the search fields at least.
func appendSearch(where database.And, scope access.Scope, search string) (database.And, error) {
	if strings.TrimSpace(search) == "" {
		return where, nil
	}
	if err := checkSearch("search", search); err != nil {
		return nil, err
	}
	fields := scope.SearchFields()
	if len(fields) == 0 {
		return nil, call.Invalid("%s has no fields that search looks in; use filters", scope.Model().Name)
	}
	return append(where, matchWords(scope, fields, search)...), nil
}

// checkSearch judges the text of a search, which the argument of that name has.
func checkSearch(argument, search string) error {
	if n := len(strings.Fields(search)); n > maxWords {
		return call.Invalid("%s: at most %d words, not %d", argument, maxWords, n)
	}
	if strings.ContainsRune(search, 0) {
		return call.Invalid("%s must not contain U+0000", argument)
	}
	return nil
}

// matchWords has one condition for each word: that it is in one of the fields at least.
func matchWords(scope access.Scope, fields []catalog.SearchField, search string) database.And {
	var all database.And
	for _, word := range strings.Fields(search) {
		var any database.Or
		for _, f := range fields {
			var condition database.Condition = database.Match{Column: f.Field.Column, Op: f.Op, Text: word, FoldCase: true}
			if f.Relation != nil {
				condition = scope.Related(f.Relation, condition)
			}
			any = append(any, condition)
		}
		all = append(all, any)
	}
	return all
}
