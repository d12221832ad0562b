package dev

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// demoToken is the text of a token of the demo.
func demoToken(t *testing.T, printed, name string) string {
	t.Helper()
	state := regexp.MustCompile(`--state (\S+)`).FindStringSubmatch(printed)
	if state == nil {
		t.Fatalf("no state folder is named:\n%s", printed)
	}
	text, err := os.ReadFile(filepath.Join(state[1], "tokens", "shop", name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

func TestTheDemoNeedsNothingAndLeavesNothing(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Setenv("MCP_ADMIN_DSN", "not a database") // it is not the demo's
	t.Chdir(t.TempDir())
	out, end := start(t, "--demo")
	printed := out.waitFor(t, "as they come")
	if !strings.Contains(printed, "/ui/open/") || strings.Count(printed, "mcp-admin call ") != 6 {
		t.Errorf("it does not say what to try:\n%s", printed)
	}
	for _, c := range []struct{ token, tool, arguments, want string }{
		{"support", "list_customer", `{}`, `"count":12,"total_count":12`},
		{"support", "list_order", `{"filters":{"customer__region__ne":"north"}}`, `"count":0`},
		{"support", "get_customer", `{"id":2}`, "not_found"}, // of the west
		{"support", "list_employee", `{}`, "permission_denied"},
		{"support", "action_order", `{"action":"ship","ids":[43]}`, "permission_denied"},
		{"clerk", "list_order", `{"limit":1}`, `"total_count":60`},
		{"clerk", "action_order", `{"action":"ship","ids":[43]}`, `"affected_count":1`},
		{"clerk", "update_order", `{"id":43,"data":{"state":"paid"}}`, "permission_denied"},
		{"clerk", "update_product", `{"id":3,"data":{"price":"1.80"}}`, `"price":"1.80"`},
		{"clerk", "list_employee", `{"limit":1}`, `{"id":1,"name":"Mara Ilves","role":"owner","phone":"****0101"}`},
		{"analyst", "list_customer", `{"fields":["email"],"limit":1}`, `"email":"****"`},
		{"analyst", "aggregate_line", `{"measures":["revenue"],"group_by":["product__category"]}`, `"count":5`},
		{"analyst", "report_order", `{"report":"best_months"}`, `2026-07`},
		{"analyst", "action_order", `{"action":"ship","ids":[44]}`, "permission_denied"},
	} {
		code, answer := call(t, printed, demoToken(t, printed, c.token), c.tool, c.arguments)
		if answer = strings.ReplaceAll(answer, `\"`, `"`); code != http.StatusOK || !strings.Contains(answer, c.want) {
			t.Errorf("%s: %s %s: %d %s, want %s", c.token, c.tool, c.arguments, code, answer, c.want)
		}
	}
	if shown := out.waitFor(t, "report_order"); strings.Contains(shown, `"msg":"audit"`) || !strings.Contains(shown, "shop/clerk  update_order") {
		t.Errorf("calls are not shown for people:\n%s", shown)
	}
	end()
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("%v stays, %v", left, err)
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("%v stays in the working folder, %v", left, err)
	}
}

// The statements that fill the demo's database make 202 rows, and each order has a line.
func TestTheDemoCanBeKept(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "my-shop")
	run := func(args ...string) error {
		command := Command()
		command.SetArgs(args)
		command.SetOut(io.Discard)
		command.SetErr(io.Discard)
		return command.ExecuteContext(context.Background())
	}
	if err := run("--demo", "--out", folder); err != nil {
		t.Fatal(err)
	}
	if err := run("--demo", "--out", folder); err == nil || !strings.Contains(err.Error(), "is there already; name another folder") {
		t.Errorf("it writes over files: %v", err)
	}
	for _, args := range [][]string{{"--out", folder}, {"--demo", "-f", folder}, {"--demo", "--sqlite", "x"}, {"--demo", "--state", "x"}, {"--demo", "--out", folder, "--listen", "x"}} {
		if err := run(args...); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
	out, _ := start(t, "-f", folder, "--state", filepath.Join(t.TempDir(), "state"))
	printed := out.waitFor(t, "claude mcp add")
	analyst := bearerToken.FindStringSubmatch(printed)[1]
	for model, rows := range map[string]string{"customer": "36", "order": "60", "line": "90", "product": "10"} {
		if _, answer := call(t, printed, analyst, "aggregate_"+model, `{"measures":{"n":{"count":"*"}}}`); !strings.Contains(answer, `\"n\":`+rows) {
			t.Errorf("%s: %s, want %s rows", model, answer, rows)
		}
	}
	if _, answer := call(t, printed, analyst, "aggregate_order", `{"measures":{"n":{"count":"*"}},"filters":{"line_by_order__none":{}}}`); !strings.Contains(answer, `\"n\":0`) {
		t.Errorf("orders without a line: %s", answer)
	}
}
