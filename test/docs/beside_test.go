package docs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
	"github.com/mcp-admin/mcp-admin-operator/test/docs/pages"
)

// pair is a call, and the SQL that a page shows beside it for those who know SQL.
type pair struct {
	call example
	sql  pages.Block
}

// pairs are the calls of a page with SQL beside them: it stands below a block of one call.
func pairs(t *testing.T, path string) []pair {
	t.Helper()
	var all []pair
	blocks := blocksOf(t, path)
	for i, b := range blocks {
		if !b.Beside {
			continue
		}
		if b.Language != "sql" || i == 0 || blocks[i-1].Info != "" || len(examples(blocks[i-1])) != 1 {
			t.Errorf("%s, line %d: only SQL stands beside a call, below a block with one call", path, b.Line)
			continue
		}
		all = append(all, pair{examples(blocks[i-1])[0], b})
	}
	return all
}

// question is the beginning of a question of the pages in docs/asking.
var question = regexp.MustCompile(`(?m)^\*\*(\d+)\. `)

// Each of the questions has its number, one call, and SQL beside it. docs/asking.md says which page has which.
func TestEveryQuestionHasSQLBesideItsCall(t *testing.T) {
	index, asked := read(t, "docs/asking.md"), 0
	for _, name := range []string{"groups", "related", "comparing", "texts"} {
		path, first := "docs/asking/"+name+".md", asked+1
		text := read(t, path)
		questions := question.FindAllStringSubmatch(text, -1)
		for _, match := range questions {
			if asked++; match[1] != strconv.Itoa(asked) {
				t.Errorf("question %s of %s is the %d. one", match[1], path, asked)
			}
		}
		calls := 0
		for _, b := range blocksOf(t, path) {
			calls += len(examples(b))
		}
		if beside := len(pairs(t, path)); calls != len(questions) || beside != len(questions) {
			t.Errorf("%s has %d questions, %d calls and %d with SQL beside them", path, len(questions), calls, beside)
		}
		if row := fmt.Sprintf("[%d to %d](asking/%s.md)", first, asked, name); !strings.Contains(index, row) {
			t.Errorf("docs/asking.md does not say %s", row)
		}
		if head := fmt.Sprintf("Questions %d to %d of", first, asked); !strings.Contains(text, head) {
			t.Errorf("%s does not begin with %s", path, head)
		}
	}
	if asked != 62 {
		t.Errorf("there are %d questions; docs/asking.md says sixty-two", asked)
	}
}

// The answers in a page are those of its own server (TestEveryExampleGivesTheAnswerBelowIt): so SQL and server agree, too.
func TestTheSQLBesideACallHasItsAnswer(t *testing.T) {
	if os.Getenv("MCP_TEST_POSTGRES") == "" {
		t.Skip("MCP_TEST_POSTGRES is not set: make docs-test sets it")
	}
	compared := 0
	for _, path := range documents(t) {
		all := pairs(t, path)
		if len(all) == 0 {
			continue
		}
		t.Run(path, func(t *testing.T) {
			db := loaded(t, path)
			for _, p := range all {
				compare(t, db, p)
				compared++
			}
		})
	}
	if compared == 0 {
		t.Error("no document has SQL beside a call")
	}
	done.ran += compared
}

// loaded is a database on PostgreSQL with the rows of a page's server.
func loaded(t *testing.T, path string) *pgx.Conn {
	t.Helper()
	i := slices.IndexFunc(withExamples, func(p page) bool { return p.path == path })
	if i < 0 {
		t.Fatal("the page has no server: it has no examples")
	}
	files, err := filepath.Glob(filepath.Join(manifestsOf(t, withExamples[i]), "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	uri := databasetest.URI(databasetest.PostgreSQL(t))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, document := range strings.Split(string(text), "\n---\n") {
			var scripts corev1.ConfigMap
			if err := yaml.Unmarshal([]byte(document), &scripts); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if scripts.Kind != "ConfigMap" {
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(scripts.Data)) {
				if strings.HasSuffix(name, "-sqlite.sql") { // what PostgreSQL does not have
					continue
				}
				databasetest.Execute(t, uri, scripts.Data[name])
			}
		}
	}
	return databasetest.Connect(t, uri)
}

// compare runs SQL, and holds its rows against the answer of the call.
func compare(t *testing.T, db *pgx.Conn, p pair) {
	t.Helper()
	results, err := db.PgConn().Exec(t.Context(), p.sql.Text()).ReadAll()
	if err != nil || len(results) != 1 {
		t.Errorf("line %d: %d results, want 1: %v", p.sql.Line, len(results), err)
		return
	}
	got := rowsFound(results[0])
	want, err := rowsShown(p.call.answer)
	if err != nil {
		t.Errorf("line %d: %v", p.call.line, err)
		return
	}
	switch {
	case ordered(p.sql.Text()):
	case strings.Contains(p.call.arguments, `"order_by"`):
		t.Errorf("line %d: the call has an order_by, and the SQL beside it has none", p.sql.Line)
	default:
		slices.Sort(got)
		slices.Sort(want)
	}
	if len(want) == 0 {
		t.Errorf("line %d: the answer has no rows, so that nothing is compared", p.call.line)
	}
	if !slices.Equal(got, want) {
		t.Errorf("line %d: the SQL has the rows\n%s\nand the call answers\n%s", p.sql.Line, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// ordered reports whether SQL ends in an ORDER BY, and not only an expression or a part of it has one.
func ordered(query string) bool {
	i := strings.LastIndex(strings.ToLower(query), "order by")
	return i >= 0 && strings.Count(query[i:], "(") >= strings.Count(query[i:], ")")
}

// rowsShown are the rows of an answer, each as a text.
func rowsShown(answer string) ([]string, error) {
	var shown struct {
		Results []json.RawMessage
		Rows    [][]any
	}
	decoder := json.NewDecoder(strings.NewReader(answer))
	decoder.UseNumber()
	if err := decoder.Decode(&shown); err != nil {
		return nil, err
	}
	for _, result := range shown.Results {
		row, err := members(result)
		if err != nil {
			return nil, err
		}
		shown.Rows = append(shown.Rows, row)
	}
	rows := make([]string, len(shown.Rows))
	for i, row := range shown.Rows {
		rows[i] = written(row)
	}
	return rows, nil
}

// members are the values of an object, in the order in which they stand there.
func members(object []byte) ([]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(object))
	decoder.UseNumber()
	if begin, err := decoder.Token(); err != nil || begin != json.Delim('{') {
		return nil, errors.Join(fmt.Errorf("%s is no object", object), err)
	}
	var values []any
	for decoder.More() {
		if _, err := decoder.Token(); err != nil {
			return nil, err
		}
		var value any
		if err := decoder.Decode(&value); err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, nil
}

// rowsFound are the rows of a result, each as a text as rowsShown has it.
func rowsFound(result *pgconn.Result) []string {
	rows := make([]string, len(result.Rows))
	for i, columns := range result.Rows {
		row := make([]any, len(columns))
		for j, text := range columns {
			switch kind := result.FieldDescriptions[j].DataTypeOID; {
			case text == nil:
			case kind == pgtype.BoolOID:
				row[j] = string(text) == "t"
			case kind == pgtype.TimestampOID:
				row[j] = strings.Replace(string(text), " ", "T", 1)
			default:
				row[j] = string(text)
			}
		}
		rows[i] = written(row)
	}
	return rows
}

// written is a row as a text, in which equal values look alike: numbers have six digits behind the point.
func written(row []any) string {
	texts := make([]string, len(row))
	for i, value := range row {
		switch text := fmt.Sprint(value); v := value.(type) {
		case nil:
			texts[i] = "null"
		case bool:
			texts[i] = text
		default:
			texts[i] = fmt.Sprintf("%q", v)
			if number, ok := new(big.Rat).SetString(text); ok {
				texts[i] = number.FloatString(6)
			}
		}
	}
	return strings.Join(texts, " | ")
}

func TestRowsBesideEachOtherAreComparedByValue(t *testing.T) {
	for _, c := range []struct{ answer, want string }{
		{`{"results":[{"b":"1.50","a":null},{"b":2,"a":true}]}`, `1.500000 | null; 2.000000 | true`},
		{`{"columns":["id","name"],"rows":[[1,"null"],[2,"2026-01-05T16:20:00"]]}`, `1.000000 | "null"; 2.000000 | "2026-01-05T16:20:00"`},
	} {
		rows, err := rowsShown(c.answer)
		if got := strings.Join(rows, "; "); got != c.want || err != nil {
			t.Errorf("%s: got %s, %v, want %s", c.answer, got, err, c.want)
		}
	}
	for query, want := range map[string]bool{
		"select 1": false, "select max(a) over (order by b) from c": false, "select (select a from b order by c limit 1)": false,
		"select a from b ORDER BY abs(a), b limit 3": true, "select max(a) over (order by b) from c order by 1": true,
	} {
		if got := ordered(query); got != want {
			t.Errorf("%s: ordered is %t, want %t", query, got, want)
		}
	}
}
