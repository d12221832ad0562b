package oracle

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// game is calls in one world.
type game struct {
	*testing.T
	*world
	endpoint *harness.Endpoint
	plain    *sql.Conn
	where    string
	// made is how many rows were made by calls, wrong how many answers were.
	made, wrong int
}

// connect is a plain session in UTC.
func connect(t *testing.T, engine harness.Engine, plain *sql.DB) *sql.Conn {
	t.Helper()
	conn, err := plain.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	set := map[string]string{harness.PostgreSQL: "set time zone 'UTC'", harness.DuckDB.Product: "set time zone 'UTC'", harness.MariaDB: "set time_zone = '+00:00'",
		harness.MySQL: "set time_zone = '+00:00', sql_mode = replace(@@sql_mode, 'ONLY_FULL_GROUP_BY', '')"}[engine.Product]
	if set != "" {
		if _, err := conn.ExecContext(context.Background(), set); err != nil {
			t.Fatal(err)
		}
	}
	return conn
}

// output is an expression of a statement, and what its values are.
type output struct {
	expression string
	kind       kind
	// exactly has SQLite's numbers added up here: its own sum is a float, or overflows.
	exactly bool
}

// asText is the expression so that its value comes as text, but for SQLite's numbers.
func (w *world) asText(o output) string {
	switch {
	case w.engine.Product == harness.SQLite && o.exactly:
		return concatenated(o.expression)
	case w.engine.Product == harness.SQLite:
		return "+(" + o.expression + ")" // no declared type, so the driver changes nothing
	case w.engine.Product == harness.PostgreSQL && o.kind == aMoment:
		return "to_char(" + o.expression + ", 'YYYY-MM-DD HH24:MI:SS.US')"
	case w.engine.Product == harness.PostgreSQL:
		return "(" + o.expression + ")::text"
	}
	return "cast(" + o.expression + " as char)"
}

// select runs a statement that has such outputs, and returns its rows.
func (g *game) rows(statement string, outputs ...output) [][]value {
	g.Helper()
	rows, err := g.plain.QueryContext(context.Background(), g.meant(statement))
	if err != nil {
		g.Fatalf("%s\n%s: %v", g.where, statement, err)
	}
	defer rows.Close()
	var all [][]value
	for rows.Next() {
		raw, into := make([]any, len(outputs)), make([]any, len(outputs))
		for i := range raw {
			into[i] = &raw[i]
		}
		if err := rows.Scan(into...); err != nil {
			g.Fatal(err)
		}
		row := make([]value, len(outputs))
		for i, o := range outputs {
			row[i] = o.value(raw[i])
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		g.Fatalf("%s\n%s: %v", g.where, statement, err)
	}
	return all
}

// value is the driver's value of an output.
func (o output) value(raw any) value {
	var text string
	switch raw := raw.(type) {
	case nil:
		return value{null: true}
	case []byte:
		text = string(raw)
	case float64:
		text = shortest(raw)
	default:
		text = fmt.Sprint(raw)
	}
	if o.exactly {
		text = sum(strings.Fields(text))
	}
	return value{text: canonical(o.kind, text)}
}

// sum adds decimals up.
func sum(numbers []string) string {
	total := new(big.Rat)
	for _, text := range numbers {
		n, _ := new(big.Rat).SetString(canonical(aDecimal, shortestOf(text)))
		total.Add(total, n)
	}
	return total.FloatString(40)
}

// concatenated has SQLite's numbers in one text. SQLite shows floats with 17 digits, which are now and then those of the float beside it.
func concatenated(expression string) string {
	return fmt.Sprintf("group_concat(case typeof(%s) when 'real' then printf('%%!.20g', %[1]s) else %[1]s end, ' ')", expression)
}

// shortestOf is an integer unchanged, and a stored float as its shortest decimal: group_concat shows more digits.
func shortestOf(text string) string {
	if !strings.ContainsAny(text, ".e") {
		return text
	}
	f, _ := new(big.Float).SetString(text)
	nearest, _ := f.Float64()
	return shortest(nearest)
}

// call calls a tool with arguments.
func (g *game) call(tool string, arguments map[string]any) (answer map[string]any, isError bool, asked string) {
	g.Helper()
	text, err := json.Marshal(arguments)
	if err != nil {
		g.Fatal(err)
	}
	asked = tool + " " + string(text)
	answerText, isError := g.endpoint.Call(root, tool, string(text))
	decoder := json.NewDecoder(strings.NewReader(answerText))
	decoder.UseNumber()
	if err := decoder.Decode(&answer); err != nil {
		g.Fatalf("%s\n%s\n%v in %s", g.where, asked, err, answerText)
	}
	done.calls++
	return answer, isError, asked
}
