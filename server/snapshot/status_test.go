package snapshot

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// wideModels are models of 60 columns, with every tool.
func wideModels(count int) []contract.ModelStatus {
	models := make([]contract.ModelStatus, count)
	for i := range models {
		m := contract.ModelStatus{
			Exposure: fmt.Sprintf("warehouse-%d", i), UID: "01234567-89ab-cdef-0123-456789abcdef", Name: fmt.Sprintf("warehouse_%d", i),
			Reason: contract.ReasonServed, Table: fmt.Sprintf("public.warehouse_%d", i), Key: []string{"id"}, Notes: []string{"a note"},
		}
		for column := range 60 {
			m.Columns = append(m.Columns, fmt.Sprintf("a_column_of_the_warehouse_%d", column))
		}
		m.ForeignKeys = []contract.ForeignKeyStatus{{Columns: []string{"a_column_of_the_warehouse_1"}, Model: "place"}}
		for _, tool := range []string{"list", "get", "create", "update", "delete", "describe", "actions", "action", "bulk", "related", "history", "autocomplete"} {
			m.Tools = append(m.Tools, tool+"_"+m.Name)
		}
		models[i] = m
	}
	return models
}

func TestAStatusOfManyWideModelsFits(t *testing.T) {
	models := wideModels(3000)
	shortened := shorten(models)
	text, err := json.Marshal(contract.Status{Models: shortened})
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > contract.MaxStatusBytes {
		t.Errorf("the status has %d bytes, which is more than %d", len(text), contract.MaxStatusBytes)
	}
	last := shortened[2999]
	if last.Reason != contract.ReasonServed || len(last.Tools) != 12 || len(last.Columns) >= 60 {
		t.Errorf("the last model is %+v", last)
	}
	if notes := strings.Join(last.Notes, "\n"); !strings.HasPrefix(notes, "a note\nThe status names at most ") || len(last.Notes) != 2 {
		t.Errorf("the notes are %q", notes)
	}
	if len(models[0].Columns) != 60 || len(models[0].Notes) != 1 {
		t.Error("the models that were given have changed")
	}
}

// Whoever has very many keys is told of as many as fit.
func TestAStatusOfManyForeignKeysFits(t *testing.T) {
	models := wideModels(1000)
	for i := range models {
		for range 100 {
			models[i].ForeignKeys = append(models[i].ForeignKeys, models[i].ForeignKeys[0])
		}
	}
	if shortened := shorten(models); sizeOf(shortened) > maxModelsBytes || len(shortened[0].ForeignKeys) > 50 || len(models[0].ForeignKeys) != 101 {
		t.Errorf("the status has %d bytes, and %d keys of each", sizeOf(shortened), len(shortened[0].ForeignKeys))
	}
}

func TestAStatusThatFitsNamesEveryColumn(t *testing.T) {
	models := wideModels(100)
	if shortened := shorten(models); !reflect.DeepEqual(shortened, models) {
		t.Errorf("the first model is %+v", shortened[0])
	}
}
