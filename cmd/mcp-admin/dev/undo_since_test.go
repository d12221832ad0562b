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

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/approve"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/page/pagetest"
)

// openShop serves the demo with something replaced in one of its files.
func openShop(t *testing.T, file, old, replacement string) (printed, state string, b *pagetest.Browser) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "shop")
	if err := writeDemo(folder); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, file)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(content), old, replacement, 1)
	if changed == string(content) {
		t.Fatalf("%s has no %q", file, old)
	}
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	state = t.TempDir()
	out, _ := start(t, "-f", folder, "--state", state)
	printed = out.waitFor(t, "claude mcp add")
	return printed, state, pagetest.Open(t, pageLink.FindString(printed))
}

const undoNeedsPeople = `  idempotency: {table: {name: used_keys}}
  approvals:
  - {name: no-way-back, match: {operations: [undo]}, approvers: {groups: [leads]}}
  audit:`

// What needs people's approval does not happen at the first click: the page says for what it waits, and the same click does it afterwards.
func TestThePageWaitsForPeopleToTakeACallBack(t *testing.T) {
	printed, state, b := openShop(t, "endpoint.yaml", "  audit:", undoNeedsPeople)
	clerk := tokenIn(t, state, "clerk")
	call(t, printed, clerk, "update_product", `{"id":3,"data":{"price":"1.80"}}`)
	change := shownAt(t, wants(t, b, "e/shop/shop/activity", http.StatusOK), "update_product")
	code, text := b.Submit(change + "/undo")
	if code != http.StatusOK || !strings.Contains(text, "It waits for approval") || strings.Contains(text, "nothing left to take back") {
		t.Fatalf("%d, and it does not say that it waits:\n%s", code, text)
	}
	a := waiting(t, state)
	text = wants(t, b, change+"/undo/done?waits="+a.ShortName(), http.StatusOK, "Take it back again")
	waits := regexp.MustCompile(`It waits for approval <a href="[^"]*/(e/shop/shop/approvals/[^"]+)">`).FindStringSubmatch(text)
	if waits == nil {
		t.Fatalf("nothing leads to the approval:\n%s", text)
	}
	if now := priceOf(t, printed, clerk); now != "1.80" {
		t.Fatalf("nobody allowed it, and the price is %s", now)
	}
	wants(t, b, waits[1], http.StatusOK, "Waiting", "no-way-back")
	if said, err := run(t, approve.Command(), a.Name, "--state", state, "--as", "ana"); err != nil || !strings.Contains(said, "Approved") {
		t.Fatalf("got %s, %v", said, err)
	}
	wants(t, b, change+"/undo/done?waits="+a.ShortName(), http.StatusOK, "It was allowed.", "Take it back now")
	for deadline := time.Now().Add(10 * time.Minute); time.Now().Before(deadline) && !strings.Contains(text, "Done: the rows"); time.Sleep(20 * time.Millisecond) {
		_, text = b.Submit(change + "/undo") // a decision is there a moment after it is known to be taken
	}
	if now := priceOf(t, printed, clerk); now != "18.00" {
		t.Errorf("the price is %s:\n%s", now, text)
	}
	becomes(t, state, a.Name, v1alpha1.ApprovalExecuted)
	wants(t, b, change+"/undo/done?waits="+a.Name, http.StatusOK, "the approval is <bdi>Executed</bdi>")
}

// tokenIn is the text of a token of the shop.
func tokenIn(t *testing.T, state, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(state, "tokens", "shop", name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// All that a token changed since a time is one step back, and nothing happens that nobody saw before.
func TestThePageTakesAllBackSinceATime(t *testing.T) {
	printed, b := openDemo(t)
	clerk := demoToken(t, printed, "clerk")
	call(t, printed, clerk, "update_product", `{"id":3,"data":{"price":"1.80"}}`)
	call(t, printed, clerk, "update_product", `{"id":4,"data":{"price":"2.10"}}`)
	change := shownAt(t, wants(t, b, "e/shop/shop/activity", http.StatusOK), "update_product")
	if text := wants(t, b, change, http.StatusOK, "has changed since then…"); !strings.Contains(text, "take-back?token=shop%2fclerk&amp;since=20") {
		t.Errorf("it does not lead there:\n%s", text)
	}
	const all = "e/shop/shop/take-back"
	wants(t, b, all, http.StatusOK, "It takes back all that a token has changed since a time")
	wants(t, b, all+"?token=clerk&since=yesterday", http.StatusOK, "Since must be a time such as")
	wants(t, b, all+"?token=clerc&since=1h", http.StatusOK, "The endpoint has no MCPToken shop/clerc.")
	wants(t, b, all+"?token=support&since=1h", http.StatusOK, "<strong><bdi>")
	seen := wants(t, b, all+"?token=clerk&since=1h", http.StatusOK, "<bdi>product</bdi> <bdi>3</bdi>: as before", "<bdi>product</bdi> <bdi>4</bdi>: as before", "mcp-admin call clerk undo since=20")
	values := url.Values{}
	for _, field := range regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`).FindAllStringSubmatch(seen, -1) {
		values.Set(field[1], field[2])
	}
	call(t, printed, clerk, "update_product", `{"id":5,"data":{"price":"6.40"}}`)
	ours := map[string]string{"Origin": b.Origin, "Sec-Fetch-Site": "same-origin"}
	if code, text := b.Send(all, values, ours); code != http.StatusConflict || !strings.Contains(text, "What it would do is not what you saw any more.") || !strings.Contains(text, "Look again") {
		t.Errorf("more is taken back than anybody saw: %d\n%s", code, text)
	}
	if now := priceOf(t, printed, clerk); now != "1.80" {
		t.Fatalf("the price is %s", now)
	}
	code, text := b.Submit(all + "?token=clerk&since=1h&model=product")
	for _, want := range []string{"Done: the rows are as they were before.", "<bdi>product</bdi> <bdi>3</bdi></th><td>as before", "<bdi>product</bdi> <bdi>5</bdi></th><td>as before"} {
		if code != http.StatusOK || !strings.Contains(text, want) {
			t.Errorf("%d, without %q:\n%s", code, want, text)
		}
	}
	if now := priceOf(t, printed, clerk); now != "18.00" {
		t.Errorf("the price is %s", now)
	}
}
