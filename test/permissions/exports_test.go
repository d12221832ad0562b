package permissions

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// Exports of questions: the file must have the rows, fields and masks of the call's own answer, for tokens that may export all that
// the rows show, and for no others.

// exported counts files that were compared with the oracle, those of them with rows, and exports that were refused as the oracle
// refuses them. withdrawn are links that were good when they were given and not when they were fetched.
var exported struct{ calls, files, rows, refused, withdrawn int }

// mostExported is how many rows a file may have. It is so small that some calls have more.
const mostExported = 4

// export asks a question for a file, and compares that with the oracle's answer.
func (g *game) export(i int) {
	g.Helper()
	q := g.newQuestion(i)
	for q.tool == "get" || q.tool == "autocomplete" {
		q = g.newQuestion(i)
	}
	format := pick(g.random, "csv", "ndjson")
	q.arguments["export"] = format
	if chance(g.random, 90) {
		delete(q.arguments, "format") // it does not go together with export
	}
	expected, refused := q.answerExport()
	body := q.body(g)
	_, answer := g.endpoint.PostTo(g.query(), g.shown[q.by], body)
	wrong := func(format string, args ...any) {
		g.Helper()
		g.Errorf("%s: token %+v\nmodels %+v\n%s\n%s\n%s", g.where, q.token, g.models, body, fmt.Sprintf(format, args...), answer)
	}
	got, isError, err := payload(answer)
	exported.calls++
	switch {
	case err != nil:
		wrong("%v", err)
		return
	case isError && refused == nil && q.tool == "aggregate" && tooSmall(q.model(q.table), got):
		exported.refused++
		return
	case isError != (refused != nil):
		wrong("it is refused: %v, want %v", isError, refused)
		return
	case isError:
		exported.refused++
		if code := got["code"]; code != "invalid_argument" && code != "not_found" && code != "permission_denied" && code != "too_large" && (code != "unavailable" || !withheld(q.model(q.table))) {
			wrong("the code is %v", code)
		}
		return
	}
	given, _ := got["export"].(map[string]any)
	uri, _ := given["uri"].(string)
	rows := expected.file()
	if fmt.Sprint(given["rows"]) != fmt.Sprint(len(rows)) || canaryText.MatchString(answer) && !canaryText.MatchString(body) {
		wrong("the link is for %v rows, want %d, and for no values", given["rows"], len(rows))
	}
	if chance(g.random, 10) {
		g.withdraw(q, uri, wrong)
		return
	}
	text, whole, err := fetched(uri)
	if err != nil || !whole {
		wrong("the file is not whole: %v %s", err, text)
		return
	}
	exported.files++
	if len(rows) > 0 {
		exported.rows++
	}
	if difference := expected.unlikeFile(q.columns(), format, text, rows); difference != "" {
		wrong("%s\n%s", difference, text)
	}
}

// withdraw takes the token's verb export away before it fetches a link, and gives it back.
func (g *game) withdraw(q *question, uri string, wrong func(string, ...any)) {
	g.Helper()
	rules := func(keep bool) {
		g.endpoint.Apply(func(c *contract.Config) {
			for i := range c.Tokens {
				if c.Tokens[i].Name != q.token.Name {
					continue
				}
				c.Tokens[i].Rules = nil
				for _, rule := range q.token.Rules {
					if !keep {
						rule.Verbs = slices.DeleteFunc(slices.Clone(rule.Verbs), func(verb string) bool { return verb == contract.VerbExport })
					}
					c.Tokens[i].Rules = append(c.Tokens[i].Rules, rule)
				}
			}
		})
	}
	rules(false)
	text, whole, err := fetched(uri)
	rules(true)
	exported.withdrawn++
	if err != nil || whole || canaryText.MatchString(text) {
		wrong("the token may not export any more, and the link gives: %v, whole %v, %s", err, whole, text)
	}
}

// fetched is what comes of a link, and whether it is a whole file.
func fetched(uri string) (text string, whole bool, err error) {
	response, err := http.Get(uri)
	if err != nil {
		return "", false, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return string(body), response.StatusCode == http.StatusOK && response.Trailer.Get("Export-Rows") != "", err
}

// answerExport is the answer without the limits of pages, or why there is no file.
func (q *question) answerExport() (*wanted, error) {
	if q.arguments["format"] != nil {
		return nil, refuse("format does not go with export")
	}
	expected, err := q.answer(q.tool, q.table, q.arguments)
	if err != nil {
		return nil, err
	}
	shown, err := q.shownModels()
	if err != nil {
		return nil, err
	}
	for _, table := range shown {
		if !exports(q.token, q.model(table)) {
			return nil, refuse("the rows show something of %s, which may not be exported", table)
		}
	}
	limit, sent := q.arguments["limit"].(int)
	if expected.limit = mostExported; sent && limit <= mostExported {
		expected.limit = limit
	} else if len(expected.rows)-expected.offset > mostExported {
		return nil, refuse("there are too many rows")
	}
	return expected, nil
}

// exports reports whether a token has the verb export, which "*" does not have, and may view the model.
func exports(t contract.Token, m contract.Model) bool {
	return may(t, m, "view") && slices.ContainsFunc(t.Rules, func(rule contract.Rule) bool {
		return slices.Contains(rule.Verbs, contract.VerbExport) && (len(rule.Modules) == 0 || slices.Contains(rule.Modules, m.Module)) &&
			(slices.Contains(rule.Models, "*") || slices.Contains(rule.Models, m.Name))
	})
}

// rowsOf is the table whose rows the file has.
func (q *question) rowsOf() string {
	if q.tool == "related" {
		l, _ := q.link(q.table, fmt.Sprint(q.arguments["relation"]))
		return l.table
	}
	return q.table
}

// shownModels are the tables of which the rows show something.
func (q *question) shownModels() ([]string, error) {
	table := q.rowsOf()
	shown := []string{table}
	show := func(p path, err error) error { // the rows on the way show nothing
		shown = append(shown, p.table)
		return err
	}
	for _, text := range texts(q.arguments, "fields") {
		if err := show(q.path(table, text, true)); err != nil {
			return nil, err
		}
	}
	for _, text := range texts(q.arguments, "group_by") {
		if err := show(q.key(table, text)); err != nil {
			return nil, err
		}
	}
	given, _ := q.arguments["measures"].(map[string]any)
	for _, one := range given {
		m, err := q.measure(table, one.(map[string]any), 1)
		if err != nil {
			return nil, err
		}
		if m.path.table != "" {
			shown = append(shown, m.path.table)
		}
	}
	return shown, nil
}

// file are the rows that a file has.
func (w *wanted) file() []map[string]cell {
	from := min(w.offset, len(w.rows))
	return w.rows[from:min(len(w.rows), from+w.limit)]
}

// unlikeFile says how a file is not what it must be; "" if it is.
func (w *wanted) unlikeFile(names []string, format, text string, expected []map[string]cell) string {
	var got []map[string]any
	var err error
	if format == "csv" {
		got, err = readCSV(text, names)
	} else {
		got, err = readNDJSON(text)
	}
	if err != nil {
		return err.Error()
	}
	if len(got) != len(expected) {
		return fmt.Sprintf("%d rows, want %d", len(got), len(expected))
	}
	left := slices.Clone(expected)
	for i, r := range got {
		is := func(members map[string]cell) bool {
			if format == "csv" {
				return unlikeRecord(r, members) == ""
			}
			return unlike(r, members) == ""
		}
		at := 0 // the rows of a tag have no order but the database's own
		if w.anyOrder {
			at = max(0, slices.IndexFunc(left, is))
		}
		if !is(left[at]) {
			return fmt.Sprintf("row %d is %v, want %v", i, r, left[at])
		}
		left = slices.Delete(left, at, at+1)
	}
	return ""
}

// unlikeRecord is unlike for a record, whose values are texts.
func unlikeRecord(got map[string]any, expected map[string]cell) string {
	values := map[string]any{}
	for name, value := range got {
		c := expected[name]
		text := value.(string)
		switch {
		case text == "" && c.text == "":
			values[name] = nil
		case c.kind == anInteger && !c.masked:
			values[name] = json.Number(text)
		default:
			values[name] = text
		}
	}
	return unlike(values, expected)
}

func readNDJSON(text string) (rows []map[string]any, err error) {
	for line := range strings.Lines(text) {
		decoder := json.NewDecoder(strings.NewReader(line))
		decoder.UseNumber()
		var members map[string]any
		if err := decoder.Decode(&members); err != nil || !strings.HasSuffix(line, "\n") {
			return nil, fmt.Errorf("%w in the line %q", err, line)
		}
		rows = append(rows, members)
	}
	return rows, nil
}

// readCSV reads records of which the first has the names that the rows must have, in any order.
func readCSV(text string, names []string) (rows []map[string]any, err error) {
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(records) == 0 {
		return nil, fmt.Errorf("%d records: %w", len(records), err)
	}
	if got := slices.Sorted(slices.Values(records[0])); !slices.Equal(got, names) {
		return nil, fmt.Errorf("the columns are %v, want %v", got, names)
	}
	for _, record := range records[1:] {
		members := map[string]any{}
		for i, name := range records[0] {
			members[name] = record[i]
		}
		rows = append(rows, members)
	}
	return rows, nil
}

// columns are the names of the members of a row, also of a file without rows.
func (q *question) columns() []string {
	if q.tool != "aggregate" {
		shown, err := q.output(q.rowsOf(), texts(q.arguments, "fields"))
		if err != nil {
			return nil
		}
		return slices.Sorted(maps.Keys(shown(row{})))
	}
	names := slices.Clone(texts(q.arguments, "group_by"))
	given, _ := q.arguments["measures"].(map[string]any)
	return slices.Sorted(slices.Values(slices.AppendSeq(names, maps.Keys(given))))
}
