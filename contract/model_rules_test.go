package contract

import (
	"strings"
	"testing"
)

// A server refuses what the API's markers keep out: an object that was stored before a marker was there goes around them.
func TestAModelThatIsBeyondAMarkerIsNotValid(t *testing.T) {
	whole := func() *Model { return &valid().Models[0] }
	update := func(u UpdateAction, parameters ...Parameter) func(*Model) {
		return func(m *Model) { m.Actions = []Action{{Name: "sell", Update: &u, Parameters: parameters}} }
	}
	where := func(f Filter) func(*Model) { return update(UpdateAction{Where: []Filter{f}}) }
	policy := func(f Filter) func(*Model) {
		return func(m *Model) { m.RowPolicies = []RowPolicy{{Name: "p", Everyone: true, Filters: []Filter{f}}} }
	}
	report := func(change func(*Report)) func(*Model) {
		return func(m *Model) {
			r := Report{Name: "stock", Statement: "select 1", IgnoresPolicies: true}
			change(&r)
			m.Reports = []Report{r}
		}
	}
	webhook := func(w Webhook) func(*Model) {
		return func(m *Model) { m.Actions = []Action{{Name: "send", Webhook: &w}} }
	}
	for _, test := range []struct {
		says   string
		change func(*Model)
	}{
		{"minGroupSize: must be at least 2, or 0 for none, is 1", func(m *Model) { m.MinGroupSize = 1 }},
		{"minGroupSize: must be at least 2, or 0 for none, is -1", func(m *Model) { m.MinGroupSize = -1 }},
		{"page sizes 0 and 1", func(m *Model) { m.DefaultPageSize = 0 }},
		{`operations: "fly"`, func(m *Model) { m.Operations = []string{"list", "fly"} }},
		{`operations: "transact"`, func(m *Model) { m.Operations = []string{"transact"} }},
		{`masked[0]: "" with the last 0`, func(m *Model) { m.Masked = []MaskedField{{}} }},
		{`masked[1]: "isbn" with the last -1`, func(m *Model) { m.Masked = []MaskedField{{Name: "title"}, {Name: "isbn", KeepLast: -1}} }},
		{"overrides[0]: its name is missing", func(m *Model) { m.Overrides = []FieldOverride{{}} }},
		{`overrides[0].type: "Text"`, func(m *Model) { m.Overrides = []FieldOverride{{Name: "title", Type: "Text"}} }},
		{`overrides[0].reads: "Float"`, func(m *Model) { m.Overrides = []FieldOverride{{Name: "title", Reads: "Float"}} }},
		{"overrides[0]: relation and rename", func(m *Model) { m.Overrides = []FieldOverride{{Name: "a_id", Relation: "a", Rename: "b"}} }},
		{`measures[0].name: "Total"`, func(m *Model) { m.Measures = []Declared{{Name: "Total", Means: []byte(`{}`)}} }},
		{`measures[1].name: "total" stands twice`, func(m *Model) {
			m.Measures = []Declared{{Name: "total", Means: []byte(`{}`)}, {Name: "total", Means: []byte(`{}`)}}
		}},
		{`measures[0].means: is no JSON object`, func(m *Model) { m.Measures = []Declared{{Name: "total", Means: []byte(`"sum"`)}} }},
		{`segments[0].means: is no JSON object`, func(m *Model) { m.Segments = []Declared{{Name: "open"}} }},
		{`segments[0].means: has 20002 bytes`, func(m *Model) {
			m.Segments = []Declared{{Name: "open", Means: []byte("{" + strings.Repeat(" ", 20000) + "}")}}
		}},
		{`questions[0].ask: is missing`, func(m *Model) { m.Questions = []Question{{Tool: "list"}} }},
		{`questions[1].ask: "What?" stands twice`, func(m *Model) { m.Questions = []Question{{Ask: "What?", Tool: "list"}, {Ask: "What?", Tool: "get"}} }},
		{`questions[0].call.tool: "report" is none of list, get, aggregate`, func(m *Model) { m.Questions = []Question{{Ask: "What?", Tool: "report"}} }},
		{`questions[0].call.tool: "delete" is none of`, func(m *Model) { m.Questions = []Question{{Ask: "What?", Tool: "delete"}} }},
		{`questions[0].call.arguments: is no JSON object`, func(m *Model) { m.Questions = []Question{{Ask: "What?", Tool: "list", Arguments: []byte(`[]`)}} }},
		{`questions[0].call.arguments: has 20002 bytes`, func(m *Model) {
			m.Questions = []Question{{Ask: "What?", Tool: "list", Arguments: []byte("{" + strings.Repeat(" ", 20000) + "}")}}
		}},
		{`inlines[0]: at most 0 rows of "page"`, func(m *Model) { m.Inlines = []Inline{{Model: "page"}} }},
		{`inlines[0]: at most 1 rows of "A Page"`, func(m *Model) { m.Inlines = []Inline{{Model: "A Page", Max: 1}} }},
		{"actions[0].requires", func(m *Model) { m.Actions[0].Requires = []string{"fly"} }},
		{"actions[0].requires", func(m *Model) { m.Actions[0].Requires = []string{Wildcard} }},
		{"actions[0].parameters[0].type", func(m *Model) { m.Actions[0].Parameters = []Parameter{{Name: "n", Type: "Number"}} }},
		{"actions[0].sql: a statement is empty", func(m *Model) { m.Actions[0].SQL.More = []string{""} }},
		{"actions[0].webhook.url", webhook(Webhook{URL: "ftp://example.com", Timeout: 1})},
		{"actions[0].webhook.url", webhook(Webhook{URL: "https://", Timeout: 1})},
		{"actions[0].webhook.timeout", webhook(Webhook{URL: "https://example.com"})},
		{"actions[0].update.set[0].source", update(UpdateAction{Set: []ActionAssignment{{Field: "title", Source: "Guess"}}})},
		{"actions[0].update.set[0].parameter", update(UpdateAction{Set: []ActionAssignment{{Field: "title", Source: SourceParameter, Parameter: "x"}}}, Parameter{Name: "y", Type: TypeString})},
		{"actions[0].update.where[0]: only row policies", where(Filter{Field: "title", TokenAttribute: "region"})},
		{"actions[0].update.where[0]: only row policies", where(Filter{Any: []Filter{{Field: "title", TokenAttribute: "region"}}})},
		{`reports[0].name: "sell" stands twice`, report(func(r *Report) { r.Name = "sell" })},
		{`reports[0].name: "A" is no report's name`, report(func(r *Report) { r.Name = "A" })},
		{"reports[0].parameters[0].type", report(func(r *Report) { r.Parameters = []Parameter{{Name: "n"}} })},
		{"reports[0].statement: is missing", report(func(r *Report) { r.Statement = "" })},
		{"reports[0]: the model has row policies", report(func(r *Report) { r.IgnoresPolicies = false })},
		{"rowPolicies[0]: must have either allRows or filters", func(m *Model) { m.RowPolicies[0].Filters = []Filter{{Field: "title", Value: "x"}} }},
		{"rowPolicies[0]: must be for either everyone or groups", func(m *Model) { m.RowPolicies[0].Everyone = false }},
		{"rowPolicies[0]: must be for either everyone or groups", func(m *Model) { m.RowPolicies[0].Groups = []string{"clerks"} }},
		{"rowPolicies[0].filters[0]: each filter must have either", policy(Filter{})},
		{"rowPolicies[0].filters[0]: must have one of value", policy(Filter{Field: "title", Value: "x", TokenAttribute: "region"})},
		{"rowPolicies[0].filters[0]: must have one of value", policy(Filter{Field: "title", Value: "x", Values: []string{"y"}})},
		{"rowPolicies[0].filters[0].any[0]: must not have any itself", policy(Filter{Any: []Filter{{Any: []Filter{{Field: "title"}}}}})},
	} {
		if err := whole().Validate(); err != nil {
			t.Fatal(err)
		}
		m := whole()
		test.change(m)
		if err := m.Validate(); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("got %v, want an error that says %q", err, test.says)
		}
		c := valid()
		c.Models[0] = *m
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "models[0]") {
			t.Errorf("%s: got %v of the whole Config, want an error that names the model", test.says, err)
		}
	}
}
