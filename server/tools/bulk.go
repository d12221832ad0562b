package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

var _ = withArguments("bulk", operation{
	label: "change", note: "(items: {data} to create, {id, data} to update, {id} to delete)", many: true, counted: "items", admit: admitBulk,
	description: func(m *catalog.Model) string {
		return fmt.Sprintf("Write many %s, without asking.", many(m))
	},
	outputSchema: func(*catalog.Model) schema { return payloadSchema[bulkAnswer]() },
	advice:       "many rows in one transaction; atomic: true makes it all or nothing",
}, (*call).bulk,
	argument[bulkArguments]{name: "operation", into: func(a *bulkArguments) any { return &a.operation }, required: always,
		schema: func(m *catalog.Model) schema { return schema{Type: types{"string"}, Enum: anyNames(bulkOperations(m))} },
		values: bulkOperationsFor,
		hint:   func(c *call) string { return "it is one of " + strings.Join(bulkOperations(c.scope.Model()), ", ") }},
	argument[bulkArguments]{name: "items", into: func(a *bulkArguments) any { return &a.items }, required: always, schema: itemsSchema},
	argument[bulkArguments]{name: "atomic", into: func(a *bulkArguments) any { return &a.atomic },
		common: true, help: "all or nothing; without it, what succeeds is kept"},
	keyArgument[bulkArguments](),
)

type bulkArguments struct {
	operation string
	items     json.RawMessage
	atomic    bool
}

// itemForms are an item of each of bulk_'s operations.
var itemForms = map[string]string{"create": "{data}", "update": "{id, data}", "delete": "{id}"}

func itemsSchema(m *catalog.Model) schema {
	var forms []string
	for _, name := range bulkOperations(m) {
		forms = append(forms, name+" "+itemForms[name])
	}
	help := fmt.Sprintf("at most %d, if describe says nothing else: ", usualBulk) + strings.Join(forms, ", ") + "; update takes expected_version too"
	switch {
	case m != nil && m.Declared.MaxBulkItems != usualBulk:
		help = fmt.Sprintf("at most %d", m.Declared.MaxBulkItems)
	case m != nil:
		help = ""
	}
	return schema{Type: types{"array"}, Items: &schema{}, Description: help}
}

func anyNames(names []string) []any {
	list := make([]any, len(names))
	for i, name := range names {
		list[i] = name
	}
	return list
}

// bulkAnswer is bulk_'s payload. Where nothing succeeded it is an error, and says so as every error does.
type bulkAnswer struct {
	Error        string      `json:"error,omitempty"`
	Code         Code        `json:"code,omitempty"`
	Operation    string      `json:"operation"`
	TotalItems   int         `json:"total_items"`
	SuccessCount int         `json:"success_count"`
	ErrorCount   int         `json:"error_count"`
	Call         string      `json:"call,omitempty"`
	Results      bulkResults `json:"results"`
	// Notice says that not every error is told in full.
	Notice string `json:"notice,omitempty"`
}

type bulkResults struct {
	Success []bulkSuccess `json:"success"`
	Errors  []bulkError   `json:"errors"`
}

type bulkSuccess struct {
	Index   int             `json:"index"`
	ID      json.RawMessage `json:"id"`
	Created bool            `json:"created,omitempty"`
	Updated bool            `json:"updated,omitempty"`
	Deleted bool            `json:"deleted,omitempty"`
	// Notice says what the database made of the item, if that is not what was asked for.
	Notice string `json:"notice,omitempty"`
}

type bulkError struct {
	Index int `json:"index"`
	*toolError
}

// bulkRun is a bulk on its way.
type bulkRun struct {
	call      *call
	operation string
	atomic    bool
	items     []bulkItem
	results   bulkResults
	// along are the rows that went with the rows of earlier items, by keyOf: an item that names one is done.
	along map[string]json.RawMessage
}

// bulkOperations are the operations that bulk_ of a model has; without a model, that any has.
func bulkOperations(m *catalog.Model) []string {
	var names []string
	for _, name := range []string{"create", "update", "delete"} {
		if m == nil || findOperation(name).offeredFor(m.Catalog(), m) {
			names = append(names, name)
		}
	}
	return names
}

// bulkOperationsFor are the operations that bulk_ of a model has for a token.
func bulkOperationsFor(scope access.Scope) []string {
	return slices.DeleteFunc(bulkOperations(scope.Model()), func(name string) bool { return !findOperation(name).may(scope) })
}

// errNothingKept undoes a bulk that is all or nothing.
var errNothingKept = errors.New("an item failed")

// bulk writes many rows in one transaction: each for itself, or, with atomic, all or nothing.
func (c *call) bulk(a *bulkArguments) ([]byte, error) {
	b, err := c.readBulk(a)
	if err != nil {
		return nil, err
	}
	err = b.run(c.checksItems)
	var failure *database.Error
	if errors.As(err, &failure) && failure.Code == database.Violated && !b.atomic {
		// A constraint that is checked on commit was broken by one item or another: asked after each item, the database
		// tells by which.
		err = b.run(true)
	}
	if err != nil && !errors.Is(err, errNothingKept) {
		return nil, explain(c.scope, err)
	}
	return b.answer()
}

// restart forgets the results of the items.
func (b *bulkRun) restart() {
	b.results = bulkResults{Success: []bulkSuccess{}, Errors: []bulkError{}}
	b.along = map[string]json.RawMessage{}
}

// run writes the items in a transaction, and all of them again if others got in its way. With check, constraints are
// checked after each.
func (b *bulkRun) run(check bool) error {
	b.restart()
	if b.atomic && b.keepProblems() {
		return errNothingKept
	}
	return b.call.db.transact(b.call.ctx, b.call.settings.StatementTimeout, func(tx database.Tx) error {
		b.restart()
		w := &write{req: &b.call.request, tx: tx}
		for i, item := range b.items {
			if item.problem != nil {
				b.fail(i, item.problem)
				continue
			}
			if err := b.writeItem(w, i, check); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeItem writes one item. What is wrong with the item itself is among the results; any other error ends the bulk.
func (b *bulkRun) writeItem(w *write, i int, check bool) error {
	success := bulkSuccess{Index: i, Created: b.operation == "create", Updated: b.operation == "update"}
	var gone *deletion
	attempt := func() (err error) {
		if gone, err = b.perform(w, b.items[i], &success); err == nil && check {
			err = explain(b.call.scope, w.tx.CheckConstraints(b.call.ctx))
		}
		return err
	}
	var err error
	if b.atomic {
		err = attempt()
	} else {
		err = w.tx.Savepoint(b.call.ctx, attempt)
	}
	if err == nil {
		b.results.Success = append(b.results.Success, success)
		return b.noteAlong(gone)
	}
	told := itemError(err)
	if told == nil {
		return err
	}
	b.fail(i, told)
	if b.atomic {
		b.results.Success = []bulkSuccess{}
		return errNothingKept
	}
	return nil
}

// perform writes one item, adds its result to success, and returns what a deletion took along.
func (b *bulkRun) perform(w *write, item bulkItem, success *bulkSuccess) (*deletion, error) {
	switch b.operation {
	case "create":
		added, err := w.insertRow(item.data, nil, nil)
		if err == nil {
			success.ID, success.Notice = added.id(), added.notice
		}
		return nil, err
	case "update":
		changed, err := w.updateRow(item.data, item.where, item.version, nil)
		if err == nil {
			success.ID, success.Notice = changed.id(), changed.notice
		}
		return nil, err
	}
	if id, gone := b.along[keyOf(item.where)]; gone {
		success.ID, success.Deleted = id, true
		return nil, nil
	}
	gone, err := w.deleteRow(b.call.scope, item.where, nil)
	if err == nil {
		success.ID, success.Notice = gone.rows[0].id(), gone.keptNotice()
		success.Deleted = success.Notice == ""
	}
	return gone, err
}

// noteAlong keeps the rows of the same model that went along with one that was deleted; nil is none.
func (b *bulkRun) noteAlong(gone *deletion) error {
	if gone == nil || len(gone.kept) > 0 {
		return nil
	}
	for _, a := range gone.cascade.order {
		if a.model != b.call.scope.Model() {
			continue
		}
		for _, row := range a.along {
			id := row.id()
			where, err := keyEquals(a.model, id)
			if err != nil {
				return err
			}
			b.along[keyOf(where)] = id
		}
	}
	return nil
}

// keepProblems adds the errors of items that could not be read, and reports whether there are any.
func (b *bulkRun) keepProblems() bool {
	for i, item := range b.items {
		if item.problem != nil {
			b.fail(i, item.problem)
		}
	}
	return len(b.results.Errors) > 0
}

// maxDetailed is how many items' errors are shown in full. The others have the message and the code only, and none has the
// present row: a thousand rows would be too large an answer.
const maxDetailed = 100

func (b *bulkRun) fail(i int, problem *toolError) {
	told := *problem
	told.Current = nil
	if len(b.results.Errors) >= maxDetailed {
		told.Validation = nil
	}
	b.results.Errors = append(b.results.Errors, bulkError{i, &told})
}

func (b *bulkRun) answer() ([]byte, error) {
	a := bulkAnswer{Operation: b.operation, TotalItems: len(b.items), SuccessCount: len(b.results.Success),
		ErrorCount: len(b.results.Errors), Results: b.results}
	if a.ErrorCount > maxDetailed {
		a.Notice = fmt.Sprintf("validation_errors are there for the first %d items at fault: send the others again to see theirs", maxDetailed)
	}
	b.call.record.Changed = a.SuccessCount
	b.call.record.IDs = nil
	for _, s := range b.results.Success {
		b.call.record.IDs = append(b.call.record.IDs, plainText(s.ID))
	}
	if a.SuccessCount > 0 {
		a.Call = b.call.recordedAs()
		return json.Marshal(a)
	}
	first := b.results.Errors[0]
	a.Code = first.Code
	a.Error = fmt.Sprintf("nothing was changed; item %d: %s", first.Index, first.Message)
	payload, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	return nil, &toolError{Code: a.Code, Message: a.Error, payload: payload}
}
