package mysql

import (
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

func TestAKeyIsUniqueOnAllShardsByItsColumnsOrByAList(t *testing.T) {
	t.Parallel()
	id, owner, code := &database.Column{Name: "id"}, &database.Column{Name: "owner"}, &database.Column{Name: "code"}
	p := &placing{by: []*database.Column{owner}, listed: [][]*database.Column{{code}}}
	for _, tc := range []struct {
		key  []*database.Column
		want bool
	}{
		{[]*database.Column{id}, false}, {[]*database.Column{owner}, true}, {[]*database.Column{id, owner}, true}, {[]*database.Column{code, id}, true},
	} {
		if got := p.keepsUnique(tc.key); got != tc.want {
			t.Errorf("%s: got %v", tc.key[0].Name, got)
		}
	}
}

func TestAColumnOfARuleIsFoundInAnyCase(t *testing.T) {
	t.Parallel()
	id := &database.Column{Name: "Id"}
	table := &database.Table{Columns: []*database.Column{id}}
	if columnOf(table, "ID") != id {
		t.Error("a column in another case is not found")
	}
	if hidden := columnOf(table, "owner"); hidden == id || hidden.Name != "owner" {
		t.Error("a column that the user may not see is taken for another one")
	}
}

func TestThePlanOfAnInsertTellsWhatASequenceFills(t *testing.T) {
	t.Parallel()
	for plan, want := range map[string]string{
		`"AutoIncrement": "select next :n /* INT64 */ values from s:Values::(:vtg1)",`: ":vtg1",
		`"AutoIncrement": "select next :n /* INT64 */ values from s:Values::(null)",`:  "null",
		`"Query": "insert into t(id) values (:_id_0)"`:                                 "",
	} {
		got := ""
		if found := fillsFrom.FindStringSubmatch(plan); found != nil {
			got = found[1]
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", plan, got, want)
		}
	}
}

func TestAnAuditTableOnShardsNeedsASequence(t *testing.T) {
	t.Parallel()
	id := &database.Column{Name: "id"}
	table := &database.Table{Schema: "spread", Name: "log", Columns: []*database.Column{id}}
	i := &introspection{counted: map[*database.Table]*database.Column{table: id}}
	if got := i.whyUncounted(sqltext.Audit, table); got != "" {
		t.Errorf("with a sequence: %s", got)
	}
	i.uncounted = []string{"spread.log.id"}
	if got := i.whyUncounted(sqltext.Audit, table); !strings.HasPrefix(got, "the audit table spread.log lies on several shards, and no sequence fills its id") {
		t.Errorf("without one: %q", got)
	}
}
