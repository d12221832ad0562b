package engines

import (
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// vectorSQL is how an engine makes vectors and measures them, for the script and for plain SQL.
type vectorSQL struct {
	prepare string
	// literal is a vector of a list of numbers, index an index of the column place of a table.
	literal func(list string) string
	index   func(table, kind string) string
	// distances are by the tables, which have an index of that distance, but for plain; each compares a column with a vector.
	distances map[string]func(column, vector string) string
}

var pgvectorSQL = vectorSQL{
	prepare: "create extension vector;\n",
	literal: func(list string) string { return "'" + list + "'" },
	index: func(table, kind string) string {
		return fmt.Sprintf("create index on %s using hnsw (place %s);\n", table, map[string]string{"euclid": "vector_l2_ops", "inner_p": "vector_ip_ops", "taxi": "vector_l1_ops", "angle": "vector_cosine_ops"}[kind])
	},
	distances: map[string]func(column, vector string) string{
		"euclid": between("(", "<->", ") + 0"), "inner_p": between("(", "<#>", ") + 0"), "taxi": between("(", "<+>", ") + 0"), "angle": between("(", "<=>", ") + 0"), "plain": between("(", "<=>", ") + 0"),
	},
}

var mariaVectorSQL = vectorSQL{
	literal: func(list string) string { return "vec_fromtext('" + list + "')" },
	index: func(table, kind string) string {
		options := map[string]string{"euclid": "", "angle": "m=8 distance=COSINE"}[kind]
		return fmt.Sprintf("alter table %s modify place vector(%s) not null comment 'a `place`, VECTOR KEY (near)', add vector index near (place) %s;\n", table, dimensionsOf[table], options)
	},
	distances: map[string]func(column, vector string) string{
		"euclid": between("vec_distance_euclidean(", ",", ") + 0"), "angle": between("vec_distance_cosine(", ",", ") + 0"), "plain": between("vec_distance_cosine(", ",", ") + 0"),
	},
}

var dimensionsOf = map[string]string{"euclid": "3", "angle": "3", "wide": "100"}

func between(before, middle, after string) func(a, b string) string {
	return func(a, b string) string { return before + a + " " + middle + " " + b + after }
}

// places are the names of the tables. A name says what its table is for: an index of a distance, no index, or a column that is not shown.
func (v vectorSQL) places() []string {
	return slices.Sorted(maps.Keys(v.distances))
}

// script makes tables of vectors.
func (v vectorSQL) script(random *rand.Rand) string {
	var b strings.Builder
	b.WriteString(v.prepare)
	for _, table := range append(v.places(), "hidden", "masked") {
		fmt.Fprintf(&b, "create table %s (id int primary key, name varchar(20), region varchar(20), place vector(3));\ninsert into %[1]s values ", table)
		for id := 1; id <= 300; id++ {
			place := v.literal(fmt.Sprintf("[%.3f,%.3f,%.3f]", random.Float64()-0.5, random.Float64()-0.5, random.Float64()+0.1))
			if table == "plain" && id%50 == 0 { // an index of MariaDB's takes no NULL
				place = "null"
			}
			if id > 1 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "(%d, 'n%d', '%s', %s)", id, id%7, []string{"emea", "apac", "amer"}[id%3], place)
		}
		b.WriteString(";\n")
		if v.distances[table] != nil && table != "plain" {
			b.WriteString(v.index(table, table))
		}
	}
	v.addOdd(&b)
	return b.String()
}

// addOdd makes a table of two columns, one of vectors of zeros, which have no direction, and one of long vectors that differ by less than
// six digits show.
func (v vectorSQL) addOdd(b *strings.Builder) {
	long := strings.Repeat("0.5,", 99)
	fmt.Fprintf(b, `create table two (id int primary key, one vector(2), other %s, needed vector(2) not null);
insert into two values (1, %[2]s, %[3]s, %[4]s), (2, %[5]s, %[6]s, %[4]s), (3, %[7]s, null, %[4]s);
create table zeros (id int primary key, place vector(2));
insert into zeros values (1, %[4]s), (2, %[2]s), (3, %[8]s), (4, %[4]s);
create table wide (id int primary key, place vector(100));
insert into wide values (1, %[9]s), (2, %[10]s), (3, %[9]s);
`, v.otherType(), v.literal("[1,0]"), v.literal("[1,0,0]"), v.literal("[0,0]"), v.literal("[0,1]"), v.literal("[0,1,0]"), v.literal("[1,1]"), v.literal("[-1,0]"),
		v.literal("["+long+"0.5]"), v.literal("["+long+"0.50000006]"))
	b.WriteString(v.index("wide", "euclid"))
	if v.prepare != "" {
		b.WriteString("alter table two add free vector;\n")
	}
}

// otherType is a second type of vectors, if there is one.
func (v vectorSQL) otherType() string {
	if v.prepare != "" {
		return "halfvec(3)"
	}
	return "vector(3)"
}

func TestSimilarRows(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			if engine.Product != harness.PostgreSQL && engine.Product != harness.MariaDB {
				t.Skip(engine.Product + " has no distances of vectors")
			}
			t.Parallel()
			v := vectorsOf(t, engine)
			random := rand.New(rand.NewPCG(harness.Seed(t), 1))
			opened, plain := engine.Open(t, v.script(random))
			noteVersion(t, engine, plain)
			s := &suite{engine, harness.Serve(t, opened, v.models(), tokens(), withAudit), plain}
			for _, m := range s.endpoint.Status().Models {
				if !m.Served() {
					t.Fatalf("%s: %s %s", m.Name, m.Reason, m.Message)
				}
			}
			s.check(t, "the nearest first", func(t *testing.T) { s.nearest(t, random, v) })
			s.check(t, "odd vectors", s.oddVectors)
			s.check(t, "vectors are not shown", s.vectorsHidden)
			s.check(t, "vectors are neither written nor kept", s.vectorsUnwritten)
			s.check(t, "errors", s.vectorErrors)
		})
	}
}

// vectorsOf skips the test if the server has no vectors.
func vectorsOf(t *testing.T, engine harness.Engine) vectorSQL {
	t.Helper()
	_, plain := engine.Open(t, "")
	v, query := pgvectorSQL, "select exists (select from pg_available_extensions where name = 'vector')"
	if engine.Product == harness.MariaDB {
		v, query = mariaVectorSQL, "select count(*) > 0 from information_schema.system_variables where variable_name = 'mhnsw_default_distance'"
	}
	var there bool
	if err := plain.QueryRow(query).Scan(&there); err != nil {
		t.Fatal(err)
	}
	if !there {
		t.Skipf("NOT TESTED: this %s has no vectors; go run ./test/databases run -further has one that has", engine.Product)
	}
	return v
}

// TestVectorsWithoutDistance has vectors that are not shown, and by which no list can be ordered: MySQL has no function for it, and
// MariaDB does not tell everybody by which distance an index is.
func TestVectorsWithoutDistance(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			script, note := "create table place (id int primary key, name varchar(20), place vector(3));\ninsert into place values (1, 'here', string_to_vector('[1,2,3]'));\n",
				"Rows leave out the vectors of place, and no list is ordered by how near they are: MySQL's community server has no function for a distance."
			switch engine.Product {
			case harness.MySQL:
				noVectorsBefore9(t, engine)
			case harness.MariaDB:
				vectorsOf(t, engine)
				script = "create table place (id int primary key, name varchar(20), place vector(3) not null, vector index (place));\ninsert into place values (1, 'here', vec_fromtext('[1,2,3]'));\n"
				note = "Rows leave out the vectors of place, and no list is ordered by how near they are: the definition of the table tells the distance of the index, and the database user may not see it; grant SELECT on the whole table."
			default:
				t.Skip("MySQL and MariaDB alone have vectors without a distance")
			}
			t.Parallel()
			opened, plain := engine.Open(t, script)
			noteVersion(t, engine, plain)
			if engine.Product == harness.MariaDB {
				opened = asReaderOfColumns(t, opened, plain)
			}
			s := &suite{engine, harness.Serve(t, opened, []contract.Model{{Name: "place", Table: "place", Expose: true}}, tokens()), plain}
			s.check(t, "vectors are not shown", func(t *testing.T) {
				want(t, s.ok(t, "root", "list_place", `{}`), `[{"id": 1, "name": "here"}]`, "results")
				want(t, s.fails(t, "root", "list_place", `{"similar_to": {"id": 1}}`, "invalid_argument"), `"similar_to is not for place, which has no vectors; leave it out"`, "error")
				if described := fmt.Sprint(s.ok(t, "root", "describe_place", `{}`)); strings.Contains(described, "similar_to") || strings.Contains(described, "vector") {
					t.Errorf("describe says %s", described)
				}
				if notes := s.endpoint.Status().Models[0].Notes; !slices.Contains(notes, note) {
					t.Errorf("the notes are %q, want %q among them", notes, note)
				}
			})
		})
	}
}

func noVectorsBefore9(t *testing.T, engine harness.Engine) {
	t.Helper()
	_, plain := engine.Open(t, "")
	var version string
	if err := plain.QueryRow("select version()").Scan(&version); err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(version, "8.") {
		t.Skip("NOT TESTED: MySQL " + version + " has no vectors; those of 9 have")
	}
}

// asReaderOfColumns is a user who may read each column of the table place, and not the table's definition.
func asReaderOfColumns(t *testing.T, opened harness.Database, plain *sql.DB) harness.Database {
	t.Helper()
	c, err := contract.ResolveConnection(opened.Connection, "")
	if err != nil {
		t.Fatal(err)
	}
	owner := c
	c.User, c.Password = c.Database+"_u", "hunter2"
	user := c.User + "@'127.0.0.1'"
	for _, statement := range []string{"create user " + user + " identified by 'hunter2'", "grant select (id, name, place) on place to " + user} {
		if _, err := plain.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { databasetest.ExecuteMySQL(t, owner, "drop user "+user) })
	return harness.Database{Connection: map[string][]byte{"uri": []byte(databasetest.URI(c))}}
}

func (v vectorSQL) models() []contract.Model {
	own := []contract.RowPolicy{
		{Name: "own-region", Groups: []string{"clerks"}, Filters: []contract.Filter{{Field: "region", TokenAttribute: "region"}}},
		{Name: "staff", Groups: []string{"staff"}, AllRows: true},
	}
	models := []contract.Model{
		{Name: "hidden", Table: "hidden", Expose: true, Exclude: []string{"place"}},
		{Name: "masked", Table: "masked", Expose: true, Masked: []contract.MaskedField{{Name: "place"}}},
		{Name: "two", Table: "two", Expose: true, Exclude: []string{"needed"}}, {Name: "zeros", Table: "zeros", Expose: true}, {Name: "wide", Table: "wide", Expose: true},
	}
	for _, table := range v.places() {
		m := contract.Model{Name: table, Table: table, Expose: true}
		if table == "euclid" {
			m.RowPolicies = own
		}
		models = append(models, m)
	}
	return models
}

// nearest compares lists of similar rows with plain SQL that may use no index.
func (s *suite) nearest(t *testing.T, random *rand.Rand, v vectorSQL) {
	for _, table := range v.places() {
		for range 5 {
			id := 1 + random.IntN(49)
			distance := v.distances[table]("place", fmt.Sprintf("(select place from %s where id = %d)", table, id))
			for _, more := range []struct{ arguments, where string }{
				{"", "true"}, {`, "filters": {"region": "amer"}`, "region = 'amer'"}, {`, "filters": {"name": "n3", "region__ne": "amer"}`, "name = 'n3' and region <> 'amer'"},
			} {
				list := s.ok(t, "root", "list_"+table, fmt.Sprintf(`{"similar_to": {"id": %d}, "limit": 60, "fields": ["id"], "total": "exact"%s}`, id, more.arguments))
				oracle := s.sql(t, fmt.Sprintf("select id from %s where place is not null and %s order by %s, id limit 60", table, more.where, distance))
				if got := column(t, list, "id"); got != oracle {
					t.Fatalf("%s, similar to %d%s:\ngot  %s\nwant %s", table, id, more.arguments, got, oracle)
				}
				want(t, list, s.sql(t, fmt.Sprintf("select count(*) from %s where place is not null and %s", table, more.where)), "total_count")
			}
		}
	}
	got := column(t, s.ok(t, "clerk", "list_euclid", `{"similar_to": {"vector": [0.1, 0.2, 0.3]}, "limit": 50, "offset": 50, "fields": ["id"]}`), "id")
	if oracle := s.sql(t, "select id from euclid where region = 'emea' order by "+v.distances["euclid"]("place", v.literal("[0.1,0.2,0.3]"))+", id limit 50 offset 50"); got != oracle {
		t.Errorf("a clerk's second page is %s, want %s", got, oracle)
	}
	first := s.ok(t, "root", "list_euclid", `{"similar_to": {"id": 7}, "top": {"per": ["region"], "n": 1}, "fields": ["id"]}`)
	distance := v.distances["euclid"]("place", "(select place from euclid where id = 7)")
	if oracle := s.sql(t, "select id from (select id, place, row_number() over (partition by region order by "+distance+", id) as n from euclid) x where n = 1 order by "+distance+", id"); column(t, first, "id") != oracle {
		t.Errorf("the nearest of each region are %s, want %s", column(t, first, "id"), oracle)
	}
}

func (s *suite) oddVectors(t *testing.T) {
	for _, c := range []struct{ model, arguments, want string }{
		{"two", `{"id": 1, "field": "one"}`, "1 3 2"}, {"two", `{"id": 1, "field": "other"}`, "1 2"}, {"two", `{"vector": [0, 1], "field": "one"}`, "2 3 1"},
		{"two", `{"vector": [1, 1], "field": "one"}`, "3 1 2"}, // at equal distances the key decides
		{"zeros", `{"vector": [1, 0]}`, "2 3 1 4"}, {"zeros", `{"id": 4}`, "1 2 3 4"},
		{"wide", `{"id": 2}`, "2 1 3"}, {"wide", `{"id": 3}`, "1 3 2"},
	} {
		if got := column(t, s.ok(t, "root", "list_"+c.model, `{"similar_to": `+c.arguments+`}`), "id"); got != c.want {
			t.Errorf("%s similar to %s: got %s, want %s", c.model, c.arguments, got, c.want)
		}
	}
}

func (s *suite) vectorsHidden(t *testing.T) {
	for _, model := range []string{"euclid", "hidden", "masked"} {
		row := s.ok(t, "root", "get_"+model, `{"id": 1}`)
		if _, shown := row["place"]; shown {
			t.Errorf("%s shows a vector: %v", model, row)
		}
		described := s.ok(t, "root", "describe_"+model, `{}`)
		if says := fmt.Sprint(at(t, described, "asking")); strings.Contains(says, "place (3 numbers") != (model == "euclid") {
			t.Errorf("%s: describe says %s", model, says)
		}
		if fields := fmt.Sprint(described["fields"]); strings.Contains(fields, "place") {
			t.Errorf("%s: a vector is among the fields: %s", model, fields)
		}
		s.fails(t, "root", "list_"+model, `{"filters": {"place__isnull": true}}`, "invalid_argument")
		s.fails(t, "root", "list_"+model, `{"order_by": ["place"]}`, "invalid_argument")
		s.fails(t, "root", "aggregate_"+model, `{"group_by": ["place"]}`, "invalid_argument")
		s.fails(t, "root", "aggregate_"+model, `{"measures": [{"count_distinct": "place"}]}`, "invalid_argument")
	}
	for _, m := range s.endpoint.Status().Models {
		const note = "Rows leave out the vectors of free, and no list is ordered by how near they are: the type of the column must say how many numbers each vector has: vector(3)."
		if m.Name == "two" && s.Product == harness.PostgreSQL && !slices.Contains(m.Notes, note) {
			t.Errorf("the notes of two are %q, want %q among them", m.Notes, note)
		}
	}
	s.fails(t, "root", "list_hidden", `{"similar_to": {"id": 1}}`, "invalid_argument")
	s.fails(t, "root", "list_masked", `{"similar_to": {"id": 1}}`, "invalid_argument")
}

// vectorsUnwritten changes and removes a row of a table with an index of vectors: no call sets a vector, and no journal has one.
func (s *suite) vectorsUnwritten(t *testing.T) {
	before := s.sql(t, "select place from angle where id = 1")
	s.failsOn(t, "root", "update_angle", `{"id": 1, "data": {"place": "[1,2,3]"}}`, "place")
	s.failsOn(t, "root", "create_plain", `{"data": {"id": 1000, "place": [1, 2, 3]}}`, "place")
	s.ok(t, "root", "update_angle", `{"id": 1, "data": {"name": "changed"}}`)
	s.ok(t, "root", "delete_angle", `{"id": 2}`)
	s.holds(t, "select name from angle where id < 3", "changed")
	s.holds(t, "select place from angle where id = 1", before)
	if history := fmt.Sprint(s.ok(t, "root", "history_angle", `{"id": 1}`)); !strings.Contains(history, "changed") || strings.Contains(history, "place") {
		t.Errorf("the history of a row with a vector is %s", history)
	}
	journal := s.sql(t, "select changes from mcp_admin_log where table_name = 'angle'")
	if !strings.Contains(journal, "changed") || strings.Contains(journal, "place") {
		t.Errorf("the journal has %s", journal)
	}
}

func (s *suite) vectorErrors(t *testing.T) {
	// A row that the token does not see is not there.
	absent := s.fails(t, "clerk", "list_euclid", `{"similar_to": {"id": 100000}}`, "not_found")
	unseen := s.fails(t, "clerk", "list_euclid", `{"similar_to": {"id": 1}}`, "not_found")
	if absent["error"] != unseen["error"] {
		t.Errorf("a row that is not seen differs from one that is not there: %v, %v", unseen, absent)
	}
	const form, numbers = `similar_to must be {"id": id} of a row`, "similar_to: vector must be 3 numbers"
	for _, c := range []struct{ model, arguments, want string }{
		{"euclid", `{"similar_to": {}}`, form}, {"euclid", `{"similar_to": 5}`, form}, {"euclid", `{"similar_to": {"id": 1, "more": 1}}`, form},
		{"euclid", `{"similar_to": {"id": 1, "vector": [1, 2, 3]}}`, form},
		{"euclid", `{"similar_to": {"vector": [1, 2]}}`, numbers}, {"euclid", `{"similar_to": {"vector": [1, 2, "x"]}}`, numbers},
		{"euclid", `{"similar_to": {"vector": "[1,2,3]"}}`, numbers}, {"euclid", `{"similar_to": {"vector": [1, null, 3]}}`, numbers},
		{"euclid", `{"similar_to": {"vector": null}}`, numbers}, {"euclid", `{"similar_to": {"vector": [1, "NaN", 3]}}`, numbers},
		{"euclid", `{"similar_to": {"vector": [1, 2, 1e300]}}`, "similar_to: the numbers of a vector must be from -65504 to 65504"},
		{"euclid", `{"similar_to": {"id": 1, "field": "name"}}`, "similar_to: field must be one of "},
		{"plain", `{"similar_to": {"id": 50}}`, "similar_to: the row has no vector in "},
		{"euclid", `{"similar_to": {"id": 1}, "order_by": ["id"]}`, "order_by: similar_to is the order; send one of the two"},
		{"two", `{"similar_to": {"id": 1}}`, "similar_to: say which vectors are meant, with field: "},
		{"two", `{"similar_to": {"id": 1, "field": "needed"}}`, "similar_to: field must be one of "},
		{"two", `{"similar_to": {"id": 1, "field": "free"}}`, "similar_to: field must be one of one, other"},
	} {
		if told := s.fails(t, "root", "list_"+c.model, c.arguments, "invalid_argument")["error"]; !strings.HasPrefix(fmt.Sprint(told), c.want) {
			t.Errorf("%s: got %v, want it to begin with %s", c.arguments, told, c.want)
		}
	}
}
