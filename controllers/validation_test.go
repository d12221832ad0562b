package controllers_test

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/mcp-admin/mcp-admin-operator/api/admission"
	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// What an API server refuses, and package admission without one. Each row changes an object that both accept.
var _ = Describe("The API server and admission", func() {
	var w *world
	BeforeEach(func() { w = newWorld() })

	origins := func(allowed ...v1alpha1.Origin) func(*endpointType) {
		return func(e *endpointType) { e.Spec.Network.CORS = &v1alpha1.CORSSpec{AllowedOrigins: allowed} }
	}

	DescribeTable("agree on an endpoint", func(valid bool, change func(*endpointType)) {
		e := w.endpoint("shop")
		change(e)
		agree(e, valid)
	},
		Entry("as it is", true, func(*endpointType) {}),
		Entry("with a long name", false, func(e *endpointType) { e.Name = long(41) }),
		Entry("with a name that is no DNS label", false, func(e *endpointType) { e.Name = "a.b" }),
		Entry("with a name that begins with a digit", false, func(e *endpointType) { e.Name = "1a" }),
		Entry("without a database", false, func(e *endpointType) { e.Spec.Database.SQLite = nil }),
		Entry("with two databases", false, func(e *endpointType) { e.Spec.Database.ConnectionSecretRef = connection("x") }),
		Entry("with an engine beside SQLite", false, func(e *endpointType) { e.Spec.Database.Engine = "PostgreSQL" }),
		Entry("with SQLite nowhere", false, func(e *endpointType) { e.Spec.Database.SQLite.EmptyDir = nil }),
		Entry("with SQLite in two places", false, func(e *endpointType) { e.Spec.Database.SQLite.Claim = &v1alpha1.DatabaseClaim{Name: "x"} }),
		Entry("with files for DuckDB", true, func(e *endpointType) { e.Spec.Database = overDuckDB("") }),
		Entry("with a file for DuckDB", true, func(e *endpointType) { e.Spec.Database = overDuckDB("2026/all orders.parquet") }),
		Entry("with files for DuckDB that are read", true, func(e *endpointType) {
			e.Spec.Database = overDuckDB("")
			e.Spec.Database.Access = v1alpha1.DatabaseReadOnly
		}),
		Entry("with files for DuckDB that are written", false, func(e *endpointType) {
			e.Spec.Database = overDuckDB("")
			e.Spec.Database.Access = v1alpha1.DatabaseReadWrite
		}),
		Entry("with files for DuckDB and an audit table", false, func(e *endpointType) {
			e.Spec.Database, e.Spec.Audit = overDuckDB(""), &v1alpha1.AuditSpec{Table: v1alpha1.TableReference{Name: "log"}}
		}),
		Entry("with DuckDB beside SQLite", false, func(e *endpointType) { e.Spec.Database.DuckDB = overDuckDB("").DuckDB }),
		Entry("with DuckDB and no claim", false, func(e *endpointType) {
			e.Spec.Database = v1alpha1.DatabaseSpec{DuckDB: &v1alpha1.DuckDBSpec{}}
		}),
		Entry("with a file for DuckDB that is nowhere", false, func(e *endpointType) { e.Spec.Database = overDuckDB("/sales.duckdb") }),
		Entry("with a file for DuckDB above the claim", false, func(e *endpointType) { e.Spec.Database = overDuckDB("a/../../b") }),
		Entry("with a file for DuckDB in its own folder", false, func(e *endpointType) { e.Spec.Database = overDuckDB("./b") }),
		Entry("with a folder for DuckDB that ends in a slash", false, func(e *endpointType) { e.Spec.Database = overDuckDB("a/") }),
		Entry("with a pattern of files for DuckDB", false, func(e *endpointType) { e.Spec.Database = overDuckDB("a/*.csv") }),
		Entry("with a variable in the path of DuckDB", false, func(e *endpointType) { e.Spec.Database = overDuckDB("$(POD_NAME)") }),
		Entry("with dots in the name of a file for DuckDB", true, func(e *endpointType) { e.Spec.Database = overDuckDB("..a/b..c/...") }),
		Entry("with a connection", true, func(e *endpointType) {
			e.Spec.Database = v1alpha1.DatabaseSpec{ConnectionSecretRef: connection("x"), Engine: "PostgreSQL", Schemas: []string{"public"}}
		}),
		Entry("with a connection without a name", false, func(e *endpointType) {
			e.Spec.Database = v1alpha1.DatabaseSpec{ConnectionSecretRef: connection("")}
		}),
		Entry("with another engine", false, func(e *endpointType) {
			e.Spec.Database = v1alpha1.DatabaseSpec{ConnectionSecretRef: connection("x"), Engine: "Oracle"}
		}),
		Entry("with TLS and public CAs", true, func(e *endpointType) {
			e.Spec.Database = v1alpha1.DatabaseSpec{ConnectionSecretRef: connection("x"), TLS: &v1alpha1.DatabaseTLS{Mode: "VerifyCA"}}
		}),
		Entry("with TLS of no mode", false, func(e *endpointType) {
			e.Spec.Database = v1alpha1.DatabaseSpec{ConnectionSecretRef: connection("x"), TLS: &v1alpha1.DatabaseTLS{}}
		}),
		Entry("with TLS and its CA", true, func(e *endpointType) {
			e.Spec.Database = v1alpha1.DatabaseSpec{ConnectionSecretRef: connection("x"), TLS: &v1alpha1.DatabaseTLS{Mode: "VerifyFull", CASecretRef: secretKey("ca", "ca.crt")}}
		}),
		Entry("with a CA without a key", false, func(e *endpointType) {
			e.Spec.Database = v1alpha1.DatabaseSpec{ConnectionSecretRef: connection("x"), TLS: &v1alpha1.DatabaseTLS{Mode: "VerifyFull", CASecretRef: secretKey("ca", "")}}
		}),
		Entry("with a client certificate", true, func(e *endpointType) {
			e.Spec.Database = v1alpha1.DatabaseSpec{ConnectionSecretRef: connection("x"), TLS: &v1alpha1.DatabaseTLS{Mode: "Require", ClientCertificateSecretRef: &v1alpha1.SecretReference{Name: "c"}}}
		}),
		Entry("with a client certificate without TLS", false, func(e *endpointType) {
			e.Spec.Database = v1alpha1.DatabaseSpec{ConnectionSecretRef: connection("x"), TLS: &v1alpha1.DatabaseTLS{Mode: "Disable", ClientCertificateSecretRef: &v1alpha1.SecretReference{Name: "c"}}}
		}),
		Entry("with a client certificate of no name", false, func(e *endpointType) {
			e.Spec.Database = v1alpha1.DatabaseSpec{ConnectionSecretRef: connection("x"), TLS: &v1alpha1.DatabaseTLS{Mode: "Require", ClientCertificateSecretRef: &v1alpha1.SecretReference{}}}
		}),
		Entry("with replicas", true, func(e *endpointType) {
			e.Spec.Database = v1alpha1.DatabaseSpec{ConnectionSecretRef: connection("x"), Name: "shop", Replicas: &v1alpha1.DatabaseReplicas{
				ConnectionSecretRef: *connection("y"), MaxStaleness: &metav1.Duration{Duration: time.Minute}}}
		}),
		Entry("with replicas of no Secret", false, func(e *endpointType) {
			e.Spec.Database = v1alpha1.DatabaseSpec{ConnectionSecretRef: connection("x"), Replicas: &v1alpha1.DatabaseReplicas{}}
		}),
		Entry("with replicas that may be two hours behind", false, func(e *endpointType) {
			e.Spec.Database = v1alpha1.DatabaseSpec{ConnectionSecretRef: connection("x"), Replicas: &v1alpha1.DatabaseReplicas{
				ConnectionSecretRef: *connection("y"), MaxStaleness: &metav1.Duration{Duration: 2 * time.Hour}}}
		}),
		Entry("with replicas of a file", false, func(e *endpointType) {
			e.Spec.Database.Replicas = &v1alpha1.DatabaseReplicas{ConnectionSecretRef: *connection("y")}
		}),
		Entry("with the name of a file's database", false, func(e *endpointType) { e.Spec.Database.Name = "shop" }),
		Entry("with too large a pool", false, func(e *endpointType) { e.Spec.Database.Pool.MaxConnections = 1001 }),
		Entry("with a negative pool", false, func(e *endpointType) { e.Spec.Database.Pool.MaxConnections = -1 }),
		Entry("with a timeout of nothing", false, func(e *endpointType) { e.Spec.Database.StatementTimeout = &metav1.Duration{} }),
		Entry("with a timeout of two hours", false, func(e *endpointType) {
			e.Spec.Database.StatementTimeout = &metav1.Duration{Duration: 2 * time.Hour}
		}),
		Entry("with a timeout of a second", true, func(e *endpointType) {
			e.Spec.Database.StatementTimeout = &metav1.Duration{Duration: time.Second}
		}),
		Entry("with other access", false, func(e *endpointType) { e.Spec.Database.Access = "None" }),
		Entry("with a group twice", false, func(e *endpointType) { e.Spec.Groups = append(e.Spec.Groups, e.Spec.Groups[0]) }),
		Entry("with a group without a name", false, func(e *endpointType) { e.Spec.Groups[0].Name = "" }),
		Entry("with a group of another name", false, func(e *endpointType) { e.Spec.Groups[0].Name = "No Way" }),
		Entry("with a rule of no models", false, func(e *endpointType) { e.Spec.Groups[0].Permissions[0].Models = nil }),
		Entry("with a rule of a pattern", false, func(e *endpointType) { e.Spec.Groups[0].Permissions[0].Models = []string{"order*"} }),
		Entry("with a rule of a model twice", false, func(e *endpointType) { e.Spec.Groups[0].Permissions[0].Models = []string{"a", "a"} }),
		Entry("with a rule of an unknown verb", false, func(e *endpointType) { e.Spec.Groups[0].Permissions[0].Verbs = []v1alpha1.Verb{"read"} }),
		Entry("with too many models in a rule", false, func(e *endpointType) { e.Spec.Groups[0].Permissions[0].Models = many(201) }),
		Entry("with too many replicas", false, func(e *endpointType) { e.Spec.Server.Replicas = new(int32(101)) }),
		Entry("with a Secret to pull with", true, func(e *endpointType) {
			e.Spec.Server.ImagePullSecrets = []v1alpha1.SecretReference{{Name: "registry"}}
		}),
		Entry("with a Secret to pull with twice", false, func(e *endpointType) {
			e.Spec.Server.ImagePullSecrets = []v1alpha1.SecretReference{{Name: "registry"}, {Name: "registry"}}
		}),
		Entry("with a Secret to pull with of no name", false, func(e *endpointType) {
			e.Spec.Server.ImagePullSecrets = []v1alpha1.SecretReference{{}}
		}),
		Entry("with a database of MySQL's longest name", true, func(e *endpointType) {
			e.Spec.Database = v1alpha1.DatabaseSpec{ConnectionSecretRef: connection("x"), Schemas: []string{long(64)}}
		}),
		Entry("with too long a schema", false, func(e *endpointType) {
			e.Spec.Database = v1alpha1.DatabaseSpec{ConnectionSecretRef: connection("x"), Schemas: []string{long(65)}}
		}),
		Entry("with a base path", true, func(e *endpointType) { e.Spec.Server.BasePath = "/a/b.c" }),
		Entry("with a base path that ends in a slash", false, func(e *endpointType) { e.Spec.Server.BasePath = "/a/" }),
		Entry("with a small body", false, func(e *endpointType) { e.Spec.Server.Limits.MaxBodyBytes = 1023 }),
		Entry("with MySQL", true, func(e *endpointType) {
			e.Spec.Database = v1alpha1.DatabaseSpec{ConnectionSecretRef: connection("x"), Engine: "MySQL"}
		}),
		Entry("with a rule of actions", true, func(e *endpointType) { e.Spec.Groups[0].Permissions[0].Actions = []string{"refund", "*"} }),
		Entry("with a rule of an action twice", false, func(e *endpointType) { e.Spec.Groups[0].Permissions[0].Actions = []string{"a", "a"} }),
		Entry("with a rule of an action that is none", false, func(e *endpointType) { e.Spec.Groups[0].Permissions[0].Actions = []string{"Refund"} }),
		Entry("with an audit table", true, func(e *endpointType) {
			e.Spec.Audit = &v1alpha1.AuditSpec{Table: v1alpha1.TableReference{Schema: "public", Name: "log"}}
		}),
		Entry("with an audit nowhere", false, func(e *endpointType) { e.Spec.Audit = &v1alpha1.AuditSpec{} }),
		Entry("with a catalogue", true, func(e *endpointType) {
			e.Spec.Catalogue = v1alpha1.CatalogueSpec{Style: "Generic", MaxTools: 40, StructuredContent: "Enabled"}
		}),
		Entry("with a catalogue of another style", false, func(e *endpointType) { e.Spec.Catalogue.Style = "Short" }),
		Entry("with a catalogue of too many tools", false, func(e *endpointType) { e.Spec.Catalogue.MaxTools = 100001 }),
		Entry("with a catalogue of fewer than no tools", false, func(e *endpointType) { e.Spec.Catalogue.MaxTools = -1 }),
		Entry("with structured content in part", false, func(e *endpointType) { e.Spec.Catalogue.StructuredContent = "Some" }),
		Entry("with a rate", true, func(e *endpointType) { e.Spec.Server.Limits.RequestsPerSecondPerToken = 1 }),
		Entry("with too high a rate", false, func(e *endpointType) { e.Spec.Server.Limits.RequestsPerSecondPerToken = 100001 }),
		Entry("with the smallest result", true, func(e *endpointType) { e.Spec.Server.Limits.MaxResultBytes = 16384 }),
		Entry("with too small a result", false, func(e *endpointType) { e.Spec.Server.Limits.MaxResultBytes = 16383 }),
		Entry("with too large a result", false, func(e *endpointType) { e.Spec.Server.Limits.MaxResultBytes = 64<<20 + 1 }),
		Entry("with an external URL", true, func(e *endpointType) { e.Spec.Network.ExternalURL = "https://mcp.example:8443/x/" }),
		Entry("with an external URL of another scheme", false, func(e *endpointType) { e.Spec.Network.ExternalURL = "ftp://mcp.example" }),
		Entry("with an external URL without a host", false, func(e *endpointType) { e.Spec.Network.ExternalURL = "http:///path" }),
		Entry("with an external URL that tells a password", false, func(e *endpointType) { e.Spec.Network.ExternalURL = "https://me:pw@mcp.example" }),
		Entry("with an external URL with a query", false, func(e *endpointType) { e.Spec.Network.ExternalURL = "https://mcp.example/?x" }),
		Entry("with an external URL that is none", false, func(e *endpointType) { e.Spec.Network.ExternalURL = "mcp.example.com" }),
		Entry("with a certificate", true, func(e *endpointType) {
			e.Spec.Server.TLS = &v1alpha1.ServerTLS{CertificateSecretRef: v1alpha1.SecretReference{Name: "shop-tls"}}
		}),
		Entry("with a certificate of no name", false, func(e *endpointType) { e.Spec.Server.TLS = &v1alpha1.ServerTLS{} }),
		Entry("with origins", true, origins("https://console.example.com", "https://*.example.com", "http://localhost:5173", "http://[::1]:80", "app://local")),
		Entry("with CORS of no origins", false, origins()),
		Entry("with an origin twice", false, origins("https://a.example", "https://a.example")),
		Entry("with any origin", false, origins("*")),
		Entry("with any origin of a scheme", false, origins("https://*")),
		Entry("with any origin of a top-level domain", false, origins("https://*.com")),
		Entry("with a wildcard within a label", false, origins("https://a*.example.com")),
		Entry("with a wildcard within a host", false, origins("https://a.*.example.com")),
		Entry("with the opaque origin", false, origins("null")),
		Entry("with an origin without a scheme", false, origins("console.example.com")),
		Entry("with an origin and a path", false, origins("https://console.example.com/")),
		Entry("with an origin in capitals", false, origins("https://Console.example.com")),
		Entry("with an origin and a user", false, origins("https://me@console.example.com")),
		Entry("with an origin and an endless port", false, origins("https://console.example.com:655360")),
		Entry("with an empty origin", false, origins("")),
		Entry("with a long origin", false, origins(v1alpha1.Origin("https://"+long(300)))),
	)

	DescribeTable("agree on a token", func(valid bool, change func(*tokenType)) {
		t := w.token("agent", "shop")
		change(t)
		agree(t, valid)
	},
		Entry("as it is", true, func(*tokenType) {}),
		Entry("with the name of an endpoint's Secret", false, func(t *tokenType) { t.Name = "second-mcp-config" }),
		Entry("with such a name, and another Secret", true, func(t *tokenType) {
			t.Name, t.Spec.Secret = "third-mcp-config", &v1alpha1.TokenSecretSpec{Name: "third"}
		}),
		Entry("with such a name, and a text of its own", true, func(t *tokenType) {
			t.Name, t.Spec.TokenSecretRef = "fourth-mcp-config", secretKey("given", "text")
		}),
		Entry("with the Secret of an endpoint", false, func(t *tokenType) { t.Spec.Secret = &v1alpha1.TokenSecretSpec{Name: "second-mcp-config"} }),
		Entry("without an endpoint", false, func(t *tokenType) { t.Spec.EndpointRef.Name = "" }),
		Entry("with a group twice", false, func(t *tokenType) { t.Spec.Groups = []string{"a", "a"} }),
		Entry("with an empty group", false, func(t *tokenType) { t.Spec.Groups = []string{""} }),
		Entry("with a rule of no models", false, func(t *tokenType) { t.Spec.Permissions = []v1alpha1.PermissionRule{{}} }),
		Entry("with attributes", true, func(t *tokenType) {
			t.Spec.Attributes = map[string]v1alpha1.AttributeValue{"region": "emea", "Cost.Center-1": ""}
		}),
		Entry("with an attribute of a name that is none", false, func(t *tokenType) {
			t.Spec.Attributes = map[string]v1alpha1.AttributeValue{"1region": "emea"}
		}),
		Entry("with an attribute of a long name", false, func(t *tokenType) {
			t.Spec.Attributes = map[string]v1alpha1.AttributeValue{long(64): "emea"}
		}),
		Entry("with a long attribute", false, func(t *tokenType) {
			t.Spec.Attributes = map[string]v1alpha1.AttributeValue{"region": v1alpha1.AttributeValue(long(1001))}
		}),
		Entry("with too many attributes", false, func(t *tokenType) {
			t.Spec.Attributes = map[string]v1alpha1.AttributeValue{}
			for _, name := range many(51) {
				t.Spec.Attributes[name] = "x"
			}
		}),
		Entry("with an action of its own", true, func(t *tokenType) {
			t.Spec.Permissions = []v1alpha1.PermissionRule{{Models: []string{"order"}, Actions: []string{"refund"}}}
		}),
		Entry("with a text and a hash", false, func(t *tokenType) {
			t.Spec.TokenSecretRef, t.Spec.TokenHashSecretRef = secretKey("a", "b"), secretKey("a", "b")
		}),
		Entry("with a text and a Secret to write", false, func(t *tokenType) {
			t.Spec.TokenSecretRef, t.Spec.Secret = secretKey("a", "b"), &v1alpha1.TokenSecretSpec{Name: "x"}
		}),
		Entry("with a text without a key", false, func(t *tokenType) { t.Spec.TokenSecretRef = secretKey("a", "") }),
		Entry("with a label", true, func(t *tokenType) {
			t.Spec.Secret = &v1alpha1.TokenSecretSpec{Labels: map[string]v1alpha1.LabelValue{"example.com/app": "x"}}
		}),
		Entry("with a label that is none", false, func(t *tokenType) {
			t.Spec.Secret = &v1alpha1.TokenSecretSpec{Labels: map[string]v1alpha1.LabelValue{"no way": "x"}}
		}),
		Entry("with a label of a value that is none", false, func(t *tokenType) {
			t.Spec.Secret = &v1alpha1.TokenSecretSpec{Labels: map[string]v1alpha1.LabelValue{"app": "no way"}}
		}),
		Entry("with a label of our own", false, func(t *tokenType) {
			t.Spec.Secret = &v1alpha1.TokenSecretSpec{Labels: map[string]v1alpha1.LabelValue{"mcpadmin.dev/component": "server"}}
		}),
		Entry("with an annotation", true, func(t *tokenType) {
			t.Spec.Secret = &v1alpha1.TokenSecretSpec{Annotations: map[string]v1alpha1.AnnotationValue{"note": "any text"}}
		}),
		Entry("with an annotation of our own", false, func(t *tokenType) {
			t.Spec.Secret = &v1alpha1.TokenSecretSpec{Annotations: map[string]v1alpha1.AnnotationValue{"mcpadmin.dev/token-hash": "x"}}
		}),
		Entry("with a long annotation", false, func(t *tokenType) {
			t.Spec.Secret = &v1alpha1.TokenSecretSpec{Annotations: map[string]v1alpha1.AnnotationValue{"note": v1alpha1.AnnotationValue(long(4097))}}
		}),
	)
})

// agree expects the API server and package admission to say the same of an object.
func agree(o client.Object, valid bool) {
	GinkgoHelper()
	errs := admitted(o)
	err := k8s.Create(context.Background(), o, client.DryRunAll)
	if valid {
		Expect(err).NotTo(HaveOccurred())
		Expect(errs).To(BeEmpty())
		return
	}
	Expect(apierrors.IsInvalid(err)).To(BeTrue(), "the API server says %v", err)
	Expect(errs).NotTo(BeEmpty(), "the API server says %v", err)
}

// admitted is package admission's verdict on an object.
func admitted(o client.Object) field.ErrorList {
	GinkgoHelper()
	kind, err := apiutil.GVKForObject(o, k8s.Scheme())
	Expect(err).NotTo(HaveOccurred())
	o.GetObjectKind().SetGroupVersionKind(kind)
	encoded, err := json.Marshal(o)
	Expect(err).NotTo(HaveOccurred())
	into, err := k8s.Scheme().New(kind)
	Expect(err).NotTo(HaveOccurred())
	errs, err := admission.Read(context.Background(), encoded, "default", into.(client.Object))
	Expect(err).NotTo(HaveOccurred())
	return errs
}

func long(n int) string { return strings.Repeat("a", n) }

// many are different names.
func many(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = "a" + strings.Repeat("b", i%40) + string(rune('a'+i/40%26)) + string(rune('a'+i/1040))
	}
	return list
}

var _ = Describe("The API server", func() {
	It("refuses a field that it does not know, and a change of what cannot change", func() {
		w := newWorld()
		token := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "mcpadmin.dev/v1alpha1", "kind": "MCPToken",
			"metadata": map[string]any{"namespace": w.namespace, "name": "agent"},
			"spec":     map[string]any{"endpointRef": map[string]any{"name": "shop"}, "group": []any{"readers"}},
		}}
		err := k8s.Create(context.Background(), token.DeepCopy(), client.FieldValidation("Strict"))
		Expect(err).To(MatchError(ContainSubstring(`unknown field "spec.group"`)))
		err = k8s.Apply(context.Background(), client.ApplyConfigurationFromUnstructured(token.DeepCopy()), client.FieldOwner("test"))
		Expect(err).To(MatchError(ContainSubstring("group")))

		good := w.token("agent", "shop")
		w.create(good)
		Eventually(func() error {
			Expect(k8s.Get(context.Background(), client.ObjectKeyFromObject(good), good)).To(Succeed())
			good.Spec.EndpointRef.Name = "other"
			return k8s.Update(context.Background(), good)
		}).Should(MatchError(ContainSubstring("make a new MCPToken")))
		named := w.token("named", "shop")
		named.Spec.Secret = &v1alpha1.TokenSecretSpec{Name: "named-mcp"}
		w.create(named)
		for _, row := range []struct {
			token *tokenType
			name  string
		}{{good, "elsewhere"}, {named, "elsewhere"}, {named, ""}} {
			Eventually(func() error {
				Expect(k8s.Get(context.Background(), client.ObjectKeyFromObject(row.token), row.token)).To(Succeed())
				row.token.Spec.Secret = &v1alpha1.TokenSecretSpec{Name: row.name}
				return k8s.Update(context.Background(), row.token)
			}).Should(MatchError(ContainSubstring("the Secret's name cannot be changed")), "%s to %q", row.token.Name, row.name)
		}
		edit(good, func(t *tokenType) { t.Spec.Secret = &v1alpha1.TokenSecretSpec{Name: "agent"} }) // as it is anyway
		given := w.token("given", "shop")
		given.Spec.TokenSecretRef = secretKey("mine", "token")
		w.create(given)
		edit(given, func(t *tokenType) { t.Spec.TokenSecretRef, t.Spec.TokenHashSecretRef = nil, secretKey("mine", "hash") })
		for token, change := range map[*tokenType]func(*tokenType){
			good:  func(t *tokenType) { t.Spec.Secret, t.Spec.TokenSecretRef = nil, secretKey("mine", "token") },
			given: func(t *tokenType) { t.Spec.TokenHashSecretRef = nil },
		} {
			Eventually(func() error {
				Expect(k8s.Get(context.Background(), client.ObjectKeyFromObject(token), token)).To(Succeed())
				change(token)
				return k8s.Update(context.Background(), token)
			}).Should(MatchError(ContainSubstring("a token stays what it is")))
		}

		endpoint := w.endpoint("shop")
		w.create(endpoint)
		Eventually(func() error { // until no status is written in between
			Expect(k8s.Get(context.Background(), client.ObjectKeyFromObject(endpoint), endpoint)).To(Succeed())
			endpoint.Spec.Database = v1alpha1.DatabaseSpec{ConnectionSecretRef: connection("x")}
			return k8s.Update(context.Background(), endpoint)
		}).Should(MatchError(ContainSubstring("make a new MCPEndpoint")))
	})
})
