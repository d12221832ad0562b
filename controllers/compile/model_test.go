package compile_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// everything is an exposure with every field that a model's entry is made of.
func everything(s *v1alpha1.MCPModelExposureSpec) {
	s.Key = []string{"region", "number"}
	s.Fields = v1alpha1.FieldsSpec{
		ReadOnly: []string{"total"},
		Masked:   []v1alpha1.MaskedField{{Name: "card", KeepLast: 4}, {Name: "phone"}},
		Overrides: []v1alpha1.FieldOverride{{
			Name: "status", Description: "Where it stands.", Synonyms: []string{"state"}, Type: "Integer", Reads: "Date", Examples: "Shown", Choices: []v1alpha1.Choice{{Value: "open", Label: "Open"}}, Relation: "state",
		}, {Name: "Unit Price", Rename: "unit_price"}},
	}
	s.Expose, s.Pinned = new(true), new(true)
	s.DatabaseMessages = "Shown"
	s.Questions = []v1alpha1.QuestionSpec{
		{Ask: "How many?", Call: v1alpha1.QuestionCall{Tool: "aggregate", Arguments: runtime.RawExtension{Raw: []byte(`{"measures": ["revenue"]}`)}}},
		{Ask: "What?", Call: v1alpha1.QuestionCall{Tool: "describe"}},
	}
	s.DisplayField, s.VersionField = "number", "updated_at"
	s.Inlines = []v1alpha1.InlineSpec{{Model: "line", ForeignKey: "order_id"}, {Model: "note", Max: 5}}
	s.Relations = []v1alpha1.RelationSpec{{Name: "buyer", Columns: []string{"who"}, Model: "customer", References: []string{"code"}, ReverseName: "bought"}}
	s.Synonyms = []string{"purchase"}
	s.Measures = []v1alpha1.MeasureSpec{{Name: "revenue", Description: "What was paid.", Synonyms: []string{"turnover"}, Measure: runtime.RawExtension{Raw: []byte(`{ "sum": "total" }`)}}}
	s.Segments = []v1alpha1.SegmentSpec{{Name: "open", Description: "Not paid yet.", Synonyms: []string{"due"}, Filters: runtime.RawExtension{Raw: []byte(`{"status": "open"}`)}}}
	s.Operations = []v1alpha1.Operation{"list", "action"}
	s.RowPolicies = []v1alpha1.RowPolicy{
		{Name: "own", Groups: []string{"support"}, Filters: []v1alpha1.RowFilter{
			{Field: "region", TokenAttribute: "region"}, {Field: "status", Lookup: "in", Values: []string{"open", "paid"}},
			{Any: []v1alpha1.FieldFilter{{Field: "customer__country__code", Value: new("DE")}, {Field: "public", Lookup: "ne", TokenAttribute: "x"}}},
		}},
		{Name: "all", Groups: []string{"analysts"}, AllRows: new(true)},
		{Name: "public", AppliesTo: "Everyone", Filters: []v1alpha1.RowFilter{{Field: "public", Value: new("true")}}},
	}
	s.Actions = []v1alpha1.ActionSpec{
		{
			Name: "refund", Description: "Refund it.", Confirm: &v1alpha1.ConfirmSpec{Message: "Sure?", Token: "Required"},
			Parameters: []v1alpha1.ParameterSpec{{Name: "reason", Type: "String", Presence: "Required", Choices: []v1alpha1.Choice{{Value: "late"}}}},
			Update: &v1alpha1.UpdateActionSpec{
				Set: []v1alpha1.FieldAssignment{
					{Field: "status", Source: "Value", Value: new("refunded")}, {Field: "at", Source: "Now"}, {Field: "why", Source: "Parameter", Parameter: "reason"},
				},
				Where: []v1alpha1.RowFilter{{Field: "status", Value: new("paid")}},
			},
		},
		{Name: "recompute", SQL: &v1alpha1.SQLActionSpec{Statement: "update orders set total = 0 where number in (:ids)"}},
		{Name: "send", Requires: []v1alpha1.RequiredVerb{"view"}, Webhook: &v1alpha1.WebhookSpec{URL: "http://billing/send"}},
	}
	s.Limits.MaxBulkItems = 7
}

func TestAnEntryHoldsAllThatAnExposureSays(t *testing.T) {
	in := inputs()
	in.Exposures = []v1alpha1.MCPModelExposure{exposure("order", time.Hour, everything)}
	config, verdicts := compile.Compile(in)
	if v := verdicts.Exposures[key("order")]; !v.Accepted || v.Lack != (compile.Lack{}) {
		t.Fatalf("verdict: %+v", v)
	}
	if err := config.Validate(); err != nil {
		t.Fatal(err)
	}
	ten := contract.Duration(10 * time.Second)
	want := contract.Model{
		Revision: 1, Exposure: "order", UID: "uid-order", Created: config.Models[0].Created, Name: "order", Table: "order",
		Expose: true, Pinned: true, VerboseName: "order", VerboseNamePlural: "orders",
		Key: []string{"region", "number"}, ReadOnly: []string{"total"},
		Masked:           []contract.MaskedField{{Name: "card", KeepLast: 4}, {Name: "phone"}},
		Overrides:        []contract.FieldOverride{{Name: "status", Description: "Where it stands.", Synonyms: []string{"state"}, Type: "Integer", Reads: "Date", Examples: true, Choices: []contract.Choice{{Value: "open", Label: "Open"}}, Relation: "state"}, {Name: "Unit Price", Rename: "unit_price"}},
		DatabaseMessages: true,
		DisplayField:     "number", VersionField: "updated_at",
		Inlines:    []contract.Inline{{Model: "line", ForeignKey: "order_id", Max: 100}, {Model: "note", Max: 5}},
		Relations:  []contract.Relation{{Name: "buyer", Columns: []string{"who"}, Model: "customer", References: []string{"code"}, ReverseName: "bought"}},
		Synonyms:   []string{"purchase"},
		Measures:   []contract.Declared{{Name: "revenue", Description: "What was paid.", Synonyms: []string{"turnover"}, Means: []byte(`{"sum":"total"}`)}},
		Segments:   []contract.Declared{{Name: "open", Description: "Not paid yet.", Synonyms: []string{"due"}, Means: []byte(`{"status":"open"}`)}},
		Questions:  []contract.Question{{Ask: "How many?", Tool: "aggregate", Arguments: []byte(`{"measures":["revenue"]}`)}, {Ask: "What?", Tool: "describe"}},
		Operations: []string{"list", "action"},
		RowPolicies: []contract.RowPolicy{
			{Name: "own", Groups: []string{"support"}, Filters: []contract.Filter{
				{Field: "region", Lookup: "exact", TokenAttribute: "region"}, {Field: "status", Lookup: "in", Values: []string{"open", "paid"}},
				{Any: []contract.Filter{{Field: "customer__country__code", Lookup: "exact", Value: "DE"}, {Field: "public", Lookup: "ne", TokenAttribute: "x"}}},
			}},
			{Name: "all", Groups: []string{"analysts"}, AllRows: true},
			{Name: "public", Everyone: true, Filters: []contract.Filter{{Field: "public", Lookup: "exact", Value: "true"}}},
		},
		Actions: []contract.Action{
			{
				Name: "refund", Description: "Refund it.", Requires: []string{"change"}, Confirm: &contract.Confirmation{Message: "Sure?", TokenRequired: true},
				Parameters: []contract.Parameter{{Name: "reason", Type: "String", Required: true, Choices: []contract.Choice{{Value: "late"}}}},
				Update: &contract.UpdateAction{
					Set: []contract.ActionAssignment{
						{Field: "status", Source: "Value", Value: "refunded"}, {Field: "at", Source: "Now"}, {Field: "why", Source: "Parameter", Parameter: "reason"},
					},
					Where: []contract.Filter{{Field: "status", Lookup: "exact", Value: "paid"}},
				},
			},
			{Name: "recompute", SQL: &contract.SQLAction{Statement: "update orders set total = 0 where number in (:ids)"}},
			{Name: "send", Requires: []string{"view"}, Webhook: &contract.Webhook{URL: "http://billing/send", Timeout: ten}},
		},
		TotalCount: "Auto", DefaultPageSize: 100, MaxPageSize: 1000, MaxBulkItems: 7,
	}
	if got := config.Models[0]; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestTheEndpointsEntryHoldsItsAuditAndLimits(t *testing.T) {
	in := inputs()
	config := mustCompile(t, in)
	if e := config.Endpoint; e.SealKey != in.SealKey || e.Audit != nil || e.Limits.MaxResultBytes != 1<<20 || e.Limits.RequestsPerSecondPerToken != 0 {
		t.Errorf("as it is: %+v", e)
	}
	in.Endpoint.Spec.Audit = &v1alpha1.AuditSpec{Table: v1alpha1.TableReference{Schema: "public", Name: "log"}}
	in.Endpoint.Spec.Server.Limits = v1alpha1.ServerLimits{MaxResultBytes: 65536, RequestsPerSecondPerToken: 50}
	config = mustCompile(t, in)
	if e := config.Endpoint; *e.Audit != (contract.AuditTable{Schema: "public", Name: "log"}) || e.Limits.MaxResultBytes != 65536 || e.Limits.RequestsPerSecondPerToken != 50 {
		t.Errorf("with audit and limits: %+v", e)
	}
}

func TestTheEndpointsEntryHoldsWhatMetricsTellApart(t *testing.T) {
	in := inputs()
	for detail, want := range map[v1alpha1.MetricsDetail]bool{"": false, v1alpha1.MetricsPerOperation: false, v1alpha1.MetricsPerModel: true} {
		in.Endpoint.Spec.Observability.Metrics = detail
		if got := mustCompile(t, in).Endpoint.MetricsPerModel; got != want {
			t.Errorf("metrics: %q: per model is %v, want %v", detail, got, want)
		}
	}
}

func TestTheEndpointsEntryHoldsWhatTheAuditTellsOfReads(t *testing.T) {
	in := inputs()
	for reads, want := range map[v1alpha1.AuditReads]string{"": "", v1alpha1.AuditReadsNone: "", v1alpha1.AuditReadsSummary: contract.AuditSummary, v1alpha1.AuditReadsRows: contract.AuditRows} {
		in.Endpoint.Spec.Observability.Audit.Reads = reads
		if got := mustCompile(t, in).Endpoint.AuditLines.Reads; got != want {
			t.Errorf("%q: got %q, want %q", reads, got, want)
		}
	}
}

func TestTheEndpointsEntryHoldsWhereAuditLinesGo(t *testing.T) {
	in := inputs()
	audit := &in.Endpoint.Spec.Observability.Audit
	*audit = v1alpha1.AuditLinesSpec{Format: v1alpha1.AuditFormatOCSF, Delivery: v1alpha1.AuditDeliveryRequired, Files: &v1alpha1.AuditFilesSpec{ClaimRef: v1alpha1.ClaimReference{Name: "logs"}}}
	want := contract.AuditLines{OCSF: true, Required: true, Files: contract.AuditFiles{MaxFileBytes: 100 << 20}}
	if got := mustCompile(t, in).Endpoint.AuditLines; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for total, file := range map[int64]int64{1 << 20: 1 << 18, 1 << 30: 100 << 20} {
		if got := (&v1alpha1.AuditFilesSpec{MaxTotalBytes: total}).EffectiveMaxFileBytes(); got != file {
			t.Errorf("of %d bytes a file has %d, want %d", total, got, file)
		}
	}
	audit.Files.MaxFileBytes, audit.Files.MaxTotalBytes, audit.Files.RetentionPeriod = 1<<20, 1<<30, &metav1.Duration{Duration: 48 * time.Hour}
	want.Files = contract.AuditFiles{MaxFileBytes: 1 << 20, MaxTotalBytes: 1 << 30, MaxAge: contract.Duration(48 * time.Hour)}
	if got := mustCompile(t, in).Endpoint.AuditLines; got != want {
		t.Errorf("with bounds: got %+v, want %+v", got, want)
	}
}

func TestTheEndpointsEntryHoldsItsCatalogue(t *testing.T) {
	in := inputs()
	if got := mustCompile(t, in).Endpoint.Catalogue; got != (contract.Catalogue{Style: contract.StyleAuto, MaxTools: 100}) {
		t.Errorf("as it is: %+v", got)
	}
	in.Endpoint.Spec.Catalogue = v1alpha1.CatalogueSpec{Style: v1alpha1.CatalogueGeneric, MaxTools: 7, StructuredContent: v1alpha1.StructuredContentEnabled}
	if got := mustCompile(t, in).Endpoint.Catalogue; got != (contract.Catalogue{Style: contract.StyleGeneric, MaxTools: 7, StructuredContent: true}) {
		t.Errorf("with a catalogue: %+v", got)
	}
}

func TestATokensEntryHoldsItsGroupsAttributesAndActions(t *testing.T) {
	in := inputs()
	in.Tokens = []v1alpha1.MCPToken{token("agent", time.Hour, func(s *v1alpha1.MCPTokenSpec) {
		s.Groups = []string{"support", "analysts"}
		s.Attributes = map[string]v1alpha1.AttributeValue{"region": "emea"}
		s.Permissions = []v1alpha1.PermissionRule{{Models: []string{"order"}, Actions: []string{"refund"}}}
	})}
	agent := mustCompile(t, in).Tokens[0]
	if got := fmt.Sprint(agent.Groups, agent.Attributes, agent.Rules[0]); got != "[analysts support] map[region:emea] {[] [order] [] [refund]}" {
		t.Errorf("got %q, want %q", got, "[analysts support] map[region:emea] {[] [order] [] [refund]}")
	}
	in.Tokens[0].Spec.Active = new(bool)
	if agent = mustCompile(t, in).Tokens[0]; agent.Groups != nil || agent.Attributes != nil {
		t.Errorf("a token that is not in force has %+v", agent)
	}
}

func TestAPolicyForAGroupThatIsNotThereIsLacking(t *testing.T) {
	in := inputs()
	in.Exposures[1].Spec.RowPolicies = []v1alpha1.RowPolicy{{Name: "own", Groups: []string{"support", "nobody"}, AllRows: new(true)}}
	config, verdicts := compile.Compile(in)
	v := verdicts.Exposures[key("order")]
	if !v.Accepted || v.Lack.Reason != "GroupNotFound" || v.Lack.Message != `row policy "own" is for group "nobody", which MCPEndpoint shop does not have` {
		t.Errorf("%+v", v)
	}
	if len(config.Models) != 2 || len(config.Models[1].RowPolicies) != 1 {
		t.Errorf("models: %+v", config.Models)
	}
}

func TestAWebhookHasWhatItsSecretHolds(t *testing.T) {
	secret := func(host string, data ...string) *compile.WebhookSecret {
		s := &compile.WebhookSecret{Host: host, Data: map[string][]byte{}}
		for i := 0; i < len(data); i += 2 {
			s.Data[data[i]] = []byte(data[i+1])
		}
		return s
	}
	for name, row := range map[string]struct {
		secret  *compile.WebhookSecret
		headers string
		signing string
		// reason and problem say what it lacks; no problem names a value.
		reason, problem string
	}{
		"headers and a key":     {secret("billing:81", "authorization", "Bearer value\n", "X-Team", "a", "signing-key", "key\n"), "map[Authorization:Bearer value X-Team:a]", "key", "", ""},
		"a host in capitals":    {secret("BILLING:81", "signing-key", "key"), "map[]", "key", "", ""},
		"no Secret":             {nil, "map[]", "", "SecretNotFound", `Secret "hook" does not exist`},
		"a Secret not read":     {&compile.WebhookSecret{Unsure: true}, "map[]", "", "SecretNotFound", `Secret "hook" could not be read; it is tried again`},
		"no annotation":         {secret("", "X", "value"), "map[]", "", "WebhookSecretInvalid", `Secret "hook" must carry the annotation mcpadmin.dev/webhook-host: "billing:81"`},
		"another host":          {secret("elsewhere:81", "X", "value"), "map[]", "", "WebhookSecretInvalid", `Secret "hook" must carry the annotation mcpadmin.dev/webhook-host: "billing:81"`},
		"the host without port": {secret("billing", "X", "value"), "map[]", "", "WebhookSecretInvalid", `Secret "hook" must carry the annotation mcpadmin.dev/webhook-host: "billing:81"`},
		"the server's header":   {secret("billing:81", "host", "value"), "map[]", "", "WebhookSecretInvalid", `Secret "hook" has the key "host", a header that the server sets itself`},
		"a header twice":        {secret("billing:81", "X-A", "value", "x-a", "value"), "map[]", "", "WebhookSecretInvalid", `Secret "hook" has the header "X-A" twice`},
		"two lines":             {secret("billing:81", "X-A", "value\nX-B: value"), "map[]", "", "WebhookSecretInvalid", `Secret "hook" has a key "X-A" whose value cannot stand in a header`},
		"an empty key":          {secret("billing:81", "signing-key", "\n"), "map[]", "", "WebhookSecretInvalid", `Secret "hook" has an empty key "signing-key"`},
	} {
		t.Run(name, func(t *testing.T) {
			in := inputs()
			in.Exposures[1].Spec.Actions = []v1alpha1.ActionSpec{webhook("http://billing:81/send")}
			if row.secret != nil {
				in.Webhooks = map[string]compile.WebhookSecret{"hook": *row.secret}
			}
			config, verdicts := compile.Compile(in)
			got, v := config.Models[1].Actions[0].Webhook, verdicts.Exposures[key("order")]
			if fmt.Sprint(got.Headers) != row.headers || got.SigningKey != row.signing || got.Problem != row.problem {
				t.Errorf("%+v", got)
			}
			want := compile.Lack{Reason: row.reason}
			if row.problem != "" {
				want.Message = `action "send": ` + row.problem
			}
			if !v.Accepted || v.Lack != want {
				t.Errorf("verdict: %+v", v)
			}
		})
	}
}

func webhook(url string) v1alpha1.ActionSpec {
	return v1alpha1.ActionSpec{Name: "send", Webhook: &v1alpha1.WebhookSpec{
		URL: url, HeadersSecretRef: &v1alpha1.SecretReference{Name: "hook"}, Timeout: &metav1.Duration{Duration: time.Second},
	}}
}

func TestAWebhookWhoseSecretCannotBeReadKeepsWhatItHad(t *testing.T) {
	for name, row := range map[string]struct {
		url  string
		kept bool
	}{
		"to the same URL": {"http://billing/send", true},
		"to another":      {"http://elsewhere/send", false},
	} {
		t.Run(name, func(t *testing.T) {
			in := inputs()
			in.Exposures[1].Spec.Actions = []v1alpha1.ActionSpec{webhook("http://billing/send")}
			in.Webhooks = map[string]compile.WebhookSecret{"hook": {Host: "billing", Data: map[string][]byte{"X-Key": []byte("value"), "signing-key": []byte("key")}}}
			in.Previous = roundTrip(t, mustCompile(t, in))
			in.Webhooks = map[string]compile.WebhookSecret{"hook": {Unsure: true}}
			in.Exposures[1].Spec.Actions = []v1alpha1.ActionSpec{webhook(row.url)}
			config, _ := compile.Compile(in)
			hook := config.Models[1].Actions[0].Webhook
			if kept := hook.Headers["X-Key"] == "value" && hook.SigningKey == "key" && hook.Problem == ""; kept != row.kept {
				t.Errorf("%+v", hook)
			}
			if strings.Contains(written(t, config), "value") != row.kept {
				t.Errorf("the headers are in the Config: %v", !row.kept)
			}
		})
	}
}

// A mistake in an exposure must not free its table for what others' deletions take along.
func TestTheTablesOfExposuresThatAreNotAcceptedAreWithheld(t *testing.T) {
	in := inputs()
	in.Exposures = nil
	for i, spec := range []v1alpha1.MCPModelExposureSpec{
		{Model: "a", Table: v1alpha1.TableReference{Name: "a"}},
		{Model: "a", Table: v1alpha1.TableReference{Name: "b"}},                    // the model is taken
		{Model: "c", Table: v1alpha1.TableReference{Name: "a"}},                    // the table is taken, and served
		{Model: "No name", Table: v1alpha1.TableReference{Schema: "s", Name: "d"}}, // not valid
	} {
		spec.EndpointRef = v1alpha1.EndpointReference{Name: in.Endpoint.Name}
		e := v1alpha1.MCPModelExposure{ObjectMeta: metav1.ObjectMeta{Namespace: in.Endpoint.Namespace, Name: string(rune('a' + i))}, Spec: spec}
		in.Exposures = append(in.Exposures, e)
	}
	config, _ := compile.Compile(in)
	if want := []contract.TableName{{Name: "b"}, {Schema: "s", Name: "d"}}; !slices.Equal(config.Endpoint.WithheldTables, want) {
		t.Errorf("withheld are %v, want %v", config.Endpoint.WithheldTables, want)
	}
}
