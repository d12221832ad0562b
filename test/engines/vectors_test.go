package engines

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// vectorScript makes tables of vectors: with an index for each distance, without one, and with two columns.
func vectorScript(random *rand.Rand) string {
	var b strings.Builder
	b.WriteString("create extension vector;\n")
	vector := func() string {
		return fmt.Sprintf("'[%.3f,%.3f,%.3f]'", random.Float64()-0.5, random.Float64()-0.5, random.Float64()+0.1)
	}
	for _, table := range []string{"euclid", "inner_p", "taxi", "plain", "hidden", "masked"} {
		fmt.Fprintf(&b, "create table %s (id int primary key, name text, region text, place vector(3));\n", table)
		for id := 1; id <= 300; id++ {
			place := vector()
			if id%50 == 0 {
				place = "null"
			}
			fmt.Fprintf(&b, "insert into %s values (%d, 'n%d', '%s', %s);\n", table, id, id%7, []string{"emea", "apac", "amer"}[id%3], place)
		}
	}
	b.WriteString(`create index on euclid using hnsw (place vector_l2_ops); create index on inner_p using hnsw (place vector_ip_ops);
create index on taxi using hnsw (place vector_l1_ops);
create table two (id int primary key, one vector(2), other halfvec(3), free vector, needed vector(2) not null);
insert into two values (1, '[1,0]', '[1,0,0]', '[1]', '[0,0]'), (2, '[0,1]', '[0,1,0]', null, '[0,0]'), (3, '[1,1]', null, null, '[0,0]');
`)
	return b.String()
}

func TestSimilarRows(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			if engine.Name != contract.EnginePostgreSQL {
				t.Skip("similar_to is for pgvector")
			}
			t.Parallel()
			_, plain := engine.Open(t, "")
			var there bool
			if err := plain.QueryRow("select exists (select from pg_available_extensions where name = 'vector')").Scan(&there); err != nil {
				t.Fatal(err)
			}
			if !there {
				t.Skip("NOT TESTED: this PostgreSQL has no pgvector; go run ./test/databases run -further has one that has")
			}
			seed := harness.Seed(t)
			random := rand.New(rand.NewPCG(seed, 1))
			opened, plain := engine.Open(t, vectorScript(random))
			noteVersion(t, engine, plain)
			s := &suite{engine, harness.Serve(t, opened, vectorModels(), tokens(), withAudit), plain}
			for _, m := range s.endpoint.Status().Models {
				if !m.Served() {
					t.Fatalf("%s: %s %s", m.Name, m.Reason, m.Message)
				}
			}
			s.check(t, "the nearest first", func(t *testing.T) { s.nearest(t, random) })
			s.check(t, "vectors are not shown", s.vectorsHidden)
			s.check(t, "errors", s.vectorErrors)
		})
	}
}

func vectorModels() []contract.Model {
	own := []contract.RowPolicy{
		{Name: "own-region", Groups: []string{"clerks"}, Filters: []contract.Filter{{Field: "region", TokenAttribute: "region"}}},
		{Name: "staff", Groups: []string{"staff"}, AllRows: true},
	}
	return []contract.Model{
		{Name: "euclid", Table: "euclid", Expose: true, RowPolicies: own}, {Name: "inner", Table: "inner_p", Expose: true}, {Name: "taxi", Table: "taxi", Expose: true},
		{Name: "plain", Table: "plain", Expose: true}, {Name: "hidden", Table: "hidden", Expose: true, Exclude: []string{"place"}},
		{Name: "masked", Table: "masked", Expose: true, Masked: []contract.MaskedField{{Name: "place"}}}, {Name: "two", Table: "two", Expose: true},
	}
}

// nearest compares lists of similar rows with plain SQL that may use no index.
func (s *suite) nearest(t *testing.T, random *rand.Rand) {
	for _, test := range []struct{ model, table, operator string }{
		{"euclid", "euclid", "<->"}, {"inner", "inner_p", "<#>"}, {"taxi", "taxi", "<+>"}, {"plain", "plain", "<=>"},
	} {
		for range 5 {
			id := 1 + random.IntN(49)
			for _, more := range []struct{ arguments, where string }{
				{"", "true"}, {`, "filters": {"region": "amer"}`, "region = 'amer'"}, {`, "filters": {"name": "n3", "region__ne": "amer"}`, "name = 'n3' and region <> 'amer'"},
			} {
				list := s.ok(t, "root", "list_"+test.model, fmt.Sprintf(`{"similar_to": {"id": %d}, "limit": 60, "fields": ["id"], "total": "exact"%s}`, id, more.arguments))
				oracle := s.sql(t, fmt.Sprintf("select id from %s where place is not null and %s order by (place %s (select place from %s where id = %d)) + 0, id limit 60",
					test.table, more.where, test.operator, test.table, id))
				if got := column(t, list, "id"); got != oracle {
					t.Fatalf("%s, similar to %d%s:\ngot  %s\nwant %s", test.model, id, more.arguments, got, oracle)
				}
				want(t, list, s.sql(t, fmt.Sprintf("select count(*) from %s where place is not null and %s", test.table, more.where)), "total_count")
			}
		}
	}
	got := column(t, s.ok(t, "clerk", "list_euclid", `{"similar_to": {"vector": [0.1, 0.2, 0.3]}, "limit": 50, "offset": 50, "fields": ["id"]}`), "id")
	if oracle := s.sql(t, "select id from euclid where place is not null and region = 'emea' order by (place <-> '[0.1,0.2,0.3]') + 0, id limit 50 offset 50"); got != oracle {
		t.Errorf("a clerk's second page is %s, want %s", got, oracle)
	}
	first := s.ok(t, "root", "list_euclid", `{"similar_to": {"id": 7}, "top": {"per": ["region"], "n": 1}, "fields": ["id"]}`)
	if oracle := s.sql(t, "select id from (select id, place, row_number() over (partition by region order by place <-> (select place from euclid where id = 7), id) as n from euclid where place is not null) x where n = 1 order by place <-> (select place from euclid where id = 7), id"); column(t, first, "id") != oracle {
		t.Errorf("the nearest of each region are %s, want %s", column(t, first, "id"), oracle)
	}
	for arguments, wanted := range map[string]string{
		`{"similar_to": {"id": 1, "field": "one"}}`: "1 3 2", `{"similar_to": {"id": 1, "field": "other"}}`: "1 2", `{"similar_to": {"vector": [0, 1], "field": "one"}}`: "2 3 1",
	} {
		if got := column(t, s.ok(t, "root", "list_two", arguments), "id"); got != wanted {
			t.Errorf("%s gives %s, want %s", arguments, got, wanted)
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
	}
	s.fails(t, "root", "list_hidden", `{"similar_to": {"id": 1}}`, "invalid_argument")
	s.fails(t, "root", "list_masked", `{"similar_to": {"id": 1}}`, "invalid_argument")
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
		{"euclid", `{"similar_to": {"vector": "[1,2,3]"}}`, numbers},
		{"euclid", `{"similar_to": {"vector": [1, 2, 1e300]}}`, "similar_to: the numbers of a vector must be from -65504 to 65504"},
		{"euclid", `{"similar_to": {"id": 1, "field": "name"}}`, "similar_to: field must be one of "},
		{"euclid", `{"similar_to": {"id": 50}}`, "similar_to: the row has no vector in "},
		{"euclid", `{"similar_to": {"id": 1}, "order_by": ["id"]}`, "order_by: similar_to is the order; send one of the two"},
		{"two", `{"similar_to": {"id": 1}}`, "similar_to: say which vectors are meant, with field: "},
		{"two", `{"similar_to": {"id": 1, "field": "free"}}`, "similar_to: field must be one of "},
	} {
		if told := s.fails(t, "root", "list_"+c.model, c.arguments, "invalid_argument")["error"]; !strings.HasPrefix(fmt.Sprint(told), c.want) {
			t.Errorf("%s: got %v, want it to begin with %s", c.arguments, told, c.want)
		}
	}
}
