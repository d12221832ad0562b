package chinook

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// testCursors walks the table by cursors, which gives the same rows as plain SQL.
func (e engine) testCursors(t *testing.T, table string, columns, keys []string, want []map[string]any) {
	t.Helper()
	limit := max(7, len(want)/5)
	cursor, seen := "", 0
	for {
		arguments := fmt.Sprintf(`{"limit":%d,"max_bytes":1000000`, limit)
		if cursor != "" {
			arguments += fmt.Sprintf(`,"cursor":%q`, cursor)
		}
		var got page
		e.call(t, "list_"+table, arguments+"}", &got)
		if got.TotalCount != len(want) {
			t.Fatalf("total_count is %d, want %d", got.TotalCount, len(want))
		}
		for _, row := range got.Results {
			e.sameRow(t, table, columns, keys, row, want[seen])
			seen++
		}
		if cursor = got.NextCursor; cursor == "" {
			break
		}
	}
	if seen != len(want) {
		t.Fatalf("the cursors led to %d rows, want %d", seen, len(want))
	}
}

// relations are the relations that lead from each table, as "name target our-column their-column".
func (e engine) relations(table string) [][4]string {
	var all [][4]string
	for key, field := range foreignKeys {
		from, column, _ := strings.Cut(key, ".")
		name := strings.TrimSuffix(field, "_id")
		target := map[string]string{"support_rep": "employee", "reports_to": "employee"}[name]
		if target == "" {
			target = name
		}
		theirs := target + "_id"
		if from == table {
			all = append(all, [4]string{name, target, column, theirs})
		}
		if target == table {
			all = append(all, [4]string{from + "_by_" + name, from, theirs, column})
		}
	}
	slices.SortFunc(all, func(a, b [4]string) int { return strings.Compare(a[0], b[0]) })
	return all
}

// testRelated follows every relation of some rows, both ways.
func (e engine) testRelated(t *testing.T, table string, keys []string) {
	columns, _ := columnsOf(table)
	rows := e.rows(t, fmt.Sprintf("SELECT %s FROM %s ORDER BY %s LIMIT 3", e.row(columns), e.quoted(table), e.quotedAll(keys)))
	for _, r := range e.relations(table) {
		name, target, ours, theirs := r[0], r[1], r[2], r[3]
		targetColumns, targetKeys := columnsOf(target)
		for _, row := range rows {
			want := []map[string]any{}
			if value := row[e.column(ours)]; value != nil {
				want = e.rows(t, fmt.Sprintf("SELECT %s FROM %s WHERE %s = %v ORDER BY %s", e.row(targetColumns), e.quoted(target), e.quoted(theirs), value, e.quotedAll(targetKeys)))
			}
			var got struct {
				Type       string
				Count      int
				TotalCount int `json:"total_count"`
				Result     map[string]any
				Results    []map[string]any
			}
			e.call(t, "related_"+table, fmt.Sprintf(`{"id":%s,"relation":%q,"limit":1000,"max_bytes":1000000}`, encoded(t, e.id(keys, row)), name), &got)
			switch {
			case got.Type == "single" && len(want) == 0:
				if got.Result != nil {
					t.Errorf("%s of %v is %v, want none", name, row, got.Result)
				}
			case got.Type == "single":
				e.sameRow(t, target, targetColumns, targetKeys, got.Result, want[0])
			default:
				if got.TotalCount != len(want) || got.Count != min(1000, len(want)) {
					t.Fatalf("%s of %v are %d of %d rows, want %d", name, row, got.Count, got.TotalCount, len(want))
				}
				for i, other := range got.Results {
					e.sameRow(t, target, targetColumns, targetKeys, other, want[i])
				}
			}
		}
	}
}

func encoded(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// testWriting makes a row like the first one, changes it, looks into its history, and removes it, by every tool that
// writes; plain SQL sees each step.
func (e engine) testWriting(t *testing.T, table string, columns, keys []string) {
	all := e.rows(t, fmt.Sprintf("SELECT %s FROM %s ORDER BY %s", e.row(columns), e.quoted(table), e.quotedAll(keys)))
	data := map[string]any{}
	for _, c := range columns {
		data[e.field(table, c)] = all[0][e.column(c)]
	}
	fresh := func(n int) {
		data[e.field(table, keys[len(keys)-1])] = 90_000 + n
		if table == "playlist_track" { // whose key are foreign keys: a pair that is not there yet
			data[e.field(table, keys[0])], data[e.field(table, keys[1])] = 18, n
		}
	}
	row := func(id any) []map[string]any {
		parts := strings.Split(fmt.Sprint(id), ",")
		var where []string
		for i, key := range keys {
			where = append(where, e.quoted(key)+" = "+parts[i])
		}
		return e.rows(t, fmt.Sprintf("SELECT %s FROM %s WHERE %s", e.row(columns), e.quoted(table), strings.Join(where, " AND ")))
	}

	fresh(1)
	var made struct {
		Success bool
		ID      any
		Object  map[string]any
	}
	e.call(t, "create_"+table, `{"data":`+encoded(t, data)+`}`, &made)
	stored := row(made.ID)
	if !made.Success || len(stored) != 1 {
		t.Fatalf("made %+v, stored %v", made, stored)
	}
	e.sameRow(t, table, columns, keys, made.Object, stored[0])
	id := encoded(t, made.ID)

	changes := map[string]any{}
	for _, c := range columns {
		switch kind := typeOf(c); {
		case slices.Contains(keys, c), foreignKeys[table+"."+c] != "":
		case kind == "text":
			changes[e.field(table, c)] = `Ä 'x'; --`
		case kind == "integer":
			changes[e.field(table, c)] = 4711
		case kind == "decimal":
			changes[e.field(table, c)] = "3.25"
		case kind == "datetime":
			changes[e.field(table, c)] = "2025-02-28T12:34:56"
		}
	}
	steps := 1
	if len(changes) > 0 {
		var changed struct{ Object map[string]any }
		e.call(t, "update_"+table, `{"id":`+id+`,"data":`+encoded(t, changes)+`}`, &changed)
		stored = row(made.ID)
		e.sameRow(t, table, columns, keys, changed.Object, stored[0])
		for field, value := range changes {
			if !same(changed.Object[field], value) {
				t.Errorf("%s is %v, want %v", field, changed.Object[field], value)
			}
		}
		e.call(t, "bulk_"+table, `{"operation":"update","items":[{"id":`+id+`,"data":`+encoded(t, changes)+`}]}`, &struct{}{})
		steps = 2 // the second changes nothing
	}
	var history struct {
		Count   int
		History []struct{ Action string }
	}
	e.call(t, "history_"+table, `{"id":`+id+`}`, &history)
	if history.Count < steps || history.History[len(history.History)-1].Action != "create" {
		t.Errorf("the history is %+v, want %d entries or more, the first of them a create", history, steps)
	}
	var found struct{ Results []struct{ ID any } }
	e.call(t, "autocomplete_"+table, `{"term":`+encoded(t, fmt.Sprint(made.ID))+`}`, &found)
	if !slices.ContainsFunc(found.Results, func(r struct{ ID any }) bool { return same(r.ID, made.ID) }) {
		t.Errorf("autocomplete does not find %v: %v", made.ID, found)
	}
	e.call(t, "delete_"+table, `{"id":`+id+`}`, &struct{}{})
	if stored = row(made.ID); len(stored) != 0 {
		t.Errorf("deleted, and still there: %v", stored)
	}

	var items []any
	for n := 2; n <= 4; n++ {
		fresh(n)
		item := map[string]any{}
		for k, v := range data {
			item[k] = v
		}
		items = append(items, map[string]any{"data": item})
	}
	var done struct {
		SuccessCount int `json:"success_count"`
		Results      struct{ Success []struct{ ID any } }
	}
	e.call(t, "bulk_"+table, `{"operation":"create","atomic":true,"items":`+encoded(t, items)+`}`, &done)
	if done.SuccessCount != 3 {
		t.Fatalf("%+v", done)
	}
	ids := []any{done.Results.Success[0].ID, done.Results.Success[1].ID}
	var actions struct{ Actions []struct{ Name string } }
	e.call(t, "actions_"+table, `{}`, &actions)
	if len(actions.Actions) != 1 || actions.Actions[0].Name != "delete_selected" {
		t.Errorf("the actions are %+v", actions)
	}
	var outcome struct {
		AffectedCount int `json:"affected_count"`
	}
	e.call(t, "action_"+table, `{"action":"delete_selected","ids":`+encoded(t, ids)+`}`, &struct{}{})
	e.call(t, "action_"+table, `{"action":"delete_selected","confirm":true,"ids":`+encoded(t, ids)+`}`, &outcome)
	if outcome.AffectedCount != 2 {
		t.Errorf("%+v", outcome)
	}
	e.call(t, "bulk_"+table, `{"operation":"delete","items":[`+encoded(t, done.Results.Success[2].ID)+`]}`, &struct{}{})
	after := e.rows(t, fmt.Sprintf("SELECT %s FROM %s ORDER BY %s", e.row(columns), e.quoted(table), e.quotedAll(keys)))
	if encoded(t, after) != encoded(t, all) {
		t.Error("the table is not as it was before")
	}

	// A row that others point at stays.
	for _, r := range e.relations(table) {
		if strings.Contains(r[0], "_by_") && len(e.rows(t, fmt.Sprintf("SELECT %s FROM %s WHERE %s = %v", e.row(columns[:1]), e.quoted(table), e.quoted(keys[0]), all[0][e.column(keys[0])]))) == 1 {
			pointing := e.rows(t, fmt.Sprintf("SELECT %s FROM %s WHERE %s = %v", e.row([]string{r[3]}), e.quoted(r[1]), e.quoted(r[3]), all[0][e.column(keys[0])]))
			if len(pointing) == 0 {
				continue
			}
			text, isError := e.endpoint.Call(e.token, "delete_"+table, `{"id":`+encoded(t, e.id(keys, all[0]))+`}`)
			if !isError || !strings.Contains(text, `"protected"`) || !strings.Contains(text, strings.ReplaceAll(r[1], "_", " ")) && !strings.Contains(text, r[1]) {
				t.Errorf("deleting what %s points at: %s", r[1], text)
			}
		}
	}
}
