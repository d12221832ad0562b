package engines

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// tracks is a table whose groups lie in indexes, and another with lines of the first tracks of each group alone: a plan that
// looks at one row of a group, and then asks for lines, loses the group.
func tracks() string {
	const count, composers = 600, 38
	var script strings.Builder
	script.WriteString(`create table track (id int primary key, composer varchar(50) not null, genre int not null, album int);
create index track_composer on track (composer);
create index track_genre on track (genre, composer);
create index track_album on track (album);
create table line (id int primary key, track_id int not null, quantity int not null, foreign key (track_id) references track (id));
create index line_track on line (track_id);
`)
	rows := func(table string, n int, row func(i int) string) {
		for i := 1; i <= n; i++ {
			fmt.Fprintf(&script, "insert into %s values %s;\n", table, row(i))
		}
	}
	rows("track", count, func(i int) string { return fmt.Sprintf("(%d, 'c%02d', %d, %d)", i, i%composers, i%7, i%41) })
	rows("line", 2*composers, func(i int) string { return fmt.Sprintf("(%d, %d, %d)", i, i, i%5) })
	return script.String()
}

// groupsInIndexes compares groups without a count with the groups of plain SQL that counts their rows.
func groupsInIndexes(s *suite, t *testing.T) {
	database, plain := s.Open(t, tracks())
	if s.Name == contract.EngineMySQL { // whose plans depend on it
		for _, table := range []string{"track", "line"} {
			if _, err := plain.Exec("analyze table " + table); err != nil {
				t.Fatal(err)
			}
		}
	}
	models := []contract.Model{{Name: "track", Table: "track", Expose: true}, {Name: "line", Table: "line", Expose: true}}
	on := &suite{s.Engine, harness.Serve(t, database, models, tokens()), plain}
	for _, filters := range []struct{ of, where string }{
		{`{"line_by_track__none":{}}`, "not exists (select 1 from line l where l.track_id = t.id)"},
		{`{"line_by_track__none":{"quantity__gt":2}}`, "not exists (select 1 from line l where l.track_id = t.id and l.quantity > 2)"},
		{`{"_not":{"line_by_track__any":{}}}`, "not exists (select 1 from line l where l.track_id = t.id)"},
		{`{"line_by_track__any":{"quantity":3}}`, "exists (select 1 from line l where l.track_id = t.id and l.quantity = 3)"},
		{`{"line_by_track__count":0,"genre__lt":5}`, "(select count(*) from line l where l.track_id = t.id) = 0 and t.genre < 5"},
	} {
		for _, key := range []string{"composer", "album", "genre", "genre,composer"} {
			s.check(t, key+" of "+filters.of, func(t *testing.T) { on.groupsAre(t, key, filters.of, filters.where) })
		}
	}
}

// groupsAre asks for the groups of tracks by some fields, alone and with a least value.
func (s *suite) groupsAre(t *testing.T, key, filters, where string) {
	t.Helper()
	fields := strings.Split(key, ",")
	wanted := s.texts(t, "select "+key+" from (select t.*, (select count(*) from line) as n from track t where "+where+") x group by "+key+" having count(*) > 0 order by "+key, len(fields))
	if len(wanted) < 2 {
		t.Fatalf("SQL has groups %v", wanted)
	}
	for _, measures := range []string{``, `,"measures":{"least":{"min":"id"}}`, `,"measures":{"different":{"count_distinct":"album"}}`} {
		answer := s.ok(t, "root", "aggregate_track", fmt.Sprintf(`{"group_by":["%s"],"filters":%s,"order_by":["%[1]s"],"limit":1000%[3]s}`, strings.Join(fields, `","`), filters, measures))
		var got []string
		for _, group := range at(t, answer, "results").([]any) {
			var values []string
			for _, field := range fields {
				values = append(values, fmt.Sprint(at(t, group, field)))
			}
			got = append(got, strings.Join(values, " "))
		}
		if fmt.Sprint(got) != fmt.Sprint(wanted) {
			t.Errorf("%d groups %v\nwant %d: %v%s", len(got), got, len(wanted), wanted, measures)
		}
	}
}

// texts are the rows of a statement, their values joined by blanks.
func (s *suite) texts(t *testing.T, statement string, columns int) []string {
	t.Helper()
	rows, err := s.plain.QueryContext(context.Background(), statement)
	if s.Shards && err != nil {
		t.Skipf("the gateway does not take the plain SQL: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		values, places := make([]string, columns), make([]any, columns)
		for i := range values {
			places[i] = &values[i]
		}
		if err := rows.Scan(places...); err != nil {
			t.Fatal(err)
		}
		all = append(all, strings.Join(values, " "))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
