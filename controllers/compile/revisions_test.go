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
		want string
	}{
		"nothing": {func(*compile.Inputs) {}, "1 1 [1 1] [1 1]"},
		"a group": {func(in *compile.Inputs) { in.Endpoint.Spec.Groups[0].Permissions = nil }, "2 2 [1 1] [1 1]"},
		"a model": {func(in *compile.Inputs) { in.Exposures[0].Spec.Description = "d" }, "2 1 [2 1] [1 1]"},
		"an action of a model": {func(in *compile.Inputs) {
			in.Exposures[0].Spec.Actions = []v1alpha1.ActionSpec{webhook("http://billing/send")}
		}, "2 1 [2 1] [1 1]"},
		"a row policy of a model": {func(in *compile.Inputs) {
			in.Exposures[0].Spec.RowPolicies = []v1alpha1.RowPolicy{{Name: "all", AppliesTo: "Everyone", AllRows: new(true)}}
		}, "2 1 [2 1] [1 1]"},
		"an attribute of a token": {func(in *compile.Inputs) {
			in.Tokens[0].Spec.Attributes = map[string]v1alpha1.AttributeValue{"region": "emea"}
		}, "2 1 [1 1] [2 1]"},
		"a group of a token":       {func(in *compile.Inputs) { in.Tokens[0].Spec.Groups = []string{"analysts"} }, "2 1 [1 1] [2 1]"},
		"a limit of the endpoint":  {func(in *compile.Inputs) { in.Endpoint.Spec.Server.Limits.MaxBodyBytes = 2048 }, "2 2 [1 1] [1 1]"},
		"a token goes":             {func(in *compile.Inputs) { in.Tokens = in.Tokens[1:] }, "2 1 [1 1] [1]"},
		"a token is being deleted": {func(in *compile.Inputs) { in.Tokens[0].DeletionTimestamp = &before }, "2 1 [1 1] [1]"},
		"a token becomes inactive": {func(in *compile.Inputs) { in.Tokens[0].Spec.Active = new(bool) }, "2 1 [1 1] [2 1]"},
		"a token is made anew":     {func(in *compile.Inputs) { in.Tokens[0].UID = "other" }, "2 1 [1 1] [2 1]"},
		"a token comes": {func(in *compile.Inputs) {
			in.Tokens = append(in.Tokens, token("zoe", 0))
			in.Credentials = credentials("agent", "robot", "zoe")
		}, "2 1 [1 1] [1 1 2]"},
		"a token comes that was not looked up": {func(in *compile.Inputs) {
			in.Tokens = append(in.Tokens, token("zoe", 0))
		}, "1 1 [1 1] [1 1]"},
		"a model comes": {func(in *compile.Inputs) {
			in.Exposures = append(in.Exposures, exposure("zebra", 0))
		}, "2 1 [1 1 2] [1 1]"},
		"a model goes":                    {func(in *compile.Inputs) { in.Exposures = in.Exposures[1:] }, "2 1 [1] [1 1]"},
		"a manager that just started":     {func(in *compile.Inputs) { in.Credentials = nil }, "1 1 [1 1] [1 1]"},
		"an endpoint no longer valid":     {func(in *compile.Inputs) { in.Endpoint.Spec.Database.SQLite = nil }, "1 1 [1 1] [1 1]"},
		"a revocation with such endpoint": {func(in *compile.Inputs) { in.Endpoint.Spec.Database.SQLite = nil; in.Tokens = nil }, "2 1 [1 1] []"},
	} {
		t.Run(name, func(t *testing.T) {
			in := inputs()
			in.Previous = roundTrip(t, mustCompile(t, in))
			row.change(&in)
			config, _ := compile.Compile(in)
			if got := revisions(config); got != row.want {
				t.Errorf("revisions: %s, want %s", got, row.want)
			}
		})
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
