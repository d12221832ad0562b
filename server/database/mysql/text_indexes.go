package mysql

import (
	"context"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// textIndexesQuery finds the FULLTEXT indexes of the engine whose bounds for words are known.
const textIndexesQuery = `
SELECT s.TABLE_SCHEMA, s.TABLE_NAME, s.INDEX_NAME, s.COLUMN_NAME
FROM information_schema.STATISTICS s
JOIN information_schema.TABLES t ON t.TABLE_SCHEMA = ? AND t.TABLE_NAME = s.TABLE_NAME AND t.ENGINE = 'InnoDB'
WHERE s.TABLE_SCHEMA = ? AND s.INDEX_TYPE = 'FULLTEXT'
ORDER BY s.TABLE_NAME, s.INDEX_NAME, s.SEQ_IN_INDEX`

// textBoundsQuery tells which words such an index leaves out.
const textBoundsQuery = `SELECT @@innodb_ft_min_token_size, @@innodb_ft_max_token_size, @@innodb_ft_enable_stopword, COALESCE(@@innodb_ft_server_stopword_table, '')`

// stopWords are information_schema.INNODB_FT_DEFAULT_STOPWORD, which a user needs the right PROCESS to read.
const stopWords = "a about an are as at be by com de en for from how i in is it la of on or that the this to was what when where who will with und the www"

// readTextIndexes finds the FULLTEXT indexes. Without the default list of stop words nobody knows which words an index has: then there
// is none for search.
func (i *introspection) readTextIndexes(ctx context.Context) error {
	shortest, longest := 0, 0
	stops, known := map[string]bool{}, false
	err := i.conn.texts(ctx, textBoundsQuery, nil, func(v []string) {
		shortest, _ = strconv.Atoi(v[0])
		longest, _ = strconv.Atoi(v[1])
		known = v[2] == "0" || v[3] == ""
		if v[2] != "0" {
			for word := range strings.FieldsSeq(stopWords) {
				stops[word] = true
			}
		}
	})
	if err != nil || !known {
		return err
	}
	var last *database.TextIndex
	var of *database.Table
	return i.each(ctx, textIndexesQuery, func(t *database.Table, v []string) {
		if last == nil || of != t || last.Name != v[0] {
			last, of = &database.TextIndex{Name: v[0], MinLength: shortest, MaxLength: longest, StopWords: stops, RanksByAll: true}, t
			t.TextIndexes = append(t.TextIndexes, last)
		}
		last.Columns = append(last.Columns, t.Column(v[1]))
	})
}
