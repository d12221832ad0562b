package compile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

func TestRevisionsMoveOnlyForWhatChanged(t *testing.T) {
	in := inputs()
	in.Previous, _ = compile.Compile(in)
	for name, row := range map[string]struct {
		change func(*compile.Inputs)
		// want is the Config's revision, then the endpoint's, each model's and each token's.
		want     string
		onlyAdds bool
	}{
		"nothing":                 {func(*compile.Inputs) {}, "1 1 [1 1] [1 1]", true},
		"a group that nobody has": {func(in *compile.Inputs) { in.Endpoint.Spec.Groups[1].Permissions = nil }, "1 1 [1 1] [1 1]", true},
		"a group":                 {func(in *compile.Inputs) { in.Endpoint.Spec.Groups[0].Permissions = nil }, "2 1 [1 1] [2 2]", false},
		"a model":                 {func(in *compile.Inputs) { in.Exposures[0].Spec.Description = "d" }, "2 1 [2 1] [1 1]", false},
		"an action of a model": {func(in *compile.Inputs) {
			in.Exposures[0].Spec.Actions = []v1alpha1.ActionSpec{webhook("http://billing/send")}
		}, "2 1 [2 1] [1 1]", false},
		"a row policy of a model": {func(in *compile.Inputs) {
			in.Exposures[0].Spec.RowPolicies = []v1alpha1.RowPolicy{{Name: "all", AppliesTo: "Everyone", AllRows: new(true)}}
		}, "2 1 [2 1] [1 1]", false},
		"an attribute of a token": {func(in *compile.Inputs) {
			in.Tokens[0].Spec.Attributes = map[string]v1alpha1.AttributeValue{"region": "emea"}
		}, "2 1 [1 1] [2 1]", false},
		"a group of a token":       {func(in *compile.Inputs) { in.Tokens[0].Spec.Groups = []string{"analysts"} }, "2 1 [1 1] [2 1]", false},
		"a limit of the endpoint":  {func(in *compile.Inputs) { in.Endpoint.Spec.Server.Limits.MaxBodyBytes = 2048 }, "2 2 [1 1] [1 1]", false},
		"a token goes":             {func(in *compile.Inputs) { in.Tokens = in.Tokens[1:] }, "2 1 [1 1] [1]", false},
		"a token is being deleted": {func(in *compile.Inputs) { in.Tokens[0].DeletionTimestamp = &before }, "2 1 [1 1] [1]", false},
		"a token becomes inactive": {func(in *compile.Inputs) { in.Tokens[0].Spec.Active = new(bool) }, "2 1 [1 1] [2 1]", false},
		"a token is made anew":     {func(in *compile.Inputs) { in.Tokens[0].UID = "other" }, "2 1 [1 1] [2 1]", false},
		"a token comes": {func(in *compile.Inputs) {
			in.Tokens = append(in.Tokens, token("zoe", 0))
		}, "2 1 [1 1] [1 1 2]", true},
		"a model comes": {func(in *compile.Inputs) {
			in.Exposures = append(in.Exposures, exposure("zebra", 0))
		}, "2 1 [1 1 2] [1 1]", true},
		"a model goes":                    {func(in *compile.Inputs) { in.Exposures = in.Exposures[1:] }, "2 1 [1] [1 1]", false},
		"pods have more than the Config":  {func(in *compile.Inputs) { in.Floor = 7 }, "8 8 [8 8] [8 8]", false},
		"the Config is gone":              {func(in *compile.Inputs) { in.Previous, in.Floor = nil, 7 }, "8 8 [8 8] [8 8]", true},
		"a manager that just started":     {func(in *compile.Inputs) { in.Credentials = nil }, "1 1 [1 1] [1 1]", true},
		"an endpoint no longer valid":     {func(in *compile.Inputs) { in.Endpoint.Spec.Database.SQLite = nil }, "1 1 [1 1] [1 1]", true},
		"a revocation with such endpoint": {func(in *compile.Inputs) { in.Endpoint.Spec.Database.SQLite = nil; in.Tokens = nil }, "2 1 [1 1] []", false},
	} {
		t.Run(name, func(t *testing.T) {
			in := inputs()
			in.Previous = roundTrip(t, mustCompile(t, in))
			previous := in.Previous
			row.change(&in)
			config, _ := compile.Compile(in)
			if got := revisions(config); got != row.want {
				t.Errorf("revisions: %s, want %s", got, row.want)
			}
			if in.Previous != nil {
				if got := compile.OnlyAdds(previous, config); got != row.onlyAdds {
					t.Errorf("OnlyAdds: %v, want %v", got, row.onlyAdds)
				}
			}
		})
	}
}

func TestWithoutAdditionsOnlyTakesAwayAndChanges(t *testing.T) {
	in := inputs()
	in.Tokens[1].Spec.Active = new(bool)
	previous := mustCompile(t, in)
	in.Previous = previous
	in.Tokens[0].Spec.Active, in.Tokens[1].Spec.Active = new(bool), nil // one is revoked, another in force again
	in.Tokens = append(in.Tokens, token("zoe", 0))
	in.Exposures = append(in.Exposures[1:], exposure("zebra", 0))
	in.Exposures[0].Spec.Description = "d"
	in.Credentials = credentials("agent", "robot", "zoe")
	next := mustCompile(t, in)
	narrowed := compile.WithoutAdditions(previous, next)
	if len(narrowed.Models) != 1 || narrowed.Models[0].Name != "order" || narrowed.Models[0].Description != "d" {
		t.Errorf("models: %+v", narrowed.Models)
	}
	for _, token := range narrowed.Tokens {
		if len(token.Hashes) > 0 {
			t.Errorf("in force: %+v", token)
		}
	}
	if len(narrowed.Tokens) != 2 || narrowed.Revision != next.Revision || narrowed.Validate() != nil {
		t.Errorf("narrowed: %+v", narrowed)
	}
	if !compile.OnlyAdds(narrowed, next) {
		t.Error("what is left out is more than additions")
	}
}

func TestATokenInForceAgainIsAnAddition(t *testing.T) {
	in := inputs()
	in.Tokens[0].Spec.Active = new(bool)
	in.Previous = mustCompile(t, in)
	in.Tokens[0].Spec.Active = nil
	next, _ := compile.Compile(in)
	if !compile.OnlyAdds(in.Previous, next) || next.Revision != 2 {
		t.Errorf("revision %d, only adds: %v", next.Revision, compile.OnlyAdds(in.Previous, next))
	}
}

func TestNothingIsServedFromAnEndpointThatWasNeverValid(t *testing.T) {
	in := inputs()
	in.Endpoint.Spec.Database.SQLite = nil
	config, verdicts := compile.Compile(in)
	if config != nil {
		t.Errorf("config: %+v", config)
	}
	if v := verdicts.Endpoint; v.Accepted || v.Reason != "Invalid" || !strings.HasPrefix(v.Message, "spec.database:") {
		t.Errorf("endpoint: %+v", v)
	}
	if v := verdicts.Tokens[key("agent")]; v.Accepted || v.Reason != "EndpointInvalid" {
		t.Errorf("token: %+v", v)
	}
	if v := verdicts.Exposures[key("order")]; v.Accepted || v.Reason != "EndpointInvalid" {
		t.Errorf("exposure: %+v", v)
	}
}

func revisions(c *contract.Config) string {
	models, tokens := []int64{}, []int64{}
	for _, m := range c.Models {
		models = append(models, m.Revision)
	}
	for _, t := range c.Tokens {
		tokens = append(tokens, t.Revision)
	}
	return fmt.Sprint(c.Revision, c.Endpoint.Revision, models, tokens)
}
