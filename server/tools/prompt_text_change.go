package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/steps"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/write"
)

// The texts of the prompts about changes, with examples made of the model's own fields.

// explainChanges writes crud_guide.
func (set *Set) explainChanges(scope access.Scope, view View) string {
	t := set.newText(scope.Token(), view)
	m, d := scope.Model(), descriptionOf(set.catalog, scope, rowsSeen(scope))
	ops := call.OfferedTo(set.catalog, scope.Token(), m)
	var reading, changing []*call.Operation
	for _, op := range ops {
		if op.Writes() {
			changing = append(changing, op)
		} else {
			reading = append(reading, op)
		}
	}
	switch {
	case len(changing) == 0:
		t.line("You may read %s here, not change them: no tool of yours creates, updates or deletes. What there is:", m.Declared.VerboseNamePlural)
	case !scope.Has(access.View):
		t.line("You may change %s here, not view them: ask your user for ids and values.", m.Declared.VerboseNamePlural)
	default:
		t.line("Change %s safely. Look first, with:", m.Declared.VerboseNamePlural)
	}
	t.unlisted(set, view, m)
	for _, op := range reading {
		t.about(op, m)
	}
	if len(changing) == 0 {
		return t.end()
	}
	t.line("Then change, one step at a time, and only what your user asked for:")
	for _, op := range changing {
		t.about(op, m)
	}
	t.fields(d)
	t.options("Read-only fields, which no data may hold:", d.AdminConfig.ReadonlyFields)
	t.changes(scope, ops)
	t.inlines(scope, ops)
	if set.listsGlobal(scope.Token(), view, steps.TransactOperation) {
		t.together(scope, ops)
	}
	t.failures(m, ops)
	return t.end()
}

// together shows how several changes are one.
func (t *promptText) together(scope access.Scope, ops []*call.Operation) {
	m := scope.Model()
	var operation, arguments string
	switch {
	case offers(ops, "update"):
		operation, arguments = "update", fmt.Sprintf(`{"id": %s, "data": %s}`, exampleID(m), exampleData(m, write.Purpose{}))
	case offers(ops, "create"):
		operation, arguments = "create", fmt.Sprintf(`{"data": %s}`, exampleData(m, write.Purpose{Creates: true}))
	case offers(ops, "delete"):
		operation, arguments = "delete", fmt.Sprintf(`{"id": %s}`, exampleID(m))
	default:
		return
	}
	step := fmt.Sprintf(`{"tool": "%s", "arguments": %s}`, t.Tool(operation, m), t.Arguments(m, arguments))
	t.line("Changes that belong together, of other models too, are the steps of one call: all of them happen, or none:")
	t.line(`- %s {"steps": [%s], "dry_run": true}`, steps.TransactName, step)
	t.line(`  In a later step, {"_step": 0, "path": "object.id"} stands for that value of the first step's answer; "expect" beside "arguments" undoes all if an answer is otherwise.`)
}

// changes shows how rows are created, updated and deleted.
func (t *promptText) changes(scope access.Scope, ops []*call.Operation) {
	m := scope.Model()
	t.line("Examples; try each with dry_run first, which checks everything and keeps nothing, then call again without it:")
	if offers(ops, "create") {
		t.line("- %s", t.Call("create", m, fmt.Sprintf(`{"data": %s, "dry_run": true}`, exampleData(m, write.Purpose{Creates: true}))))
	}
	if offers(ops, "update") {
		version := ""
		if m.Version != nil {
			version = fmt.Sprintf(`, "expected_version": %s`, exampleValue(m.Version))
		}
		t.line("- %s", t.Call("update", m, fmt.Sprintf(`{"id": %s, "data": %s%s, "dry_run": true}`, exampleID(m), exampleData(m, write.Purpose{}), version)))
		if m.Version != nil {
			t.line("  expected_version is the row's %s as you read it: the update is a conflict where someone else was faster.", m.Version.Name)
		}
	}
	if offers(ops, "delete") {
		t.line("- %s: tells what would go with it", t.Call("delete", m, fmt.Sprintf(`{"id": %s, "dry_run": true}`, exampleID(m))))
	}
}

// inlines shows how rows of inline models are written with the row that they belong to.
func (t *promptText) inlines(scope access.Scope, ops []*call.Operation) {
	m := scope.Model()
	for _, in := range m.Inlines {
		child := scope.Of(in.Model)
		if !child.Has(access.View) || !call.MayWrite(child) {
			continue
		}
		data := exampleData(in.Model, write.Purpose{Creates: true, Parent: in.Relation.Theirs})
		t.line("Inlines: %s, at most %d in one call, with their %s, all or nothing. Their foreign key is set for you.", in.Model.Declared.VerboseNamePlural, in.Max, m.Declared.VerboseName)
		if offers(ops, "create") && child.Has(access.Add) {
			t.line("- %s", t.Call("create", m, fmt.Sprintf(`{"data": %s, "inlines": {"%s": [{"data": %s}]}, "dry_run": true}`, exampleData(m, write.Purpose{Creates: true}), in.Model.Name, data)))
		}
		for _, each := range []struct {
			verb       access.Verbs
			item, does string
		}{
			{access.Add, fmt.Sprintf(`{"data": %s}`, data), "adds one"},
			{access.Change, fmt.Sprintf(`{"id": %s, "data": %s}`, exampleID(in.Model), exampleData(in.Model, write.Purpose{Parent: in.Relation.Theirs})), "changes one"},
			{access.Delete, fmt.Sprintf(`{"id": %s, "_delete": true}`, exampleID(in.Model)), "deletes one"},
		} {
			if offers(ops, "update") && child.Has(each.verb) {
				t.line("- %s: %s", t.Call("update", m, fmt.Sprintf(`{"id": %s, "inlines": {"%s": [%s]}, "dry_run": true}`, exampleID(m), in.Model.Name, each.item)), each.does)
			}
		}
		if offers(ops, "get") {
			t.line("- %s shows them", t.Call("get", m, fmt.Sprintf(`{"id": %s, "include_inlines": true}`, exampleID(m))))
		}
	}
}

// failures says what to do about errors.
func (t *promptText) failures(m *catalog.Model, ops []*call.Operation) {
	t.line("When a call about one row fails, nothing of it was kept, unless its code is unavailable. The code says why:")
	t.line("- validation_error: validation_errors names each field and what is wrong with it; correct them all and call again")
	if offers(ops, "list") {
		t.line("- not_found: there is no such row that you may see; %s finds ids", t.Tool("list", m))
	}
	if offers(ops, "update") && m.Version != nil {
		t.line("- conflict: the row was changed since you read it; current shows it as it is; think again, then send its %s as expected_version", m.Version.Name)
	}
	if offers(ops, "delete") {
		t.line("- protected: other rows keep it from being deleted; the message names their models; ask your user before you delete those")
	}
	t.line("- unavailable: if the message says that nothing was changed, try again; else the change may have been made, and the message says what to do")
	if offers(ops, "history") {
		t.line("Afterwards %s shows what was changed.", t.Tool("history", m))
	}
}

// explainBulk writes bulk_operations_guide.
func (set *Set) explainBulk(token access.Token, view View) string {
	t := set.newText(token, view)
	var scopes []access.Scope
	reads := false
	for _, m := range set.catalog.Models() {
		if !set.lists(view, m) {
			continue
		}
		reads = reads || offers(call.OfferedTo(set.catalog, token, m), "list")
		if slices.ContainsFunc(call.OfferedTo(set.catalog, token, m), func(op *call.Operation) bool { return op.Many && op.Writes() }) {
			scopes = append(scopes, token.Reach(m))
		}
	}
	if len(scopes) == 0 {
		t.line("No model that you may use has bulk tools or actions: there is nothing here that changes many rows at once.")
		if reads {
			t.line("To read many rows, %s pages with next_cursor, or with limit and offset; %s names the models and their operations.", t.Any("list"), call.FindModels)
		}
		return t.end()
	}
	look := ""
	if reads {
		look = fmt.Sprintf(", after a look at the rows with %s", t.Any("list"))
	}
	t.line("Change many rows at once with these tools%s:", look)
	models := set.newText(token, view)
	told := map[*call.Operation]bool{}
	for i, scope := range scopes {
		m := scope.Model()
		ops := slices.DeleteFunc(call.OfferedTo(set.catalog, token, m), func(op *call.Operation) bool { return !op.Many })
		for _, op := range ops {
			if !told[op] {
				told[op] = true
				t.line("- %s: %s", t.Any(op.Name), op.Advice)
			}
		}
		if i < mostModels {
			models.line("- %s: %s", m.Declared.VerboseNamePlural, toolNames(t.Naming, ops, m))
		}
	}
	if more := len(scopes) - mostModels; more > 0 {
		models.line("- and %d more models, which %s names", more, call.FindModels)
	}
	t.line("The models that have them:")
	t.WriteString(models.String())
	t.bulk(set, scopes, token, view)
	t.actions(set, scopes, token)
	return t.end()
}

// bulk shows the items of bulk_, with the first model that has it as the example.
func (t *promptText) bulk(set *Set, scopes []access.Scope, token access.Token, view View) {
	i := slices.IndexFunc(scopes, func(s access.Scope) bool { return offers(call.OfferedTo(set.catalog, token, s.Model()), "bulk") })
	if i < 0 {
		return
	}
	scope := scopes[i]
	m := scope.Model()
	t.line("")
	t.line("Bulk, with %s as the example; %d items at most in one call, all in the form of this one:", m.Name, m.Declared.MaxBulkItems)
	for _, each := range []struct {
		operation string
		verb      access.Verbs
		item      string
	}{
		{"create", access.Add, fmt.Sprintf(`{"data": %s}`, exampleData(m, write.Purpose{Creates: true}))},
		{"update", access.Change, fmt.Sprintf(`{"id": %s, "data": %s}`, exampleID(m), exampleData(m, write.Purpose{}))},
		{"delete", access.Delete, fmt.Sprintf(`{"id": %s}`, exampleID(m))},
	} {
		if scope.Has(each.verb) && slices.Contains(call.BulkOperations(m), each.operation) {
			t.line("- %s", t.Call("bulk", m, fmt.Sprintf(`{"operation": "%s", "items": [%s]}`, each.operation, each.item)))
		}
	}
	t.line(`What succeeds is kept, and results.errors tells of each item that failed, by its index; with "atomic": true all is undone as soon as one fails.`)
	if set.listsGlobal(token, view, steps.TransactOperation) {
		t.line(`Changes of several models that belong together are steps of one call of %s: {"tool": "%s", "arguments": {…}} is one of them, and all or nothing.`, steps.TransactName, t.Tool("bulk", m))
	}
}

// actions names the actions and shows how one is confirmed.
func (t *promptText) actions(set *Set, scopes []access.Scope, token access.Token) {
	var example *catalog.Model
	var confirmed *catalog.Action
	headed, named := false, false
	for _, scope := range scopes {
		m := scope.Model()
		ops := call.OfferedTo(set.catalog, token, m)
		if !offers(ops, "action") {
			continue
		}
		named = named || offers(ops, "actions")
		for _, action := range call.ActionsOf(set.catalog, scope) {
			if !headed {
				headed = true
				t.line("")
				t.line("Actions, by model:")
			}
			t.line("- %s of %s:%s%s", action.Name, m.Name, call.Sentence(action.Description), confirmationHint(action))
			if confirmed == nil && action.Confirm != nil {
				example, confirmed = m, action
			}
		}
	}
	if confirmed == nil {
		return
	}
	id := exampleID(example)
	t.line("One that asks first takes two calls:")
	t.line("1. %s changes nothing, and answers requires_confirmation: true, how many rows it is about, and a confirmation_page. Show your user what the page says.",
		t.Call("action", example, fmt.Sprintf(`{"action": "%s", "ids": [%s]}`, confirmed.Name, id)))
	t.line(`2. If they agree, make the same call with "confirm": true and "confirmation_token": the one of the first answer. If rows have changed meanwhile, it is a conflict with a new page.`)
	if named {
		t.line("Parameters of an action go in confirmation_data, in both calls; %s names them.", t.Any("actions"))
	}
}

func confirmationHint(action *catalog.Action) string {
	if action.Confirm == nil {
		return ""
	}
	return " Asks first."
}

// offers reports whether the token may use an operation.
func offers(ops []*call.Operation, name string) bool {
	return slices.ContainsFunc(ops, func(op *call.Operation) bool { return op.Name == name })
}

// exampleFields is how many fields an example of data shows besides the required ones.
const exampleFields = 2

// exampleData is data for a row that is added, with all that it needs, or for one that is changed.
func exampleData(m *catalog.Model, p write.Purpose) string {
	var members []string
	more := exampleFields
	for _, f := range m.Fields {
		required := p.Creates && f.Column.NeedsValue()
		if write.WhyNotWritable(f, p) != "" || !required && (more == 0 || f.PrimaryKey) {
			continue
		}
		if !required {
			more--
		}
		name, _ := json.Marshal(f.Name) // a string: it cannot fail
		members = append(members, string(name)+": "+exampleValue(f))
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// exampleID is an id in the form that the model's have.
func exampleID(m *catalog.Model) string {
	if len(m.Key) == 1 {
		return exampleValue(m.Key[0])
	}
	parts := make([]string, len(m.Key))
	for i, f := range m.Key {
		parts[i] = strings.Trim(exampleValue(f), `"`)
	}
	return `"` + strings.Join(parts, ",") + `"`
}

// exampleValue is a value in the form that the field's have, as JSON.
func exampleValue(f *catalog.Field) string {
	if len(f.Choices) > 0 && f.Column.Kind != database.Integer && f.Column.Kind != database.Boolean {
		value, _ := json.Marshal(f.Choices[0].Value) // a string: it cannot fail
		return string(value)
	}
	if b := call.BoundsOf(f); f.Check != nil {
		for _, bound := range []any{b.Minimum, b.Maximum} {
			if bound != nil {
				value, _ := json.Marshal(bound) // a number or a string: it cannot fail
				return string(value)
			}
		}
	}
	switch f.Column.Kind {
	case database.Boolean:
		return "true"
	case database.Integer:
		if len(f.Choices) > 0 {
			return f.Choices[0].Value
		}
		return "1"
	case database.Decimal:
		return `"9.50"`
	case database.Float:
		return "9.5"
	case database.Date:
		return `"2026-01-31"`
	case database.Time:
		return `"09:30:00"`
	case database.Timestamp:
		return `"2026-01-31T09:30:00"`
	case database.TimestampTZ:
		return `"2026-01-31T09:30:00Z"`
	case database.Interval:
		return `"1 day"`
	case database.UUID:
		return `"f81d4fae-7dec-11d0-a765-00a0c91e6bf6"`
	case database.JSON:
		return "{}"
	case database.Array:
		return "[]"
	case database.Bytes:
		return `"aGk="`
	}
	if f.Column.Kind == database.Other {
		if example := call.TypeExample(f.Column); example != "" {
			value, _ := json.Marshal(example) // a string: it cannot fail
			return string(value)
		}
	}
	return `"` + exampleText(call.BoundsOf(f)) + `"`
}

// exampleText is a text of a length that the bounds allow.
func exampleText(b call.Bounds) string {
	text := "text"
	if len(text) < b.MinLength {
		text = strings.Repeat(text, b.MinLength/len(text)+1)[:b.MinLength]
	}
	if b.MaxLength > 0 {
		text = text[:min(len(text), b.MaxLength)]
	}
	return text
}
