package postgres

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// textIndexesQuery finds what words are searched by: columns of the type tsvector, generated ones first, and indexes of an expression of
// that type. It tells the expression, and which columns that reads; for a column that is not generated, the text search configuration
// of the trigger that fills it. The session's configuration stands where nothing else tells one.
const textIndexesQuery = `
SELECT a.attrelid, a.attname::text, a.attnum::int4, CASE WHEN a.attgenerated <> '' THEN pg_get_expr(e.adbin, e.adrelid) ELSE '' END,
       CASE WHEN a.attgenerated <> '' THEN ARRAY(
         SELECT d.refobjsubid FROM pg_catalog.pg_depend d
         WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = a.attrelid AND d.refobjsubid NOT IN (0, a.attnum)
           AND (d.classid = 'pg_class'::regclass AND d.objid = a.attrelid AND d.objsubid = a.attnum
             OR d.classid = 'pg_attrdef'::regclass AND d.objid = e.oid)) ELSE '{}' END,
       coalesce((SELECT split_part(encode(g.tgargs, 'escape'), E'\\000', 2) FROM pg_catalog.pg_trigger g
         JOIN pg_catalog.pg_proc p ON p.oid = g.tgfoid AND p.proname = 'tsvector_update_trigger' AND p.pronamespace = 'pg_catalog'::regnamespace
         WHERE g.tgrelid = a.attrelid AND split_part(encode(g.tgargs, 'escape'), E'\\000', 1) = a.attname LIMIT 1), ''),
       current_setting('default_text_search_config')
FROM pg_catalog.pg_attribute a
LEFT JOIN pg_catalog.pg_attrdef e ON e.adrelid = a.attrelid AND e.adnum = a.attnum
WHERE a.attrelid = ANY($1::oid[]) AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid = 'pg_catalog.tsvector'::regtype
UNION ALL
SELECT i.indrelid, x.relname::text, 0, pg_get_indexdef(i.indexrelid, k.place::int4, false), ARRAY(
         SELECT d.refobjsubid FROM pg_catalog.pg_depend d
         WHERE d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid AND d.refclassid = 'pg_class'::regclass
           AND d.refobjid = i.indrelid AND d.refobjsubid > 0),
       '', current_setting('default_text_search_config')
FROM pg_catalog.pg_index i
JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
JOIN pg_catalog.pg_am m ON m.oid = x.relam AND m.amname IN ('gin', 'gist')
CROSS JOIN unnest(i.indkey::int2[], i.indclass::oid[]) WITH ORDINALITY AS k(attnum, class, place)
JOIN pg_catalog.pg_opclass o ON o.oid = k.class AND o.opcintype = 'pg_catalog.tsvector'::regtype
WHERE i.indrelid = ANY($1::oid[]) AND i.indisvalid AND i.indpred IS NULL AND k.attnum = 0
ORDER BY 1, 3 DESC, 2`

func (i *introspection) readTextIndexes(ctx context.Context, tx pgx.Tx, tables []uint32) error {
	var oid uint32
	var name, expression, ofTrigger, usual string
	var number int32
	var reads []int32
	return each(ctx, tx, textIndexesQuery, tables, []any{&oid, &name, &number, &expression, &reads, &ofTrigger, &usual}, func() {
		table := i.tables[oid]
		if table == nil {
			return
		}
		x := &database.TextIndex{Name: name, Vector: i.columns[oid][number], Columns: i.named(oid, reads)}
		languages := languagesIn(expression)
		switch {
		case len(languages) > 1 || expression != "" && len(x.Columns) == 0:
			return // which words it has cannot be told
		case len(languages) == 1:
			x.Language = languages[0]
		case ofTrigger != "":
			x.Language = languageOf(ofTrigger)
		default:
			x.Language = languageOf(usual)
		}
		if x.Vector == nil {
			var found bool
			if x.Pieces, found = textPieces(table, expression); !found || !readsOnly(x.Pieces, x.Columns) {
				return
			}
		}
		table.TextIndexes = append(table.TextIndexes, x)
	})
}

// languageConstant matches a text search configuration in an expression.
var languageConstant = regexp.MustCompile(`'((?:[^']|'')*)'::(?:"?pg_catalog"?\.)?"?regconfig"?`)

// languagesIn are the configurations of an expression.
func languagesIn(expression string) []string {
	var all []string
	for _, match := range languageConstant.FindAllString(expression, -1) {
		if !slices.Contains(all, match) {
			all = append(all, match)
		}
	}
	return all
}

func languageOf(name string) string {
	return "'" + strings.ReplaceAll(name, "'", "''") + "'::regconfig"
}

// textPieces cuts an index's expression at its columns, so that each can be written with the name of its table. It returns false for
// anything that it does not know for certain.
func textPieces(table *database.Table, expression string) ([]database.TextPiece, bool) {
	tokens, ok := tokenize(expression)
	if !ok {
		return nil, false
	}
	var pieces []database.TextPiece
	sql := strings.Builder{}
	before := token{}
	isType := false // the token before is of a type's name
	for n, t := range tokens {
		next := token{}
		if n+1 < len(tokens) {
			next = tokens[n+1]
		}
		isName := t.kind == tokenWord || t.kind == tokenQuoted
		ofType := isName && (before.text == "::" && before.kind == tokenSign || isType && (before.text == "." || typeWords[t.text]))
		switch {
		case t.kind == tokenString:
			sql.WriteString("'" + strings.ReplaceAll(t.text, "'", "''") + "'")
		case isName && (ofType || next.kind == tokenSign && (next.text == "(" || next.text == ".")):
			sql.WriteString(nameAgain(t))
		case t.kind == tokenWord && constantWords[strings.ToUpper(t.text)]:
			sql.WriteString(t.text)
		case isName:
			column := table.Column(t.text)
			if column == nil || before.text == "." {
				return nil, false
			}
			pieces = append(pieces, database.TextPiece{SQL: sql.String()}, database.TextPiece{Column: column})
			sql.Reset()
		default:
			sql.WriteString(t.text)
		}
		if t.text != "::" && next.text != "(" {
			sql.WriteString(" ")
		}
		isType = ofType || isType && t.text == "."
		before = t
	}
	return append(pieces, database.TextPiece{SQL: sql.String()}), true
}

// nameAgain is a name as it stood.
func nameAgain(t token) string {
	if t.kind == tokenQuoted {
		return `"` + strings.ReplaceAll(t.text, `"`, `""`) + `"`
	}
	return t.text
}

// typeWords follow the first word of a type's name.
var typeWords = map[string]bool{"varying": true, "precision": true, "without": true, "with": true, "time": true, "zone": true}

var constantWords = map[string]bool{"NULL": true, "TRUE": true, "FALSE": true}

// readsOnly reports whether the pieces have columns, and no others than these.
func readsOnly(pieces []database.TextPiece, columns []*database.Column) bool {
	found := false
	for _, piece := range pieces {
		found = found || piece.Column != nil
		if piece.Column != nil && !slices.Contains(columns, piece.Column) {
			return false
		}
	}
	return found
}
