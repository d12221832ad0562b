package main

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// A person who may read a token's Secret sees what the token sees.
func (w *world) testPageTrials(t *testing.T) {
	b := w.openPage(t, "-n", "shop")
	w.shows(b, "e/shop/shop/see-as", `href="?token=shop%2fagent"`, "You need the right to read the token's Secret")
	w.shows(b, "e/shop/shop/see-as?token=agent", "bytes of the agent's context", "<bdi>update_order</bdi> <span", "mcp-admin call agent -n shop")
	w.shows(b, "e/shop/shop/see-as/shop/agent/describe_order", "you see the rows of policy")
	w.shows(b, "e/shop/shop/see-as/shop/agent/list_order?arguments=%7B%22limit%22%3A1%7D", "<bdi>north</bdi>", "mcp-admin call agent list_order --json &#39;{&#34;limit&#34;:1}&#39; -n shop")
	if code, text := b.Get("e/shop/shop/see-as/shop/agent/update_order?arguments={}"); code != http.StatusBadGateway || !strings.Contains(text, "only tools that read") {
		t.Errorf("%d %s", code, text)
	}
	reader := w.openPage(t, "-n", "shop", "--as", "reader")
	for _, path := range []string{"e/shop/shop/see-as?token=agent", "e/shop/shop/see-as/shop/agent/list_order?arguments={}"} {
		if code, text := reader.Get(path); code != http.StatusForbidden || !strings.Contains(text, "You may not get secrets in namespace shop.") {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	w.shows(reader, "e/shop/shop/see-as", `href="?token=shop%2fagent"`)
	none := w.openPage(t, "-n", "shop", "--as", "nobody")
	if code, text := none.Get("e/shop/shop/see-as"); code != http.StatusForbidden || !strings.Contains(text, "You may not get mcpendpoints") {
		t.Errorf("%d %s", code, text)
	}
}

// The calls are those that tail shows, as far as the person may read logs.
func (w *world) testPageActivity(t *testing.T) {
	b := w.openPage(t, "-n", "shop")
	w.expect(t, false, nil, "call", "agent", "update_order", "id=3", "data.total=33", "-n", "shop", "--port-forward")
	w.shows(b, "e/shop/shop/activity", "update_order", "1 changed", "newest 5000 lines of each pod&#39;s log", "mcp-admin tail shop -n shop", "Calls that read have no audit lines here")
	_, text := b.Get("e/shop/shop/activity?token=agent")
	at := regexp.MustCompile(`e/shop/shop/activity/\d+`).FindString(text)
	w.shows(b, at, "update_order by", "shop-0", "The endpoint keeps no journal")
	w.shows(b, "e/shop/shop/activity?since=1h&token=agent", "mcp-admin tail --since 1h --token agent shop -n shop")
	reader := w.openPage(t, "-n", "shop", "--as", "reader")
	if code, text := reader.Get("e/shop/shop/activity"); code != http.StatusForbidden || !strings.Contains(text, "You may not list pods in namespace shop.") {
		t.Errorf("%d %s", code, text)
	}
}
