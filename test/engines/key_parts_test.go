package engines

import (
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// A column "id" that is a part of the key is a column like others: the whole key is called pk. So is the key of every
// partitioned table of PostgreSQL.
func TestAColumnCalledIDMayBeAPartOfTheKey(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			script := `create table build (id integer not null, area varchar(10) not null, took integer, primary key (id, area))`
			if engine.Name == contract.EnginePostgreSQL {
				script += ` partition by list (area); create table build_n partition of build for values in ('n'); create table build_s partition of build for values in ('s')`
			}
			script += `;
create table step (id integer primary key, build_id integer not null, area varchar(10) not null,
				foreign key (build_id, area) references build (id, area));
				insert into build values (1, 'n', 10), (1, 's', 20), (2, 'n', 30), (3, 's', 40);
				insert into step values (1, 1, 's'), (2, 3, 's')`
			database, plain := engine.Open(t, script)
			models := []contract.Model{{Name: "build", Table: "build", Expose: true}, {Name: "step", Table: "step", Expose: true}}
			s := &suite{engine, harness.Serve(t, database, models, tokens(), withAudit), plain}
			s.check(t, "it is filtered, ordered, grouped and computed with", func(t *testing.T) {
				want(t, s.ok(t, "root", "list_build", `{"filters":{"id":1}}`), `2`, "total_count")
				want(t, s.ok(t, "root", "list_build", `{"filters":{"id__gte":2}}`), `2`, "total_count")
				want(t, s.ok(t, "root", "list_build", `{"filters":{"id__in":[2,3]}}`), `2`, "total_count")
				want(t, s.ok(t, "root", "list_build", `{"order_by":["-id"],"fields":["id"],"limit":1}`), `3`, "results", 0, "id")
				want(t, s.ok(t, "root", "list_build", `{"filters":{"took__gt":{"_field":"id"}}}`), `4`, "total_count")
				groups := s.ok(t, "root", "aggregate_build", `{"group_by":["id"],"measures":{"n":{"count":"*"},"most":{"max":"id"}},"order_by":["id"]}`)
				want(t, groups, `{"id":1,"n":2,"most":1}`, "results", 0)
				want(t, s.ok(t, "root", "aggregate_build", `{"measures":{"all":{"sum":"id"}}}`), `7`, "results", 0, "all")
				want(t, s.ok(t, "root", "list_step", `{"filters":{"build__id":3},"fields":["id"]}`), `[{"id":2}]`, "results")
			})
			s.check(t, "the whole key is pk, and the argument id", func(t *testing.T) {
				want(t, s.ok(t, "root", "get_build", `{"id":"1,s"}`), `{"pk":"1,s","id":1,"area":"s","took":20}`)
				want(t, s.ok(t, "root", "list_build", `{"filters":{"pk":"1,s"}}`), `1`, "total_count")
				want(t, s.ok(t, "root", "list_build", `{"filters":{"pk__in":["1,s","2,n"]}}`), `2`, "total_count")
				want(t, s.ok(t, "root", "list_build", `{"order_by":["-pk"],"limit":1}`), `"3,s"`, "results", 0, "pk")
				want(t, s.ok(t, "root", "list_step", `{"filters":{"build__pk":"1,s"}}`), `1`, "total_count")
				s.ok(t, "root", "update_build", `{"id":"2,n","data":{"took":31}}`)
				s.holds(t, "select took from build where id = 2", "31")
			})
		})
	}
}
