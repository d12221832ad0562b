package write

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

var _ = call.WithArguments("bulk", call.Operation{
	Label: "change", Note: "(items: {data} to create, {id, data} to update, {id} to delete)", Many: true, Counted: "items", Admit: admitBulk,
	Description: func(m *catalog.Model) string {
		return fmt.Sprintf("Write many %s, without asking.", call.PluralOf(m))
	},
	OutputSchema: func(*catalog.Model) call.Schema { return call.PayloadSchema[bulkAnswer]() },
	Advice:       "many rows in one transaction; atomic: true makes it all or nothing",
}, bulk,
	call.Argument[bulkArguments]{Name: "operation", Into: func(a *bulkArguments) any { return &a.operation }, Required: call.Always,
		Schema: func(m *catalog.Model) call.Schema {
			return call.Schema{Type: call.Types{"string"}, Enum: call.AnyNames(call.BulkOperations(m))}
		},
		Values: call.BulkOperationsFor,
		Hint: func(c *call.Call) string {
			return "it is one of " + strings.Join(call.BulkOperations(c.Scope.Model()), ", ")
		}},
	call.Argument[bulkArguments]{Name: "items", Into: func(a *bulkArguments) any { return &a.items }, Required: call.Always, Schema: itemsSchema},
	call.Argument[bulkArguments]{Name: "atomic", Into: func(a *bulkArguments) any { return &a.atomic },
		Common: true, Help: "all or nothing; without it, what succeeds is kept"},
	call.KeyArgument[bulkArguments](),
)

type bulkArguments struct {
	operation string
	items     json.RawMessage
	atomic    bool
}

// itemForms are an item of each of bulk_'s operations.
var itemForms = map[string]string{"create": "{data}", "update": "{id, data}", "delete": "{id}"}

func itemsSchema(m *catalog.Model) call.Schema {
	var forms []string
	for _, name := range call.BulkOperations(m) {
		forms = append(forms, name+" "+itemForms[name])
	}
	help := fmt.Sprintf("at most %d, if describe says nothing else: ", call.UsualBulk) + strings.Join(forms, ", ") + "; update takes expected_version too"
	switch {
	case m != nil && m.Declared.MaxBulkItems != call.UsualBulk:
		help = fmt.Sprintf("at most %d", m.Declared.MaxBulkItems)
	case m != nil:
		help = ""
	}
	return call.Schema{Type: call.Types{"array"}, Items: &call.Schema{}, Description: help}
}

// BulkPrefix stands before what a bulk does, in the operation that audit lines and policies have.
const BulkPrefix = "bulk:"

// bulkAnswer is bulk_'s payload. Where nothing succeeded it is an error, and says so as every error does.
type bulkAnswer struct {
	Error        string      `json:"error,omitempty"`
	Code         call.Code   `json:"code,omitempty"`
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
	*call.ToolError
}

// nothingKept tells why a bulk that need not be all or nothing was.
const nothingKept = "the other items were undone, too, and later ones not tried: a row policy reads a table that has no savepoints, so the database cannot undo one item by itself; " +
	"mend that item or leave it out, and send the others again"

// bulkRun is a bulk on its way.
type bulkRun struct {
	call      *call.Call
	operation string
	atomic    bool
	items     []bulkItem
	results   bulkResults
	// undivided reports that an item failed that the database could not undo alone, so that no item is kept.
	undivided bool
	// along are the rows that went with the rows of earlier items, by KeyOf: an item that names one is done.
	along map[string]json.RawMessage
}

// errNothingKept undoes a bulk that is all or nothing.
var errNothingKept = errors.New("an item failed")

// bulk writes many rows in one transaction: each for itself, or, with atomic, all or nothing.
func bulk(c *call.Call, a *bulkArguments) ([]byte, error) {
	b, err := readBulk(c, a)
	if err != nil {
		return nil, err
	}
	err = b.run(c.ChecksItems)
	var failure *database.Error
	if errors.As(err, &failure) && failure.Code == database.Violated && !b.atomic {
		// A constraint that is checked on commit was broken by one item or another: asked after each item, the database
		// tells by which.
		err = b.run(true)
	}
	if err != nil && !errors.Is(err, errNothingKept) {
		return nil, Explain(c.Scope, err)
	}
	return b.answer()
}

// restart forgets the results of the items.
func (b *bulkRun) restart() {
	b.results = bulkResults{Success: []bulkSuccess{}, Errors: []bulkError{}}
	b.along = map[string]json.RawMessage{}
	b.undivided = false
}

// run writes the items in a transaction, and all of them again if others got in its way. With check, constraints are
// checked after each.
func (b *bulkRun) run(check bool) error {
	b.restart()
	if b.atomic && b.keepProblems() {
		return errNothingKept
	}
	return b.call.Ended(b.call.DB.Transact(b.call.Ctx, b.call.Settings.StatementTimeout, func(tx database.Tx) error {
		b.restart()
		w := &Writer{Req: &b.call.Request, Tx: tx}
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
	}))
}

// writeItem writes one item. What is wrong with the item itself is among the results; any other error ends the bulk.
func (b *bulkRun) writeItem(w *Writer, i int, check bool) error {
	success := bulkSuccess{Index: i, Created: b.operation == "create", Updated: b.operation == "update"}
	var gone *Deletion
	attempt := func() (err error) {
		if gone, err = b.perform(w, b.items[i], &success); err == nil && check {
			err = Explain(b.call.Scope, w.Tx.CheckConstraints(b.call.Ctx))
		}
		return err
	}
	var undone bool
	var err error
	if b.atomic {
		err = attempt()
	} else {
		undone, err = Attempt(w.Req, w.Tx, attempt)
	}
	if err == nil {
		b.results.Success = append(b.results.Success, success)
		return b.noteAlong(gone)
	}
	told := call.ItemError(err)
	if told == nil {
		return err
	}
	b.fail(i, told)
	if undone {
		return nil
	}
	b.undivided = !b.atomic
	b.results.Success = []bulkSuccess{}
	return errNothingKept
}

// perform writes one item, adds its result to success, and returns what a deletion took along.
func (b *bulkRun) perform(w *Writer, item bulkItem, success *bulkSuccess) (*Deletion, error) {
	switch b.operation {
	case "create":
		added, err := w.insertRow(item.data, nil, nil)
		if err == nil {
			success.ID, success.Notice = added.ID(), added.notice
		}
		return nil, err
	case "update":
		changed, err := w.updateRow(item.data, item.where, item.version, nil)
		if err == nil {
			success.ID, success.Notice = changed.ID(), changed.notice
		}
		return nil, err
	}
	if id, gone := b.along[KeyOf(item.where)]; gone {
		success.ID, success.Deleted = id, true
		return nil, nil
	}
	gone, err := w.deleteRow(b.call.Scope, item.where, nil)
	if err == nil {
		success.ID, success.Notice = gone.Rows[0].ID(), gone.keptNotice()
		success.Deleted = success.Notice == ""
	}
	return gone, err
}

// noteAlong keeps the rows of the same model that went along with one that was deleted; nil is none.
func (b *bulkRun) noteAlong(gone *Deletion) error {
	if gone == nil || len(gone.kept) > 0 {
		return nil
	}
	for _, a := range gone.cascade.order {
		if a.model != b.call.Scope.Model() {
			continue
		}
		for _, row := range a.along {
			id := row.ID()
			where, err := call.KeyEquals(a.model, id)
			if err != nil {
				return err
			}
			b.along[KeyOf(where)] = id
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

func (b *bulkRun) fail(i int, problem *call.ToolError) {
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
	b.call.Record.Changed = a.SuccessCount
	b.call.Record.IDs = nil
	for _, s := range b.results.Success {
		b.call.Record.IDs = append(b.call.Record.IDs, call.PlainText(s.ID))
	}
	if a.SuccessCount > 0 {
		a.Call = b.call.RecordedAs()
		return json.Marshal(a)
	}
	why := b.results.Errors[0]
	if b.undivided {
		why, a.Notice = b.results.Errors[a.ErrorCount-1], nothingKept
	}
	a.Code = why.Code
	a.Error = fmt.Sprintf("nothing was changed; item %d: %s", why.Index, why.Message)
	payload, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	return nil, &call.ToolError{Code: a.Code, Message: a.Error, Payload: payload}
}

// Counted is a number of the model's rows in words: "1 book".
func Counted(m *catalog.Model, n int) string {
	return fmt.Sprintf("%d %s", n, verboseName(m, n))
}

// KeyOf writes the values of a condition that KeyEquals made in one text; "" where no row can meet it.
func KeyOf(where database.Condition) string {
	switch c := where.(type) {
	case database.Compare:
		return fmt.Sprintf("%q", fmt.Sprint(c.Value))
	case database.In:
		return fmt.Sprintf("%q", fmt.Sprint(c.Values))
	case database.And:
		text := ""
		for _, part := range c {
			key := KeyOf(part)
			if key == "" {
				return ""
			}
			text += key
		}
		return text
	}
	return ""
}

// admitBulk refuses a bulk that would keep a part: a step succeeds or fails.
func admitBulk(p *call.Call) error {
	if string(p.Given.Value("atomic")) == "false" {
		return call.Invalid("a bulk in a step is atomic; leave atomic out")
	}
	return nil
}
