package audit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mcp-admin/mcp-admin-operator/server/audit"
)

func TestAQuestionHasNoValueThatRowsAreComparedWith(t *testing.T) {
	for _, row := range []struct{ name, arguments, want string }{
		{"nothing", ``, `{}`},
		{"what is asked for", `{"fields":["title","author__name"],"order_by":["-price"],"limit":5,"total":"none"}`, `{"fields":["title","author__name"],"order_by":["-price"],"limit":5,"total":"none"}`},
		{"conditions", `{"filters":{"email":"ann@example.com","_any":[{"age__gte":30},{"name__in":["Ann","Bo"]}]}}`, `{"filters":{"email":"?","_any":[{"age__gte":"?"},{"name__in":["?"]}]}}`},
		{"relations in conditions", `{"filters":{"order_by_customer__any":{"total__gt":{"_measure":{"avg":"total","filters":{"city":"Bonn"}}}}}}`, `{"filters":{"order_by_customer__any":{"total__gt":{"_measure":{"avg":"?","filters":{"city":"?"}}}}}}`},
		{"an id, a search, a cursor", `{"id":17,"search":"Ann","cursor":"abc","term":"A"}`, `{"id":"?","search":"?","cursor":"?","term":"?"}`},
		{"conditions of measures", `{"measures":{"n":{"count":"*","filters":{"city":"Bonn"}},"s":{"sum":{"mul":["price",2]}}},"having":{"n__gt":3}}`, `{"measures":{"n":{"count":"*","filters":{"city":"?"}},"s":{"sum":{"mul":["price",2]}}},"having":{"n__gt":"?"}}`},
		{"conditions of a field", `{"fields":["name",{"as":"open","count":"orders","filters":{"note":"private"}}]}`, `{"fields":["name",{"as":"open","count":"orders","filters":{"note":"?"}}]}`},
		{"an argument that nobody knows", `{"data":{"name":"Ann"},"x":["a",["b"],{"c":"d"},"e"]}`, `{"data":{"name":"?"},"x":["?",["?"],{"c":"?"}]}`},
		{"a quote in a name", `{"filters":{"a\"b":1}}`, `{"filters":{"a\"b":"?"}}`},
		{"white space", " { \"id\" : 1 , \"fields\" : [ \"a\" , \"b\" ] } ", `{"id":"?","fields":["a","b"]}`},
	} {
		if got := audit.Question([]byte(row.arguments)); got != row.want {
			t.Errorf("%s:\n got %s\nwant %s", row.name, got, row.want)
		}
	}
}

func TestALongQuestionIsCut(t *testing.T) {
	long := `{"fields":["` + strings.Repeat("é", 5000) + `"],"limit":5}`
	got := audit.Question([]byte(long))
	if len(got) > 2010 || !strings.HasSuffix(got, "…") || !utf8.ValidString(got) {
		t.Errorf("got %d bytes: %.40q … %q", len(got), got, got[len(got)-10:])
	}
}

func TestWhatAnAnswerShows(t *testing.T) {
	for _, row := range []struct {
		name, payload string
		one, ids      bool
		want          audit.Shown
	}{
		{"a list", `{"count":2,"total_count":9,"rows":"policy","results":[{"id":1,"title":"A"},{"id":"x,2","title":"B"}],"next_cursor":"c"}`, false, true, audit.Shown{Fields: []string{"id", "title"}, Rows: 2, IDs: []string{"1", "x,2"}}},
		{"without ids", `{"count":2,"results":[{"id":1,"title":"A"},{"id":2,"title":"B"}]}`, false, false, audit.Shown{Fields: []string{"id", "title"}, Rows: 2}},
		{"columns", `{"count":2,"limited":"policy","columns":["title","id"],"rows":[["A",1],["B",2]]}`, false, true, audit.Shown{Fields: []string{"title", "id"}, Rows: 2, IDs: []string{"1", "2"}}},
		{"groups", `{"count":1,"results":[{"city":"Bonn","n":3}]}`, false, true, audit.Shown{Fields: []string{"city", "n"}, Rows: 1, IDs: []string{}}},
		{"one row with what belongs to it", `{"id":7,"name":"Ann","_inlines":{"order":[{"id":1},{"id":2}]},"_related":{"friends":[{"id":9}]}}`, true, true, audit.Shown{Fields: []string{"id", "name", "_inlines", "_related"}, Rows: 4, IDs: []string{"7"}}},
		{"history", `{"model":"book","object_id":1,"count":1,"history":[{"action":"update"}]}`, false, false, audit.Shown{Fields: []string{"action"}, Rows: 1}},
		{"no rows", `{"count":0,"results":[]}`, false, true, audit.Shown{IDs: []string{}}},
		{"no rows at all", `{"model_name":"book"}`, false, false, audit.Shown{}},
	} {
		if got := audit.ShownBy([]byte(row.payload), row.one, row.ids); !reflect.DeepEqual(got, row.want) {
			t.Errorf("%s: got %+v, want %+v", row.name, got, row.want)
		}
	}
}

func TestIDsAreBounded(t *testing.T) {
	rows := strings.Repeat(`{"id":1},`, 500)
	got := audit.ShownBy([]byte(`{"results":[`+rows[:len(rows)-1]+`]}`), false, true)
	if got.Rows != 500 || len(got.IDs) != audit.MaxIDs {
		t.Errorf("got %d rows and %d ids, want 500 and %d", got.Rows, len(got.IDs), audit.MaxIDs)
	}
}

func TestALineAboutARead(t *testing.T) {
	var out bytes.Buffer
	log := audit.NewLog(&out)
	ctx := audit.WithOrigin(context.Background(), &audit.Caller{Address: "10.1.2.3", Client: "claude-code 2.1", Request: "7", Trace: "0af7651916cd43dd8448eb211c80319c"})
	err := log.WriteRead(ctx, &audit.Read{Token: "shop/agent", Tool: "list_book", Model: "book", Operation: "list", Question: `{"filters":{"id":"?"}}`,
		Shown: audit.Shown{Fields: []string{"id"}, Rows: 1, IDs: []string{"7"}}, Bytes: 40, Took: 1500 * time.Microsecond, Outcome: "ok"})
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	delete(got, "time")
	want := map[string]any{"level": "INFO", "msg": "audit", "token": "shop/agent", "tool": "list_book", "model": "book", "operation": "list", "fields": []any{"id"}, "rows": 1.0, "ids": []any{"7"},
		"asked": `{"filters":{"id":"?"}}`, "bytes": 40.0, "seconds": 0.0015, "outcome": "ok", "address": "10.1.2.3", "client": "claude-code 2.1", "request": "7", "trace": "0af7651916cd43dd8448eb211c80319c"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func FuzzQuestion(f *testing.F) {
	f.Add([]byte(`{"filters":{"email":"secret-value","_any":[{"a":["secret-value",{"b":"secret-value"}]}]},"fields":["x"]}`))
	f.Fuzz(func(t *testing.T, arguments []byte) {
		if !json.Valid(arguments) || bytes.IndexByte(bytes.TrimSpace(arguments), '{') != 0 {
			return
		}
		if got := audit.Question(arguments); len(got) <= 2000 && !json.Valid([]byte(got)) {
			t.Errorf("%s is no JSON: %s", arguments, got)
		}
	})
}

// BenchmarkRead measures a line about a list of 50 rows.
func BenchmarkRead(b *testing.B) {
	rows := strings.Repeat(`{"id":1234,"title":"A bench in the park","author_id":17,"price":"12.50","published":"2001-02-03"},`, 50)
	payload, arguments := []byte(`{"count":50,"results":[`+rows[:len(rows)-1]+`]}`), []byte(`{"filters":{"author_id":17},"order_by":["id"],"limit":50}`)
	log := audit.NewLog(new(discarded))
	for _, level := range []string{"Summary", "Rows"} {
		b.Run(level, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = log.WriteRead(context.Background(), &audit.Read{Token: "shop/agent", Tool: "list_book", Model: "book", Operation: "list", Question: audit.Question(arguments),
					Shown: audit.ShownBy(payload, false, level == "Rows"), Bytes: len(payload), Outcome: "ok"})
			}
		})
	}
}

type discarded struct{}

func (*discarded) Write(p []byte) (int, error) { return len(p), nil }
