package engines

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// storedType is a column's type and values of it, as SQL writes them. NULL is among the values of every type.
type storedType struct {
	declared string
	values   []string
	// unequal says that the type has no equality: nothing can find a value.
	unequal bool
	// mariaDB says that MySQL itself does not have the type.
	mariaDB bool
	// since is the first major version of PostgreSQL that has the type; 0 is any. All have two digits.
	since int
	// sameRowOnly are values that a column of any type holds although they are not of its own: only the row that holds one
	// takes it back.
	sameRowOnly []string
}

// gap is a value that does not come back as it was, and the step at which it does not. A gap that is closed fails the test.
type gap struct{ declared, value, step string }

// The steps of a value's round trip.
const (
	stepUpdate = "update" // the same row is given what it shows
	stepCopy   = "copy"   // another row is given what it shows
	stepFilter = "filter" // what it shows finds it
)

// roundTrips holds every value that get_ shows against plain SQL: written back, to its own row and to another, it is the
// same to the byte, and as a filter it finds its row. All is done with pools that are empty, and then with full ones; unless
// tests are whole, only each type's first value meets empty pools, since emptying them takes long.
func roundTrips(s *suite, t *testing.T) {
	types := slices.Clone(storedTypes[s.Name])
	switch s.Product {
	case harness.MySQL:
		types = slices.DeleteFunc(types, func(d storedType) bool { return d.mariaDB })
	case harness.PostgreSQL:
		version := s.sql(t, "SELECT current_setting('server_version_num')::integer / 10000")
		types = slices.DeleteFunc(types, func(d storedType) bool { return d.since > 0 && version < fmt.Sprint(d.since) })
	}
	script, exposed := strings.Builder{}, []contract.Model{}
	script.WriteString(storedTypesNeed[s.Name])
	for i, stored := range types {
		name := fmt.Sprintf("stored_%d", i)
		fmt.Fprintf(&script, "CREATE TABLE %s (id integer PRIMARY KEY, v %s);\n", name, stored.declared)
		for n, value := range stored.all() {
			fmt.Fprintf(&script, "INSERT INTO %s (id, v) VALUES (%d, %s);\n", name, n+1, value)
		}
		fmt.Fprintf(&script, "INSERT INTO %s (id, v) VALUES (%d, NULL);\n", name, copyID)
		exposed = append(exposed, contract.Model{Name: name, Table: name, Expose: true})
	}
	database, plain := s.Open(t, script.String())
	own := &suite{s.Engine, harness.Serve(t, database, exposed, tokens()), plain}
	for i, stored := range types {
		for n, value := range stored.all() {
			for _, pools := range []string{emptyPools, "full"} {
				if pools == emptyPools && n != 1 && !harness.Whole() {
					continue
				}
				trip := roundTrip{own, fmt.Sprintf("stored_%d", i), n + 1, stored, value, pools}
				s.check(t, fmt.Sprintf("%s %.40s with %s pools", stored.declared, value, pools), trip.run)
			}
		}
	}
}

// computedColumns are the columns of a view: SQLite knows no type of them, and finds and sorts them all the same.
func computedColumns(s *suite, t *testing.T) {
	database, plain := s.Open(t, `CREATE TABLE line (id integer PRIMARY KEY, price NUMERIC(10,2), quantity integer, name text);
INSERT INTO line VALUES (1, 87, 2, 'a'), (2, 5.5, 1, 'b'), (3, 1000, 3, 'c');
CREATE VIEW priced AS SELECT id, price * quantity AS extended, concat(name, '!') AS called FROM line;`)
	own := &suite{s.Engine, harness.Serve(t, database, []contract.Model{{Name: "priced", Table: "priced", Expose: true, Key: []string{"id"}}}, tokens()), plain}
	shown, _ := json.Marshal(own.ok(t, "root", "get_priced", `{"id":1}`)["extended"])
	for arguments, ids := range map[string]string{
		`{"filters":{"extended":` + string(shown) + `}}`: "1", `{"filters":{"extended":174}}`: "1", `{"filters":{"extended__gt":5.5}}`: "1 3",
		`{"filters":{"extended__range":[5,200]}}`: "1 2", `{"order_by":["extended"]}`: "2 1 3", `{"order_by":["-extended"]}`: "3 1 2",
		`{"filters":{"called":"b!"}}`: "2", `{"order_by":["-called"]}`: "3 2 1", `{"filters":{"extended__in":[174,5.5]}}`: "1 2",
	} {
		s.check(t, arguments, func(t *testing.T) {
			if got := column(t, own.ok(t, "root", "list_priced", arguments), "id"); got != ids {
				t.Fatalf("got %s, want %s", got, ids)
			}
		})
	}
}

// copyID is the row that takes copies of the other rows' values.
const copyID = 1000

func (d storedType) all() []string { return slices.Concat([]string{"NULL"}, d.values, d.sameRowOnly) }

type roundTrip struct {
	*suite
	model string
	id    int
	storedType
	value string
	pools string
}

const emptyPools = "empty"

func (r roundTrip) run(t *testing.T) {
	r.set(t, r.id, r.value)
	call := func(tool, arguments string) (object, string) {
		if r.pools == emptyPools {
			runtime.GC() // two of them empty every pool
			runtime.GC()
		}
		text, isError := r.endpoint.Call(secret("root"), tool+r.model, arguments)
		if isError {
			return nil, text
		}
		var payload object
		if err := json.Unmarshal([]byte(text), &payload); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		return payload, ""
	}
	step := func(name, problem string) {
		known := slices.Contains(knownGaps[r.Name], gap{r.declared, r.value, name})
		switch {
		case known && problem == "":
			t.Errorf("%s: this gap is closed: take it out of the list", name)
		case !known && problem != "":
			t.Errorf("%s: %s", name, problem)
		}
	}
	text, isError := r.endpoint.Call(secret("root"), "get_"+r.model, fmt.Sprintf(`{"id":%d}`, r.id))
	var row struct{ V json.RawMessage }
	if err := json.Unmarshal([]byte(text), &row); err != nil || isError {
		t.Fatalf("%v: %s", err, text)
	}
	before := r.stored(t, r.id)
	write := func(name string, id int) {
		_, problem := call("update_", fmt.Sprintf(`{"id":%d,"data":{"v":%s}}`, id, row.V))
		if after := r.stored(t, id); problem == "" && after != before {
			problem = fmt.Sprintf("shown as %s, %s became %s", row.V, before, after)
		}
		step(name, problem)
	}
	write(stepUpdate, r.id)
	if !slices.Contains(r.sameRowOnly, r.value) {
		write(stepCopy, copyID)
	}
	r.set(t, copyID, "NULL")
	if r.unequal {
		return
	}
	page, problem := call("list_", fmt.Sprintf(`{"filters":{"v":%s}}`, row.V))
	if problem == "" && !slices.Contains(strings.Fields(column(t, page, "id")), fmt.Sprint(r.id)) {
		problem = fmt.Sprintf("%s finds %q", row.V, column(t, page, "id"))
	}
	step(stepFilter, problem)
}

// set gives a row's column a value by plain SQL.
func (r roundTrip) set(t *testing.T, id int, value string) {
	t.Helper()
	if _, err := r.plain.Exec(fmt.Sprintf("UPDATE %s SET v = %s WHERE id = %d", r.model, value, id)); err != nil {
		t.Fatal(err)
	}
}

// stored returns plain SQL's description of a value: its class, if an engine has such, and its bytes.
func (r roundTrip) stored(t *testing.T, id int) string {
	t.Helper()
	form := map[string]string{
		contract.EngineSQLite:     "typeof(v) || ' ' || CASE typeof(v) WHEN 'real' THEN printf('%!.17g', v) WHEN 'null' THEN '' ELSE hex(v) END",
		contract.EnginePostgreSQL: "v::text",
		contract.EngineMySQL:      "hex(concat('', v))",
	}[r.Name]
	return r.sql(t, fmt.Sprintf("SELECT %s FROM %s WHERE id = %d", form, r.model, id))
}
