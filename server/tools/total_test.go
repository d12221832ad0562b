package tools

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

func TestWaysOfCounting(t *testing.T) {
	for _, c := range []struct {
		name, exposure, asked string
		limited               bool
		want                  database.Total
	}{
		{"where nothing is said", "", "", false, database.TotalAuto},
		{"where nothing is said, under a row policy", "", "", true, database.TotalCapped},
		{"Auto", contract.TotalAuto, "", false, database.TotalAuto},
		{"Auto, under a row policy", contract.TotalAuto, "", true, database.TotalCapped},
		{"Capped", contract.TotalCapped, "", false, database.TotalCapped},
		{"Exact", contract.TotalExact, "", false, database.TotalExact},
		{"Exact, under a row policy", contract.TotalExact, "", true, database.TotalExact},
		{"exact, which the caller asks for", contract.TotalCapped, "exact", true, database.TotalExact},
		{"none, which the caller asks for", contract.TotalExact, "none", false, database.TotalNone},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLibrary(t, on("author", func(m *contract.Model) {
				m.TotalCount = c.exposure
				if c.limited {
					m.RowPolicies = []contract.RowPolicy{{Name: "branch", Everyone: true, Filters: []contract.Filter{{Field: "branch", TokenAttribute: "branch"}}}}
				}
			}))
			token := l.tokens.Authenticate("Bearer "+clerkText, time.Now())
			scope, _ := token.Scope(l.set.catalog.Model("author"))
			if got, err := planTotal(scope, c.asked, &database.Select{}); err != nil || got != c.want {
				t.Errorf("got %d (%v), want %d", got, err, c.want)
			}
		})
	}
}

// The planner would estimate how many rows of the other model meet the condition, those that the token may not see too.
func TestNothingIsEstimatedThroughARelationToRowsUnderAPolicy(t *testing.T) {
	l := newLibrary(t, on("author", func(m *contract.Model) {
		m.RowPolicies = []contract.RowPolicy{{Name: "branch", Everyone: true, Filters: []contract.Filter{{Field: "branch", TokenAttribute: "branch"}}}}
	}))
	token := l.tokens.Authenticate("Bearer "+clerkText, time.Now())
	for filters, want := range map[string]database.Total{
		`{"author__name":"Herbert"}`: database.TotalCapped, `{"author__name__ne":"Herbert"}`: database.TotalCapped, `{"title":"Dune"}`: database.TotalAuto,
	} {
		scope, _ := token.Scope(l.set.catalog.Model("book"))
		plan, err := planList(&rowSet{scope: scope}, &listArguments{filters: json.RawMessage(filters)})
		if err != nil || plan.Total != want {
			t.Errorf("%s: got %+v (%v), want %d", filters, plan, err, want)
		}
	}
}
