package can

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/page"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/page/pagetest"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/rights"
)

// given are objects to look at, and nothing else.
type given struct {
	page.Source
	objects *rights.Objects
}

func (g given) Place() string             { return "a test" }
func (g given) Cluster() *cluster.Cluster { return nil }

func (g given) Objects(context.Context, types.NamespacedName) (*rights.Objects, error) {
	return g.objects, nil
}

func (g given) Approvals(context.Context) ([]v1alpha1.MCPApproval, error) { return nil, nil }

func (g given) Command(string, types.NamespacedName, ...string) string { return "" }

// pageSays holds the words of the page's screens about rights.
type pageSays struct {
	*pagetest.Browser
	// row names, for each token, the first token of its row in the table. cells holds the table by that first token and model.
	row, cells map[string]string
}

var tableCell = regexp.MustCompile(`/who/shop/([^/"]+)/([^/"]+)" data-cell="([^"]*)"`)

func openPage(t *testing.T, objects *rights.Objects) *pageSays {
	t.Helper()
	p, err := page.New(page.Options{Source: given{objects: objects}, Base: "/"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	says := &pageSays{pagetest.Open(t, p.Link(server.URL)), map[string]string{}, map[string]string{}}
	_, text := says.Get("e/shop/shop/matrix.json")
	var m rights.Matrix
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	for _, c := range m.Callers {
		for _, token := range c.Tokens {
			says.row[token] = strings.TrimPrefix(c.Tokens[0], "shop/")
		}
	}
	for n := 1; ; n++ {
		_, text := says.Get(fmt.Sprint("e/shop/shop/who?page=", n))
		for _, m := range tableCell.FindAllStringSubmatch(text, -1) {
			says.cells[m[1]+"/"+m[2]] = m[3]
		}
		if !strings.Contains(text, `rel="next"`) {
			return says
		}
	}
}

// cell returns the text of a cell of the table, in the words of said.
func (p *pageSays) cell(t *testing.T, token, model string) string {
	t.Helper()
	text, shown := p.cells[p.row["shop/"+token]+"/"+model]
	parts := strings.Fields(html.UnescapeString(text))
	if !shown || len(parts) == 0 || len(parts[0]) != 5 {
		t.Fatalf("the table has no cell of %s and %s: %q", token, model, text)
	}
	letters, rows, actions := parts[0], "", []string(nil)
	for _, part := range parts[1:] {
		if action, is := strings.CutPrefix(part, "+"); is {
			actions = append(actions, action)
		} else {
			rows = part
		}
	}
	var words []string
	for i, tool := range []string{"list", "create", "update", "delete"} {
		if letters[i] != '-' {
			words = append(words, tool)
		}
	}
	words = append(words, actions...)
	if letters[4] != '-' {
		words = append(words, "export")
	}
	seen := map[string]string{"": "3 rows", "own": "2 rows", "none": "0 rows"}[rows]
	if letters[0] == '-' {
		seen = "0 rows"
	}
	return strings.Join(append(words, seen), " ")
}

// asInTable are words of said without the action that the table does not name: whoever may delete has it.
func asInTable(words string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(words), func(word string) bool { return word == "delete_selected" }), " ")
}

var openedGrant = regexp.MustCompile(`<tr><th scope="row"><bdi>([a-z_]+)</bdi></th><td><span class="(state good|muted)">`)

// opened returns the text of an opened cell, in the words of said.
func (p *pageSays) opened(t *testing.T, token, model string) string {
	t.Helper()
	code, text := p.Get("e/shop/shop/who/shop/" + token + "/" + model)
	if code != http.StatusOK {
		t.Fatalf("%s and %s: %d\n%s", token, model, code, text)
	}
	tools := map[string]string{"view": "list", "add": "create", "change": "update", "export": "export"}
	var words []string
	export := false
	for _, m := range openedGrant.FindAllStringSubmatch(text, -1) {
		if word := tools[m[1]]; m[2] != "state good" {
			continue
		} else if word == "export" {
			export = true
		} else if word != "" {
			words = append(words, word)
		} else {
			words = append(words, m[1])
		}
	}
	if export {
		words = append(words, "export")
	}
	rows := "0 rows"
	switch {
	case strings.Contains(text, "<p>All rows"):
		rows = "3 rows"
	case strings.Contains(text, "Only these rows:"):
		rows = "2 rows"
	}
	return strings.Join(append(words, rows), " ")
}
