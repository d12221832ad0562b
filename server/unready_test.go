package server_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
)

// A client would keep an empty list for as long as its lists are said to hold.
func TestListsAreUnavailableUntilTheSchemaIsKnown(t *testing.T) {
	t.Parallel()
	var password atomic.Value
	password.Store("right")
	r := start(t, func(s *server.Server, _ *running) {
		open := s.OpenDatabase
		s.OpenDatabase = func(engine string, settings database.Settings) database.DB {
			return &guarded{DB: open(engine, settings), settings: settings, password: &password}
		}
	})
	apply := func(password string) {
		c := config(1)
		c.Endpoint.Database.Engine = contract.EnginePostgreSQL
		r.apply(source.Update{Config: c, Connection: source.Secret{"uri": []byte("postgresql://shop:" + password + "@db.example/shop")}})
	}
	lists := []string{`{"method":"tools/list"}`}
	for _, method := range []string{"tools/list", "resources/list", "resources/templates/list"} {
		lists = append(lists, `{"jsonrpc":"2.0","id":1,"method":"`+method+`"}`)
	}

	apply("wrong")
	r.until("refused", func(s contract.Status) bool { return s.Database.Reason == contract.ReasonAuthenticationFailed })
	for _, list := range lists {
		request, err := http.NewRequest(http.MethodPost, r.endpoint+"/mcp/", strings.NewReader(list))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+token)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") == "" {
			t.Errorf("%s: got %d, Retry-After %q, want 503 and when to come again", list, response.StatusCode, response.Header.Get("Retry-After"))
		}
	}

	apply("right")
	r.untilReady()
	for _, list := range lists {
		if status, answer := r.post(list); status != http.StatusOK || strings.Contains(answer, `"error"`) {
			t.Errorf("%s: got %d %s, want the list", list, status, answer)
		}
	}
}
