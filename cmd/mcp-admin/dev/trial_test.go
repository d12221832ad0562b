package dev

import (
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/page/pagetest"
)

// openDemo starts the demo, and opens its page.
func openDemo(t *testing.T) (printed string, b *pagetest.Browser) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	out, _ := start(t, "--demo")
	printed = out.waitFor(t, "as they come")
	return printed, pagetest.Open(t, pageLink.FindString(printed))
}

// trialOf is the path of a trial.
func trialOf(token, tool, arguments string) string {
	return "e/shop/shop/see-as/shop/" + token + "/" + tool + "?arguments=" + url.QueryEscape(arguments)
}

func TestThePageShowsWhatATokenIsGiven(t *testing.T) {
	printed, b := openDemo(t)
	_, support := b.Get("e/shop/shop/see-as?token=support")
	_, clerk := b.Get("e/shop/shop/see-as?token=shop/clerk")
	for _, want := range []string{"Groups: <bdi>support</bdi>", "list_customer", "mcp-admin call support --state"} {
		if !strings.Contains(support, want) {
			t.Errorf("it lacks %q:\n%s", want, support)
		}
	}
	if strings.Contains(support, "action_order") || !strings.Contains(clerk, `<bdi>action_order</bdi> <span class="chip masked">changes</span>`) || strings.Contains(clerk, "clerk/action_order") {
		t.Error("tools that change something are not told apart")
	}
	// What each costs is the bytes that an agent gets.
	request, err := http.NewRequest(http.MethodPost, servedAt.FindStringSubmatch(printed)[1], strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+demoToken(t, printed, "support"))
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var list struct {
		Result struct{ Tools []json.RawMessage }
	}
	if err := json.NewDecoder(answer.Body).Decode(&list); err != nil || len(list.Result.Tools) < 10 {
		t.Fatalf("%d tools, %v", len(list.Result.Tools), err)
	}
	sum := 0
	for _, tool := range list.Result.Tools {
		sum += len(tool)
	}
	told := regexp.MustCompile(`(\d+) tools, ([0-9,]+) bytes`).FindStringSubmatch(support)
	if told == nil || told[1] != strconv.Itoa(len(list.Result.Tools)) || strings.ReplaceAll(told[2], ",", "") != strconv.Itoa(sum) {
		t.Errorf("it tells %v, want %d tools of %d bytes", told, len(list.Result.Tools), sum)
	}
	for path, want := range map[string]string{
		"e/shop/shop/see-as":                                             `<option value="shop/analyst">`,
		"e/shop/shop/see-as?token=nobody":                                "The endpoint has no MCPToken shop/nobody",
		"e/shop/other/see-as?token=support":                              "Only MCPEndpoint shop/shop is served here",
		"e/shop/shop/see-as/shop/support/describe_customer":              "you see the rows of policy `own-region`",
		trialOf("support", "describe_customer", "{}"):                    "Masked: shown as ****",
		trialOf("support", "list_customer", `{"limit":3}`):               "3 rows of 12",
		trialOf("clerk", "list_customer", `{"limit":3}`):                 "3 rows of 36",
		trialOf("support", "get_order", `{}`):                            "The tool get_order needs the argument &#34;id&#34;.",
		trialOf("support", "get_order", `{"id":1}`):                      "order not found",
		trialOf("support", "get_order", `[1]`):                           "it must be a JSON object",
		trialOf("support", "get_order", `{"id":1} x`):                    "it must be one JSON object",
		trialOf("support", "list_order", `{"fields":["nmae"]}`):          "invalid_argument",
		trialOf("clerk", "action_order", `{"action":"ship","ids":[43]}`): "The tool action_order changes something; only tools that read can be tried here.",
		trialOf("clerk", "undo", `{}`):                                   "The tool undo changes something",
		trialOf("support", "list_employee", `{}`):                        "is given no tool &#34;list_employee&#34;",
		trialOf("analyst", "report_order", `{"report":"best_months"}`):   "2026-07",
		trialOf("analyst", "aggregate_line", `{"measures":["revenue"]}`): "revenue",
	} {
		if _, text := b.Get(path); !strings.Contains(text, want) {
			t.Errorf("%s lacks %q:\n%s", path, want, text)
		}
	}
	_, text := b.Get(trialOf("support", "list_customer", `{"limit": 3}`))
	if command := html.UnescapeString(text); !strings.Contains(command, `mcp-admin call support list_customer --json '{"limit":3}' --state `) {
		t.Errorf("the command is not there:\n%s", text)
	}
	for _, name := range []string{"support", "clerk", "analyst"} {
		if strings.Contains(text+support+clerk, demoToken(t, printed, name)) {
			t.Errorf("the page shows the text of %s", name)
		}
	}
	if _, answer := call(t, printed, demoToken(t, printed, "clerk"), "get_order", `{"id":43}`); !strings.Contains(answer, `\"state\":\"paid\"`) {
		t.Errorf("a trial changed a row: %s", answer)
	}
}

// Whatever rows hold, the page shows it as text.
func TestThePageEscapesWhatATrialShows(t *testing.T) {
	manifests := strings.Replace(notes, "VALUES ('hello')", `VALUES ('<script>alert(1)</script>'), ('a'||char(8238)||'b'), ('`+strings.Repeat("z", 900)+`')`, 1)
	_, b := openPage(t, "-f", write(t, map[string]string{"notes.yaml": manifests}))
	for _, arguments := range []string{`{}`, `{"search":"<script>alert(2)</script>"}`, `<script>alert(3)</script>`, `{"<script>alert(4)</script>":1}`} {
		code, text := b.Get("e/default/notes/see-as/default/agent/list_note?arguments=" + url.QueryEscape(arguments))
		if code != http.StatusOK || strings.Contains(text, "<script>alert") || strings.Contains(text, "\u202e") {
			t.Errorf("%s: %d\n%s", arguments, code, text)
		}
	}
	if _, text := b.Get("e/default/notes/see-as/default/agent/list_note?arguments={}"); !strings.Contains(text, "&lt;script&gt;alert(1)") || !strings.Contains(text, `a\u202eb`) {
		t.Errorf("the rows are not shown:\n%s", text)
	}
}

// shownAt is the path of the call in the row that has a text.
func shownAt(t *testing.T, text, want string) string {
	t.Helper()
	for _, row := range strings.Split(text, "<tr>") {
		if at := regexp.MustCompile(`/(e/shop/shop/activity/\d+)"`).FindStringSubmatch(row); at != nil && strings.Contains(row, want) {
			return at[1]
		}
	}
	t.Fatalf("no call has %q:\n%s", want, text)
	return ""
}

func TestThePageShowsWhatHappens(t *testing.T) {
	printed, b := openDemo(t)
	if _, text := b.Get("e/shop/shop/activity"); !strings.Contains(text, "No call is known yet.") {
		t.Errorf("before any call:\n%s", text)
	}
	agent := func(token, tool, arguments string) {
		t.Helper()
		call(t, printed, demoToken(t, printed, token), tool, arguments)
	}
	agent("support", "list_customer", `{"filters":{"name":"Ada Adler"}}`)
	agent("support", "get_customer", `{"id":2}`)
	agent("clerk", "action_order", `{"action":"refund","ids":[1],"confirm":true,"confirmation_data":{"reason":"<b>late</b>"}}`)
	agent("clerk", "update_order", `{"id":43,"data":{"state":"paid"}}`)
	_, all := b.Get("e/shop/shop/activity")
	for _, want := range []string{"4 calls since this program was started", "4 calls, 2 refused or failed", "list_customer", "action_order refund", "1 changed", "permission_denied", "not_found", `role="img" aria-label="Times between`} {
		if !strings.Contains(all, want) {
			t.Errorf("it lacks %q:\n%s", want, all)
		}
	}
	for query, want := range map[string]string{
		"token=clerk": "2 of 4 calls", "token=nobody": "Nothing is found.", "model=customer": "2 of 4 calls", "outcome=refused": "2 of 4 calls", "token=clerk&outcome=refused": "1 of 4 calls", "since=1h": "4 of 4 calls", "since=x": "4 calls since",
	} {
		if _, text := b.Get("e/shop/shop/activity?" + query); !strings.Contains(text, want) {
			t.Errorf("%s lacks %q:\n%s", query, want, text)
		}
	}
	if _, text := b.Get("e/shop/shop/activity?live=on"); !strings.Contains(text, "data-refresh") || strings.Contains(all, "data-refresh") {
		t.Error("it does not follow if it is asked to, or follows unasked")
	}

	read := shownAt(t, all, "list_customer")
	if _, text := b.Get(read); !strings.Contains(text, "Arguments") || !strings.Contains(text, "{&#34;filters&#34;:{&#34;name&#34;:&#34;?&#34;}}") || strings.Contains(text, "Before and after") || strings.Contains(text, "Ada Adler") {
		t.Errorf("a call that read:\n%s", text)
	}
	change := shownAt(t, all, "action_order refund")
	_, text := b.Get(change)
	undo := regexp.MustCompile(`mcp-admin call clerk undo call=(\w+) --state`).FindStringSubmatch(text)
	if undo == nil || !strings.Contains(text, "mcp-admin call clerk history_order id=1 call="+undo[1]+" --state") || !strings.Contains(text, "Read the journal as") {
		t.Fatalf("a call that changed something:\n%s", text)
	}
	if _, text := b.Get(change + "?rows=show"); !strings.Contains(text, "<bdi>state</bdi></th><td><bdi>shipped</bdi></td><td><bdi>refunded</bdi>") || !strings.Contains(text, "<bdi>&lt;b&gt;late&lt;/b&gt;</bdi>") {
		t.Errorf("the row before and after:\n%s", text)
	}
	// The command does what it says.
	if _, answer := call(t, printed, demoToken(t, printed, "clerk"), "undo", `{"call":"`+undo[1]+`"}`); !strings.Contains(answer, "permission_denied") && !strings.Contains(answer, `\"success\":true`) {
		t.Errorf("undo: %s", answer)
	}
	refused := shownAt(t, all, "permission_denied")
	if _, text := b.Get(refused); !strings.Contains(text, "update_order by") || strings.Contains(text, "Before and after") {
		t.Errorf("a call that was refused:\n%s", text)
	}
	for path, want := range map[string]string{"e/shop/shop/activity/1": "not among those that are known any more", "e/shop/shop/activity/x": "There is no such page", "e/shop/other/activity": "Only MCPEndpoint shop/shop is served here"} {
		if code, text := b.Get(path); code == http.StatusOK || !strings.Contains(text, want) {
			t.Errorf("%s: %d, without %q\n%s", path, code, want, text)
		}
	}
}

// An endpoint that keeps less says so.
func TestThePageSaysWhatIsNotKept(t *testing.T) {
	out, _ := start(t, "-f", write(t, map[string]string{"notes.yaml": strings.Replace(notes, "verbs: [view]", `verbs: ["*"]`, 1)}), "--state", t.TempDir())
	printed := out.waitFor(t, "claude mcp add")
	b := pagetest.Open(t, pageLink.FindString(printed))
	if status, body := call(t, printed, bearerToken.FindStringSubmatch(printed)[1], "update_note", `{"id":1,"data":{"text":"new"}}`); status != http.StatusOK || !strings.Contains(body, `\"success\":true`) {
		t.Fatalf("%d %s", status, body)
	}
	_, text := b.Get("e/default/notes/activity")
	at := regexp.MustCompile(`e/default/notes/activity/\d+`).FindString(text)
	if !strings.Contains(text, "Calls that read have no audit lines here") || at == "" {
		t.Fatalf("%s", text)
	}
	if _, text := b.Get(at); !strings.Contains(text, "The endpoint keeps no journal") || strings.Contains(text, "undo call=") {
		t.Errorf("%s", text)
	}
}

// A token with many models has the generic tools: what leads to the rows of a model leads to them, too.
func TestThePageShowsTheRowsOfATokenWithGenericTools(t *testing.T) {
	_, _, b := openShop(t, "endpoint.yaml", "  audit:", "  catalogue: {style: Generic}\n  audit:")
	text := wants(t, b, "e/shop/shop/who/shop/support/order", http.StatusOK, "See its rows")
	rows := regexp.MustCompile(`/(e/shop/shop/see-as/[^"]+)">See its rows`).FindStringSubmatch(text)
	if rows == nil {
		t.Fatalf("nothing leads to its rows:\n%s", text)
	}
	text = wants(t, b, rows[1], http.StatusOK, "<bdi>list as shop/support</bdi>", "Try it as")
	arguments := regexp.MustCompile(`(?s)<textarea[^>]*>(.*?)</textarea>`).FindStringSubmatch(text)
	if arguments == nil || !strings.Contains(html.UnescapeString(arguments[1]), `"model":"order"`) {
		t.Fatalf("the model is not named: %v", arguments)
	}
	wants(t, b, rows[1]+"?arguments="+url.QueryEscape(html.UnescapeString(arguments[1])), http.StatusOK, "What it is shown", "<bdi>shipped</bdi>", "mcp-admin call support list --json")
	wants(t, b, "e/shop/shop/see-as/shop/support/nothing_order", http.StatusBadGateway, "is given no tool")
}
