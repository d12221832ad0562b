package action

import (
	"bytes"
	"encoding/json"
	"fmt"
	htmltemplate "html/template"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/write"
)

// maxPageRows is the most rows that a confirmation page names.
const maxPageRows = 100

// pageTemplate escapes every variable for where it stands.
var pageTemplate = htmltemplate.Must(htmltemplate.New("page").Parse(`<h1>Are you sure?</h1>
<p>{{.Message}}</p>
{{with .Parameters}}<h2>With</h2>
<ul>
{{range .}}<li>{{.Name}}: {{.Value}}</li>
{{end}}</ul>
{{end}}<h2>Rows</h2>
<ul>
{{range .Rows}}<li>{{.ID}}{{with .Label}}: {{.}}{{end}}</li>
{{end}}{{with .More}}<li>and {{.}} more</li>
{{end}}</ul>
{{with .Along}}<h2>With them</h2>
<ul>
{{range .}}<li>{{.}}</li>
{{end}}</ul>
{{end}}{{with .Skipped}}<p>Skipped, as the action does not apply to them: {{.}}</p>
{{end}}{{with .Missing}}<p>Not found: {{.}}</p>
{{end}}`))

type pageRow struct{ ID, Label string }

type pageParameter struct{ Name, Value string }

// shownPage is the standard confirmation page: what it is about, and what goes with it.
type shownPage struct {
	Message          string
	Parameters       []pageParameter
	Rows             []pageRow
	More             int
	Along            []string
	Skipped, Missing string
}

func (e *actionCall) page(p *actionPlan, message string) *shownPage {
	shown := &shownPage{Message: message, More: max(len(p.rows)-maxPageRows, 0), Skipped: idList(p.skipped), Missing: idList(p.missing)}
	for _, d := range e.declared.Parameters {
		if raw, there := e.parameters.raw[d.Name]; there {
			shown.Parameters = append(shown.Parameters, pageParameter{d.Name, call.PlainText(raw)})
		}
	}
	for _, row := range p.rows[:min(len(p.rows), maxPageRows)] {
		r := pageRow{ID: call.PlainText(row.ID())}
		if label := row.Label(); label != r.ID {
			r.Label = label
		}
		shown.Rows = append(shown.Rows, r)
	}
	for _, c := range p.along {
		what := map[write.Fate]string{write.LosesReference: " will no longer refer to them", write.FollowsChange: " will change with them"}[c.Fate]
		shown.Along = append(shown.Along, c.String()+what)
	}
	return shown
}

// html is the page as agents get it.
func (s *shownPage) html() (string, error) {
	var out bytes.Buffer
	err := pageTemplate.Execute(&out, s)
	return out.String(), err
}

// The most characters of the question, and of a value, in the page's plain text.
const (
	maxPlainMessage = 1000
	maxPlainValue   = 200
)

// plain is the page as a form shows it: each row and each parameter on a line of its own, whatever is in it.
func (s *shownPage) plain() string {
	var b strings.Builder
	b.WriteString(call.OneLine(s.Message, maxPlainMessage))
	list := func(title string, lines ...string) {
		if len(lines) == 0 {
			return
		}
		fmt.Fprintf(&b, "\n\n%s:", title)
		for _, line := range lines {
			b.WriteString("\n- " + call.OneLine(line, maxPlainValue))
		}
	}
	var parameters, rows []string
	for _, p := range s.Parameters {
		parameters = append(parameters, p.Name+": "+p.Value)
	}
	for _, r := range s.Rows {
		if r.Label != "" {
			r.ID += ": " + r.Label
		}
		rows = append(rows, r.ID)
	}
	if s.More > 0 {
		rows = append(rows, fmt.Sprintf("and %d more", s.More))
	}
	list("With", parameters...)
	list("Rows", rows...)
	list("With them", s.Along...)
	if s.Skipped != "" {
		list("Skipped, as the action does not apply to them", s.Skipped)
	}
	if s.Missing != "" {
		list("Not found", s.Missing)
	}
	return b.String()
}

// confirmSchema is the form of the question whether to go on: one box to tick.
var confirmSchema = json.RawMessage(`{"type":"object","properties":{"` + call.ConfirmKey + `":{"type":"boolean","title":"Yes, do this","default":false}},"required":["` + call.ConfirmKey + `"]}`)

// Elicit is the question as the caller's person is asked it; nil if it shows a page that is not the server's own, which a form cannot
// show.
func (q *ConfirmationRequest) Elicit() *call.Elicitation {
	if q.plain == "" {
		return nil
	}
	return &call.Elicitation{Key: call.ConfirmKey, Message: q.plain, Schema: confirmSchema, Carried: q.Token}
}

// PageOf makes a question of the questions of several steps.
func (q *ConfirmationRequest) PageOf(asked []call.StepQuestion) {
	var pages, plain []string
	for _, step := range asked {
		pages, plain = append(pages, step.Page), append(plain, step.Plain)
	}
	q.Page = ConfirmationPage{ContentType: "text/html", Content: strings.Join(pages, "<hr>\n")}
	q.plain = strings.Join(plain, "\n\n")
}
