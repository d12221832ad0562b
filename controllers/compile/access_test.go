package compile

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// accessConfig has a model of each kind that matters.
func accessConfig() *contract.Config {
	return &contract.Config{
		Endpoint: contract.Endpoint{Audit: &contract.AuditTable{Name: "log"}},
		Groups: []contract.Group{
			{Name: "editors", Rules: []contract.Rule{{Models: []string{"order"}, Verbs: []string{"change"}}}},
			{Name: "owners", Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"*"}, Actions: []string{"*"}}}},
			{Name: "readers", Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"view"}}}},
		},
		Models: []contract.Model{
			{Name: "history", Table: "log"},
			{Name: "order", Exposure: "order", Table: "orders", Actions: []contract.Action{
				{Name: "refund", SQL: &contract.SQLAction{}}, {Name: "ship", Requires: []string{"change"}, Update: &contract.UpdateAction{}},
			}, RowPolicies: []contract.RowPolicy{
				{Name: "mine", Groups: []string{"editors"}, Filters: []contract.Filter{{Field: "region", TokenAttribute: "region"}}},
				{Name: "all", Groups: []string{"owners"}, AllRows: true},
			}},
			{Name: "price", Exposure: "price", Table: "prices", Operations: []string{"list", "get"}},
		},
	}
}

func TestAccessIsExplained(t *testing.T) {
	readOnly := func(c *contract.Config) { c.Endpoint.Database.ReadOnly = true }
	for name, c := range map[string]struct {
		token  contract.Token
		change func(*contract.Config)
		model  string
		// verbs and actions are the granted ones, rows what is seen.
		verbs, actions, rows string
		// missing is a piece of why something else is not.
		missing string
	}{
		"no rights":                 {model: "order", missing: "no rule of the token or its groups grants view on order; these groups would: editors, owners, readers"},
		"change includes view":      {token: contract.Token{Groups: []string{"editors"}, Attributes: map[string]string{"region": "x"}}, model: "order", verbs: "view,change", actions: "ship", rows: "mine"},
		"an attribute is missing":   {token: contract.Token{Groups: []string{"editors"}}, model: "order", verbs: "view,change", actions: "ship", missing: `asks for the attribute "region"`},
		"no policy for the groups":  {token: contract.Token{Groups: []string{"readers"}}, model: "order", verbs: "view", missing: "is for its groups; they are for editors, owners"},
		"everything":                {token: contract.Token{Groups: []string{"owners"}}, model: "order", verbs: "view,add,change,delete", actions: "refund,ship,delete_selected", rows: "all by all"},
		"an action by its name":     {token: contract.Token{Rules: []contract.Rule{{Models: []string{"order"}, Verbs: []string{"view"}, Actions: []string{"refund"}}}}, model: "order", verbs: "view", actions: "refund"},
		"an action without view":    {token: contract.Token{Rules: []contract.Rule{{Models: []string{"order"}, Actions: []string{"refund"}}}}, model: "order", missing: "an action needs the verb view, too"},
		"a database is read-only":   {token: contract.Token{Groups: []string{"owners"}}, change: readOnly, model: "order", verbs: "view", rows: "all by all", missing: "the endpoint's database is read-only"},
		"few operations":            {token: contract.Token{Groups: []string{"owners"}}, model: "price", verbs: "view", rows: "all", missing: "MCPModelExposure price offers only list, get"},
		"the audit table":           {token: contract.Token{Groups: []string{"owners"}}, model: "history", verbs: "view", rows: "all", missing: "it is the audit table"},
		"what callers may at most":  {token: contract.Token{Identity: &contract.Identity{Among: []string{"readers"}}}, model: "price", verbs: "view", rows: "all", missing: "these groups would: owners"},
		"another module":            {token: contract.Token{Rules: []contract.Rule{{Modules: []string{"sales"}, Models: []string{"*"}, Verbs: []string{"view"}}}}, change: func(c *contract.Config) { c.Models[2].Module = "stock" }, model: "price", missing: "no rule"},
		"the verbs of two together": {token: contract.Token{Groups: []string{"readers"}, Rules: []contract.Rule{{Models: []string{"order"}, Verbs: []string{"delete"}}}}, change: func(c *contract.Config) { c.Models[1].Actions[1].Requires = []string{"view", "delete"} }, model: "order", verbs: "view,delete", actions: "ship"},
	} {
		config := accessConfig()
		if c.change != nil {
			c.change(config)
		}
		all := explain(config, &c.token)
		i := slices.IndexFunc(all, func(a Access) bool { return a.Model == c.model })
		a := all[i]
		if verbs, actions, rows := grantedOf(a.Verbs), grantedOf(a.Actions), seenOf(a.Rows); verbs != c.verbs || actions != c.actions || rows != c.rows {
			t.Errorf("%s: verbs %q, actions %q, rows %q, want %q, %q, %q", name, verbs, actions, rows, c.verbs, c.actions, c.rows)
		}
		var missing strings.Builder
		for _, g := range slices.Concat(a.Verbs, a.Actions) {
			missing.WriteString(g.Missing + "\n")
			if g.Granted == (g.Missing != "") {
				t.Errorf("%s: %+v", name, g)
			}
		}
		if missing.WriteString(a.Rows.Why); !strings.Contains(missing.String(), c.missing) {
			t.Errorf("%s: what is missing is not told:\n%s\nwant %s", name, missing.String(), c.missing)
		}
	}
}

func grantedOf(grants []Grant) string {
	var names []string
	for _, g := range grants {
		if g.Granted {
			names = append(names, g.Name)
		}
	}
	return strings.Join(names, ",")
}

func seenOf(r RowsAccess) string {
	policies := strings.Join(r.Policies, ",")
	switch {
	case r.All && policies != "":
		return "all by " + policies
	case r.All:
		return "all"
	}
	return policies
}
