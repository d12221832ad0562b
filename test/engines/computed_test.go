package engines

import (
	"reflect"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// A shop whose orders are of two regions; clerks see those of one.
const computedShop = `
create table customer (id int primary key, name varchar(40), joined date);
create table product (id int primary key, name varchar(40), price decimal(8,2), weight {float});
create table purchase (id int primary key, customer_id int, region varchar(10), placed {timestamp}, shipped {timestamp}, freight decimal(8,2), foreign key (customer_id) references customer (id));
create table line (id int primary key, purchase_id int, product_id int, quantity int, discount decimal(6,3), foreign key (purchase_id) references purchase (id), foreign key (product_id) references product (id));
insert into customer values (1, 'Ann', '2025-12-30'), (2, 'Ben', '2026-01-02'), (3, 'Cem', null);
insert into product values (1, 'pen', 1.50, 0.5), (2, 'ink', 12.25, 2), (3, 'pad', null, null);
insert into purchase values (1, 1, 'north', '2026-01-01 10:00:00', '2026-01-03 22:00:00', 4.00), (2, 1, 'south', '2026-02-01 00:00:00', null, 0.00), (3, 2, 'north', '2026-02-03 12:30:00', '2026-02-03 12:30:01', 2.50), (4, null, 'south', '2026-02-05 00:00:00', '2026-02-04 00:00:00', 1.00);
insert into line values (1, 1, 1, 3, 0.100), (2, 1, 2, 1, null), (3, 2, 1, 10, 0.005), (4, 3, 3, 2, 0), (5, 3, 2, 2, 0.333)`

var computedTypes = map[string]*strings.Replacer{
	contract.EngineSQLite:     strings.NewReplacer("{float}", "real", "{timestamp}", "timestamp"),
	contract.EnginePostgreSQL: strings.NewReplacer("{float}", "double precision", "{timestamp}", "timestamp"),
	contract.EngineMySQL:      strings.NewReplacer("{float}", "double", "{timestamp}", "datetime(6)"),
	contract.EngineDuckDB:     strings.NewReplacer("{float}", "double", "{timestamp}", "timestamp"),
}

func computedModels() []contract.Model {
	return []contract.Model{
		{Name: "customer", Table: "customer", Expose: true},
		{Name: "product", Table: "product", Expose: true},
		{Name: "purchase", Table: "purchase", Expose: true, RowPolicies: []contract.RowPolicy{
			{Name: "own", Groups: []string{"clerks"}, Filters: []contract.Filter{{Field: "region", Value: "north"}}},
			{Name: "staff", Groups: []string{"staff"}, AllRows: true},
		}},
		{Name: "line", Table: "line", Expose: true},
	}
}

// computedCases are calls and the results that they have on every engine.
var computedCases = []struct{ name, token, tool, arguments, member, want string }{
	{"a count of related rows", "viewer", "list_customer", `{"fields":["name","purchase_by_customer__count"]}`, "results",
		`[{"id":1,"name":"Ann","purchase_by_customer__count":2},{"id":2,"name":"Ben","purchase_by_customer__count":1},{"id":3,"name":"Cem","purchase_by_customer__count":0}]`},
	{"a count of the rows that the token sees", "clerk", "list_customer", `{"fields":["purchase_by_customer__count"]}`, "results",
		`[{"id":1,"purchase_by_customer__count":1},{"id":2,"purchase_by_customer__count":1},{"id":3,"purchase_by_customer__count":0}]`},
	{"a policy limits what is shown", "clerk", "list_customer", `{"fields":["purchase_by_customer__count"]}`, "rows", `"policy"`},
	{"sums, averages and extremes", "viewer", "list_customer", `{"fields":["purchase_by_customer__sum__freight","purchase_by_customer__avg__freight","purchase_by_customer__min__placed","purchase_by_customer__max__region"]}`, "results",
		`[{"id":1,"purchase_by_customer__sum__freight":"4.00","purchase_by_customer__avg__freight":"2.000000","purchase_by_customer__min__placed":"2026-01-01T10:00:00","purchase_by_customer__max__region":"south"},{"id":2,"purchase_by_customer__sum__freight":"2.50","purchase_by_customer__avg__freight":"2.500000","purchase_by_customer__min__placed":"2026-02-03T12:30:00","purchase_by_customer__max__region":"north"},{"id":3,"purchase_by_customer__sum__freight":null,"purchase_by_customer__avg__freight":null,"purchase_by_customer__min__placed":null,"purchase_by_customer__max__region":null}]`},
	{"a path behind the function", "viewer", "list_purchase", `{"fields":["line_by_purchase__sum__product__price"]}`, "results",
		`[{"id":1,"line_by_purchase__sum__product__price":"13.75"},{"id":2,"line_by_purchase__sum__product__price":"1.50"},{"id":3,"line_by_purchase__sum__product__price":"12.25"},{"id":4,"line_by_purchase__sum__product__price":null}]`},
	{"behind a relation to one row", "viewer", "list_line", `{"fields":["purchase__customer__purchase_by_customer__count"],"filters":{"id__lte":3}}`, "results",
		`[{"id":1,"purchase__customer__purchase_by_customer__count":2},{"id":2,"purchase__customer__purchase_by_customer__count":2},{"id":3,"purchase__customer__purchase_by_customer__count":2}]`},
	{"ordered by a sum", "viewer", "list_product", `{"fields":["name"],"order_by":["-line_by_product__sum__quantity"]}`, "results",
		`[{"id":1,"name":"pen"},{"id":2,"name":"ink"},{"id":3,"name":"pad"}]`},
	{"filtered by a sum", "viewer", "list_product", `{"fields":["name"],"filters":{"line_by_product__sum__quantity__range":[2,3]}}`, "results",
		`[{"id":2,"name":"ink"},{"id":3,"name":"pad"}]`},
	{"filtered by a sum that is a decimal", "viewer", "list_customer", `{"fields":["name"],"filters":{"purchase_by_customer__sum__freight__gt":"2.5"}}`, "results", `[{"id":1,"name":"Ann"}]`},
	{"filtered by a moment", "viewer", "list_customer", `{"fields":["name"],"filters":{"purchase_by_customer__max__placed__year":2026,"purchase_by_customer__max__placed__gte":"2026-02-02"}}`, "results", `[{"id":2,"name":"Ben"}]`},
	{"grouped by a count", "viewer", "aggregate_customer", `{"group_by":["purchase_by_customer__count"],"measures":{"n":{"count":"*"}}}`, "results",
		`[{"purchase_by_customer__count":0,"n":1},{"purchase_by_customer__count":1,"n":1},{"purchase_by_customer__count":2,"n":1}]`},
	{"grouped by the month of the first", "viewer", "aggregate_customer", `{"group_by":["purchase_by_customer__min__placed__month"],"measures":{"n":{"count":"*"}},"order_by":["-n","purchase_by_customer__min__placed__month"],"filters":{"id__lt":3}}`, "results",
		`[{"purchase_by_customer__min__placed__month":"2026-01","n":1},{"purchase_by_customer__min__placed__month":"2026-02","n":1}]`},
	{"a measure of counts", "viewer", "aggregate_customer", `{"measures":{"most":{"max":"purchase_by_customer__count"},"mean":{"avg":"purchase_by_customer__count"},"all":{"sum":"purchase_by_customer__count"}}}`, "results",
		`[{"most":2,"mean":"1.000000","all":3}]`},
	{"a count with filters of its own", "viewer", "list_customer", `{"fields":["name",{"as":"shipped","count":"purchase_by_customer","filters":{"shipped__isnull":false}},{"as":"spent","sum":"purchase_by_customer__freight","filters":{"region":"north"}}],"order_by":["-shipped","name"],"filters":{"shipped__gte":1}}`, "results",
		`[{"id":1,"name":"Ann","shipped":1,"spent":"4.00"},{"id":2,"name":"Ben","shipped":1,"spent":"2.50"}]`},
	{"groups by a count with filters of its own", "viewer", "aggregate_customer", `{"group_by":[{"as":"north","count":"purchase_by_customer","filters":{"region":"north"}}],"measures":{"n":{"count":"*"}},"having":{"north__gt":0}}`, "results",
		`[{"north":1,"n":2}]`},
	{"arithmetic", "viewer", "list_line", `{"fields":[{"as":"total","mul":["quantity","product__price"]},{"as":"net","mul":["quantity","product__price",{"sub":[1,"discount"]}]},{"as":"each","div":["product__price","quantity"]},{"as":"more","add":["quantity",1]},{"as":"round","round":[{"mul":["quantity","discount"]},1]}]}`, "results",
		`[{"id":1,"total":"4.50","net":"4.05000","each":"0.500000","more":4,"round":"0.3"},{"id":2,"total":"12.25","net":null,"each":"12.250000","more":2,"round":null},{"id":3,"total":"15.00","net":"14.92500","each":"0.150000","more":11,"round":"0.1"},{"id":4,"total":null,"net":null,"each":null,"more":3,"round":"0.0"},{"id":5,"total":"24.50","net":"16.34150","each":"6.125000","more":3,"round":"0.7"}]`},
	{"a division by nothing", "viewer", "list_line", `{"fields":[{"as":"x","div":["quantity","discount"]}],"filters":{"id__in":[4,5]}}`, "results", `[{"id":4,"x":null},{"id":5,"x":"6.006006006006"}]`},
	{"a great integer is rounded to itself", "viewer", "list_line", `{"fields":[{"as":"x","round":[{"mul":[{"add":["quantity",99999999999999999990]},10000000000000000000]},1]}],"filters":{"id":1}}`, "results", `[{"id":1,"x":"999999999999999999930000000000000000000.0"}]`},
	{"multiples below", "viewer", "list_line", `{"fields":[{"as":"x","bucket":["quantity",3]},{"as":"y","bucket":["product__price",2.5]},{"as":"z","bucket":[{"sub":["discount",0.1]},0.05]}],"filters":{"id__lte":3}}`, "results",
		`[{"id":1,"x":3,"y":"0.0","z":"0.00"},{"id":2,"x":0,"y":"10.0","z":null},{"id":3,"x":9,"y":"0.0","z":"-0.10"}]`},
	{"multiples below floats, and groups of them", "viewer", "aggregate_product", `{"group_by":[{"as":"from","bucket":["weight",0.5]}],"measures":{"n":{"count":"*"}},"filters":{"id__lt":3}}`, "results",
		`[{"from":"0.5","n":1},{"from":"2.0","n":1}]`},
	{"groups beside the mean of all of them", "viewer", "aggregate_purchase", `{"group_by":["customer_id"],"measures":{"n":{"sum":"freight"},"mean":{"mean":"n"},"part":{"ratio":["n","mean"]}},"having":{"n__gt":{"_field":"mean"}}}`, "results",
		`[{"customer_id":1,"n":"4.00","mean":"2.500000","part":"1.600000"}]`},
	{"means within each", "viewer", "aggregate_line", `{"group_by":["purchase__region","product_id"],"measures":{"n":{"sum":"quantity"},"mean":{"mean":"n","per":["purchase__region"]}},"limit":2}`, "results",
		`[{"purchase__region":"north","product_id":1,"n":3,"mean":"2.666666666667"},{"purchase__region":"north","product_id":2,"n":3,"mean":"2.666666666667"}]`},
	{"shares within each, before having", "viewer", "aggregate_line", `{"group_by":["purchase__region","product_id"],"measures":{"n":{"sum":"quantity"},"rows":{"count":"*"},"part":{"share":"n","per":["purchase__region"]},"of_all":{"share":"n","per":[]},"half":{"div":["part",2]},"of_rows":{"share":"rows","per":["product_id"]}},"having":{"n__lte":3}}`, "results",
		`[{"purchase__region":"north","product_id":1,"n":3,"rows":1,"part":"0.375000","of_all":"0.166666666667","half":"0.187500","of_rows":"0.500000"},{"purchase__region":"north","product_id":2,"n":3,"rows":2,"part":"0.375000","of_all":"0.166666666667","half":"0.187500","of_rows":"1.000000"},{"purchase__region":"north","product_id":3,"n":2,"rows":1,"part":"0.250000","of_all":"0.111111111111","half":"0.125000","of_rows":"1.000000"}]`},
	{"shares of decimals within the group of null, and of floats", "viewer", "aggregate_purchase", `{"group_by":["customer_id","region"],"measures":{"f":{"sum":"freight"},"w":{"sum":{"mul":["line_by_purchase__sum__product__weight","id"]}},"part":{"share":"f","per":["customer_id"]},"weight":{"share":"w","per":["region"]}},"order_by":["f"]}`, "results",
		`[{"customer_id":1,"region":"south","f":"0.00","w":1,"part":"0.000000","weight":1},{"customer_id":null,"region":"south","f":"1.00","w":null,"part":"1.000000","weight":null},{"customer_id":2,"region":"north","f":"2.50","w":6,"part":"1.000000","weight":0.7058823529411765},{"customer_id":1,"region":"north","f":"4.00","w":2.5,"part":"1.000000","weight":0.29411764705882354}]`},
	{"groups beside those before them, those of each, and all", "viewer", "aggregate_line", `{"group_by":["purchase__region","product_id"],"measures":{"n":{"sum":"quantity"},"all":{"running":"n"},"within":{"mean":"n","per":["product_id"]},"part":{"share":"n","per":["product_id"]},"mean":{"mean":"n"}},"order_by":["n"]}`, "results",
		`[{"purchase__region":"north","product_id":3,"n":2,"all":2,"within":"2.000000","part":"1.000000","mean":"4.500000"},{"purchase__region":"north","product_id":1,"n":3,"all":5,"within":"6.500000","part":"0.230769230769","mean":"4.500000"},{"purchase__region":"north","product_id":2,"n":3,"all":8,"within":"3.000000","part":"1.000000","mean":"4.500000"},{"purchase__region":"south","product_id":1,"n":10,"all":18,"within":"6.500000","part":"0.769230769231","mean":"4.500000"}]`},
	{"medians and texts of all rows", "viewer", "aggregate_line", `{"measures":{"m":{"median":"quantity"},"t":{"texts":"product__name"},"u":{"texts":"purchase__region"}}}`, "results",
		`[{"m":"2.000000","t":"ink, pad, pen","u":"north, south"}]`},
	{"arithmetic of measures", "viewer", "aggregate_line", `{"group_by":["product_id"],"measures":{"n":{"sum":"quantity"},"mean":{"avg":"quantity"},"twice":{"mul":["n",2]},"left":{"sub":[20,"n"]},"both":{"add":["n","mean"]},"round":{"round":["mean",1]},"step":{"bucket":["n",2]},"third":{"div":["n",3]}},"having":{"twice__gt":4}}`, "results",
		`[{"product_id":1,"n":13,"mean":"6.500000","twice":26,"left":7,"both":"19.500000","round":"6.5","step":12,"third":"4.333333333333"},{"product_id":2,"n":3,"mean":"1.500000","twice":6,"left":17,"both":"4.500000","round":"1.5","step":2,"third":"1.000000"}]`},
	{"pieces of dates, counted", "viewer", "aggregate_purchase", `{"measures":{"months":{"count_distinct":"placed__month"},"years":{"count_distinct":"placed__year"}}}`, "results", `[{"months":2,"years":1}]`},
	{"pieces of dates of related rows, counted", "viewer", "list_customer", `{"fields":["purchase_by_customer__count_distinct__placed__month"],"filters":{"id":1}}`, "results", `[{"id":1,"purchase_by_customer__count_distinct__placed__month":2}]`},
	{"the first of all, and equal ones", "viewer", "list_line", `{"top":{"n":1,"ties":true},"order_by":["-quantity"],"filters":{"quantity__lt":3},"fields":["quantity"]}`, "results", `[{"id":5,"quantity":2},{"id":4,"quantity":2}]`},
	{"having says that sums of no rows meet nothing", "viewer", "aggregate_line", `{"group_by":["product_id"],"measures":{"a":{"sum":"quantity","filters":{"purchase_id":1}},"b":{"sum":"quantity","filters":{"purchase_id":3}},"r":{"ratio":["a","b"]}},"having":{"r__lt":1}}`, "notice",
		`"r is null for groups in which no row meets its filters, and null meets no condition: {\"_any\": [{…}, {\"r__isnull\": true}]} in having lets them through"`},
	{"what looks back says that it skips gaps", "viewer", "aggregate_purchase", `{"group_by":["placed__day"],"measures":{"n":{"count":"*"},"before":{"previous":"n"}}}`, "notice",
		`"before goes by the groups that have rows; fill: true adds the empty ones"`},
	{"fill that adds no group says nothing", "viewer", "aggregate_purchase", `{"group_by":["placed__month"],"fill":true,"measures":{"n":{"count":"*"}}}`, "", `{"count":2,"results":[{"placed__month":"2026-01","n":1},{"placed__month":"2026-02","n":3}]}`},
	{"fill says where it ends", "viewer", "aggregate_purchase", `{"group_by":["placed__week"],"fill":true,"measures":{"n":{"count":"*"},"before":{"previous":"n"}}}`, "notice",
		`"fill added groups between the first and the last that have rows"`},
	{"a sum of a parent's value says that it counts for each row", "viewer", "aggregate_line", `{"measures":{"freight":{"sum":"purchase__freight"}}}`, "notice",
		`"freight takes a value of purchase once for each line; to take it once for each purchase, ask aggregate of purchase"`},
	{"at random", "viewer", "list_line", `{"order_by":["?"],"limit":3,"filters":{"id__in":[1,2,3]}}`, "count", `3`},
	{"at random, with more", "viewer", "list_line", `{"order_by":["?"],"limit":2,"fields":["id"]}`, "notice", `"there are more rows: the order is random, so the same call brings others"`},
	{"floats", "viewer", "list_product", `{"fields":[{"as":"x","mul":["weight","price"]},{"as":"y","div":["weight",4]}]}`, "results", `[{"id":1,"x":0.75,"y":0.125},{"id":2,"x":24.5,"y":0.5},{"id":3,"x":null,"y":null}]`},
	{"the time between moments", "viewer", "list_purchase", `{"fields":[{"as":"d","days":["placed","shipped"]},{"as":"h","hours":["placed","shipped"]},{"as":"s","seconds":["placed","shipped"]}],"filters":{"shipped__isnull":false}}`, "results",
		`[{"id":1,"d":"2.500000","h":"60.000000","s":"216000.000000"},{"id":3,"d":"0.000011574074","h":"0.000277777778","s":"1.000000"},{"id":4,"d":"-1.000000","h":"-24.000000","s":"-86400.000000"}]`},
	{"the days between a date and a moment", "viewer", "list_purchase", `{"fields":[{"as":"d","days":["customer__joined","placed"]}],"order_by":["-d"],"filters":{"customer__joined__isnull":false}}`, "results",
		`[{"id":2,"d":"33.000000"},{"id":3,"d":"32.520833333333"},{"id":1,"d":"2.416666666667"}]`},
	{"the time to a day that the call names", "viewer", "list_purchase", `{"fields":[{"as":"d","days":["placed","2026-02-04"]},{"as":"h","hours":["2026-02-01T02:00:00+02:00","placed"]},{"as":"j","days":["customer__joined","2026-02-04"]}],"filters":{"customer__joined__isnull":false}}`, "results",
		`[{"id":1,"d":"33.583333333333","h":"-734.000000","j":"36.000000"},{"id":2,"d":"3.000000","h":"0.000000","j":"36.000000"},{"id":3,"d":"0.479166666667","h":"60.500000","j":"33.000000"}]`},
	{"a day begins in the call's zone", "viewer", "list_purchase", `{"time_zone":"Europe/Berlin","fields":[{"as":"h","hours":["2026-02-01","placed"]},{"as":"j","days":["customer__joined","2026-02-04"]}],"filters":{"customer__joined__isnull":false}}`, "results",
		`[{"id":1,"h":"-733.000000","j":"36.000000"},{"id":2,"h":"1.000000","j":"36.000000"},{"id":3,"h":"61.500000","j":"33.000000"}]`},
	{"between two days that the call names", "viewer", "list_purchase", `{"fields":[{"as":"d","days":["2024-01-31","2024-03-01"]}],"filters":{"id":1}}`, "results", `[{"id":1,"d":"30.000000"}]`},
	{"a sum of products", "viewer", "aggregate_line", `{"group_by":["purchase__customer__name"],"measures":{"revenue":{"sum":{"mul":["quantity","product__price"]}},"mean":{"avg":{"mul":["quantity","product__price"]}}},"order_by":["-revenue"]}`, "results",
		`[{"purchase__customer__name":"Ann","revenue":"31.75","mean":"10.583333333333"},{"purchase__customer__name":"Ben","revenue":"24.50","mean":"24.500000"}]`},
	{"filtered by an expression", "viewer", "list_line", `{"fields":[{"as":"total","mul":["quantity","product__price"]}],"filters":{"total__gte":15}}`, "results", `[{"id":3,"total":"15.00"},{"id":5,"total":"24.50"}]`},
	{"compared with an expression", "viewer", "list_line", `{"fields":["quantity"],"filters":{"product__price__lt":{"mul":["quantity",1.5]}}}`, "results", `[{"id":1,"quantity":3},{"id":3,"quantity":10}]`},
	{"pages by a cursor in the order of a value", "viewer", "list_line", `{"fields":[{"as":"total","mul":["quantity","product__price"]}],"order_by":["-total"],"limit":2}`, "count", `2`},
	{"the first of each", "viewer", "list_purchase", `{"top":{"per":["customer_id"]},"order_by":["-placed"],"fields":["customer_id"]}`, "results", `[{"id":4,"customer_id":null},{"id":3,"customer_id":2},{"id":2,"customer_id":1}]`},
	{"the first of each, counted", "viewer", "list_purchase", `{"top":{"per":["customer_id"]},"order_by":["-placed"],"limit":1,"total":"exact"}`, "total_count", `3`},
	{"the first of each of a related row's, of those that match", "viewer", "list_line", `{"top":{"per":["purchase__customer__name"],"n":2},"order_by":["-quantity"],"filters":{"quantity__lt":10},"fields":["quantity"]}`, "results", `[{"id":1,"quantity":3},{"id":5,"quantity":2},{"id":4,"quantity":2},{"id":2,"quantity":1}]`},
	{"equal ones too", "viewer", "list_line", `{"top":{"per":["purchase_id"],"n":1,"ties":true},"order_by":["-quantity"],"fields":["quantity"],"filters":{"purchase_id":3}}`, "results", `[{"id":5,"quantity":2},{"id":4,"quantity":2}]`},
	{"the first of each month by a value", "viewer", "list_purchase", `{"top":{"per":["placed__month"]},"order_by":["-total"],"fields":[{"as":"total","sum":"line_by_purchase__quantity"}],"filters":{"total__isnull":false}}`, "results", `[{"id":2,"total":10},{"id":1,"total":4}]`},
	{"a policy holds in the first of each", "clerk", "list_purchase", `{"top":{"per":["customer_id"]},"order_by":["-placed"],"fields":["region"]}`, "results", `[{"id":3,"region":"north"},{"id":1,"region":"north"}]`},
	{"the first groups of each", "viewer", "aggregate_line", `{"group_by":["purchase__customer__name","product__name"],"measures":{"n":{"sum":"quantity"}},"top":{"per":["purchase__customer__name"]},"order_by":["-n"],"total":"exact"}`, "results",
		`[{"purchase__customer__name":"Ann","product__name":"pen","n":13},{"purchase__customer__name":"Ben","product__name":"ink","n":2}]`},
	{"measures of measures", "viewer", "aggregate_purchase", `{"group_by":["region"],"measures":{"n":{"count":"*"},"sum":{"sum":"freight"},"shipped":{"count":"shipped"},"part":{"share":"sum"},"open":{"difference":["n","shipped"]},"mean":{"ratio":["sum","n"]},"odd":{"ratio":["mean","open"]}}}`, "results",
		`[{"region":"north","n":2,"sum":"6.50","shipped":2,"part":"0.866666666667","open":0,"mean":"3.250000","odd":null},{"region":"south","n":2,"sum":"1.00","shipped":1,"part":"0.133333333333","open":1,"mean":"0.500000","odd":"0.500000"}]`},
	{"a share of all, not of the groups that are shown", "viewer", "aggregate_purchase", `{"group_by":["region"],"measures":{"n":{"count":"*"},"part":{"share":"n"}},"having":{"region":"north"}}`, "results", `[{"region":"north","n":2,"part":"0.500000"}]`},
	{"groups beside those before them", "viewer", "aggregate_line", `{"group_by":["id"],"measures":{"n":{"sum":"quantity"},"all":{"running":"n"},"before":{"previous":"n"},"two":{"previous":"n","by":2},"growth":{"change":"n"},"mean":{"moving":"n","last":2},"place":{"rank":"n"}}}`, "results",
		`[{"id":1,"n":3,"all":3,"before":null,"two":null,"growth":null,"mean":"3.000000","place":2},{"id":2,"n":1,"all":4,"before":3,"two":null,"growth":"-0.666666666667","mean":"2.000000","place":5},{"id":3,"n":10,"all":14,"before":1,"two":3,"growth":"9.000000","mean":"5.500000","place":1},{"id":4,"n":2,"all":16,"before":10,"two":1,"growth":"-0.800000","mean":"6.000000","place":3},{"id":5,"n":2,"all":18,"before":2,"two":10,"growth":"0.000000","mean":"2.000000","place":3}]`},
	{"a single group has none before it", "viewer", "aggregate_line", `{"measures":{"n":{"sum":"quantity"},"before":{"previous":"n"},"growth":{"change":"n"},"all":{"running":"n"},"mean":{"mean":"n"}}}`, "results", `[{"n":18,"before":null,"growth":null,"all":18,"mean":"18.000000"}]`},
	{"running totals of decimals within each", "viewer", "aggregate_purchase", `{"group_by":["region","id"],"measures":{"sum":{"sum":"freight"},"all":{"running":"sum","per":["region"]}},"order_by":["region","id"]}`, "results",
		`[{"region":"north","id":1,"sum":"4.00","all":"4.00"},{"region":"north","id":3,"sum":"2.50","all":"6.50"},{"region":"south","id":2,"sum":"0.00","all":"0.00"},{"region":"south","id":4,"sum":"1.00","all":"1.00"}]`},
	{"having and order by what is before", "viewer", "aggregate_line", `{"group_by":["id"],"measures":{"n":{"sum":"quantity"},"growth":{"change":"n"}},"having":{"growth__lt":0,"n__lt":3},"order_by":["-growth"]}`, "results", `[{"id":2,"n":1,"growth":"-0.666666666667"},{"id":4,"n":2,"growth":"-0.800000"}]`},
	{"the first groups of those that having lets through, by what is before", "viewer", "aggregate_line", `{"group_by":["purchase_id","id"],"measures":{"n":{"sum":"quantity"},"more":{"previous":"n"}},"having":{"more__isnull":false},"top":{"per":["purchase_id"]},"order_by":["-more"]}`, "results", `[{"purchase_id":3,"id":4,"n":2,"more":10},{"purchase_id":1,"id":2,"n":1,"more":3},{"purchase_id":2,"id":3,"n":10,"more":1}]`},
	{"get of a value", "viewer", "get_customer", `{"id":1,"fields":["purchase_by_customer__count",{"as":"x","sum":"purchase_by_customer__freight"}]}`, "", `{"id":1,"purchase_by_customer__count":2,"x":"4.00"}`},
	{"related rows with a value", "viewer", "related_customer", `{"id":1,"relation":"purchase_by_customer","fields":["line_by_purchase__count"]}`, "results", `[{"id":1,"line_by_purchase__count":2},{"id":2,"line_by_purchase__count":1}]`},
}

func TestValuesAreComputedAlikeOnEveryEngine(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			script := computedTypes[engine.Name].Replace(computedShop)
			database, plain := engine.Open(t, script)
			s := &suite{engine, harness.Serve(t, database, computedModels(), tokens(), withAudit), plain}
			for _, c := range computedCases {
				s.check(t, c.name, func(t *testing.T) {
					got := s.ok(t, c.token, c.tool, c.arguments)
					if c.member == "" {
						want(t, got, c.want)
						return
					}
					want(t, got, c.want, c.member)
				})
			}
		})
	}
}

// Values of related rows keep to what the token may see of them: the rows of its policy, fields that are not masked, models that offer
// aggregate, and groups that are large enough.
func TestComputedValuesKeepToRights(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			database, plain := engine.Open(t, computedTypes[engine.Name].Replace(computedShop))
			models := computedModels()
			models[2].Masked = []contract.MaskedField{{Name: "freight"}}
			models[3].Operations, models[1].Exclude = []string{"list"}, []string{"weight"}
			models[2].MinGroupSize = 2
			s := &suite{engine, harness.Serve(t, database, models, tokens(), withAudit), plain}
			s.check(t, "masked and hidden fields", func(t *testing.T) {
				for _, arguments := range []string{
					`{"fields":["purchase_by_customer__sum__freight"]}`, `{"order_by":["purchase_by_customer__max__freight"]}`, `{"filters":{"purchase_by_customer__min__freight__gt":1}}`,
					`{"fields":[{"as":"x","sum":"purchase_by_customer__freight"}]}`, `{"fields":[{"as":"x","count":"purchase_by_customer","filters":{"freight__gt":1}}]}`,
				} {
					s.fails(t, "clerk", "list_customer", arguments, "invalid_argument")
				}
				s.fails(t, "clerk", "list_purchase", `{"fields":[{"as":"x","mul":["freight",2]}]}`, "invalid_argument")
				s.fails(t, "viewer", "list_product", `{"fields":[{"as":"x","mul":["weight",2]}]}`, "invalid_argument")
				s.fails(t, "clerk", "aggregate_purchase", `{"measures":{"n":{"sum":{"mul":["freight",2]}}}}`, "invalid_argument")
				s.fails(t, "clerk", "list_purchase", `{"top":{"per":["freight"]}}`, "invalid_argument")
			})
			s.check(t, "a model without aggregate", func(t *testing.T) {
				told := s.fails(t, "viewer", "list_product", `{"fields":["line_by_product__sum__quantity"]}`, "invalid_argument")
				want(t, told, `"fields: line_by_product__sum__quantity: aggregate is not offered for line, so only a count of its rows can be asked for"`, "error")
				want(t, s.ok(t, "viewer", "list_product", `{"fields":["line_by_product__count"]}`), `[{"id":1,"line_by_product__count":2},{"id":2,"line_by_product__count":2},{"id":3,"line_by_product__count":1}]`, "results")
			})
			s.check(t, "too few rows", func(t *testing.T) {
				want(t, s.ok(t, "viewer", "list_customer", `{"fields":["purchase_by_customer__count","purchase_by_customer__max__id"]}`),
					`[{"id":1,"purchase_by_customer__count":2,"purchase_by_customer__max__id":2},{"id":2,"purchase_by_customer__count":null,"purchase_by_customer__max__id":null},{"id":3,"purchase_by_customer__count":null,"purchase_by_customer__max__id":null}]`, "results")
				want(t, s.ok(t, "viewer", "list_customer", `{"filters":{"purchase_by_customer__count__lt":2}}`), `0`, "count")
			})
			s.check(t, "an error tells nothing of hidden rows", func(t *testing.T) {
				// Row 4 alone, which the clerk does not see, would overflow.
				huge := `{"mul":["id",{"mul":[99999999999999999999,99999999999999999999,99999999999999999999,{"sub":["id",3]}]}]}`
				s.ok(t, "clerk", "list_purchase", `{"filters":{"id__lt":`+huge+`,"id__in":[3,4]}}`)
			})
		})
	}
}

// Pages by a cursor in the order of a computed value have every row once.
func TestPagesInTheOrderOfAComputedValue(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			database, plain := engine.Open(t, computedTypes[engine.Name].Replace(computedShop))
			s := &suite{engine, harness.Serve(t, database, computedModels(), tokens(), withAudit), plain}
			for tool, arguments := range map[string]string{
				"list_line":     `"fields":[{"as":"total","mul":["quantity","product__price"]}],"order_by":["-total"]`,
				"list_customer": `"fields":[{"as":"spent","sum":"purchase_by_customer__freight"}],"order_by":["spent"]`,
				"list_purchase": `"order_by":["-line_by_purchase__count","id"],"top":{"per":["region"],"n":2}`,
				"list_product":  `"order_by":["line_by_product__max__purchase__placed"]`,
			} {
				s.check(t, tool, func(t *testing.T) {
					whole := at(t, s.ok(t, "viewer", tool, `{`+arguments+`}`), "results").([]any)
					var paged []any
					cursor := ""
					for range len(whole) + 1 {
						page := s.ok(t, "viewer", tool, `{"limit":1`+cursor+`,`+arguments+`}`)
						paged = append(paged, at(t, page, "results").([]any)...)
						next, more := page["next_cursor"]
						if !more {
							break
						}
						cursor = `,"cursor":"` + next.(string) + `"`
					}
					if !reflect.DeepEqual(paged, whole) {
						t.Errorf("pages have %v, want %v", paged, whole)
					}
				})
			}
		})
	}
}
