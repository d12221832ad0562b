package server_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
)

func TestUsageTellsWhichTokensWereUsed(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	r.apply(source.Update{Config: config(1)})
	r.untilReady()
	if status, _ := r.do("GET", r.admin+"/usage", token, ""); status != 401 {
		t.Errorf("with an agent's token: %d", status)
	}
	if status, _ := r.get("/usage?after=now"); status != 400 {
		t.Errorf("after no cursor: %d", status)
	}
	used := func(query string) contract.Usage {
		t.Helper()
		status, answer := r.get("/usage" + query)
		var u contract.Usage
		if err := json.Unmarshal([]byte(answer), &u); status != 200 || err != nil {
			t.Fatalf("%d %s", status, answer)
		}
		return u
	}
	if u := used(""); len(u.Tokens) != 0 || u.Cursor == 0 {
		t.Errorf("before any use: %+v", u)
	}
	r.post(listTools)
	name := config(1).Tokens[0].Namespace + "/" + config(1).Tokens[0].Name
	if u := used("?after=0"); len(u.Tokens) != 1 || time.Since(u.Tokens[name]) > 2*time.Hour {
		t.Errorf("after a use: %+v", u)
	}
}
