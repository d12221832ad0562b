package sqlscan_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract/sqlscan"
)

// declared are the parameters of the tests' statements.
var declared = []string{"status", "note"}

// written writes pieces as a text in which a parameter stands as <name>.
func written(pieces []sqlscan.Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.SQL)
		if p.Parameter != "" {
			b.WriteString("<" + p.Parameter + ">")
		}
	}
	return b.String()
}

func TestStatementsAreCutAtTheirParameters(t *testing.T) {
	for _, c := range []struct{ name, statement, want string }{
		{"an update", `UPDATE book SET status = :status WHERE id IN (:ids)`, `UPDATE book SET status = <status> WHERE id IN (<ids>)`},
		{"a delete", `delete from book where id in (:ids)`, `delete from book where id in (<ids>)`},
		{"an insertion of a selection", `INSERT INTO log (book) SELECT id FROM book WHERE id IN (:ids)`, `INSERT INTO log (book) SELECT id FROM book WHERE id IN (<ids>)`},
		{"one that may be there already", `INSERT INTO log (book) SELECT id FROM book WHERE id IN (:ids) ON CONFLICT (book) DO UPDATE SET n = log.n + 1`,
			`INSERT INTO log (book) SELECT id FROM book WHERE id IN (<ids>) ON CONFLICT (book) DO UPDATE SET n = log.n + 1`},
		{"MySQL's way of that", `INSERT INTO log (book) SELECT id FROM book WHERE id IN (:ids) ON DUPLICATE KEY UPDATE n = n + 1`,
			`INSERT INTO log (book) SELECT id FROM book WHERE id IN (<ids>) ON DUPLICATE KEY UPDATE n = n + 1`},
		{"a query before it", `WITH cheap AS (SELECT id FROM book WHERE id IN (:ids)) UPDATE book SET price = 1 WHERE id IN (SELECT id FROM cheap)`,
			`WITH cheap AS (SELECT id FROM book WHERE id IN (<ids>)) UPDATE book SET price = 1 WHERE id IN (SELECT id FROM cheap)`},
		{"two of them, one with columns", `WITH RECURSIVE a (x, y) AS (SELECT 1, 2), b AS MATERIALIZED (SELECT 3) DELETE FROM t WHERE id IN (:ids)`,
			`WITH RECURSIVE a (x, y) AS (SELECT 1, 2), b AS MATERIALIZED (SELECT 3) DELETE FROM t WHERE id IN (<ids>)`},
		{"ids twice", `UPDATE t SET n = (SELECT count(*) FROM u WHERE t IN (:ids)) WHERE id IN ( :ids )`,
			`UPDATE t SET n = (SELECT count(*) FROM u WHERE t IN (<ids>)) WHERE id IN ( <ids> )`},
		{"ids in an array", `UPDATE t SET n = 1 WHERE id = ANY (ARRAY[:ids])`, `UPDATE t SET n = 1 WHERE id = ANY (ARRAY[<ids>])`},
		{"a cast", `UPDATE t SET a = :note::text, b = '1'::int WHERE id IN (:ids)`, `UPDATE t SET a = <note>::text, b = '1'::int WHERE id IN (<ids>)`},
		{"a name in a string", `UPDATE t SET a = ':note; it''s -- no /* comment' WHERE id IN (:ids)`, `UPDATE t SET a = ':note; it''s -- no /* comment' WHERE id IN (<ids>)`},
		{"names in quotes", "UPDATE \"a:note\"\"b\" SET `update` = 1 WHERE id IN (:ids)", "UPDATE \"a:note\"\"b\" SET `update` = 1 WHERE id IN (<ids>)"},
		{"escapes", `UPDATE t SET a = E'a\\:note''\n' WHERE id IN (:ids)`, `UPDATE t SET a = E'a\\:note''\n' WHERE id IN (<ids>)`},
		{"dollar quotes", `UPDATE t SET a = $x$:note $$ ' $x$ WHERE id IN (:ids)`, `UPDATE t SET a = $x$:note $$ ' $x$ WHERE id IN (<ids>)`},
		{"empty dollar tag", `UPDATE t SET a = $$:note$$ WHERE id IN (:ids)`, `UPDATE t SET a = $$:note$$ WHERE id IN (<ids>)`},
		{"comments go", "UPDATE t -- :note ;\nSET a = /* :ids ' */ 1 WHERE id IN (:ids) -- the end", "UPDATE t  \nSET a =   1 WHERE id IN (<ids>)  "},
		{"a last semicolon goes", "UPDATE t SET a = 1 WHERE id IN (:ids) ; \n-- done", "UPDATE t SET a = 1 WHERE id IN (<ids>) "},
		{"functions named like statements", `UPDATE t SET a = replace(a, 'x', 'y'), lock = truncate(n, 1) WHERE id IN (:ids)`,
			`UPDATE t SET a = replace(a, 'x', 'y'), lock = truncate(n, 1) WHERE id IN (<ids>)`},
		{"columns named like statements", `INSERT INTO t (update, delete) SELECT (update), (delete + 1) FROM t WHERE id IN (:ids)`,
			`INSERT INTO t (update, delete) SELECT (update), (delete + 1) FROM t WHERE id IN (<ids>)`},
		{"letters beyond ASCII", `UPDATE bücher SET größe = 'ß' WHERE id IN (:ids)`, `UPDATE bücher SET größe = 'ß' WHERE id IN (<ids>)`},
		{"operators", `UPDATE t SET a = a || 'x', b = b->>'k', c = c @> d WHERE id IN (:ids) AND n <> 3 AND m % 2 = 0`,
			`UPDATE t SET a = a || 'x', b = b->>'k', c = c @> d WHERE id IN (<ids>) AND n <> 3 AND m % 2 = 0`},
	} {
		t.Run(c.name, func(t *testing.T) {
			pieces, err := sqlscan.Scan(c.statement, declared)
			if err != nil {
				t.Fatal(err)
			}
			if got := written(pieces); got != c.want {
				t.Errorf("is cut as\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestPiecesHoldSQLOrAParameter(t *testing.T) {
	got, err := sqlscan.Scan(`UPDATE t SET a=:note WHERE id IN (:ids)`, declared)
	want := []sqlscan.Piece{{SQL: "UPDATE t SET a="}, {Parameter: "note"}, {SQL: " WHERE id IN ("}, {Parameter: "ids"}, {SQL: ")"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestWhatIsNotOneChangeOfRowsIsRefused(t *testing.T) {
	for _, c := range []struct{ name, statement, message string }{
		{"nothing", ``, "empty"},
		{"a comment", `-- UPDATE t SET a = 1 WHERE id IN (:ids)`, "empty"},
		{"a read", `SELECT * FROM t WHERE id IN (:ids)`, "UPDATE, DELETE or INSERT"},
		{"a read behind a query", `WITH a AS (SELECT 1) SELECT * FROM t WHERE id IN (:ids)`, "begins with SELECT"},
		{"a query named like a change", `WITH delete AS (SELECT 1) SELECT * FROM t WHERE id IN (:ids)`, "begins with SELECT"},
		{"a query alone", `WITH a AS (SELECT 1 FROM t WHERE id IN (:ids))`, "no statement follows"},
		{"an insertion of values", `INSERT INTO t VALUES (:ids)`, "SELECT"},
		{"two statements", `UPDATE t SET a = 1 WHERE id IN (:ids); DELETE FROM t`, "one statement"},
		{"two, the second behind a comment", "UPDATE t SET a = 1 WHERE id IN (:ids); /* x */ DROP TABLE t", "one statement"},
		{"two semicolons", `UPDATE t SET a = 1 WHERE id IN (:ids);;`, "one statement"},
		{"a semicolon first", `; UPDATE t SET a = 1 WHERE id IN (:ids)`, "one statement"},
		{"a change within a query", `WITH gone AS (DELETE FROM t WHERE id IN (:ids) RETURNING *) INSERT INTO u SELECT * FROM gone`, "twice"},
		{"a change within a query, behind a query", `WITH a AS (WITH b AS (SELECT 1) DELETE FROM t RETURNING *) UPDATE t SET a = 1 WHERE id IN (:ids)`, "twice"},
		{"a change of a quoted table within a query", `WITH a AS (UPDATE "t" SET a = 1 RETURNING *) UPDATE t SET a = 1 WHERE id IN (:ids)`, "twice"},
		{"truncate", `TRUNCATE t`, "begins with TRUNCATE"},
		{"drop", `DROP TABLE t`, "begins with DROP"},
		{"create", `CREATE TABLE t AS SELECT :ids`, "begins with CREATE"},
		{"alter", `ALTER TABLE t ADD a int`, "begins with ALTER"},
		{"lock", `LOCK TABLE t`, "begins with LOCK"},
		{"begin", `BEGIN`, "begins with BEGIN"},
		{"commit", `COMMIT`, "begins with COMMIT"},
		{"copy", `COPY t TO PROGRAM 'sh'`, "begins with COPY"},
		{"call", `CALL p(:ids)`, "begins with CALL"},
		{"do", `DO $$ BEGIN DELETE FROM t; END $$`, "begins with DO"},
		{"set", `SET search_path = x`, "begins with SET"},
		{"grant", `GRANT ALL ON t TO public`, "begins with GRANT"},
		{"execute", `EXECUTE p (:ids)`, "begins with EXECUTE"},
		{"prepare", `PREPARE p AS DELETE FROM t WHERE id IN (:ids)`, "begins with PREPARE"},
		{"explain", `EXPLAIN ANALYZE DELETE FROM t WHERE id IN (:ids)`, "begins with EXPLAIN"},
		{"attach", `ATTACH 'x' AS y`, "begins with ATTACH"},
		{"pragma", `PRAGMA writable_schema = 1`, "begins with PRAGMA"},
		{"vacuum", `VACUUM INTO 'x'`, "begins with VACUUM"},
		{"replace", `REPLACE INTO t SELECT * FROM u WHERE id IN (:ids)`, "begins with REPLACE"},
		{"merge", `MERGE INTO t USING u ON t.id = u.id WHEN MATCHED THEN DELETE`, "begins with MERGE"},
		{"load", `LOAD DATA INFILE 'x' INTO TABLE t`, "begins with LOAD"},
		{"insert or replace", `INSERT OR REPLACE INTO t SELECT * FROM u WHERE id IN (:ids)`, "OR"},
		{"update or replace", `UPDATE OR REPLACE t SET a = 1 WHERE id IN (:ids)`, "OR"},
		{"a file", `INSERT INTO t SELECT * FROM u WHERE id IN (:ids) INTO OUTFILE '/tmp/x'`, "OUTFILE"},
		{"a quoted verb", `"UPDATE" t SET a = 1 WHERE id IN (:ids)`, "begins with"},
		{"brackets around it", `(UPDATE t SET a = 1 WHERE id IN (:ids))`, "begins with ("},

		{"no ids", `UPDATE t SET a = 1`, ":ids"},
		{"ids in a string", `UPDATE t SET a = ':ids'`, ":ids"},
		{"ids in a comment", `UPDATE t SET a = 1 /* (:ids) */`, ":ids"},
		{"ids in dollar quotes", `UPDATE t SET a = $$(:ids)$$`, ":ids"},
		{"ids that are a cast", `UPDATE t SET a = (1::ids)`, ":ids"},
		{"ids without brackets", `UPDATE t SET a = 1 WHERE id = :ids`, "IN (:ids)"},
		{"ids that are not alone", `UPDATE t SET a = 1 WHERE id IN (0, :ids)`, "IN (:ids)"},
		{"ids in other letters", `UPDATE t SET a = 1 WHERE id IN (:IDS)`, ":IDS"},
		{"an unknown parameter", `UPDATE t SET a = :other WHERE id IN (:ids)`, ":other, which is not a parameter; the parameters are :ids, :status, :note"},
		{"a longer name", `UPDATE t SET a = :notes WHERE id IN (:ids)`, ":notes"},
		{"a name that goes on in another alphabet", `UPDATE t SET a = :noteß WHERE id IN (:ids)`, ":noteß"},

		{"a question mark", `UPDATE t SET a = ? WHERE id IN (:ids)`, ":name"},
		{"a numbered parameter", `UPDATE t SET a = $1 WHERE id IN (:ids)`, ":name"},
		{"a dollar parameter", `UPDATE t SET a = $note WHERE id IN (:ids)`, ":name"},
		{"a colon and a number", `UPDATE t SET a = :1 WHERE id IN (:ids)`, ":name"},
		{"an at parameter", `UPDATE t SET a = @note WHERE id IN (:ids)`, "variables"},
		{"a system variable", `UPDATE t SET a = @@version WHERE id IN (:ids)`, "variables"},
		{"a quoted variable", "UPDATE t SET a = @`x` WHERE id IN (:ids)", "variables"},
		{"an assignment", `UPDATE t SET a = b := 1 WHERE id IN (:ids)`, ":="},
		{"two names at once", `UPDATE t SET a = :note:status WHERE id IN (:ids)`, "blank behind :note"},
		{"three colons", `UPDATE t SET a = b:::note WHERE id IN (:ids)`, ":::"},

		{"a backslash in a string", `UPDATE t SET a = 'x\' WHERE id IN (:ids) -- '`, "backslash"},
		{"a backslash in a name", `UPDATE t SET a = "x\" WHERE id IN (:ids)`, "backslash"},
		{"a backslash outside", `UPDATE t SET a = \N WHERE id IN (:ids)`, "backslash"},
		{"an escaped quote", `UPDATE t SET a = E'x\' WHERE id IN (:ids)'`, `''`},
		{"E that is the end of a name", `UPDATE t SET a = xE'\\' WHERE id IN (:ids)`, "backslash"},
		{"a string without an end", `UPDATE t SET a = 'x WHERE id IN (:ids)`, "ends"},
		{"an E string without an end", `UPDATE t SET a = E'x\`, "does not end"},
		{"a name without an end", `UPDATE "t SET a = 1 WHERE id IN (:ids)`, "ends"},
		{"dollar quotes without an end", `UPDATE t SET a = $x$ WHERE id IN (:ids) $y$`, "$x$"},
		{"a dollar within a name begins no quotes", `UPDATE t SET a = b$x$ ; DROP TABLE t; WHERE id IN (:ids)`, "one statement"},
		{"a comment without an end", `UPDATE t SET a = 1 WHERE id IN (:ids) /* x`, "*/"},
		{"a comment in a comment", `UPDATE t SET a = 1 /* /* */ WHERE id IN (:ids) */`, "within a comment"},
		{"MySQL's executable comment", `UPDATE t SET a = 1 /*! , b = 2 */ WHERE id IN (:ids)`, "/*!"},
		{"MariaDB's executable comment", `UPDATE t SET a = 1 /*M! , b = 2 */ WHERE id IN (:ids)`, "/*!"},
		{"two minus signs", `UPDATE t SET a = 5--1 WHERE id IN (:ids)`, "blank behind --"},
		{"a carriage return in a comment", "UPDATE t SET a = 1 -- x\rWHERE id IN (:ids)", "carriage return"},
		{"MySQL's comment", "UPDATE t SET a = 1 # x\n WHERE id IN (:ids)", "#"},
		{"something in backquotes", "UPDATE t SET a = `; DROP TABLE t; ` WHERE id IN (:ids)", "letters"},
		{"nothing in backquotes", "UPDATE t SET a = `` WHERE id IN (:ids)", "letters"},
		{"a bracket quoted within brackets", `UPDATE t SET a = ARRAY[']'] WHERE id IN (:ids)`, "]"},
		{"a bracket too many", `UPDATE t SET a = 1) WHERE id IN (:ids)`, ") too many"},
		{"a bracket too few", `UPDATE t SET a = (1 WHERE id IN (:ids)`, "lacks a )"},
		{"brackets that do not match", `UPDATE t SET a = (1] WHERE id IN (:ids)`, "too many"},
		{"braces", `UPDATE t SET a = {d '2026-01-01'} WHERE id IN (:ids)`, "braces"},
		{"U+0000", "UPDATE t SET a = '\x00' WHERE id IN (:ids)", "control"},
		{"no UTF-8", "UPDATE t SET a = '\xff' WHERE id IN (:ids)", "UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			pieces, err := sqlscan.Scan(c.statement, declared)
			if err == nil {
				t.Fatalf("is taken, as %s", written(pieces))
			}
			if !strings.Contains(err.Error(), c.message) {
				t.Errorf("the message %q does not say %q", err, c.message)
			}
		})
	}
}

// FuzzScan looks, in whatever is taken, for what must never be there: a statement that ends before its end, a place
// for a value that is nobody's, a comment.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		`UPDATE t SET a = :note WHERE id IN (:ids);`, `WITH a AS (SELECT 1) DELETE FROM t WHERE id IN (:ids)`,
		`INSERT INTO t SELECT E'\\', $a$ $a$, "x", 'y''z' FROM u WHERE id IN (:ids) -- x`, "UPDATE `t` SET a = b::int WHERE id = ANY (ARRAY[:ids])",
		`/* x */ UPDATE t SET a = 1 WHERE id IN (:ids) /* ' */`, `UPDATE t SET a = '` + "\\" + `' WHERE id IN (:ids)`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, statement string) {
		pieces, err := sqlscan.Scan(statement, declared)
		if err != nil {
			if len(pieces) > 0 {
				t.Errorf("%q is refused, and cut all the same", statement)
			}
			return
		}
		ids := 0
		var rest strings.Builder
		for _, p := range pieces {
			if (p.SQL == "") == (p.Parameter == "") {
				t.Errorf("%q has the piece %+v", statement, p)
			}
			if p.Parameter == sqlscan.IDs {
				ids++
			}
			rest.WriteString(p.SQL)
			if p.Parameter != "" {
				rest.WriteString(":" + p.Parameter)
			}
		}
		if ids == 0 {
			t.Errorf("%q is taken without ids", statement)
		}
		bare := withoutQuoted(rest.String())
		for _, never := range []string{";", "?", "#", "--", "/*", "\\", "{", "}"} {
			if strings.Contains(bare, never) {
				t.Errorf("%q is taken, and holds %s outside of quotes: %s", statement, never, bare)
			}
		}
		again, err := sqlscan.Scan(rest.String(), declared)
		if err != nil || written(again) != written(pieces) {
			t.Errorf("%q is taken as %s, which is then taken as %s (%v)", statement, written(pieces), written(again), err)
		}
	})
}

// withoutQuoted takes out what is quoted, in the way that all engines agree on; it knows nothing of what is under test.
func withoutQuoted(sql string) string {
	var out strings.Builder
	for i := 0; i < len(sql); {
		switch c := sql[i]; {
		case c == '\'' || c == '"' || c == '`':
			end := strings.IndexByte(sql[i+1:], c)
			if end < 0 {
				return out.String() + sql[i:]
			}
			out.WriteByte('q')
			i += end + 2 // a doubled quote begins the next one
		case c == '$' && (i == 0 || !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$", rune(sql[i-1])) && sql[i-1] < 0x80):
			tag := sql[i : i+2+strings.IndexByte(sql[i+1:], '$')]
			end := strings.Index(sql[i+len(tag):], tag)
			out.WriteByte('q')
			i += 2*len(tag) + end
		default:
			out.WriteByte(c)
			i++
		}
	}
	return out.String()
}
