package engines

import (
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// Tables that belong together without a foreign key, by keys, by names of different collations, and by numbers of different types.
const undeclared = `
create table town (id int primary key, name varchar(40), zone varchar(10));
create table shop (id int primary key, name varchar(40), town_name varchar(40){collation}, rank_no decimal(8,2));
create table sale (id int primary key, shop_code bigint, amount decimal(8,2), region varchar(10));
create view shop_sum as select s.id as shop_no, count(*) as sales from shop s join sale x on x.shop_code = s.id group by s.id;
insert into town values (1, 'Aix', 'south'), (2, 'Bern', 'north'), (3, 'Caen', 'north');
insert into shop values (1, 'one', 'Aix', 2), (2, 'two', 'Bern', 3), (3, 'three', 'Bern', 9), (4, 'four', null, 1);
insert into sale values (1, 1, 10, 'a'), (2, 1, 5, 'b'), (3, 2, 7, 'a'), (4, 9, 100, 'a')`

var otherCollations = map[string]string{contract.EngineSQLite: "", contract.EnginePostgreSQL: ` collate "C"`, contract.EngineMySQL: " collate utf8mb4_general_ci"}

func undeclaredModels() []contract.Model {
	return []contract.Model{
		{Name: "town", Table: "town", Expose: true},
		{Name: "shop", Table: "shop", Expose: true, Relations: []contract.Relation{
			{Name: "town", Columns: []string{"town_name"}, Model: "town", References: []string{"name"}, ReverseName: "shops"},
			{Name: "ranked", Columns: []string{"rank_no"}, Model: "town"},
			{Name: "sum", Columns: []string{"id"}, Model: "shop_sum"},
		}},
		{Name: "sale", Table: "sale", Expose: true, Relations: []contract.Relation{{Name: "shop", Columns: []string{"shop_code"}, Model: "shop"}},
			RowPolicies: []contract.RowPolicy{
				{Name: "own", Groups: []string{"clerks"}, Filters: []contract.Filter{{Field: "region", Value: "a"}}},
				{Name: "staff", Groups: []string{"staff"}, AllRows: true},
			}},
		{Name: "shop_sum", Table: "shop_sum", Expose: true, Key: []string{"shop_no"}},
	}
}

func TestDeclaredRelationsAreFollowedLikeForeignKeys(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			database, plain := engine.Open(t, strings.ReplaceAll(undeclared, "{collation}", otherCollations[engine.Name]))
			s := &suite{engine, harness.Serve(t, database, undeclaredModels(), tokens(), withAudit), plain}
			s.check(t, "fields of the one row that a key names", func(t *testing.T) {
				got := s.ok(t, "viewer", "list_sale", `{"fields":["shop__name","shop__sum__sales"],"order_by":["id"]}`)
				want(t, got, `[{"id":1,"shop__name":"one","shop__sum__sales":2},{"id":2,"shop__name":"one","shop__sum__sales":2},{"id":3,"shop__name":"two","shop__sum__sales":1},{"id":4,"shop__name":null,"shop__sum__sales":null}]`, "results")
			})
			s.check(t, "filters, orders and groups", func(t *testing.T) {
				want(t, s.ok(t, "viewer", "list_sale", `{"filters":{"shop__name":"one"},"order_by":["-shop__sum__sales","id"],"fields":["id"]}`), `[{"id":1},{"id":2}]`, "results")
				want(t, s.ok(t, "viewer", "aggregate_sale", `{"group_by":["shop__name"],"measures":{"n":{"count":"*"}},"filters":{"shop__id__isnull":false}}`), `[{"shop__name":"one","n":2},{"shop__name":"two","n":1}]`, "results")
			})
			s.check(t, "many rows, as the columns are not unique", func(t *testing.T) {
				want(t, s.ok(t, "viewer", "list_town", `{"filters":{"shops__count__gte":2},"fields":["name"]}`), `[{"id":2,"name":"Bern"}]`, "results")
				want(t, s.ok(t, "viewer", "list_shop", `{"filters":{"town__zone":"north"},"fields":["name"],"order_by":["id"]}`), `[{"id":2,"name":"two"},{"id":3,"name":"three"}]`, "results")
				want(t, s.ok(t, "viewer", "list_shop", `{"filters":{"town__none":{}},"fields":["name"]}`), `[{"id":4,"name":"four"}]`, "results")
				want(t, s.ok(t, "viewer", "related_town", `{"id":2,"relation":"shops","fields":["name"]}`), `2`, "count")
			})
			s.check(t, "numbers of different types", func(t *testing.T) {
				want(t, s.ok(t, "viewer", "list_shop", `{"fields":["ranked__name"],"order_by":["id"]}`),
					`[{"id":1,"ranked__name":"Bern"},{"id":2,"ranked__name":"Caen"},{"id":3,"ranked__name":null},{"id":4,"ranked__name":"Aix"}]`, "results")
			})
			s.check(t, "the policy of the other model holds", func(t *testing.T) {
				want(t, s.ok(t, "clerk", "list_shop", `{"filters":{"sale_by_shop__any":{"amount":5}}}`), `0`, "count")
				want(t, s.ok(t, "viewer", "list_shop", `{"filters":{"sale_by_shop__any":{"amount":5}}}`), `1`, "count")
			})
			s.check(t, "nothing is checked or deleted by them", func(t *testing.T) {
				s.ok(t, "root", "create_sale", `{"data":{"id":5,"shop_code":77,"amount":1}}`)
				s.ok(t, "root", "delete_shop", `{"id":1}`)
				want(t, s.ok(t, "viewer", "list_sale", `{"filters":{"shop_code":1}}`), `2`, "count")
			})
			s.check(t, "descriptions name them", func(t *testing.T) {
				want(t, s.ok(t, "viewer", "describe_town", `{}`), `[{"name":"shop_by_ranked","type":"array","related_model":"shop","kind":"one_to_many","required":false,"foreign_key":"rank_no"},{"name":"shops","type":"array","related_model":"shop","kind":"one_to_many","required":false,"foreign_key":"town_name"}]`, "relationships")
			})
		})
	}
}
