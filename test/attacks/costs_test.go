package attacks

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// Each table has a foreign key to the one before, without an index of its own if the engine makes none; node refers to itself
// three times.
const tables = `
create table firm (id int primary key, name varchar(60), even int);
create table writer (id int primary key, name varchar(60), even int, firm_id int, foreign key (firm_id) references firm (id));
create table book (id int primary key, name varchar(60), even int, writer_id int, foreign key (writer_id) references writer (id));
create table chapter (id int primary key, name varchar(60), even int, book_id int, foreign key (book_id) references book (id));
create table page (id int primary key, name varchar(60), even int, chapter_id int, foreign key (chapter_id) references chapter (id));
create table wide (id int primary key, even int, a text, b text, c text, d text, e text, f text);
create table event (id int primary key, even int, at date);
create table node (id int primary key, name varchar(60), even int, x_id int, y_id int, z_id int, foreign key (x_id) references node (id), foreign key (y_id) references node (id), foreign key (z_id) references node (id));
`

// The sizes of the tables: rows of each of the chain's, wide rows and the characters of each of their six texts, nodes, and days.
const (
	chainRows  = 4000
	wideRows   = 3000
	wideLength = 2000
	nodeRows   = 300
	eventRows  = 1800
)

// script makes and fills the tables.
func script() string {
	var all strings.Builder
	all.WriteString(tables)
	insert := func(table string, n int, values func(i int) string) {
		for from := 1; from <= n; from += 100 {
			var rows []string
			for i := from; i < from+100 && i <= n; i++ {
				rows = append(rows, "("+values(i)+")")
			}
			fmt.Fprintf(&all, "insert into %s values %s;\n", table, strings.Join(rows, ", "))
		}
	}
	insert("firm", chainRows/10, func(i int) string { return fmt.Sprintf("%d, 'n%d', %d", i, i%97, i%2) })
	for _, table := range []string{"writer", "book", "chapter", "page"} {
		insert(table, chainRows, func(i int) string { return fmt.Sprintf("%d, 'n%d', %d, %d", i, i%97, i%2, 1+i%(chainRows/10)) })
	}
	insert("wide", wideRows, func(i int) string {
		columns := []string{fmt.Sprint(i), fmt.Sprint(i % 2)}
		for c := range 6 {
			columns = append(columns, fmt.Sprintf("'%s%d'", strings.Repeat(string(rune('a'+c)), wideLength), i))
		}
		return strings.Join(columns, ", ")
	})
	insert("event", eventRows, func(i int) string {
		return fmt.Sprintf("%d, %d, '%s'", i, i%2, time.Date(2020, 1, i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly))
	})
	fmt.Fprint(&all, "insert into event values (9001, 0, '1200-01-01');\ninsert into node values (1, 'n1', 1, 1, 1, 1);\n")
	insert("node", nodeRows-1, func(i int) string {
		return fmt.Sprintf("%d, 'n%d', %d, %d, %d, %d", i+1, i%7, i%2, 1+i/2, 1+i/3, 1+i/5)
	})
	return all.String()
}

// attack is a question that costs much, of one tool.
type attack struct {
	name, tool, arguments string
	// answered says that it must be answered: the engines can do it in time.
	answered bool
}

// conditions are n condition objects, in which N is the number of the object.
func conditions(n int, object string) string {
	var all []string
	for i := range n {
		all = append(all, strings.ReplaceAll(object, "N", fmt.Sprint(i)))
	}
	return strings.Join(all, ",")
}

// joined are n paths of node that need a join each.
func joined(n int) []string {
	var all []string
	level := []string{""}
	for len(all) < n {
		var next []string
		for _, before := range level {
			for _, relation := range []string{"x", "y", "z"} {
				next = append(next, before+relation+"__")
			}
		}
		all, level = append(all, next...), next
	}
	return all[:n]
}

func paths(n int, field string) string {
	var all []string
	for _, path := range joined(n) {
		all = append(all, `"`+path+field+`"`)
	}
	return strings.Join(all, ",")
}

func attacks() []attack {
	chain := "writer_by_firm__book_by_writer__chapter_by_book__page_by_chapter"
	var measures, joins, deep, percentiles, texts strings.Builder
	for i := range 20 {
		fmt.Fprintf(&measures, `,"m%d":{"count_distinct":"chapter__book__writer__firm__name","filters":{"_not":{"chapter__book__writer__name":"n%d"},"chapter__page_by_chapter__count__gte":%d}}`, i, i, i)
	}
	for i, path := range joined(20) {
		fmt.Fprintf(&joins, `,"m%d":{"max":"%sname","filters":{"%sid__gt":%d}}`, i, path, path, i)
	}
	for i := range 20 {
		fmt.Fprintf(&percentiles, `,"m%d":{"percentile":[{"mul":["id","chapter__book__id"]},0.%02d],"filters":{"id__gt":%d}}`, i, i+1, i)
		fmt.Fprintf(&texts, `,"m%d":{"%s"}`, i, []string{`median":"chapter__book__id`, `texts":"chapter__book__writer__name`}[i%2])
	}
	relations := strings.Split(chain, "__")
	for _, relation := range relations {
		fmt.Fprintf(&deep, `{"%[1]s__count__gte":1,"%[1]s__any":`, relation)
	}
	deep.WriteString(`{"name__contains":"7"}` + strings.Repeat("}", len(relations)))
	many := strings.TrimSuffix(strings.Repeat(`"yN",`, 500), ",")
	wide := `"a","b","c","d","e","f"`
	return []attack{
		{"64 conditions over four relations to one row", "list_page", `{"total":"exact","filters":{"_any":[` + conditions(64, `{"chapter__book__writer__firm__name__contains":"xN"}`) + `]}}`, true},
		{"64 conditions over four relations to many rows", "list_firm", `{"total":"exact","filters":{"_all":[` + conditions(64, `{"`+chain+`__name__ne":"xN"}`) + `]}}`, false},
		{"64 conditions that no row meets", "list_firm", `{"total":"exact","filters":{"_any":[` + conditions(64, `{"`+chain+`__name":"xN"}`) + `]}}`, false},
		{"any in any, four deep, with counts", "list_firm", `{"total":"exact","filters":` + deep.String() + `}`, false},
		{"none in none, and counts of each", "aggregate_firm", `{"measures":{"n":{"count":"*"}},"filters":{"writer_by_firm__none":{"book_by_writer__none":{"chapter_by_book__none":{"page_by_chapter__count__gt":3}}}}}`, false},
		{"64 counts", "list_book", `{"total":"exact","filters":{"_any":[` + conditions(64, `{"chapter_by_book__count":10N}`) + `]}}`, false},
		{"20 measures with filters", "aggregate_page", `{"group_by":["chapter__book__writer__name"],"measures":{` + measures.String()[1:] + `}}`, false},
		{"64 conditions on 500 values each", "aggregate_page", `{"measures":{"n":{"count":"*","filters":{"_any":[` + conditions(64, `{"chapter__book__name__in":[`+many+`]}`) + `]}}}}`, false},
		{"20 measures of 20 joined rows", "aggregate_node", `{"group_by":["name"],"measures":{` + joins.String()[1:] + `}}`, true},
		{"32 sets of values of joined rows", "list_page", `{"total":"exact","filters":{"_any":[` + conditions(32, `{"name__in":{"_values":{"model":"page","field":"chapter__book__writer__name","filters":{"chapter__book__name":"xN"}}}}`) + `]}}`, false},
		{"sets of values in sets of values, and none of them", "aggregate_page", `{"measures":{"n":{"count":"*","filters":{"_not":{"name__in":{"_values":{"model":"chapter","field":"name","filters":{"_not":{"name__in":{"_values":{"model":"book","field":"name","filters":{"writer__name__contains":"7"}}}}}}}}}}}}`, false},
		{"a set of wide texts", "aggregate_wide", `{"measures":{"n":{"count":"*"}},"filters":{"a__in":{"_values":{"field":"b"}},"_not":{"c__in":{"_values":{"field":"d"}}}}}`, false},
		{"groups of six beginnings of wide texts", "aggregate_wide", `{"group_by":["a__prefix_100","b__prefix_100","c__prefix_100","d__prefix_100","e__prefix_100","f__prefix_100"],"measures":{"n":{"count":"*"}},"order_by":["-f__prefix_100"],"total":"exact"}`, false},
		{"groups of six wide texts", "aggregate_wide", `{"group_by":[` + wide + `],"measures":{"n":{"count":"*"}},"total":"exact"}`, false},
		{"groups of six wide texts in another order", "aggregate_wide", `{"group_by":[` + wide + `],"measures":{"top":{"max":"a"},"n":{"count_distinct":"f"}},"order_by":["-top","-f"],"limit":1000}`, false},
		{"distinct wide texts of all rows", "aggregate_wide", `{"measures":{"a":{"count_distinct":"a"},"b":{"count_distinct":"b"},"c":{"count_distinct":"c"},"d":{"max":"d"},"e":{"min":"e"}}}`, false},
		{"20 percentiles of many rows in many groups", "aggregate_page", `{"group_by":["name","chapter__book__writer__name"],"measures":{` + percentiles.String()[1:] + `},"total":"exact"}`, false},
		{"20 texts and medians of joined rows", "aggregate_page", `{"group_by":["even"],"measures":{` + texts.String()[1:] + `}}`, false},
		{"texts of wide texts", "aggregate_wide", `{"measures":{"a":{"texts":"a"},"b":{"texts":"b"},"c":{"texts":"c"},"d":{"texts":"d"},"e":{"texts":"e"},"f":{"texts":"f"}}}`, false},
		{"the days of two years in each of two groups", "aggregate_event", `{"group_by":["even","at__day"],"fill":true,"filters":{"id__lte":800},"measures":{"n":{"count":"*"},"all":{"running":"n"},"m":{"median":"id"}},"limit":1000,"total":"exact"}`, true},
		{"the years of a millennium", "aggregate_event", `{"group_by":["at__year"],"fill":true,"measures":{"n":{"count":"*"},"mean":{"moving":"n","last":1000}},"limit":1000,"total":"exact"}`, true},
		{"what comes before each row, fifteen times", "list_page", `{"total":"exact","filters":{"_any":[` + conditions(15, `{"id__lt":{"_measure":{"count":"*","filters":{"id__gt":{"_outer":"id"},"chapter__book__name__ne":{"_outer":"chapter__book__writer__name"},"even__gt":N}}}}`) + `]}}`, false},
		{"the row outside, four relations deep", "list_firm", `{"total":"exact","filters":{"writer_by_firm__none":{"id__gt":{"_outer":"id"},"book_by_writer__none":{"id__gt":{"_outer":"id"},"chapter_by_book__none":{"id__gt":{"_outer":"id"},"page_by_chapter__any":{"id__gt":{"_outer":"book__writer__id"}}}}}}}`, false},
		{"each row beside its own group, fifteen ways", "list_page", `{"total":"exact","filters":{"_any":[` + conditions(15, `{"id__gt":{"_measure":{"max":"id","filters":{"even":{"_outer":"even"},"chapter__book__id":{"_outer":"chapter_id"},"id__gt":N}}}}`) + `]}}`, false},
		{"40 joined rows", "list_node", `{"fields":[` + paths(40, "name") + `],"order_by":["x__x__x__name"],"total":"exact"}`, true},
		{"40 joined rows and 40 relations to many", "list_node", `{"fields":[` + paths(40, "name") + `],"filters":{"_any":[` + conditions(20, `{"node_by_x__name":"nN","z__node_by_y__any":{"name":"nN"}}`) + `]}}`, false},
	}
}

func TestAttackByCostlyQuestions(t *testing.T) {
	if os.Getenv("MCP_TEST_ATTACKS") == "" {
		t.Skip("MCP_TEST_ATTACKS is not set: make test-attacks sets it")
	}
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("the memory of a process is read from /proc")
	}
	var peaks []string
	for _, engine := range harness.Engines {
		t.Run(engine.Title, func(t *testing.T) {
			served, plain := engine.Open(t, script())
			if engine.Product == harness.PostgreSQL {
				if _, err := plain.Exec("analyze"); err != nil {
					t.Fatal(err)
				}
			}
			s := start(t, served)
			for i, a := range attacks() {
				s.attack([]string{"greedy", "limited"}[i%2], a)
			}
			s.refusesMoreJoins()
			peak := s.peak()
			peaks = append(peaks, fmt.Sprintf("%s %d", engine.Title, peak>>20))
			if peak >= podMemory {
				t.Errorf("the process had %d MiB", peak>>20)
			}
		})
	}
	fmt.Printf("attacks: %d costly questions on each engine ended in time, others were answered meanwhile; the server had at most so many MiB: %s\n",
		len(attacks()), strings.Join(peaks, ", "))
}

// tooMany matches the error of a token that asks for much at once.
const tooMany = `{"error":"Too many requests at once"}`

// longestCall is how long a call may take: it waits for a connection, then reads a page and counts the rows. Those are two
// statements; each may run for the timeout, and a little longer until it is broken off.
const longestCall = database.AcquireTimeout + 2*(statementTimeout+500*time.Millisecond)

// atMost is how long something may take that a quiet machine does in limit. A busy one takes longer: there only what would never end
// counts, unless MCP_TEST_TIMING=1 says that the machine is quiet.
func atMost(limit time.Duration) time.Duration {
	if os.Getenv("MCP_TEST_TIMING") != "" {
		return limit
	}
	return 10 * limit
}

// attack asks a costly question four times at once, and meanwhile for a row with another token.
func (s *attacked) attack(by string, a attack) {
	s.Helper()
	began, ended := time.Now(), make(chan struct{})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			text, took := s.call(by, a.tool, a.arguments)
			if !strings.HasPrefix(text, `{"count":`) && !strings.Contains(text, `"code":"timeout"`) && text != tooMany {
				s.Errorf("%s, by %s: %.600s", a.name, by, text)
			}
			if took > atMost(longestCall) {
				s.Errorf("%s, by %s: it took %v: %.200s", a.name, by, took, text)
			}
		})
	}
	go func() {
		all.Wait()
		close(ended)
	}()
	time.Sleep(100 * time.Millisecond)
	slowest, rows := time.Duration(0), 0
	for asking := true; asking; rows++ {
		text, took := s.call("modest", "get_book", `{"id":7}`)
		if !strings.HasPrefix(text, `{"id":7,`) {
			s.Errorf("%s, by %s: another token is told: %.300s", a.name, by, text)
			break
		}
		slowest = max(slowest, took)
		select {
		case <-ended:
			asking = false
		case <-time.After(50 * time.Millisecond):
		}
	}
	<-ended
	if slowest > atMost(2*statementTimeout) {
		s.Errorf("%s, by %s: another token waited %v", a.name, by, slowest)
	}
	took := time.Since(began)
	if a.answered {
		text := ""
		for range 5 { // the machine may be busy
			if text, _ = s.call(by, a.tool, a.arguments); strings.HasPrefix(text, `{"count":`) {
				break
			}
		}
		if !strings.HasPrefix(text, `{"count":`) {
			s.Errorf("%s, by %s alone: %.300s", a.name, by, text)
		}
	}
	s.Logf("%s, by %s: ended after %v; another token's get_ took at most %v of %d; %d MiB", a.name, by, took.Round(time.Millisecond), slowest.Round(time.Millisecond), rows, s.peak()>>20)
}

// refusesMoreJoins checks the bound that keeps a statement within what every engine joins.
func (s *attacked) refusesMoreJoins() {
	s.Helper()
	if text, _ := s.call("greedy", "list_node", `{"fields":[`+paths(41, "name")+`]}`); !strings.Contains(text, "at most 40 related rows") {
		s.Errorf("41 joined rows: %.300s", text)
	}
	if text, _ := s.call("greedy", "aggregate_event", `{"group_by":["at__day"],"fill":true}`); !strings.Contains(text, "there are more than 2000 days") {
		s.Errorf("the days of 800 years: %.300s", text)
	}
	if text, _ := s.call("greedy", "list_page", `{"filters":{"_any":[`+conditions(65, `{"chapter__book__writer__firm__name__contains":"xN"}`)+`]}}`); !strings.Contains(text, "at most 64 condition") {
		s.Errorf("65 conditions: %.300s", text)
	}
}
