package confirmtext_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract/confirmtext"
)

var data = map[string]any{"count": 2, "model": "order", "action": "ship", "parameters": map[string]any{"carrier": "post", "note": ""}}

func TestRender(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "",
		"Ship them?":             "Ship them?",
		"{{.action}} {{.count}}": "ship 2",
		"{{/* why */}}by {{.parameters.carrier}}":                             "by post",
		`{{if eq .count 1}}one{{else if gt .count 5}}many{{else}}some{{end}}`: "some",
		`{{with .parameters.note}}{{.}}{{else}}no note{{end}}`:                "no note",
		`{{index .parameters "carrier"}} {{len .model}}`:                      "post 5",
		`{{.count | eq 2}}`: "true",
	} {
		parsed, err := confirmtext.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := parsed.Render(data); got != want || err != nil {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}

func TestTextsThatAreRefused(t *testing.T) {
	for text, why := range map[string]string{
		`{{range 30000000}}x{{end}}`:                      "range",
		`{{if true}}{{range .parameters}}x{{end}}{{end}}`: "range",
		`{{define "a"}}x{{end}}`:                          "define",
		`{{block "a" .}}x{{end}}`:                         "define",
		`{{template "message" .}}`:                        "template",
		`{{printf "%0999999999d" 1}}`:                     "printf",
		`{{if (printf "%9999d" 1)}}x{{end}}`:              "printf",
		`{{.count | printf "%999999d"}}`:                  "printf",
		`{{eq (html .model) "x"}}`:                        "html",
		`{{call .model}}`:                                 "call",
		`{{$x := .count}}{{$x}}`:                          "variables",
		`{{.count`:                                        "valid template",
		`{{nothing}}`:                                     "valid template",
		strings.Repeat("x", confirmtext.MaxText+1):        "at most",
	} {
		if err := confirmtext.Check(text); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%.40s: %v, which does not tell of %q", text, err, why)
		}
	}
}

func TestWhatIsRenderedIsCapped(t *testing.T) {
	parsed, err := confirmtext.Parse(strings.Repeat("{{.parameters.note}}", 200))
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	got, err := parsed.Render(map[string]any{"parameters": map[string]any{"note": strings.Repeat("ä", 1<<20)}})
	if err != nil || len(got) > confirmtext.MaxRendered || len(got) < confirmtext.MaxRendered-4 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %s", took)
	}
}
