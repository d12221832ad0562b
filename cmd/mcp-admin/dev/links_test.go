package dev

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

var linkInPage = regexp.MustCompile(`href="([^"]*)"`)

// Whatever can be clicked in the demo leads to something.
func TestEveryLinkOfThePageLeadsSomewhere(t *testing.T) {
	printed, b := openDemo(t)
	clerk := demoToken(t, printed, "clerk")
	call(t, printed, clerk, "update_product", `{"id":3,"data":{"price":"1.80"}}`)
	call(t, printed, clerk, "update_order", `{"id":43,"data":{"state":"paid"}}`)
	call(t, printed, demoToken(t, printed, "support"), "list_customer", `{"limit":1}`)
	seen, waits := map[string]bool{"": true}, []string{""}
	for len(waits) > 0 {
		path := waits[0]
		waits = waits[1:]
		code, text := b.Get(path)
		if code != http.StatusOK || strings.Contains(text, "Nothing is found") {
			t.Errorf("%s: %d\n%s", path, code, text)
		}
		for _, found := range linkInPage.FindAllStringSubmatch(text, -1) {
			to := html.UnescapeString(found[1])
			switch {
			case strings.HasPrefix(to, b.Root):
				to = strings.TrimPrefix(to, b.Root)
			case strings.HasPrefix(to, "?"):
				before, _, _ := strings.Cut(path, "?")
				to = before + to
			default:
				continue // a file, or a place on the same screen
			}
			// The trials of each tool, the ways to sort and the pages of tables are alike.
			if kind := regexp.MustCompile(`/see-as/shop/\w+/(list|get|describe|report)_\w+`).FindString(to); strings.Contains(to, "/see-as/shop/") && kind == "" || seen[to] {
				continue
			}
			seen[to] = true
			waits = append(waits, to)
		}
	}
	if len(seen) < 60 {
		t.Errorf("only %d links were found", len(seen))
	}
}
