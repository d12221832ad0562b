package contract

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Validate says what in the model's entry no server could work with. What only the schema of the database can tell, such as
// whether a column exists, the server's catalog says.
func (m *Model) Validate() error { return collect(m.check) }

func (m *Model) check(fail fault) {
	if !identifier.MatchString(m.Name) {
		fail("name", "%q is no model name", m.Name)
	}
	if m.Table == "" {
		fail("table", "is missing")
	}
	if m.DefaultPageSize < 1 || m.MaxPageSize < m.DefaultPageSize {
		fail("", "page sizes %d and %d make no sense", m.DefaultPageSize, m.MaxPageSize)
	}
	if m.MaxBulkItems < 1 {
		fail("maxBulkItems", "must be at least 1, is %d", m.MaxBulkItems)
	}
	if m.MinGroupSize < 0 || m.MinGroupSize == 1 {
		fail("minGroupSize", "must be at least 2, or 0 for none, is %d", m.MinGroupSize)
	}
	if !slices.Contains([]string{"", TotalAuto, TotalExact, TotalCapped}, m.TotalCount) {
		fail("totalCount", "%q is none of %s, %s and %s", m.TotalCount, TotalAuto, TotalExact, TotalCapped)
	}
	if m.SearchMode != "" && m.SearchMode != SearchContains {
		fail("searchMode", "%q is not %s", m.SearchMode, SearchContains)
	}
	for _, name := range m.Operations {
		if !slices.ContainsFunc(ModelOperations(), func(o *Operation) bool { return o.Name == name }) {
			fail("operations", "%q is no operation of a model", name)
		}
	}
	m.checkFields(fail)
	checkDeclared(m.Measures, "measures", fail)
	checkDeclared(m.Segments, "segments", fail)
	checkQuestions(m.Questions, fail)
	m.checkActions(fail)
	for i := range m.RowPolicies {
		m.RowPolicies[i].check(fail.at(fmt.Sprintf("rowPolicies[%d]", i)))
	}
}

func (m *Model) checkFields(fail fault) {
	for i, masked := range m.Masked {
		if masked.Name == "" || masked.KeepLast < 0 {
			fail(fmt.Sprintf("masked[%d]", i), "%q with the last %d characters shown makes no sense", masked.Name, masked.KeepLast)
		}
	}
	for i, o := range m.Overrides {
		switch at := fmt.Sprintf("overrides[%d]", i); {
		case o.Name == "":
			fail(at, "its name is missing")
		case !slices.Contains([]string{"", TypeInteger, TypeBoolean}, o.Type):
			fail(at+".type", "%q is neither %s nor %s", o.Type, TypeInteger, TypeBoolean)
		case o.Reads != "" && !slices.Contains(Readings, o.Reads):
			fail(at+".reads", "%q is none of %s", o.Reads, strings.Join(Readings, ", "))
		case o.Relation != "" && o.Rename != "":
			fail(at, "relation and rename exclude each other")
		}
	}
	for i, r := range m.Relations {
		switch at := fmt.Sprintf("relations[%d]", i); {
		case r.Name == "" || !identifier.MatchString(r.Model):
			fail(at, "%q to %q makes no sense", r.Name, r.Model)
		case len(r.Columns) == 0 || len(r.References) > 0 && len(r.References) != len(r.Columns):
			fail(at, "%d columns and %d references do not go together", len(r.Columns), len(r.References))
		}
	}
	for i, inline := range m.Inlines {
		if !identifier.MatchString(inline.Model) || inline.Max < 1 {
			fail(fmt.Sprintf("inlines[%d]", i), "at most %d rows of %q make no sense", inline.Max, inline.Model)
		}
	}
}

// maxMeaning is the most bytes of what a declared name stands for.
const maxMeaning = 16 << 10

// checkDeclared checks measures or segments.
func checkDeclared(all []Declared, list string, fail fault) {
	names := map[string]bool{}
	for i, d := range all {
		at := fmt.Sprintf("%s[%d]", list, i)
		switch {
		case !identifier.MatchString(d.Name):
			fail(at+".name", "%q is no name", d.Name)
		case names[d.Name]:
			fail(at+".name", "%q stands twice", d.Name)
		case len(d.Means) == 0 || d.Means[0] != '{' || !json.Valid(d.Means):
			fail(at+".means", "is no JSON object")
		case len(d.Means) > maxMeaning:
			fail(at+".means", "has %d bytes, which is more than %d", len(d.Means), maxMeaning)
		}
		names[d.Name] = true
	}
}

func checkQuestions(all []Question, fail fault) {
	asked := map[string]bool{}
	for i, q := range all {
		at := fmt.Sprintf("questions[%d]", i)
		switch {
		case q.Ask == "":
			fail(at+".ask", "is missing")
		case asked[q.Ask]:
			fail(at+".ask", "%q stands twice", q.Ask)
		case !slices.Contains(QuestionTools, q.Tool):
			fail(at+".call.tool", "%q is none of %s", q.Tool, strings.Join(QuestionTools, ", "))
		case len(q.Arguments) > 0 && (q.Arguments[0] != '{' || !json.Valid(q.Arguments)):
			fail(at+".call.arguments", "is no JSON object")
		case len(q.Arguments) > maxMeaning:
			fail(at+".call.arguments", "has %d bytes, which is more than %d", len(q.Arguments), maxMeaning)
		}
		asked[q.Ask] = true
	}
}

// checkActions checks actions and reports, which share their names.
func (m *Model) checkActions(fail fault) {
	names := map[string]bool{}
	name := func(at, name, what string) {
		if !identifier.MatchString(name) {
			fail(at+".name", "%q is no %s's name", name, what)
		} else if names[name] {
			fail(at+".name", "%q stands twice", name)
		}
		names[name] = true
	}
	for i := range m.Actions {
		at := fmt.Sprintf("actions[%d]", i)
		name(at, m.Actions[i].Name, "action")
		m.Actions[i].check(fail.at(at))
	}
	for i := range m.Reports {
		r, at := &m.Reports[i], fmt.Sprintf("reports[%d]", i)
		name(at, r.Name, "report")
		checkParameters(r.Parameters, fail.at(at))
		if r.Statement == "" {
			fail(at+".statement", "is missing")
		}
		if len(m.RowPolicies) > 0 && !r.IgnoresPolicies {
			fail(at, "the model has row policies, which the report does not say that it ignores")
		}
	}
}

func (a *Action) check(fail fault) {
	kinds := 0
	for _, is := range []bool{a.Update != nil, a.SQL != nil, a.Webhook != nil} {
		if is {
			kinds++
		}
	}
	if kinds != 1 {
		fail("", "must be one of update, sql and webhook, is %d of them", kinds)
	}
	for _, verb := range a.Requires {
		if !slices.Contains(verbs, verb) || verb == Wildcard || verb == VerbExport {
			fail("requires", "%q is no verb", verb)
		}
	}
	checkParameters(a.Parameters, fail)
	if a.Update != nil {
		a.Update.check(a.Parameters, fail.at("update"))
	}
	if a.SQL != nil && slices.Contains(a.SQL.All(), "") {
		fail("sql", "a statement is empty")
	}
	if a.Webhook != nil {
		a.Webhook.check(fail.at("webhook"))
	}
}

// check says what in the webhook no server could work with.
func (w *Webhook) check(fail fault) {
	if u, err := url.Parse(w.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		fail("url", "is no http or https URL with a host")
	}
	if w.Timeout <= 0 {
		fail("timeout", "must be positive, is %s", time.Duration(w.Timeout))
	}
}

func checkParameters(parameters []Parameter, fail fault) {
	for i, p := range parameters {
		if !slices.Contains([]string{TypeString, TypeInteger, TypeDecimal, TypeBoolean, TypeDate, TypeDateTime}, p.Type) {
			fail(fmt.Sprintf("parameters[%d].type", i), "%q is no type", p.Type)
		}
	}
}

func (u *UpdateAction) check(parameters []Parameter, fail fault) {
	for i, s := range u.Set {
		at := fmt.Sprintf("set[%d]", i)
		if !slices.Contains([]string{SourceValue, SourceNull, SourceNow, SourceParameter}, s.Source) {
			fail(at+".source", "%q is no source", s.Source)
		}
		if s.Source == SourceParameter && !slices.ContainsFunc(parameters, func(p Parameter) bool { return p.Name == s.Parameter }) {
			fail(at+".parameter", "%q is not declared", s.Parameter)
		}
	}
	for i := range u.Where {
		u.Where[i].check(fail.at(fmt.Sprintf("where[%d]", i)))
		if f := &u.Where[i]; f.TokenAttribute != "" || slices.ContainsFunc(f.Any, func(f Filter) bool { return f.TokenAttribute != "" }) {
			fail(fmt.Sprintf("where[%d]", i), "only row policies ask for attributes")
		}
	}
}

func (p *RowPolicy) check(fail fault) {
	if p.AllRows == (len(p.Filters) > 0) {
		fail("", "must have either allRows or filters")
	}
	if p.Everyone == (len(p.Groups) > 0) {
		fail("", "must be for either everyone or groups")
	}
	for i := range p.Filters {
		p.Filters[i].check(fail.at(fmt.Sprintf("filters[%d]", i)))
	}
}

// check checks a filter, or the list of filters that it holds as alternatives.
func (f *Filter) check(fail fault) {
	if (f.Field == "") == (len(f.Any) == 0) {
		fail("", "each filter must have either a field or any")
	}
	if len(f.Values) > 0 && (f.TokenAttribute != "" || f.Value != "") || f.TokenAttribute != "" && f.Value != "" {
		fail("", "must have one of value, values and tokenAttribute")
	}
	for i := range f.Any {
		if len(f.Any[i].Any) > 0 {
			fail(fmt.Sprintf("any[%d]", i), "must not have any itself")
			continue
		}
		f.Any[i].check(fail.at(fmt.Sprintf("any[%d]", i)))
	}
}
