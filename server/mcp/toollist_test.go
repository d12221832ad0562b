package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// manyTables is a database of that many tables of ten columns.
type manyTables struct {
	bookTable
	tables int
}

func (d manyTables) Introspect(context.Context) (*database.Schema, error) {
	schema := &database.Schema{Engine: "Test"}
	for i := range d.tables {
		table := &database.Table{Name: tableName(i), Kind: database.BaseTable}
		for j, kind := range []database.Kind{database.Integer, database.Text, database.Text, database.Text, database.Decimal, database.Boolean, database.Date, database.TimestampTZ, database.UUID, database.JSON} {
			table.Columns = append(table.Columns, &database.Column{Name: fmt.Sprintf("column_%d", j), Kind: kind})
		}
		table.PrimaryKey = table.Columns[:1]
		schema.Tables = append(schema.Tables, table)
	}
	return schema.GrantAll(), nil
}

// tableName is as long as a model's name may be.
func tableName(i int) string { return fmt.Sprintf("a_table_whose_name_is_as_long_as_may_%03d", i) }

// manyModels is a Config of that many exposed models.
func manyModels(n int) *contract.Config {
	c := config()
	c.Models = nil
	for i := range n {
		name := tableName(i)
		c.Models = append(c.Models, contract.Model{Exposure: name, Name: name, Table: name, Expose: true, VerboseName: name, VerboseNamePlural: name,
			Description: "What one row of it stands for, in a sentence.", DefaultPageSize: 100, MaxPageSize: 1000, MaxBulkItems: 1000})
	}
	return c
}

// BenchmarkListTools measures tools/list by the number of models: the first answer of a snapshot, and one like those
// before it. body-B is the answer's size.
func BenchmarkListTools(b *testing.B) {
	for _, models := range []int{11, 200} {
		db := manyTables{tables: models}
		reader := strings.NewReader("")
		r := httptest.NewRequest(http.MethodPost, "/mcp/", reader)
		r.Header.Set("Authorization", "Bearer "+readerToken)
		ask := func(e *endpoint, w *sink) {
			reader.Reset(listTools)
			clear(w.header)
			w.size = 0
			e.ServeHTTP(w, r)
		}
		b.Run(fmt.Sprintf("models=%d/first", models), func(b *testing.B) {
			w := &sink{header: http.Header{}}
			b.ReportAllocs()
			for range b.N {
				b.StopTimer()
				e := newEndpointOver(b, manyModels(models), db)
				b.StartTimer()
				ask(e, w)
			}
			b.ReportMetric(float64(w.size), "body-B")
		})
		b.Run(fmt.Sprintf("models=%d/repeated", models), func(b *testing.B) {
			w := &sink{header: http.Header{}}
			e := newEndpointOver(b, manyModels(models), db)
			b.ReportAllocs()
			for b.Loop() {
				ask(e, w)
			}
			b.ReportMetric(float64(w.size), "body-B")
		})
	}
}

// Ten thousand tokens with different rights must not cost ten thousand lists, neither when the snapshot is built nor
// when each token has asked: the shelf on which lists are kept has a bound.
func TestToolListsOfManyTokensStaySmall(t *testing.T) {
	const tokens, models = 10_000, 200
	c := manyModels(models)
	c.Tokens = nil
	random := rand.New(rand.NewPCG(1, 2))
	for i := range tokens {
		rule := contract.Rule{Verbs: []string{"view"}}
		for range 1 + random.IntN(20) {
			rule.Models = append(rule.Models, tableName(random.IntN(models)))
		}
		c.Tokens = append(c.Tokens, contract.Token{Namespace: "shop", Name: fmt.Sprint(i), Hashes: []string{contract.HashToken(manyToken(i))}, Rules: []contract.Rule{rule}})
	}
	empty := manyModels(models)
	before := heap()
	e := newEndpointOver(t, empty, manyTables{tables: models})
	pieces := heap() - before
	e.change(c)
	built := heap() - before - pieces
	w := &sink{header: http.Header{}}
	longest := 0
	for i := range tokens {
		r := httptest.NewRequest(http.MethodPost, "/mcp/", strings.NewReader(listTools))
		r.Header.Set("Authorization", "Bearer "+manyToken(i))
		w.size = 0
		e.ServeHTTP(w, r)
		if w.status != http.StatusOK {
			t.Fatalf("token %d: status %d", i, w.status)
		}
		longest = max(longest, w.size)
	}
	asked := heap() - before - pieces - built
	runtime.KeepAlive(c)
	runtime.KeepAlive(e)
	t.Logf("bytes: %d for the tools of %d models, %d for %d tokens, %d more when each had asked; the longest list has %d", pieces, models, built, tokens, asked, longest)
	const perToken = 1 << 10
	if built > tokens*perToken {
		t.Errorf("a token takes %d bytes, want at most %d", built/tokens, perToken)
	}
	const rights, shelf = 5 << 20, 8 << 20 // a shelf has 8 MB if nothing bounds the memory
	if asked > rights+shelf {
		t.Errorf("lists that were answered keep %d bytes", asked)
	}
}

func manyToken(i int) string {
	return fmt.Sprintf("one-of-many-tokens-of-at-least-thirty-two-characters-%d", i)
}

// heap is the memory in use, in bytes, after a garbage collection.
func heap() int {
	runtime.GC()
	runtime.GC() // pools drop what they hold at the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// What clients demand of tools: names short enough for a prefix of their own, schemas whose top level is a plain
// object, annotations that do not alarm.
func TestToolsAreAsClientsWantThem(t *testing.T) {
	e := newEndpointOver(t, manyModels(3), manyTables{tables: 3})
	_, body := e.post(listTools)
	var list struct {
		Tools []struct {
			Name, Description string
			InputSchema       map[string]json.RawMessage
			Annotations       map[string]bool
		}
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil || len(list.Tools) < 10 {
		t.Fatalf("%v: %s", err, body)
	}
	valid := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	for _, tool := range list.Tools {
		if !valid.MatchString(tool.Name) {
			t.Errorf("the name %q", tool.Name)
		}
		if tool.Description == "" || len(tool.Description) > 1024 {
			t.Errorf("%s: a description of %d bytes", tool.Name, len(tool.Description))
		}
		for member := range tool.InputSchema {
			switch member {
			case "type", "properties", "required", "additionalProperties":
			default:
				t.Errorf("%s: its schema has %s", tool.Name, member)
			}
		}
		if closed := string(tool.InputSchema["additionalProperties"]); string(tool.InputSchema["type"]) != `"object"` || closed != "" && closed != "false" || tool.InputSchema["properties"] == nil {
			t.Errorf("%s: the top level of its schema is %s", tool.Name, tool.InputSchema)
		}
		if open, told := tool.Annotations["openWorldHint"]; !told || open {
			t.Errorf("%s: openWorldHint", tool.Name)
		}
	}
}
