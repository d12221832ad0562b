package catalog

import (
	"reflect"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

func TestChecksOfOneColumnAreJoined(t *testing.T) {
	share, other := &database.Column{Name: "share"}, &database.Column{Name: "other"}
	table := &database.Table{Columns: []*database.Column{share, other}, Checks: []database.Check{
		{Name: "least", Column: share, Minimum: "0"}, {Name: "most", Column: share, Minimum: "5", Maximum: "100", ExclusiveMaximum: true},
	}}
	want := &database.Check{Name: "least", Column: share, Minimum: "0", Maximum: "100", ExclusiveMaximum: true}
	if got := checkOf(table, share); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	if table.Checks[0].Maximum != "" {
		t.Error("the schema's own check was changed")
	}
	if got := checkOf(table, other); got != nil {
		t.Errorf("a column without checks has %+v", got)
	}
}
