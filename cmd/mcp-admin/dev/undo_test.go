package dev

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/laptop"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/page/pagetest"
)

// priceOf is the answer about a product of the demo.
func priceOf(t *testing.T, printed, token string) string {
	t.Helper()
	_, answer := call(t, printed, token, "get_product", `{"id":3}`)
	found := regexp.MustCompile(`\\"price\\":\\"([0-9.]+)\\"`).FindStringSubmatch(answer)
	if found == nil {
		t.Fatalf("no price: %s", answer)
	}
	return found[1]
}

// wants checks a screen.
func wants(t *testing.T, b *pagetest.Browser, path string, code int, texts ...string) string {
	t.Helper()
	got, text := b.Get(path)
	for _, want := range texts {
		if !strings.Contains(text, want) {
			t.Errorf("%s lacks %q:\n%s", path, want, text)
		}
	}
	if got != code {
		t.Errorf("%s: %d, want %d", path, got, code)
	}
	return text
}

const formOfAPage = `<form method="post">`

func TestThePageTakesACallBack(t *testing.T) {
	printed, b := openDemo(t)
	clerk := demoToken(t, printed, "clerk")
	call(t, printed, clerk, "update_product", `{"id":3,"data":{"price":"1.80"}}`)
	change := shownAt(t, wants(t, b, "e/shop/shop/activity", http.StatusOK), "update_product")
	wants(t, b, change, http.StatusOK, `/undo">See what it would do</a>`, "It counts as a call of the token's.", "mcp-admin call clerk undo call=")
	wants(t, b, change+"/undo", http.StatusOK, "Take it back: what it would do", "<bdi>product</bdi> <bdi>3</bdi>: as before", `<th scope="row"><bdi>price</bdi></th><td><bdi>1.80</bdi></td><td><bdi>18.00</bdi>`,
		formOfAPage, "mcp-admin call clerk undo call=")
	if now := priceOf(t, printed, clerk); now != "1.80" {
		t.Fatalf("to look changes a row: %s", now)
	}

	for what, headers := range map[string]map[string]string{
		"another site": {"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"}, "another port": {"Origin": "http://127.0.0.1:1", "Sec-Fetch-Site": "same-site"}, "nobody": {},
		"a page of ours without the form's secret": {"Origin": b.Origin, "Sec-Fetch-Site": "same-origin"},
	} {
		if code, _ := b.Send(change+"/undo", url.Values{}, headers); code != http.StatusForbidden {
			t.Errorf("%s may send a form: %d", what, code)
		}
	}
	if now := priceOf(t, printed, clerk); now != "1.80" {
		t.Fatalf("a form of somebody else took a call back: %s", now)
	}

	code, text := b.Submit(change + "/undo")
	if code != http.StatusOK || !strings.Contains(text, "Done: the rows are as they were before.") || !strings.Contains(text, `<bdi>product</bdi> <bdi>3</bdi></th><td>as before`) {
		t.Errorf("%d %s", code, text)
	}
	if now := priceOf(t, printed, clerk); now != "18.00" {
		t.Errorf("the price is %s", now)
	}
	by := regexp.MustCompile(`/(e/shop/shop/activity/\d+)">the call that did it`).FindStringSubmatch(text)
	if by == nil {
		t.Fatalf("the call that did it is not named:\n%s", text)
	}

	// A call is taken back once. The undoing call can be taken back, too: the row is then as the first call left it.
	if text := wants(t, b, change+"/undo", http.StatusOK, "<strong><bdi>conflict</bdi></strong>", "the change of product 3 was taken back already, by call "); strings.Contains(text, formOfAPage) {
		t.Error("it offers what the endpoint refuses")
	}
	if text := wants(t, b, change, http.StatusOK, "Taken back at ", by[1]); strings.Contains(text, "See what it would do") {
		t.Errorf("it offers to take back what was taken back:\n%s", text)
	}
	// The steps stand under their call, and dry runs are left out at first.
	for path, lines := range map[string]int{"e/shop/shop/activity?token=clerk": 5, "e/shop/shop/activity?token=clerk&dry=on": 8, "e/shop/shop/activity?model=update_product": 2} {
		text := wants(t, b, path, http.StatusOK, "taken back</a>", "1 step</span>", "dry run")
		if got := strings.Count(text, `<tr><th scope="row">`); got != lines {
			t.Errorf("%s has %d calls, want %d:\n%s", path, got, lines, text)
		}
	}
	wants(t, b, "e/shop/shop/activity?token=clerk", http.StatusOK, "3 dry runs left out.", "Show dry runs", "Take back all that <bdi>shop/clerk</bdi> has changed since…")
	wants(t, b, by[1], http.StatusOK, "undo by", "The rows stand in its steps.", "<bdi>update_product</bdi></a></th><td><bdi>3</bdi>", "mcp-admin&#39;s page, of "+laptop.Person())
	if code, text := b.Submit(by[1] + "/undo"); code != http.StatusOK || !strings.Contains(text, "Done: the rows are as they were before.") {
		t.Errorf("%d %s", code, text)
	}
	if now := priceOf(t, printed, clerk); now != "1.80" {
		t.Errorf("the price is %s", now)
	}
	wants(t, b, change, http.StatusOK, "Taken back at ", "Something of the same rows was taken back since then", "See what it would do")
}

// What cannot be taken back has no button, and a form that is sent all the same changes nothing.
func TestThePageSaysWhatCannotBeTakenBack(t *testing.T) {
	printed, b := openDemo(t)
	clerk := demoToken(t, printed, "clerk")
	call(t, printed, clerk, "action_order", `{"action":"ship","ids":[43]}`)
	call(t, printed, clerk, "update_product", `{"id":3,"data":{"name":"<script>alert(1)</script>"}}`)
	call(t, printed, clerk, "list_product", `{"limit":1}`)
	_, text := b.Get("e/shop/shop/activity")
	action, change, read := shownAt(t, text, "action_order"), shownAt(t, text, "update_product"), shownAt(t, text, "list_product")
	screen := wants(t, b, action+"/undo", http.StatusOK, "<strong><bdi>permission_denied</bdi></strong>", "cannot change order")
	form := regexp.MustCompile(`name="form" value="([^"]+)"`).FindStringSubmatch(wants(t, b, change+"/undo", http.StatusOK, "&lt;script&gt;alert(1)&lt;/script&gt;", formOfAPage))
	if strings.Contains(screen, formOfAPage) {
		t.Error("it offers what the endpoint refuses")
	}
	wants(t, b, read, http.StatusOK, "list_product by")
	ours := map[string]string{"Origin": b.Origin, "Sec-Fetch-Site": "same-origin"}
	for path, want := range map[string]string{
		action + "/undo": "Permission_denied: action:ship of order 43 cannot be undone", read + "/undo": "The call changed nothing that could be taken back.",
		"e/shop/shop/activity/1/undo": "not among those that are known any more", "e/shop/shop/activity/x/undo": "There is no such page",
		"e/shop/other/activity/1/undo": "Only MCPEndpoint shop/shop is served here",
	} {
		if code, text := b.Send(path, url.Values{"form": {form[1]}}, ours); code < 400 || !strings.Contains(text, want) {
			t.Errorf("%s: %d, without %q\n%s", path, code, want, text)
		}
	}
	if _, answer := call(t, printed, clerk, "get_order", `{"id":43}`); !strings.Contains(answer, `\"state\":\"shipped\"`) {
		t.Errorf("%s", answer)
	}
}

// The button is not there if the token has no force any more; the page says what would do.
func TestThePageNeedsTheTokenThatMadeTheCall(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "shop")
	if err := writeDemo(folder); err != nil {
		t.Fatal(err)
	}
	state := t.TempDir()
	out, _ := start(t, "-f", folder, "--state", state)
	printed := out.waitFor(t, "claude mcp add")
	b := pagetest.Open(t, pageLink.FindString(printed))
	clerk, err := os.ReadFile(filepath.Join(state, "tokens", "shop", "clerk"))
	if err != nil {
		t.Fatal(err)
	}
	if _, body := call(t, printed, strings.TrimSpace(string(clerk)), "update_product", `{"id":3,"data":{"price":"1.80"}}`); !strings.Contains(body, `\"success\":true`) {
		t.Fatal(body)
	}
	change := shownAt(t, wants(t, b, "e/shop/shop/activity", http.StatusOK), "update_product")
	file := filepath.Join(folder, "tokens.yaml")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(content), "  groups: [clerks]", "  groups: [clerks]\n  active: false", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if _, text := b.Get(change); strings.Contains(text, "not active") {
			break
		}
	}
	text := wants(t, b, change, http.StatusOK, "MCPToken shop/clerk is not active, and only with it the call can be taken back.", "mcp-admin call clerk undo call=")
	if strings.Contains(text, "See what it would do") {
		t.Error("it offers what cannot be done")
	}
	wants(t, b, change+"/undo", http.StatusOK, "MCPToken shop/clerk is not active")
}
