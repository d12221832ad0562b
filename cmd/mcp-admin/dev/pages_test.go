package dev

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/page/pagetest"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/rights"
)

var pageLink = regexp.MustCompile(`http://\S+/ui/open/\S+`)

// openPage starts dev, and opens its page.
func openPage(t *testing.T, args ...string) (link string, b *pagetest.Browser) {
	t.Helper()
	out, _ := start(t, append(args, "--state", t.TempDir())...)
	link = pageLink.FindString(out.waitFor(t, "PASTE ONE OF THESE"))
	return link, pagetest.Open(t, link)
}

func TestThePageShowsWhatIsServed(t *testing.T) {
	_, b := openPage(t, "-f", filepath.Join("..", "..", "..", "config", "samples"))
	for path, wants := range map[string][]string{
		"":                        {"It is Ready", "/e/bookshop/bookshop"},
		"problems":                {"Nothing is wrong"},
		"e/bookshop/bookshop":     {"Objects in order, then Config in order, then Pods in order, then Database in order, then Calls in order", "mcp-admin doctor --state"},
		"e/bookshop/bookshop/who": {"2 tokens in force", `data-cell="v---- clerks-see-what-is-published &#43;`, `data-cell="vacd-"`, "masked: phone", "mcp-admin matrix -f"},
		"e/bookshop/bookshop/who/bookshop/clerk/review": {"rows in which state is &#34;published&#34;", "group clerks", "mcp-admin can clerk review --explain"},
		"e/bookshop/bookshop/who-reads?of=review.phone": {"is <strong>masked</strong>", "bookshop/owner", "mcp-admin who review.phone"},
		"e/bookshop/bookshop/who-reads?of=review.fone":  {"the nearest is &#34;phone&#34;"},
		"e/bookshop/bookshop/models":                    {"5 models", `<title>purchase to book by book_id</title>`, "1 of 2 view it", "the database"},
		"e/bookshop/bookshop/models/review":             {"clerks-see-what-is-published", "sets columns, after a confirmation", "bulk_review"},
	} {
		code, text := b.Get(path)
		for _, want := range wants {
			if code != http.StatusOK || !strings.Contains(text, want) {
				t.Errorf("%s lacks %q: %d\n%s", path, want, code, text)
			}
		}
		if strings.Contains(text, ">Acts<") {
			t.Errorf("%s offers acts, and the objects lie in files", path)
		}
	}
	for path, want := range map[string]string{
		"e/bookshop/shop":              "Only MCPEndpoint bookshop/bookshop is served here",
		"e/bookshop/bookshop/acts":     "The objects lie in files here",
		"e/bookshop/bookshop/nothing":  "There is no such page",
		"e/bookshop/bookshop/models/x": "has no model &#34;x&#34;",
	} {
		if code, text := b.Get(path); code == http.StatusOK || !strings.Contains(text, want) {
			t.Errorf("%s: %d, without %q\n%s", path, code, want, text)
		}
	}
}

// If a model's policy has a typo, each screen about it says that the model is not served, and Health is not in order.
func TestThePageSaysWhyAModelIsNotServed(t *testing.T) {
	_, _, b := openShop(t, "models.yaml", "{field: region, tokenAttribute: region}", "{field: regoin, tokenAttribute: region}")
	const why = "ustomer is not served: "
	for path, code := range map[string]int{"who-reads?of=customer.email": http.StatusOK, "who/shop/support/customer": http.StatusConflict} {
		if text := wants(t, b, "e/shop/shop/"+path, code, why, "regoin"); strings.Contains(text, "has no model") {
			t.Errorf("%s: a model that is declared is taken for unknown", path)
		}
	}
	wants(t, b, "e/shop/shop", http.StatusOK, "Objects broken", "Ready, but 1 model is not served")
}

// Who asks who can change something is told of actions, and why a column is hidden.
func TestThePageTellsActionsAndWhyColumnsAreHidden(t *testing.T) {
	_, b := openDemo(t)
	for path, wanted := range map[string][]string{
		"who":                            {`data-cell="v---- &#43;ship &#43;refund"`, "hidden: password_hash (for its name), salary (by spec.fields.exclude)"},
		"who-reads?of=order":             {"view; actions ship, refund"},
		"who-reads?of=order.note":        {"view; action refund"},
		"who-reads?of=employee.salary":   {"<strong>hidden by spec.fields.exclude</strong>", "No token reaches it."},
		"who-reads?of=employee.phone":    {"<strong>masked</strong>", "view (masked)"},
		"who/shop/clerk/employee":        {`<span class="chip hidden">hidden for its name</span>`},
		"who-reads?of=employee.nickname": {"shows no column &#34;nickname&#34;, and hides none of that name"},
	} {
		wants(t, b, "e/shop/shop/"+path, http.StatusOK, wanted...)
	}
}

func TestThePageIsForTheOneWhoOpensTheLink(t *testing.T) {
	link, b := openPage(t, "-f", write(t, map[string]string{"notes.yaml": notes}))
	ask := func(method, url string, headers map[string]string) (*http.Response, string) {
		t.Helper()
		request, err := http.NewRequest(method, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range headers {
			request.Header.Set(name, value)
		}
		if host := headers["Host"]; host != "" {
			request.Host = host
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body := make([]byte, 1<<16)
		n, _ := answer.Body.Read(body)
		return answer, string(body[:n])
	}
	for what, url := range map[string]string{
		"the link a second time":       link,
		"another key":                  b.Origin + "/ui/open/x",
		"an empty key":                 b.Origin + "/ui/open/",
		"no cookie":                    b.Origin + b.Root,
		"no cookie, and another path":  b.Origin + b.Root + "e/default/notes",
		"the page without its session": b.Origin + "/ui/",
	} {
		answer, text := ask(http.MethodGet, url, nil)
		if answer.StatusCode != http.StatusForbidden || strings.Contains(text, b.Root) || strings.Contains(text, "notes") || len(answer.Cookies()) > 0 {
			t.Errorf("%s: %s %v\n%s", what, answer.Status, answer.Header, text)
		}
	}
	if answer, _ := ask(http.MethodGet, b.Origin+b.Root, map[string]string{"Cookie": "mcp-admin=x"}); answer.StatusCode != http.StatusForbidden {
		t.Errorf("a wrong cookie: %s", answer.Status)
	}
	port := b.Origin[strings.LastIndex(b.Origin, ":"):]
	for host, want := range map[string]int{"evil.example" + port: 421, "127.0.0.1.evil.example" + port: 421, "localhost:1": 421, "localhost" + port: 403, "LOCALHOST" + port: 403, "[::1]" + port: 403} {
		if answer, _ := ask(http.MethodGet, b.Origin+b.Root, map[string]string{"Host": host}); answer.StatusCode != want {
			t.Errorf("the host %s: %s, want %d", host, answer.Status, want)
		}
	}
	answer, _ := ask(http.MethodGet, b.Origin+"/ui/static/style.css", nil)
	for name, want := range map[string]string{
		"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cache-Control": "no-store",
		"X-Frame-Options": "DENY", "Cross-Origin-Resource-Policy": "same-origin",
	} {
		if !strings.Contains(answer.Header.Get(name), want) {
			t.Errorf("%s is %q, want %q", name, answer.Header.Get(name), want)
		}
	}
	if policy := answer.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") {
		t.Error(policy)
	}
	if code, _ := b.Send("e/default/notes/acts/revoke", url.Values{}, nil); code != http.StatusForbidden {
		t.Errorf("a form without its secret: %d", code)
	}
	if code, text := b.Get("../../healthz"); code != http.StatusOK || !strings.Contains(text, "ok") {
		t.Errorf("the rest of the admin port: %d %s", code, text)
	}
}

// A name may be anything that a database takes.
func TestThePageEscapesEveryText(t *testing.T) {
	const script, turned = `<script>alert(1)</script>"'`, "\u202eabc\u2066"
	file := filepath.Join(t.TempDir(), "shop.sqlite")
	quoted := func(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
	long := strings.Repeat("x", 120)
	executeSQLite(t, file, fmt.Sprintf("CREATE TABLE note (id INTEGER PRIMARY KEY, %s TEXT, %s TEXT, %s TEXT)", quoted(script), quoted(turned), quoted(long)))
	manifest := fmt.Sprintf(`apiVersion: mcpadmin.dev/v1alpha1
kind: MCPModelExposure
metadata: {name: note}
spec:
  endpointRef: {name: shop}
  table: {name: note}
  expose: true
  description: %s
  fields: {masked: [{name: %s}]}
  rowPolicies: [{name: own, appliesTo: Everyone, filters: [{field: %s, value: %s}]}]
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPToken
metadata: {name: agent}
spec: {endpointRef: {name: shop}, permissions: [{models: ["*"], verbs: [view]}]}
`, yamlText(script+turned+strings.Repeat("y", 850)), yamlText(script), yamlText(script), yamlText(script))
	_, b := openPage(t, "--sqlite", file, "-f", write(t, map[string]string{"x.yaml": manifest}))
	for _, path := range []string{"", "problems", "e/default/shop", "e/default/shop/who", "e/default/shop/who/default/agent/note", "e/default/shop/models", "e/default/shop/models/note",
		"e/default/shop/who-reads?of=" + url.QueryEscape("note."+script), "e/default/shop/who-reads?of=" + url.QueryEscape(script), "e/default/shop/who?q=" + url.QueryEscape(script), "e/default/shop/models/" + url.PathEscape(script)} {
		_, text := b.Get(path)
		if strings.Contains(text, "<script>alert") || strings.Contains(text, "\u202e") || strings.Contains(text, strings.Repeat("y", 700)) {
			t.Errorf("%s shows a text as it is:\n%s", path, text)
		}
	}
	if _, text := b.Get("e/default/shop/models/note"); !strings.Contains(text, "&lt;script&gt;alert(1)&lt;/script&gt;") || !strings.Contains(text, `\u202e`) || !strings.Contains(text, "masked") {
		t.Errorf("the names are not shown:\n%s", text)
	}
	if _, text := b.Get("e/default/shop/who-reads?of=" + url.QueryEscape("note."+script)); !strings.Contains(text, `mcp-admin who &#39;note.&lt;script&gt;alert(1)&lt;/script&gt;&#34;&#39;\&#39;&#39;&#39;`) {
		t.Errorf("the command to copy is not quoted:\n%s", text)
	}
}

func yamlText(text string) string {
	encoded, _ := json.Marshal(text) // a string always can be
	return string(encoded)
}

func TestThePageHasTheMatrixAsFiles(t *testing.T) {
	samples := filepath.Join("..", "..", "..", "config", "samples")
	_, b := openPage(t, "-f", samples)
	code, text := b.Get("e/bookshop/bookshop/matrix.json")
	var m rights.Matrix
	if err := json.Unmarshal([]byte(text), &m); err != nil || code != http.StatusOK || len(m.Callers) != 2 || len(m.Models) != 5 {
		t.Errorf("%d, %v\n%s", code, err, text)
	}
	if code, text := b.Get("e/bookshop/bookshop/matrix.csv"); code != http.StatusOK || !strings.Contains(text, "bookshop/clerk,clerks,review,true,false") {
		t.Errorf("%d\n%s", code, text)
	}
}

// The first screen is small, and asks nobody else for anything.
func TestTheFirstScreenIsSmallAndComesFromHereAlone(t *testing.T) {
	_, b := openPage(t, "-f", write(t, map[string]string{"notes.yaml": notes}))
	_, text := b.Get("")
	size := len(text)
	for _, name := range []string{"style.css", "page.js", "icon.svg"} {
		code, file := b.Get("../static/" + name)
		if code != http.StatusOK {
			t.Errorf("%s: %d", name, code)
		}
		size += len(file)
		text += file
	}
	if size > 100<<10 {
		t.Errorf("it has %d bytes", size)
	}
	for _, address := range regexp.MustCompile(`https?://[^"'\s<]+`).FindAllString(text, -1) {
		if !strings.HasPrefix(address, "http://www.w3.org/") {
			t.Errorf("it names %s", address)
		}
	}
	if info, err := os.Stat("../page/static/page.js"); err != nil || info.Size() > 4<<10 {
		t.Errorf("the script: %v, %v", info, err)
	}
}
