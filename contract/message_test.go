package contract

import (
	"strings"
	"testing"
)

func TestAMessageCannotGrow(t *testing.T) {
	for _, text := range []string{
		"", "Refund {{.count}} of {{.model}}?", "{{if gt .count 1}}many{{else}}one{{end}}", "{{with .parameters.reason}}As {{.}}{{end}}",
		`{{if and (eq .action "refund") (not .parameters)}}x{{end}}`, "{{/* why */}}x",
	} {
		if _, err := ParseMessage(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{
		"{{", "{{range 30000000}}x{{end}}", `{{printf "%0999999d" 1}}`, `{{define "a"}}x{{end}}`, `{{block "a" .}}x{{end}}`, `{{template "a"}}`,
		`{{if true}}{{range .ids}}x{{end}}{{end}}`, `{{if (print "a" "b")}}x{{end}}`, `{{.count | printf "%d"}}`, `{{"}" | html}}`,
		`{{with .model}}{{else}}{{js .}}{{end}}`, `{{call .model}}`,
	} {
		if _, err := ParseMessage(text); err == nil {
			t.Errorf("%q was taken", text)
		} else if len(err.Error()) > 300 || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
