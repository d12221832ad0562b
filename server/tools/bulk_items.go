package tools

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// bulkItem is one item as it was read; problem is why it cannot be written.
type bulkItem struct {
	data           *rowData
	where, version database.Condition
	problem        *toolError
}

// readBulk reads bulk_'s arguments. What is wrong with single items is kept with them.
func (c *call) readBulk(a *bulkArguments) (*bulkRun, error) {
	m := c.scope.Model()
	b := &bulkRun{call: c, operation: a.operation, atomic: a.atomic || c.isPart}
	if known := bulkOperations(m); !slices.Contains(known, b.operation) {
		return nil, invalid("operation must be one of %s", strings.Join(known, ", "))
	}
	c.record.Operation = "bulk:" + b.operation
	if err := c.mayPerform(c.scope, b.operation); err != nil {
		return nil, err
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(a.items, &raw); err != nil || len(raw) == 0 {
		return nil, invalid("items must be an array of at least one item")
	}
	if len(raw) > m.Declared.MaxBulkItems {
		return nil, invalid("items: %d are too many; one call takes at most %d", len(raw), m.Declared.MaxBulkItems)
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
	m := b.call.scope.Model()
	var args arguments
	switch {
	case b.operation == "delete" && raw[0] != '{':
		args = arguments{idName: raw}
	case raw[0] != '{':
		return invalid("each item of a bulk %s must be an object, not %s", b.operation, lookup.Excerpt(raw))
	case b.operation == "create" && b.call.scope.Field("data") == nil && members(raw)["data"] == nil:
		args = arguments{"data": raw}
	default:
		if err := args.parse(raw); err != nil {
			return err
		}
		if err := args.only("an item", b.members()...); err != nil {
			return err
		}
	}
	for _, name := range b.members()[:b.required()] {
		if args[name] == nil || isNull(args[name]) {
			return invalid("%s is required in each item of a bulk %s", name, b.operation)
		}
	}
	var err error
	if id := args[idName]; id != nil {
		if item.where, err = idEquals(m, id); err != nil {
			return err
		}
	}
	if item.version, err = expectedVersion(m, args["expected_version"]); err != nil {
		return err
	}
	if b.operation == "delete" {
		return nil
	}
	item.data, err = b.call.readData(b.call.scope, args["data"], purpose{creates: b.operation == "create"})
	if err == nil && len(item.data.fields) == 0 && b.operation == "update" {
		return invalid("data must name at least one field to change")
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
		return []string{idName}
	case b.call.scope.Model().Version == nil:
		return []string{idName, "data"}
	}
	return []string{idName, "data", "expected_version"}
}

func (b *bulkRun) required() int {
	if b.operation == "update" {
		return 2
	}
	return 1
}

func (b *bulkRun) noteFields(d *rowData) {
	for _, name := range d.names() {
		if !slices.Contains(b.call.record.Fields, name) {
			b.call.record.Fields = append(b.call.record.Fields, name)
		}
	}
}
