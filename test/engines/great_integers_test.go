package engines

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// crates hold the greatest integers, whose sums need more than 64 bits, and integers at each side of 32 bits.
const crates = `
create table shelf (id int primary key, name varchar(20));
create table crate (id int primary key, shelf_id int, big bigint, foreign key (shelf_id) references shelf (id));
insert into shelf values (1, 'greatest'), (2, 'least'), (3, 'exact'), (4, 'half'), (5, 'none');
insert into crate values (1, 1, 9223372036854775807), (2, 1, 9223372036854775807), (3, 1, 9223372036854775806),
  (4, 2, -9223372036854775808), (5, 2, -9223372036854775808), (6, 2, -9223372036854775807),
  (7, 3, 9007199254740993), (8, 3, null), (9, 4, 4294967295), (10, 4, 4294967296), (11, 4, 4294967297);`

// The sums of the shelves.
const (
	sumOfGreatest = "27670116110564327420"
	sumOfLeast    = "-27670116110564327423"
)

func TestGreatIntegersAreExact(t *testing.T) {
	models := []contract.Model{{Name: "shelf", Table: "shelf", Expose: true}, {Name: "crate", Table: "crate", Expose: true}}
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			database, plain := engine.Open(t, crates)
			s := &suite{engine, harness.Serve(t, database, models, tokens()), plain}
			for _, c := range greatQuestions {
				t.Run(c.tool+" "+c.arguments, func(t *testing.T) {
					payload := s.ok(t, "viewer", c.tool, c.arguments)
					if c.column != "" {
						if got := column(t, payload, c.column); got != c.want {
							t.Errorf("%s are %q, want %q", c.column, got, c.want)
						}
						return
					}
					want(t, payload, c.want, "results")
				})
			}
			payload := s.fails(t, "viewer", "list_crate", `{"filters":{"big":9007199254740993}}`, "invalid_argument")
			if said := fmt.Sprint(payload["error"]); !strings.Contains(said, "beyond what a JSON number keeps exactly; send it as a string") {
				t.Error(said)
			}
		})
	}
}

// havingSum asks for the shelves whose sum meets a condition.
func havingSum(condition string) string {
	return `{"group_by":["shelf_id"],"measures":{"s":{"sum":"big"}},"having":{` + condition + `},"order_by":["shelf_id"]}`
}

// greatQuestions are calls, and what they answer: the results, or one column of them.
var greatQuestions = []struct{ tool, arguments, column, want string }{
	{"aggregate_crate", `{"group_by":["shelf_id"],"measures":{"s":{"sum":"big"}},"order_by":["-s"]}`, "s", sumOfGreatest + " 9007199254740993 12884901888 " + sumOfLeast},
	{"aggregate_crate", havingSum(`"s":"` + sumOfGreatest + `"`), "shelf_id", "1"},
	{"aggregate_crate", havingSum(`"s__gt":"` + sumOfGreatest + `"`), "shelf_id", ""},
	{"aggregate_crate", havingSum(`"s__gte":"` + sumOfGreatest + `"`), "shelf_id", "1"},
	{"aggregate_crate", havingSum(`"s__lt":"` + sumOfGreatest + `"`), "shelf_id", "2 3 4"},
	{"aggregate_crate", havingSum(`"s__ne":"` + sumOfGreatest + `"`), "shelf_id", "2 3 4"},
	{"aggregate_crate", havingSum(`"s__lte":"` + sumOfLeast + `"`), "shelf_id", "2"},
	{"aggregate_crate", havingSum(`"s__lt":"` + sumOfLeast + `"`), "shelf_id", ""},
	{"aggregate_crate", havingSum(`"s__in":["` + sumOfLeast + `","9007199254740993"]`), "shelf_id", "2 3"},
	{"aggregate_crate", havingSum(`"s__range":["9223372036854775807","27670116110564327420"]`), "shelf_id", "1"},
	{"aggregate_crate", havingSum(`"s__gt":"9223372036854775808"`), "shelf_id", "1"},
	{"aggregate_crate", havingSum(`"s__gt":"18446744073709551616"`), "shelf_id", "1"},
	{"aggregate_crate", havingSum(`"s__lt":"999999999999999999999999999999"`), "shelf_id", "1 2 3 4"},
	{"aggregate_crate", havingSum(`"s__gt":18446744073709551615`), "shelf_id", "1"}, // a sum is a decimal, whose digits are taken as they are
	{"aggregate_crate", havingSum(`"s":9007199254740993`), "shelf_id", "3"},
	{"aggregate_crate", havingSum(`"s__gt":"-999999999999999999999999999999"`), "shelf_id", "1 2 3 4"},
	{"aggregate_crate", havingSum(`"_not":{"s__gt":"9223372036854775808"}`), "shelf_id", "2 3 4"},
	{"aggregate_crate", `{"measures":{"least":{"min":"big"},"most":{"max":"big"},"n":{"count_distinct":"big"},"s":{"sum":"big"}}}`, "",
		`[{"least":"-9223372036854775808","most":"9223372036854775807","n":8,"s":"9007212139642878"}]`},
	{"aggregate_crate", `{"group_by":["shelf_id"],"measures":{"d":{"stddev":"big"}},"order_by":["shelf_id"]}`, "d", "0.5773502691896257 0.5773502691896257 <nil> 1"},
	{"aggregate_crate", `{"filters":{"shelf_id__in":[1,2]},"group_by":["shelf_id"],"measures":{"a":{"avg":"big"},"m":{"median":"big"}},"order_by":["shelf_id"]}`, "",
		`[{"shelf_id":1,"a":"9223372036854775806.666666666667","m":"9223372036854775807.000000"},{"shelf_id":2,"a":"-9223372036854775807.666666666667","m":"-9223372036854775808.000000"}]`},
	{"aggregate_crate", `{"filters":{"shelf_id__in":[1,2]},"group_by":["shelf_id"],"measures":{"s":{"sum":"big"},"n":{"count":"*"},"all":{"running":"s"},"before":{"previous":"s"},"less":{"difference":["s","n"]},"nth":{"rank":"s"}},"order_by":["shelf_id"]}`, "",
		`[{"shelf_id":1,"s":"27670116110564327420","n":3,"all":"27670116110564327420","before":null,"less":"27670116110564327417","nth":1},{"shelf_id":2,"s":"-27670116110564327423","n":3,"all":-3,"before":"27670116110564327420","less":"-27670116110564327426","nth":2}]`},
	{"list_crate", `{"filters":{"big":"9223372036854775807"},"order_by":["id"]}`, "id", "1 2"},
	{"list_crate", `{"filters":{"big__lt":"9223372036854775807","big__gt":"9007199254740993"},"order_by":["id"]}`, "id", "3"},
	{"list_crate", `{"filters":{"big__lte":"9223372036854775808"},"order_by":["id"]}`, "id", "1 2 3 4 5 6 7 9 10 11"},
	{"list_crate", `{"filters":{"big__gt":"99999999999999999999"},"order_by":["id"]}`, "id", ""},
	{"list_crate", `{"filters":{"big__gte":"-99999999999999999999"},"order_by":["id"]}`, "id", "1 2 3 4 5 6 7 9 10 11"},
	{"list_crate", `{"filters":{"big":"99999999999999999999"},"order_by":["id"]}`, "id", ""},
	{"list_crate", `{"filters":{"shelf_id":1},"fields":["id",{"as":"x","add":["big","big"]}],"order_by":["-x","id"]}`, "x", "18446744073709551614 18446744073709551614 18446744073709551612"},
	{"list_shelf", `{"fields":["id","crate_by_shelf__sum__big"],"filters":{"crate_by_shelf__sum__big__gt":"18446744073709551616"}}`, "crate_by_shelf__sum__big", sumOfGreatest},
	{"list_shelf", `{"fields":["id","crate_by_shelf__sum__big"],"order_by":["crate_by_shelf__sum__big","id"],"filters":{"crate_by_shelf__sum__big__isnull":false}}`, "id", "2 4 3 1"},
}
