package main

import (
	"encoding/json"

	"github.com/mcp-admin/mcp-admin-operator/test/jobs/planner"
	"github.com/mcp-admin/mcp-admin-operator/test/jobs/sqltree"
)

// reading returns the bytes that a client needs which cannot ask, and reads the tables of a query whole instead.
func (d *served) reading(q *sqltree.Query) (int, error) {
	total := 0
	read := map[string]bool{}
	for _, name := range sqltree.Tables(q) {
		t := d.schema.Table(name)
		if t == nil || read[t.Name] {
			continue
		}
		read[t.Name] = true
		if _, known := d.whole[t.Name]; !known {
			a := &asked{served: d, answers: map[string]*answer{}}
			if _, err := a.answer(&planner.Call{Operation: "list", Model: t.Model, Arguments: planner.Object{"limit": planner.PageSize}, Most: -1}); err != nil {
				return 0, err
			}
			d.whole[t.Name] = a.bytes
		}
		total += d.whole[t.Name]
	}
	return total, nil
}

// rowBytes is the length of the right answer as JSON.
func (j *job) rowBytes() int {
	text, _ := json.Marshal(j.Rows) // it was read from JSON
	return len(text)
}
