package compile_test

import (
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// What a pause holds up are additions. Nothing that takes access away waits.
func TestPausing(t *testing.T) {
	paused := map[string]string{v1alpha1.PausedAnnotation: "true"}
	pause := map[string]func(*compile.Inputs){
		"the object": func(in *compile.Inputs) { in.Tokens[0].Annotations, in.Exposures[0].Annotations = paused, paused },
		"the endpoint": func(in *compile.Inputs) {
			in.Endpoint = in.Endpoint.DeepCopy()
			in.Endpoint.Annotations = paused
		},
	}
	for of, pause := range pause {
		for name, row := range map[string]struct {
			// before has the sources of the previous Config; nil if there was none. then changes it after the pause began.
			before, then func(*compile.Inputs)
			// token and model report whether they are in force then, reason is the reason of the token's verdict.
			token, model bool
			reason       string
		}{
			"what is new waits":         {before: func(in *compile.Inputs) { in.Tokens, in.Exposures = nil, nil }, reason: "Paused"},
			"what is in force stays so": {before: func(*compile.Inputs) {}, token: true, model: true, reason: "Accepted"},
			"what is active again waits": {
				before: func(in *compile.Inputs) { in.Tokens[0].Spec.Active = new(false) }, model: true, reason: "Paused",
			},
			"a revocation is let through": {
				before: func(*compile.Inputs) {}, then: func(in *compile.Inputs) { in.Tokens[0].Spec.Active = new(false) }, model: true, reason: "Inactive",
			},
			"a removal is let through": {
				before: func(*compile.Inputs) {}, then: func(in *compile.Inputs) { in.Exposures = nil }, token: true, reason: "Accepted",
			},
			"a lost Config comes back": {
				then:  func(in *compile.Inputs) { in.Tokens[0].Status.Revision, in.Exposures[0].Status.Revision = 3, 3 },
				token: true, model: true, reason: "Accepted",
			},
			"a lost Config gets nothing new": {reason: "Paused"},
		} {
			t.Run(of+": "+name, func(t *testing.T) {
				base := func() compile.Inputs {
					in := inputs()
					in.Tokens = []v1alpha1.MCPToken{token("agent", 0)}
					in.Exposures = []v1alpha1.MCPModelExposure{exposure("order", 0)}
					in.Credentials[key("agent")] = compile.TextCredential(contract.NewToken())
					return in
				}
				in := base()
				if row.before != nil {
					before := base()
					before.Credentials = in.Credentials
					row.before(&before)
					in.Previous, _ = compile.Compile(before)
				}
				pause(&in)
				if row.then != nil {
					row.then(&in)
				}
				config, verdicts := compile.Compile(in)
				if got := verdicts.Tokens[key("agent")]; got.Reason != row.reason || got.InForce != row.token {
					t.Errorf("the token's verdict is %+v", got)
				}
				if entry := config.FindToken("shop", "agent", string(in.Tokens[0].UID)); entry == nil || (len(entry.Hashes) > 0) != row.token {
					t.Errorf("the token's entry is %+v", entry)
				}
				if got := len(config.Models) > 0; got != row.model {
					t.Errorf("the models are %+v", config.Models)
				}
			})
		}
	}
}
