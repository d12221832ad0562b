package engines

import (
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// unchecked has a declared key that one row has alone, and two have together.
const unchecked = `
create table visit (shop int, note varchar(20), body text);
insert into visit values (1, 'first', 'a'), (1, 'second', 'b'), (2, 'alone', 'c');`

func TestAKeyThatSeveralRowsHaveNamesNone(t *testing.T) {
	models := []contract.Model{{Name: "visit", Table: "visit", Expose: true, Key: []string{"shop"}}}
	for _, engine := range harness.Engines {
		t.Run(engine.Name, func(t *testing.T) {
			database, plain := engine.Open(t, unchecked)
			s := &suite{engine, harness.Serve(t, database, models, tokens(), withAudit), plain}
			want(t, s.ok(t, "viewer", "get_visit", `{"id":2}`), `"alone"`, "note")
			want(t, s.ok(t, "viewer", "get_visit", `{"id":2,"field":"body"}`), `"c"`, "value")
			for _, arguments := range []string{`{"id":1}`, `{"id":1,"field":"body"}`, `{"id":1,"include_related":true}`} {
				payload, isError := s.call(t, "viewer", "get_visit", arguments)
				if text, _ := payload["error"].(string); !isError || payload["code"] != "unavailable" || !strings.HasPrefix(text, "several rows of visit have this id") {
					t.Errorf("%s: %v", arguments, payload)
				}
			}
		})
	}
}
