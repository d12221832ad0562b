package write

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// bulkItem is one item as it was read; problem is why it cannot be written.
type bulkItem struct {
	data           *RowData
	where, version database.Condition
	problem        *call.ToolError
}

// readBulk reads bulk_'s arguments. What is wrong with single items is kept with them.
func readBulk(c *call.Call, a *bulkArguments) (*bulkRun, error) {
	m := c.Scope.Model()
	b := &bulkRun{call: c, operation: a.operation, atomic: a.atomic || c.IsPart}
	if known := call.BulkOperations(m); !slices.Contains(known, b.operation) {
		return nil, call.Invalid("operation must be one of %s", strings.Join(known, ", "))
	}
	c.Record.Operation = BulkPrefix + b.operation
	if err := mayPerform(&c.Request, c.Scope, b.operation); err != nil {
		return nil, err
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(a.items, &raw); err != nil || len(raw) == 0 {
		return nil, call.Invalid("items must be an array of at least one item")
	}
	if len(raw) > m.Declared.MaxBulkItems {
		return nil, call.Invalid("items: %d are too many; one call takes at most %d", len(raw), m.Declared.MaxBulkItems)
	}
	b.items = make([]bulkItem, len(raw))
	for i := range raw {
		if err := b.readItem(&b.items[i], raw[i]); err != nil && !errors.As(err, &b.items[i].problem) {
			return nil, err
		}
	}
	return b, nil
}

// readItem reads one item: {data}, {id, data} or {id}.
func (b *bulkRun) readItem(item *bulkItem, raw json.RawMessage) error {
	m := b.call.Scope.Model()
	var args call.Arguments
	switch {
	case b.operation == "delete" && raw[0] != '{':
		args = call.OneArgument(call.IDName, raw)
	case raw[0] != '{':
		return call.Invalid("each item of a bulk %s must be an object, not %s", b.operation, lookup.Excerpt(raw))
	case b.operation == "create" && b.call.Scope.Field("data") == nil && call.Members(raw).Value("data") == nil:
		args = call.OneArgument("data", raw)
	default:
		if err := args.Parse(raw); err != nil {
			return err
		}
		if err := args.Only("an item", b.members()...); err != nil {
			return err
		}
	}
	for _, name := range b.members()[:b.required()] {
		if value := args.Value(name); value == nil || call.IsNull(value) {
			return call.Invalid("%s is required in each item of a bulk %s", name, b.operation)
		}
	}
	var err error
	if id := args.Value(call.IDName); id != nil {
		if item.where, err = call.IDEquals(m, id); err != nil {
			return err
		}
	}
	if item.version, err = expectedVersion(m, args.Value("expected_version")); err != nil {
		return err
	}
	if b.operation == "delete" {
		return nil
	}
	item.data, err = readData(&b.call.Request, b.call.Scope, args.Value("data"), Purpose{Creates: b.operation == "create"})
	if err == nil && len(item.data.Fields) == 0 && b.operation == "update" {
		return call.Invalid("data must name at least one field to change")
	}
	if err == nil {
		b.noteFields(item.data)
	}
	return err
}

// members are the members of an item, the required ones first.
func (b *bulkRun) members() []string {
	switch {
	case b.operation == "create":
		return []string{"data"}
	case b.operation == "delete":
		return []string{call.IDName}
	case b.call.Scope.Model().Version == nil:
		return []string{call.IDName, "data"}
	}
	return []string{call.IDName, "data", "expected_version"}
}

func (b *bulkRun) required() int {
	if b.operation == "update" {
		return 2
	}
	return 1
}

func (b *bulkRun) noteFields(d *RowData) {
	for _, name := range d.names() {
		if !slices.Contains(b.call.Record.Fields, name) {
			b.call.Record.Fields = append(b.call.Record.Fields, name)
		}
	}
}
