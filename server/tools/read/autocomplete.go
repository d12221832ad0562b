package read

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

var _ = call.WithArguments("autocomplete", call.Operation{
	Stale: true,
	Description: func(m *catalog.Model) string {
		return fmt.Sprintf("Find ids of %s by name.", call.PluralOf(m))
	},
	OutputSchema: func(m *catalog.Model) call.Schema {
		found := call.PayloadSchema[suggestion]().With("id", call.ShownID(m))
		return call.PayloadSchema[suggestions]().With("results", call.Schema{Type: call.Types{"array"}, Items: &found})
	},
	Advice: "ids by a piece of a row's name, to use in a foreign key",
}, autocomplete,
	call.Argument[autocompleteArguments]{Name: "term", Into: func(a *autocompleteArguments) any { return &a.term },
		Common: true,
		Help:   "text in the name or search fields, or an id; the first rows without it"},
	call.Argument[autocompleteArguments]{Name: "filters", Into: func(a *autocompleteArguments) any { return &a.filters },
		Unlisted: true, Help: "which rows, as in list"},
	call.Argument[autocompleteArguments]{Name: "limit", Into: func(a *autocompleteArguments) any { return &a.limit },
		Schema: call.DefaultLimit(autocompleteLimit)},
	call.Argument[autocompleteArguments]{Name: "offset", Into: func(a *autocompleteArguments) any { return &a.offset }, Unlisted: true},
)

type autocompleteArguments struct {
	term          string
	filters       json.RawMessage
	limit, offset call.Count
}

// autocompleteLimit is how many rows autocomplete_ answers if the call does not say.
const autocompleteLimit = 20

// suggestions is autocomplete_'s payload.
type suggestions struct {
	Model   string       `json:"model"`
	Term    string       `json:"term"`
	Count   int          `json:"count"`
	Results []suggestion `json:"results"`
	call.Ending
}

type suggestion struct {
	ID   json.RawMessage `json:"id"`
	Text string          `json:"text"`
}

// autocomplete answers the ids of rows that are called something with the term in it, of those whose search fields have
// all of its words, and of the one whose id it is.
func autocomplete(c *call.Call, a *autocompleteArguments) ([]byte, error) {
	m := c.Scope.Model()
	rows := &RowSet{Scope: c.Scope, calendar: lookup.Calendar{Now: c.Now}}
	where, err := rows.conditions("filters", a.filters)
	if err != nil {
		return nil, err
	}
	names, err := namesOfRows(rows)
	if err != nil {
		return nil, err
	}
	if where, err = appendTerm(where, names, a.term); err != nil {
		return nil, err
	}
	plan := &database.Select{From: c.Scope.Source(), Joins: rows.joins, More: true, Output: names.output, Order: nameOrder(m),
		Limit: min(a.limit.Or(autocompleteLimit), m.Declared.MaxPageSize), Offset: a.offset.Or(0)}
	if len(where) > 0 {
		plan.Where = where
	}
	plan.MaxBytes, plan.MaxValue = RowBytes(c.Settings.MaxResultBytes), call.MaxListValue
	read, page, err := call.ReadAll[map[string]json.RawMessage](c.Ctx, c.DB, plan)
	if err != nil {
		return nil, err
	}
	c.Rows = page.Count
	end := call.PageEnd{Things: "rows", Offset: plan.Offset, Count: page.Count, More: page.More, Cut: page.Cut, Bytes: plan.MaxBytes,
		Limit: plan.Limit, UsualLimit: autocompleteLimit, MostLimit: m.Declared.MaxPageSize}
	return json.Marshal(suggestions{Model: m.Name, Term: a.term, Count: len(read), Results: names.suggest(read), Ending: end.Ending()})
}

// nameOrder is the order of what rows are called, and of their key.
func nameOrder(m *catalog.Model) []database.Order {
	var order []database.Order
	if m.Display != nil && m.Display.Column.Ordered() {
		order = append(order, database.Order{Column: m.Display.Column})
	}
	for _, o := range call.KeyOrder(m) {
		if m.Display == nil || o.Column != m.Display.Column {
			order = append(order, o)
		}
	}
	return order
}

// appendTerm adds the condition that a term finds a row. An empty term finds every row.
func appendTerm(where database.And, names *rowNames, term string) (database.And, error) {
	term = strings.TrimSpace(term)
	if term == "" {
		return where, nil
	}
	if err := checkSearch("term", term); err != nil {
		return nil, err
	}
	any := database.Or(names.matches(term))
	if fields := (&RowSet{Scope: names.scope}).pieceFields(); len(fields) > 0 {
		any = append(any, matchWords(names.scope, fields, term))
	}
	if id, ok := keyFromText(names.scope.Model(), term); ok {
		any = append(any, id)
	}
	return append(where, any), nil
}

// keyFromText returns the condition that a row's key has the value of a text; false if the text cannot be one. Of kinds
// that only the database knows, it cannot be told without an error of the database's.
func keyFromText(m *catalog.Model, text string) (database.Condition, bool) {
	for _, f := range m.Key {
		if k := f.Column.Kind; k == database.Other || k == database.Interval {
			return nil, false
		}
	}
	quoted, _ := json.Marshal(text) // a string: it cannot fail
	condition, err := call.KeyEquals(m, quoted)
	return condition, err == nil
}
