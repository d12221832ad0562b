package engines

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// momentsNow is the clock of the endpoint that visits are asked of: a Tuesday, 12:20:30 in Berlin since the clocks went on.
var momentsNow = time.Date(2026, 3, 31, 10, 20, 30, 500_000_000, time.UTC)

// visitTimes are the times of visits in UTC, by their ids from 1; "" is null.
var visitTimes = []string{
	"2025-12-31 23:30:00", "2026-01-01 00:00:00", "2026-02-28 12:00:00", "2026-03-01 00:00:00", "2026-03-29 00:30:00",
	"2026-03-29 01:30:00", "2026-03-30 22:00:00", "2026-03-31 10:20:30.5", "2026-04-01 00:00:00", "", "9999-12-31 23:59:59",
}

// visits is a table of moments without a zone and with one, and of their days.
func visits(e harness.Engine) string {
	with, without := map[string]string{contract.EnginePostgreSQL: "timestamptz", contract.EngineMySQL: "timestamp(6) null", contract.EngineSQLite: "timestamptz", contract.EngineDuckDB: "timestamptz"}[e.Name],
		map[string]string{contract.EnginePostgreSQL: "timestamp", contract.EngineMySQL: "datetime(6)", contract.EngineSQLite: "timestamp", contract.EngineDuckDB: "timestamp"}[e.Name]
	var script strings.Builder
	fmt.Fprintf(&script, "create table visit (id int primary key, at %s, seen %s, day date);\n", without, with)
	for i, at := range visitTimes {
		values := "null, null, null"
		if at != "" {
			seen := "'" + at + map[string]string{contract.EnginePostgreSQL: "+00", contract.EngineSQLite: "Z", contract.EngineDuckDB: "Z"}[e.Name] + "'"
			if strings.HasPrefix(at, "9999") {
				seen = "null"
			}
			values = fmt.Sprintf("'%s', %s, '%s'", at, seen, at[:10])
		}
		fmt.Fprintf(&script, "insert into visit values (%d, %s);\n", i+1, values)
	}
	fmt.Fprintf(&script, "create table word (id int primary key, name varchar(40)%s);\n", map[string]string{contract.EngineMySQL: " character set utf8mb4"}[e.Name])
	for i, name := range []string{"Äpfel", "äpfel", "apfel", "Apfel", "", "😀x", "😀", "a b", "a", "a c"} {
		fmt.Fprintf(&script, "insert into word values (%d, '%s');\n", i+1, name)
	}
	script.WriteString("insert into word values (11, null);\n")
	fmt.Fprintf(&script, "create table tick (id int primary key, at %s, seen %s);\n", without, with)
	for i, at := range ticks() {
		text, seen := at.Format(time.DateTime), "null"
		if at.Year() >= 1971 && at.Year() < 2038 {
			seen = "'" + text + map[string]string{contract.EnginePostgreSQL: "+00", contract.EngineSQLite: "Z", contract.EngineDuckDB: "Z"}[e.Name] + "'"
		}
		fmt.Fprintf(&script, "insert into tick values (%d, '%s', %s);\n", i+1, text, seen)
	}
	return script.String()
}

// ticks are moments over two centuries, many of them at times at which some clocks change.
func ticks() []time.Time {
	var all []time.Time
	for i := range 160 {
		all = append(all, time.Date(1901+i*197/160, time.Month(1+i*7%12), 1+i*11%28, i*5%24, i*13%60, i*17%60, 0, time.UTC))
	}
	for _, day := range []time.Time{(time.Time{}).AddDate(2025, 2, 29), (time.Time{}).AddDate(2025, 9, 24), (time.Time{}).AddDate(2025, 2, 7), (time.Time{}).AddDate(2025, 10, 0), (time.Time{}).AddDate(2017, 10, 3), (time.Time{}).AddDate(2010, 11, 29)} {
		for half := range 40 {
			all = append(all, day.Add(time.Duration(half)*30*time.Minute-4*time.Hour))
		}
	}
	return all
}

// zones asks for groups and filters in the days, weeks and months of zones, which are what Go's clocks show.
func (s *suite) zones(t *testing.T) {
	parts := map[string]func(time.Time) string{
		"year": func(at time.Time) string { return at.Format("2006") }, "month": func(at time.Time) string { return at.Format("2006-01") },
		"quarter": func(at time.Time) string { return fmt.Sprintf("%d-Q%d", at.Year(), (int(at.Month())+2)/3) },
		"week":    func(at time.Time) string { y, w := at.ISOWeek(); return fmt.Sprintf("%d-W%02d", y, w) },
		"day":     func(at time.Time) string { return at.Format("2006-01-02") }, "hour": func(at time.Time) string { return at.Format("2006-01-02T15") },
		"weekday":         func(at time.Time) string { return fmt.Sprint((int(at.Weekday())+6)%7 + 1) },
		"quarter_of_year": func(at time.Time) string { return fmt.Sprint((int(at.Month()) + 2) / 3) },
		"month_of_year":   func(at time.Time) string { return fmt.Sprint(int(at.Month())) }, "hour_of_day": func(at time.Time) string { return fmt.Sprint(at.Hour()) },
	}
	for _, name := range []string{"UTC", "Europe/Berlin", "America/New_York", "America/St_Johns", "Asia/Kolkata", "Australia/Lord_Howe", "America/Sao_Paulo", "Pacific/Apia"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		since := 1901
		if name != "Europe/Berlin" && name != "America/New_York" {
			since = 1975 // what clocks showed long ago is told differently
		}
		for _, column := range []string{"at", "seen"} {
			from := fmt.Sprintf(`"%s__gte":"%d-02-01"`, column, max(since, map[string]int{"at": 1901, "seen": 1972}[column]))
			for part, value := range parts {
				s.check(t, name+" "+column+" "+part, func(t *testing.T) { s.zonedGroups(t, zone, column, part, from, value) })
			}
		}
	}
}

// zonedGroups holds the groups of ticks by a part against those that Go makes, and asks for the rows of some of them.
func (s *suite) zonedGroups(t *testing.T, zone *time.Location, column, part, from string, value func(time.Time) string) {
	t.Helper()
	var since time.Time
	since, _ = time.ParseInLocation("2006-01-02", from[strings.LastIndex(from, ":")+2:len(from)-1], zone)
	wanted := map[string]int{}
	for _, at := range ticks() {
		if !at.Before(since) && (column == "at" || at.Year() < 2038) {
			wanted[value(at.In(zone))]++
		}
	}
	answer := s.ok(t, "root", "aggregate_tick", fmt.Sprintf(`{"time_zone":%q,"group_by":["%s__%s"],"measures":{"n":{"count":"*"}},"filters":{%s},"limit":1000}`, zone, column, part, from))
	got := map[string]int{}
	for _, group := range at(t, answer, "results").([]any) {
		var n int
		_, _ = fmt.Sscan(fmt.Sprint(at(t, group, "n")), &n)
		got[fmt.Sprint(at(t, group, column+"__"+part))] = n
	}
	if !maps.Equal(got, wanted) {
		t.Errorf("groups %v\nwant %v", got, wanted)
	}
	asked := 0
	for group, n := range wanted {
		if asked++; asked > 6 {
			break
		}
		key, given := column, fmt.Sprintf("%q", group)
		switch part {
		case "weekday":
			key, given = column+"__weekday", group
		case "quarter_of_year":
			key, given = column+"__quarter", group
		case "month_of_year":
			key, given = column+"__month", group
		case "hour_of_day":
			key, given = column+"__hour", group
		}
		filters := fmt.Sprintf(`{%s,"_all":[{%q:%s}]}`, from, key, given)
		counted := s.ok(t, "root", "aggregate_tick", fmt.Sprintf(`{"time_zone":%q,"measures":{"n":{"count":"*"}},"filters":%s}`, zone, filters))
		if text := fmt.Sprint(at(t, counted, "results", 0, "n")); text != fmt.Sprint(n) && (part != "hour" || zone.String() != "Australia/Lord_Howe") {
			t.Errorf("%s has %s rows, want %d", filters, text, n)
		}
	}
}

// pieces asks for groups of numbers of dates, and of beginnings of texts: letters are characters, and each counts.
func (s *suite) pieces(t *testing.T) {
	for _, tc := range []struct{ tool, arguments, rows string }{
		{"aggregate_visit", `{"group_by":["day__month_of_year"],"measures":{"n":{"count":"*"}},"filters":{"id__lt":10}}`,
			`[{"day__month_of_year":1,"n":1},{"day__month_of_year":2,"n":1},{"day__month_of_year":3,"n":5},{"day__month_of_year":4,"n":1},{"day__month_of_year":12,"n":1}]`},
		{"aggregate_visit", `{"group_by":["day__quarter_of_year"],"measures":{"n":{"count":"*"}},"filters":{"id__lt":10}}`,
			`[{"day__quarter_of_year":1,"n":7},{"day__quarter_of_year":2,"n":1},{"day__quarter_of_year":4,"n":1}]`},
		{"aggregate_visit", `{"group_by":["seen__month_of_year","at__hour_of_day"],"filters":{"id__gt":4,"id__lt":10}}`,
			`[{"seen__month_of_year":3,"at__hour_of_day":0},{"seen__month_of_year":3,"at__hour_of_day":1},{"seen__month_of_year":3,"at__hour_of_day":10},{"seen__month_of_year":3,"at__hour_of_day":22},{"seen__month_of_year":4,"at__hour_of_day":0}]`},
		{"aggregate_word", `{"group_by":["name__prefix_1"],"measures":{"n":{"count":"*"}},"filters":{"name__isnull":false}}`,
			`[{"name__prefix_1":"","n":1},{"name__prefix_1":"A","n":1},{"name__prefix_1":"a","n":4},{"name__prefix_1":"Ä","n":1},{"name__prefix_1":"ä","n":1},{"name__prefix_1":"😀","n":2}]`},
		{"aggregate_word", `{"group_by":["name__prefix_2"],"measures":{"n":{"count":"*"}},"having":{"name__prefix_2__startswith":"a"},"order_by":["-name__prefix_2"]}`,
			`[{"name__prefix_2":"ap","n":1},{"name__prefix_2":"a ","n":2},{"name__prefix_2":"a","n":1}]`},
		{"aggregate_word", `{"group_by":["name__prefix_100"],"filters":{"name":null}}`, `[{"name__prefix_100":null}]`},
	} {
		s.check(t, tc.tool+" "+tc.arguments, func(t *testing.T) { want(t, s.ok(t, "root", tc.tool, tc.arguments), tc.rows, "results") })
	}
}

// moments asks of moments relative to now, and of the periods that groups are.
func moments(s *suite, t *testing.T) {
	database, plain := s.Open(t, visits(s.Engine))
	prepare := func(s *server.Server) { s.Now = func() time.Time { return momentsNow } }
	models := []contract.Model{{Name: "visit", Table: "visit", Expose: true}, {Name: "word", Table: "word", Expose: true}, {Name: "tick", Table: "tick", Expose: true}}
	on := &suite{s.Engine, harness.ServeAs(t, prepare, database, models, tokens()), plain}
	on.pieces(t)
	on.zones(t)
	for _, tc := range []struct{ filters, ids string }{
		{`{"at__gte":{"_now":""}}`, "8 9 11"},
		{`{"at__gt":{"_now":"now"}}`, "9 11"},
		{`{"seen__gte":{"_now":"/d"}}`, "8 9"},
		{`{"at__gte":{"_now":"/d"},"at__lt":{"_now":"+1d/d"}}`, "8"},
		{`{"at__gte":{"_now":"-1mo/mo"},"at__lt":{"_now":"/mo"}}`, "3"},
		{`{"at__gte":{"_now":"-1mo"},"at__lt":{"_now":"/mo"}}`, "3"}, // 28 February, 10:20:30
		{`{"seen__range":[{"_now":"-1w/w"},{"_now":"/d"}]}`, "5 6 7"},
		{`{"at":{"gte":{"_now":"-1q/q"},"lt":{"_now":"/q"}}}`, "1"},
		{`{"at__gte":{"_now":"/y"},"at__lte":{"_now":"-30d"}}`, "2 3 4"},
		{`{"day":{"_now":"/d"}}`, "8"},
		{`{"day":{"_now":"-1d"}}`, "7"},
		{`{"day__in":[{"_now":"+1d"},"2026-02-28",{"_now":"-11h"}]}`, "3 7 9"},
		{`{"day__ne":{"_now":"-30d"},"id__lt":6}`, "1 2 3 5"},
		{`{"at__date":{"_now":"-1d"}}`, "7"},
		{`{"day__lt":{"_now":"-3mo/y"}}`, ""},
		{`{"day__lt":{"_now":"-89d"}}`, "1"},

		{`{"at":"2026"}`, "2 3 4 5 6 7 8 9"},
		{`{"seen":"2025"}`, "1"},
		{`{"day":"2026-Q1"}`, "2 3 4 5 6 7 8"},
		{`{"at":"2026-03"}`, "4 5 6 7 8"},
		{`{"seen__month":"2026-03"}`, "4 5 6 7 8"},
		{`{"at__ne":"2026-03"}`, "1 2 3 9 10 11"},
		{`{"day":"2026-W13"}`, "5 6"},
		{`{"at__week":"2026-W01"}`, "1 2"},
		{`{"at":"2026-03-29"}`, "5 6"},
		{`{"at":"2026-03-29T01"}`, "6"},
		{`{"seen__hour":"2026-03-29T00"}`, "5"},
		{`{"at__in":["2025","2026-02","2026-03-31T10:20:30.5"]}`, "1 3 8"},
		{`{"day__in":["2025-12","2026-04"]}`, "1 9"},
		{`{"at__gte":"2026-03","at__lt":"2026-04"}`, "4 5 6 7 8"},
		{`{"at__gt":"2026-03","at__lte":"2026-04"}`, "9"},
		{`{"seen__gt":"2026-03-30"}`, "8 9"},
		{`{"seen__lte":"2026-03-29","seen__gte":"2026-03-29"}`, "5 6"},
		{`{"day__range":["2025-Q4","2026-02"]}`, "1 2 3"},
		{`{"at__range":["2026-03-29","2026-03-29"]}`, "5 6"},
		{`{"at":"9999"}`, "11"},
		{`{"at__gt":"9999"}`, ""},
		{`{"day__lte":"9999","id__gt":8}`, "9 11"},
		{`{"at":"0001"}`, ""},
		{`{"_not":{"at":"2026"}}`, "1 10 11"},
	} {
		s.check(t, tc.filters, func(t *testing.T) {
			if got := column(t, on.ok(t, "root", "list_visit", `{"filters":`+tc.filters+`,"fields":["id"]}`), "id"); got != tc.ids {
				t.Errorf("ids %q, want %q", got, tc.ids)
			}
			counted := on.ok(t, "root", "aggregate_visit", `{"measures":{"n":{"count":"*","filters":`+tc.filters+`}}}`)
			want(t, counted, fmt.Sprint(len(strings.Fields(tc.ids))), "results", 0, "n")
		})
	}
}
