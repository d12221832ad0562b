package mcp_test

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/mcp"
	"github.com/mcp-admin/mcp-admin-operator/server/snapshot"
)

// asked are the requests whose answers are kept for all tokens with the same rights.
var asked = []string{
	`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":"a longer id","method":"tools/list"}`, `{"method":"tools/list"}`,
	`[{"jsonrpc":"2.0","id":1,"method":"tools/list"},{"jsonrpc":"2.0","id":2,"method":"tools/list"}]`,
	`{"jsonrpc":"2.0","id":1,"method":"resources/list"}`, `{"jsonrpc":"2.0","id":1,"method":"resources/templates/list"}`,
	`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find_models","arguments":{}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find_models","arguments":{"detail":"fields","offset":1}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"describe_author","arguments":{}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"describe_book","arguments":{}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"describe","arguments":{"model":"book"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"models://book/schema"}}`,
}

// views are URLs that ask for different lists.
var views = []string{"/mcp/", "/mcp/?tools=generic", "/mcp/?tools=per-model&models=book,author", "/mcp/?models=author,book", "/mcp/?models=none", "/mcp/?models=book&tools=generic"}

const askers = 12

func asker(n int) string {
	return fmt.Sprintf("asker-%d-with-a-token-of-at-least-thirty-two-characters", n)
}

// randomConfig is a Config of two models, whose rules, groups, policies and attributes are random. Its models are the same for the
// same shape.
func randomConfig(random *rand.Rand, shape int) *contract.Config {
	some := func(all ...string) []string {
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		return all[:random.IntN(len(all)+1)]
	}
	rules := func() (all []contract.Rule) {
		for range random.IntN(3) {
			all = append(all, contract.Rule{Models: some("author", "book", "*"), Verbs: some("view", "add", "change", "delete"), Actions: some("reprice", "burn")})
		}
		return all
	}
	c := config()
	c.Endpoint.Catalogue.MaxTools, c.Endpoint.Catalogue.StructuredContent = []int{0, 8}[shape%2], shape%3 == 0
	price := func(price string) *contract.UpdateAction {
		return &contract.UpdateAction{Set: []contract.ActionAssignment{{Field: "price", Source: contract.SourceValue, Value: price}}}
	}
	book := &c.Models[1]
	book.Actions = []contract.Action{{Name: "reprice", Requires: []string{"change"}, Update: price("1")}, {Name: "burn", Update: price("0")}}
	book.Pinned, book.Expose = shape%2 == 0, shape != 2
	book.RowPolicies = []contract.RowPolicy{
		{Name: "cheap", Groups: []string{"red"}, Filters: []contract.Filter{{Field: "price", Lookup: "lte", TokenAttribute: "budget"}}},
		{Name: "all", Groups: []string{"blue"}, AllRows: true},
		{Name: "first", Groups: []string{"green", "red"}, Filters: []contract.Filter{{Field: "book_id", Value: "1"}}},
	}[:shape]
	for _, name := range []string{"red", "green", "blue"} {
		c.Groups = append(c.Groups, contract.Group{Name: name, Rules: rules()})
	}
	c.Tokens = nil
	for n := range askers {
		if random.IntN(4) == 0 {
			continue // revoked, or not there yet
		}
		c.Tokens = append(c.Tokens, contract.Token{
			Namespace: "shop", Name: fmt.Sprint("asker-", n), Hashes: []string{contract.HashToken(asker(n))}, Groups: some("red", "green", "blue"), Rules: rules(),
			Attributes: map[string]string{"budget": fmt.Sprint(random.IntN(3))},
		})
	}
	return c
}

func TestKeptAnswersAreWhatEachTokenWouldGetAlone(t *testing.T) {
	books := newEndpoint(t, config())
	db := bookshopDatabase(t)
	schema, err := db.Introspect(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var shown mcp.Endpoint
	options := books.options
	options.Endpoint = func() (mcp.Endpoint, bool) { return shown, true }
	handler := mcp.NewHandler(options)
	ask := func(from *snapshot.Snapshot, token int, url, body string, packed bool) string {
		shown = from
		r := httptest.NewRequest(http.MethodPost, url, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+asker(token))
		if packed {
			r.Header.Set("Accept-Encoding", "gzip")
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return fmt.Sprint(w.Code, " ", readable(t, w.Result()))
	}
	alone := func(c *contract.Config) *snapshot.Snapshot {
		return snapshot.Build(c, access.DirectoryOf(c), schema, db, nil, nil, nil, nil, nil)
	}
	random := rand.New(rand.NewPCG(21, 1)) // the same Configs each time
	different := map[string]bool{}
	for range 6 {
		shape := random.IntN(4)
		c := randomConfig(random, shape)
		kept, tokens := alone(c), access.NewDirectory().With(access.Whole(c))
		for range 3 {
			for range 60 {
				token, url, body, packed := random.IntN(askers), views[random.IntN(len(views))], asked[random.IntN(len(asked))], random.IntN(2) == 0
				want := ask(alone(c), token, url, body, false)
				different[want] = true
				for range 2 {
					if got := ask(kept, token, url, body, packed); got != want {
						t.Fatalf("token %d gets for %s at %s:\n%s\nand alone:\n%s", token, body, url, got, want)
					}
				}
			}
			// Rights change, tokens come and go, and the models stay.
			c = randomConfig(random, shape)
			tokens = tokens.With(access.Whole(c))
			kept = kept.With(c, tokens)
		}
	}
	if len(different) < 100 {
		t.Errorf("only %d different answers", len(different))
	}
}

// readable is an answer's body, as it was before it was compressed.
func readable(t *testing.T, response *http.Response) string {
	t.Helper()
	if response.Header.Get("Content-Encoding") != "gzip" {
		return text(response)
	}
	r, err := gzip.NewReader(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}

// What agents ask for again and again is made once, so that a request costs little more than its way in and out.
func TestAnswersThatAreKeptMakeLittleGarbage(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector empties pools at random")
	}
	books := newEndpoint(t, config())
	tables := newEndpointOver(t, manyModels(200), manyTables{tables: 200})
	for _, c := range []struct {
		name, body string
		e          *endpoint
		most       float64
	}{
		{"ping", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, books, 5},
		{"tools/list of 200 models", listTools, tables, 6},
		{"find_models", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find_models","arguments":{}}}`, tables, 20},
		{"initialize", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`, tables, 10},
		{"describe", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"describe_reading","arguments":{}}}`, newEndpoint(t, withReading()), 18},
	} {
		reader := strings.NewReader("")
		r := httptest.NewRequest(http.MethodPost, "/mcp/", reader)
		r.Header.Set("Authorization", "Bearer "+readerToken)
		w := &patientSink{sink{header: http.Header{}}}
		got := testing.AllocsPerRun(100, func() {
			reader.Reset(c.body)
			clear(w.header)
			c.e.ServeHTTP(w, r)
		})
		if w.status != http.StatusOK || got > c.most {
			t.Errorf("%s: status %d, %v allocations, want at most %v", c.name, w.status, got, c.most)
		}
	}
}

// patientSink is a sink with deadlines, as a connection has them.
type patientSink struct{ sink }

func (*patientSink) SetReadDeadline(time.Time) error  { return nil }
func (*patientSink) SetWriteDeadline(time.Time) error { return nil }

// withReading is a Config with a model whose description needs no rows.
func withReading() *contract.Config {
	c := config()
	c.Models = append(c.Models, contract.Model{Exposure: "reading", Name: "reading", Table: "reading", Expose: true, VerboseName: "reading", VerboseNamePlural: "readings", DefaultPageSize: 100, MaxPageSize: 1000, MaxBulkItems: 1000})
	return c
}
