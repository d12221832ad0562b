package compile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

func TestAnApprovalPolicyForATokenThatIsNotThereIsNoted(t *testing.T) {
	in := inputs()
	in.Endpoint.Spec.Idempotency = &v1alpha1.IdempotencySpec{Table: v1alpha1.TableReference{Name: "kept"}}
	in.Endpoint.Spec.Approvals = []v1alpha1.ApprovalPolicy{{Name: "bots", Match: v1alpha1.ApprovalMatch{Tokens: []string{"agent", in.Endpoint.Namespace + "/agent", "agnt", "other/agent"}}}}
	in.Exposures = []v1alpha1.MCPModelExposure{exposure("order", time.Hour)}
	in.Tokens, in.Credentials = []v1alpha1.MCPToken{token("agent", time.Hour)}, credentials("agent")
	_, verdicts := compile.Compile(in)
	about := slices.DeleteFunc(verdicts.Endpoint.Notes, func(note string) bool { return !strings.Contains(note, "approval policy") })
	want := []string{
		`The approval policy "bots" names the token "agnt", which does not exist. The nearest is "agent".`,
		`The approval policy "bots" names the token "other/agent", which does not exist.`,
	}
	if !slices.Equal(about, want) {
		t.Errorf("got %q, want %q", about, want)
	}
}

func TestRightsThatReachNothingAreNoted(t *testing.T) {
	view := []v1alpha1.Verb{v1alpha1.VerbView}
	in := inputs()
	in.Endpoint.Spec.Groups = []v1alpha1.Group{
		{Name: "support", Permissions: []v1alpha1.PermissionRule{{Models: []string{"ordr"}, Verbs: view, Actions: []string{"refnd"}}}},
		{Name: "empty"},
	}
	in.Exposures = []v1alpha1.MCPModelExposure{
		exposure("order", time.Hour, func(s *v1alpha1.MCPModelExposureSpec) {
			s.RowPolicies = []v1alpha1.RowPolicy{{Name: "own", Groups: []string{"support"}, AllRows: new(true)}}
			s.Actions = []v1alpha1.ActionSpec{{Name: "refund", SQL: &v1alpha1.SQLActionSpec{Statement: "update orders set total = 0 where id in (:ids)"}}}
		}),
	}
	in.Tokens = []v1alpha1.MCPToken{
		token("idle", time.Hour, func(s *v1alpha1.MCPTokenSpec) { s.Groups = []string{"empty"} }),
		token("blind", time.Hour, func(s *v1alpha1.MCPTokenSpec) {
			s.Groups, s.Permissions = nil, []v1alpha1.PermissionRule{{Models: []string{"*"}, Verbs: view}}
		}),
		token("regionless", time.Hour, func(s *v1alpha1.MCPTokenSpec) {
			s.Groups, s.Permissions = nil, []v1alpha1.PermissionRule{{Models: []string{"branch"}, Verbs: view}}
		}),
		token("fine", time.Hour, func(s *v1alpha1.MCPTokenSpec) {
			s.Groups, s.Permissions = []string{"support"}, []v1alpha1.PermissionRule{{Models: []string{"order"}, Verbs: view, Actions: []string{"refund", "delete_selected", "*"}}}
		}),
	}
	in.Exposures = append(in.Exposures, exposure("branch", time.Hour, func(s *v1alpha1.MCPModelExposureSpec) {
		s.RowPolicies = []v1alpha1.RowPolicy{{Name: "region", AppliesTo: v1alpha1.AppliesToEveryone, Filters: []v1alpha1.RowFilter{{Field: "region", TokenAttribute: "region"}}}}
	}))
	in.Credentials = credentials("idle", "blind", "regionless", "fine")
	_, verdicts := compile.Compile(in)
	expect := func(whose string, notes []string, parts ...string) {
		t.Helper()
		if len(notes) != len(parts) {
			t.Fatalf("%s: %q", whose, notes)
		}
		for i, part := range parts {
			if !strings.Contains(notes[i], part) {
				t.Errorf("%s: %q has no %q", whose, notes[i], part)
			}
		}
	}
	expect("the endpoint", verdicts.Endpoint.Notes, "No model is advertised", `Group "support" names the model "ordr", which does not exist. The nearest is "order".`, `action "refnd"`, `Tokens that have no more than the group "empty" have no rights`)
	expect("idle", verdicts.Tokens[key("idle")].Notes)
	expect("blind", verdicts.Tokens[key("blind")].Notes, `sees no row of "branch"`, `sees no row of "order": none of`)
	expect("regionless", verdicts.Tokens[key("regionless")].Notes, `sees no row of "branch": the row policy "region" asks for the attribute "region"`)
	expect("fine", verdicts.Tokens[key("fine")].Notes)

	in.Exposures[0].Spec.Expose = new(true)
	in.Endpoint.Spec.Groups[0].Permissions = nil
	in.Tokens = append(in.Tokens, token("bare", time.Hour, func(s *v1alpha1.MCPTokenSpec) { s.Groups, s.Permissions = nil, nil }))
	in.Credentials = credentials("idle", "blind", "regionless", "fine", "bare")
	_, verdicts = compile.Compile(in)
	expect("the endpoint", verdicts.Endpoint.Notes, `the group "empty" have no rights`)
	expect("bare", verdicts.Tokens[key("bare")].Notes, "The token has no rights")
	in.Tokens = in.Tokens[1:] // idle is gone
	_, verdicts = compile.Compile(in)
	expect("the endpoint", verdicts.Endpoint.Notes)
}

// A list that is longer than common clients take is noted, in whatever style it is.
func TestLongListsAreNoted(t *testing.T) {
	in := inputs()
	for i := range 20 {
		in.Exposures = append(in.Exposures, exposure(fmt.Sprintf("table-%d", i), time.Hour, func(s *v1alpha1.MCPModelExposureSpec) { s.Expose = new(true) }))
	}
	rights := func(verbs ...v1alpha1.Verb) func(*v1alpha1.MCPTokenSpec) {
		return func(s *v1alpha1.MCPTokenSpec) {
			s.Groups, s.Permissions = nil, []v1alpha1.PermissionRule{{Models: []string{"*"}, Verbs: verbs}}
		}
	}
	in.Tokens = []v1alpha1.MCPToken{token("adder", time.Hour, rights("add")), token("root", time.Hour, rights("*")), token("viewer", time.Hour, rights("view"))}
	in.Credentials = credentials("adder", "root", "viewer")
	noted := func() string {
		_, verdicts := compile.Compile(in)
		return strings.Join(verdicts.Endpoint.Notes, "\n")
	}
	if got := noted(); got != "" {
		t.Errorf("as it is: %s", got)
	}
	in.Endpoint.Spec.Catalogue.MaxTools = 500
	if got := noted(); !strings.Contains(got, "up to 242 tools for shop/root, shop/viewer,") {
		t.Errorf("with many tools allowed: %q", got)
	}
	in.Endpoint.Spec.Catalogue = v1alpha1.CatalogueSpec{Style: v1alpha1.CataloguePerModel}
	for i := range in.Exposures {
		in.Exposures[i].Spec.Operations = []v1alpha1.Operation{"list", "get", "describe"}
	}
	if got := noted(); got != "" {
		t.Errorf("with few operations: %s", got)
	}
	in.Endpoint.Spec.Catalogue.Style = v1alpha1.CatalogueGeneric
	for i := range in.Exposures {
		in.Exposures[i].Spec.Operations, in.Exposures[i].Spec.Pinned = nil, new(true)
	}
	if got := noted(); !strings.Contains(got, "up to 254 tools") {
		t.Errorf("with all of them pinned: %q", got)
	}
	in.Endpoint.Spec.Catalogue.Style = v1alpha1.CataloguePerModel
	in.Exposures = nil
	for i := range 126 { // beside find_models and transact
		in.Exposures = append(in.Exposures, exposure(fmt.Sprintf("table-%d", i), time.Hour, func(s *v1alpha1.MCPModelExposureSpec) {
			s.Expose, s.Operations = new(true), []v1alpha1.Operation{"create"}
		}))
	}
	if got := noted(); strings.Contains(got, "tools/list") {
		t.Errorf("with 128 tools: %q", got)
	}
	in.Exposures[0].Spec.Operations = []v1alpha1.Operation{"create", "list"}
	if got := noted(); !strings.Contains(got, "up to 129 tools for shop/root,") {
		t.Errorf("with 129 tools: %q", got)
	}
}

func TestHeadersThatGoWithoutTLSAreNoted(t *testing.T) {
	secret := &v1alpha1.SecretReference{Name: "collector-key"}
	in := inputs()
	in.Exposures = []v1alpha1.MCPModelExposure{exposure("order", time.Hour, func(*v1alpha1.MCPModelExposureSpec) {})}
	in.Endpoint.Spec.Observability.Tracing = &v1alpha1.TracingSpec{CollectorSpec: v1alpha1.CollectorSpec{Endpoint: "HTTP://otel:4317", HeadersSecretRef: secret}}
	for endpoint, want := range map[string]int{"http://otel:4318": 2, "https://otel:4318": 1} {
		in.Endpoint.Spec.Observability.Audit.OTLP = &v1alpha1.CollectorSpec{Endpoint: endpoint, HeadersSecretRef: secret}
		_, verdicts := compile.Compile(in)
		notes := slices.DeleteFunc(verdicts.Endpoint.Notes, func(n string) bool {
			return !strings.Contains(n, `the headers of Secret "collector-key" are sent without TLS`)
		})
		if len(notes) != want || !strings.HasPrefix(notes[0], "spec.observability.tracing: ") {
			t.Errorf("%s: got %q, want %d notes", endpoint, notes, want)
		}
	}
	in.Endpoint.Spec.Observability.Tracing.HeadersSecretRef, in.Endpoint.Spec.Observability.Audit.OTLP.HeadersSecretRef = nil, nil
	if _, verdicts := compile.Compile(in); strings.Contains(strings.Join(verdicts.Endpoint.Notes, ""), "TLS") {
		t.Errorf("got %q, want no note without headers", verdicts.Endpoint.Notes)
	}
}
