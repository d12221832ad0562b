package tools

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

var _ = withArguments("autocomplete", operation{
	stale: true,
	description: func(m *catalog.Model) string {
		return fmt.Sprintf("Find ids of %s by name.", many(m))
	},
	outputSchema: func(m *catalog.Model) schema {
		found := payloadSchema[suggestion]().with("id", shownID(m))
		return payloadSchema[suggestions]().with("results", schema{Type: types{"array"}, Items: &found})
	},
	advice: "ids by a piece of a row's name, to use in a foreign key",
}, (*call).autocomplete,
	argument[autocompleteArguments]{name: "term", into: func(a *autocompleteArguments) any { return &a.term },
		common: true,
		help:   "text in the name or search fields, or an id; the first rows without it"},
	argument[autocompleteArguments]{name: "filters", into: func(a *autocompleteArguments) any { return &a.filters },
		unlisted: true, help: "which rows, as in list"},
	argument[autocompleteArguments]{name: "limit", into: func(a *autocompleteArguments) any { return &a.limit },
		schema: defaultLimit(autocompleteLimit)},
	argument[autocompleteArguments]{name: "offset", into: func(a *autocompleteArguments) any { return &a.offset }, unlisted: true},
)

type autocompleteArguments struct {
	term          string
	filters       json.RawMessage
	limit, offset count
}

// autocompleteLimit is how many rows autocomplete_ answers if the call does not say.
const autocompleteLimit = 20

// suggestions is autocomplete_'s payload.
type suggestions struct {
	Model   string       `json:"model"`
	Term    string       `json:"term"`
	Count   int          `json:"count"`
	Results []suggestion `json:"results"`
	ending
}

type suggestion struct {
	ID   json.RawMessage `json:"id"`
	Text string          `json:"text"`
}

// autocomplete answers the ids of rows that are called something with the term in it, of those whose search fields have
// all of its words, and of the one whose id it is.
func (c *call) autocomplete(a *autocompleteArguments) ([]byte, error) {
	m := c.scope.Model()
	rows := &rowSet{scope: c.scope}
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
	plan := &database.Select{From: c.scope.Source(), Joins: rows.joins, More: true, Output: names.output, Order: nameOrder(m),
		Limit: min(a.limit.or(autocompleteLimit), m.Declared.MaxPageSize), Offset: a.offset.or(0)}
	if len(where) > 0 {
		plan.Where = where
	}
	plan.MaxBytes, plan.MaxValue = rowBytes(c.settings.MaxResultBytes), maxListValue
	read, page, err := readAll[map[string]json.RawMessage](c.ctx, c.db, plan)
	if err != nil {
		return nil, err
	}
	end := pageEnd{things: "rows", offset: plan.Offset, count: page.Count, more: page.More, cut: page.Cut, bytes: plan.MaxBytes,
		limit: plan.Limit, usualLimit: autocompleteLimit, mostLimit: m.Declared.MaxPageSize}
	return json.Marshal(suggestions{Model: m.Name, Term: a.term, Count: len(read), Results: names.suggest(read), ending: end.ending()})
}

// nameOrder is the order of what rows are called, and of their key.
func nameOrder(m *catalog.Model) []database.Order {
	var order []database.Order
	if m.Display != nil && m.Display.Column.Ordered() {
		order = append(order, database.Order{Column: m.Display.Column})
	}
	for _, o := range keyOrder(m) {
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
	if fields := names.scope.SearchFields(); len(fields) > 0 {
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
	condition, err := keyEquals(m, quoted)
	return condition, err == nil
}
