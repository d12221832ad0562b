package write

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// inlineItem is one row of an inline model to add, change or delete with the row that it belongs to.
type inlineItem struct {
	inline *catalog.Inline
	scope  access.Scope
	// place stands before the item's fields in errors: "chapter[0].".
	place string
	// where is the row that is meant; nil for one that is added. data is nil for one that is deleted.
	where database.Condition
	data  *RowData
}

// inlineItems are in the order in which they are written: deletions come first, so that what replaces them may have their
// unique values.
type inlineItems []inlineItem

// inlineChanges are the rows of inline models that a call wrote.
type inlineChanges struct {
	Created []inlineRow `json:"created"`
	Updated []inlineRow `json:"updated"`
	Deleted []inlineRow `json:"deleted"`
}

// inlineRow is a row that was written. Notice says what the database made of it, if that is not what was asked for.
type inlineRow struct {
	Model  string          `json:"model"`
	ID     json.RawMessage `json:"id"`
	Notice string          `json:"notice,omitempty"`
}

// count is the number of rows; a nil has none.
func (c *inlineChanges) count() int {
	if c == nil {
		return 0
	}
	return len(c.Created) + len(c.Updated) + len(c.Deleted)
}

// readInlines reads `inlines`: {model: [{data} | {id, data} | {id, _delete: true}]}. Errors in the data of the row itself
// are reported together with the errors here.
func readInlines(req *call.Request, raw json.RawMessage, creates bool, ownProblem error) (inlineItems, error) {
	problems := &call.Violations{}
	if err := collect(problems, "", ownProblem); err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, problems.Err()
	}
	given := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &given); err != nil {
		return nil, call.Invalid("inlines must be an object of model name to array of rows, not %s", lookup.Excerpt(raw))
	}
	if !req.Scope.Model().UniqueKey {
		return nil, call.Invalid("inlines: %s has no key, so that no rows can belong to one of its rows; leave inlines out", req.Scope.Model().Name)
	}
	var items inlineItems
	for _, name := range slices.Sorted(maps.Keys(given)) {
		inline, scope := findInline(req, name)
		if inline == nil {
			return nil, call.Invalid("inlines: %s has no inline %q; %s", req.Scope.Model().Name, name, cmp.Or(call.NamesOf("its inlines are ", inlinesOf(req.Scope), inlineName), "it has none that you may see"))
		}
		var rows []json.RawMessage
		if err := json.Unmarshal(given[name], &rows); err != nil {
			return nil, call.Invalid("inlines.%s must be an array of {data}, {id, data} or {id, _delete: true}", name)
		}
		if len(rows) > inline.Max {
			return nil, call.Invalid("inlines.%s has %d rows; one call takes at most %d", name, len(rows), inline.Max)
		}
		for i, row := range rows {
			item := inlineItem{inline: inline, scope: scope, place: fmt.Sprintf("%s[%d].", name, i)}
			if err := collect(problems, item.place, readInline(req, &item, row, creates)); err != nil {
				return nil, err
			}
			items = append(items, item)
		}
	}
	slices.SortStableFunc(items, func(a, b inlineItem) int { return a.rank() - b.rank() })
	return items, problems.Err()
}

// collect adds the violations of an error to others. An error that has none is returned.
func collect(problems *call.Violations, prefix string, err error) error {
	var told *call.ToolError
	if errors.As(err, &told) && told.Validation != nil {
		problems.AddAll(prefix, told.Validation)
		return nil
	}
	return err
}

func (i *inlineItem) rank() int {
	if i.data == nil {
		return 0
	}
	return 1
}

// findInline returns the inline of that name and its scope; nil where there is none, or where the token may not view it.
func findInline(req *call.Request, name string) (*catalog.Inline, access.Scope) {
	for _, inline := range req.Scope.Model().Inlines {
		if scope, ok := req.Token.Scope(inline.Model); ok && inline.Model.Name == name {
			return inline, scope
		}
	}
	return nil, access.Scope{}
}

// inlinesOf are the inlines whose models the token may view.
func inlinesOf(scope access.Scope) []*catalog.Inline {
	var inlines []*catalog.Inline
	for _, inline := range scope.Model().Inlines {
		if scope.Of(inline.Model).Has(access.View) {
			inlines = append(inlines, inline)
		}
	}
	return inlines
}

func inlineName(in *catalog.Inline) string { return in.Model.Name }

// mayAddInlines and mayWriteInlines report whether the token may add, or write, rows of an inline.
func mayAddInlines(scope access.Scope) bool {
	return slices.ContainsFunc(inlinesOf(scope), func(in *catalog.Inline) bool { return offersInline(scope.Of(in.Model), "create") })
}

func mayWriteInlines(scope access.Scope) bool {
	return slices.ContainsFunc(inlinesOf(scope), func(in *catalog.Inline) bool {
		return offersInline(scope.Of(in.Model), "create", "update", "delete")
	})
}

// offersInline reports whether the token may use one of the operations on the rows of an inline.
func offersInline(scope access.Scope, operations ...string) bool {
	return slices.ContainsFunc(operations, func(name string) bool {
		op := call.FindOperation(name)
		return op.May(scope) && op.OfferedFor(scope.Model().Catalog(), scope.Model())
	})
}

// inlineModels names the models of the inlines that the token may write, for a description.
func inlineModels(scope access.Scope) string {
	writable := slices.DeleteFunc(inlinesOf(scope), func(in *catalog.Inline) bool { return !call.MayWrite(scope.Of(in.Model)) })
	return call.NamesOf("; models: ", writable, inlineName)
}

// readInline reads one row of an inline.
func readInline(req *call.Request, item *inlineItem, raw json.RawMessage, creates bool) error {
	place := "inlines." + strings.TrimSuffix(item.place, ".")
	var args call.Arguments
	if args.Parse(raw) != nil || call.IsNull(raw) || args.Only(place, call.IDName, "data", "_delete") != nil {
		return call.Invalid("%s must be {data}, {id, data} or {id, _delete: true}", place)
	}
	remove := false
	if flag, sent := args.Find("_delete"); sent {
		if err := call.Decode("_delete", flag, &remove); err != nil {
			return call.Invalid("%s: %s", place, err)
		}
	}
	var err error
	id, data := args.Value(call.IDName), args.Value("data")
	operation := "update"
	switch {
	case remove && id != nil && data == nil:
		operation = "delete"
	case remove || data == nil:
		return call.Invalid("%s must be {data}, {id, data} or {id, _delete: true}", place)
	case id == nil:
		operation = "create"
	}
	if err := mayPerform(req, item.scope, operation); err != nil {
		return err
	}
	if creates && id != nil {
		return call.OneViolation(call.IDName, "must not be given: a row that is not added yet has no %s; leave id out", item.scope.Model().Declared.VerboseName)
	}
	if id != nil {
		if item.where, err = call.KeyEquals(item.scope.Model(), id); err != nil {
			return call.OneViolation(call.IDName, "%s", err)
		}
	}
	if !remove {
		item.data, err = readData(req, item.scope, data, Purpose{Creates: id == nil, Parent: item.inline.Relation.Theirs})
	}
	return err
}

// mayPerform is nil where the token may use one of the operations that write on a model which offers it.
func mayPerform(req *call.Request, scope access.Scope, name string) error {
	op, m := call.FindOperation(name), scope.Model()
	if !op.May(scope) {
		return req.PermissionDenied(op.Label, m)
	}
	if !op.OfferedFor(req.Catalog, m) {
		return call.Failf(call.CodePermissionDenied, "%s is not offered for %s", name, m.Name)
	}
	return nil
}

// parentColumns are the columns of the row itself that the items' foreign keys lead to.
func (items inlineItems) parentColumns() []*database.Column {
	var columns []*database.Column
	for _, item := range items {
		for _, column := range item.inline.Relation.Ours {
			if !slices.Contains(columns, column) {
				columns = append(columns, column)
			}
		}
	}
	return columns
}

// writeInlines writes the items; values are the values of the parentColumns. It returns nil where there are none.
func (w *Writer) writeInlines(items inlineItems, values []database.Value) (*inlineChanges, error) {
	if len(items) == 0 {
		return nil, nil
	}
	changes := &inlineChanges{Created: []inlineRow{}, Updated: []inlineRow{}, Deleted: []inlineRow{}}
	columns := items.parentColumns()
	for _, item := range items {
		var parent []database.Assignment
		for i, column := range item.inline.Relation.Theirs {
			value := values[slices.Index(columns, item.inline.Relation.Ours[i])]
			parent = append(parent, database.Assignment{Column: column, Value: value})
		}
		if err := w.writeInline(item, parent, changes); err != nil {
			if call.IsNotFound(err) {
				err = call.OneViolation(call.IDName, "no such %s belongs to this %s", item.scope.Model().Declared.VerboseName, w.Req.Scope.Model().Declared.VerboseName)
			}
			return nil, call.Prefixed(item.place, err)
		}
	}
	return changes, nil
}

func (w *Writer) writeInline(item inlineItem, parent []database.Assignment, changes *inlineChanges) error {
	model := item.scope.Model().Name
	if item.where == nil {
		added, err := w.insertRow(item.data, parent, nil)
		if err != nil {
			return err
		}
		changes.Created = append(changes.Created, inlineRow{model, added.ID(), added.notice})
		return nil
	}
	where := database.And{item.where}
	for _, a := range parent {
		where = append(where, database.Compare{Column: a.Column, Op: database.Equal, Value: a.Value})
	}
	if item.data == nil {
		gone, err := w.deleteRow(item.scope, where, nil)
		if err != nil {
			return err
		}
		is := inlineRow{model, gone.Rows[0].ID(), gone.keptNotice()}
		if is.Notice == "" {
			changes.Deleted = append(changes.Deleted, is)
		} else {
			changes.Updated = append(changes.Updated, is)
		}
		return nil
	}
	changed, err := w.updateRow(item.data, where, nil, nil)
	if err != nil {
		return err
	}
	changes.Updated = append(changes.Updated, inlineRow{model, changed.ID(), changed.notice})
	return nil
}
