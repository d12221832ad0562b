package controllers_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

func after(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }

var _ = Describe("The API server and admission", func() {
	var w *world
	BeforeEach(func() { w = newWorld() })
	rotation := func(every, overlap *metav1.Duration) func(*tokenType) {
		return func(t *tokenType) { t.Spec.Rotation = &v1alpha1.TokenRotation{Every: every, Overlap: overlap} }
	}
	keys := func(keys ...v1alpha1.TokenSecretKey) func(*tokenType) {
		return func(t *tokenType) { t.Spec.Secret = &v1alpha1.TokenSecretSpec{Keys: keys} }
	}
	secret := func(s v1alpha1.TokenSecretSpec) func(*tokenType) {
		return func(t *tokenType) { t.Spec.Secret = &s }
	}
	name := func(name string) func(*tokenType) { return func(t *tokenType) { t.Name = name } }
	text := v1alpha1.TokenSecretKey{Key: "token", Format: v1alpha1.FormatToken}

	DescribeTable("agree on a token's life and Secret", func(valid bool, change func(*tokenType)) {
		t := w.token("agent", "shop")
		change(t)
		agree(t, valid)
		if t.Name != "agent" {
			Expect(v1alpha1.IsConfigSecretName(t.Name)).To(Equal(!valid))
		}
	},
		Entry("a ttl", true, func(t *tokenType) { t.Spec.TTL = after(time.Hour) }),
		Entry("a short ttl", false, func(t *tokenType) { t.Spec.TTL = after(time.Second) }),
		Entry("a long ttl", false, func(t *tokenType) { t.Spec.TTL = after(100_000 * time.Hour) }),
		Entry("a ttl and an expiry", false, func(t *tokenType) { t.Spec.TTL, t.Spec.Expiry = after(time.Hour), &metav1.Time{Time: time.Now()} }),
		Entry("a warning", true, func(t *tokenType) { t.Spec.TTL, t.Spec.ExpiryWarning = after(time.Hour), after(time.Minute) }),
		Entry("a warning that is switched off", true, func(t *tokenType) { t.Spec.TTL, t.Spec.ExpiryWarning = after(time.Hour), after(0) }),
		Entry("a warning before what never expires", false, func(t *tokenType) { t.Spec.ExpiryWarning = after(time.Hour) }),
		Entry("a warning of the whole ttl", false, func(t *tokenType) { t.Spec.TTL, t.Spec.ExpiryWarning = after(time.Hour), after(time.Hour) }),
		Entry("a warning after the expiry", false, func(t *tokenType) { t.Spec.TTL, t.Spec.ExpiryWarning = after(time.Hour), after(-time.Minute) }),
		Entry("a rotation", true, rotation(after(24*time.Hour), after(2*time.Hour))),
		Entry("a rotation on request", true, rotation(nil, after(0))),
		Entry("a rotation of no times", true, rotation(nil, nil)),
		Entry("a rotation every second", false, rotation(after(time.Second), after(0))),
		Entry("a rotation within the overlap", false, rotation(after(time.Hour), after(time.Hour))),
		Entry("a rotation within the overlap that is none", false, rotation(after(time.Hour), nil)),
		Entry("a negative overlap", false, rotation(nil, after(-time.Second))),
		Entry("a long overlap", false, rotation(nil, after(721*time.Hour))),
		Entry("a rotation of a text of one's own", false, func(t *tokenType) {
			rotation(nil, nil)(t)
			t.Spec.TokenSecretRef = secretKey("a", "b")
		}),
		Entry("a rotation of what is immutable", false, func(t *tokenType) {
			rotation(nil, nil)(t)
			t.Spec.Secret = &v1alpha1.TokenSecretSpec{Mutability: v1alpha1.SecretImmutable}
		}),
		Entry("an immutable Secret that is retained", true, secret(v1alpha1.TokenSecretSpec{Mutability: "Immutable", DeletionPolicy: "Retain", Type: "example.com/mcp"})),
		Entry("a mutability that is none", false, secret(v1alpha1.TokenSecretSpec{Mutability: "No"})),
		Entry("a policy that is none", false, secret(v1alpha1.TokenSecretSpec{DeletionPolicy: "Orphan"})),
		Entry("a type of Kubernetes", false, secret(v1alpha1.TokenSecretSpec{Type: "kubernetes.io/service-account-token"})),
		Entry("a type that is none", false, secret(v1alpha1.TokenSecretSpec{Type: "no way"})),
		Entry("keys", true, keys(text, v1alpha1.TokenSecretKey{Key: ".env", Format: v1alpha1.FormatDotEnv})),
		Entry("keys without the token", false, keys(v1alpha1.TokenSecretKey{Key: ".env", Format: v1alpha1.FormatDotEnv})),
		Entry("a key twice", false, keys(text, text)),
		Entry("a key that is none", false, keys(text, v1alpha1.TokenSecretKey{Key: "a/b", Format: v1alpha1.FormatURL})),
		Entry("a key above", false, keys(text, v1alpha1.TokenSecretKey{Key: "..", Format: v1alpha1.FormatURL})),
		Entry("a format that is none", false, keys(text, v1alpha1.TokenSecretKey{Key: "a", Format: "XML"})),
		Entry("an endpoint elsewhere", true, func(t *tokenType) { t.Spec.EndpointRef.Namespace = "other" }),
		Entry("an endpoint elsewhere, and rights of its own", false, func(t *tokenType) {
			t.Spec.EndpointRef.Namespace, t.Spec.Permissions = "other", []v1alpha1.PermissionRule{{Models: []string{"a"}}}
		}),
		Entry("an endpoint elsewhere, and attributes", false, func(t *tokenType) {
			t.Spec.EndpointRef.Namespace, t.Spec.Attributes = "other", map[string]v1alpha1.AttributeValue{"a": "b"}
		}),
		Entry("the name of a Config's Secret", false, name("shop-mcp-config")),
		Entry("the name of a part's Secret", false, name("shop-mcp-config-tokens-12")),
		Entry("the name of a part's Secret of a later form", false, name("shop-mcp-config-v2-tokens-12")),
		Entry("a name that is like it", true, name("shop-mcp-config-tokens")),
		Entry("as many attributes as fit", true, func(t *tokenType) {
			t.Spec.Attributes = map[string]v1alpha1.AttributeValue{"a": v1alpha1.AttributeValue(long(1000)), "b": v1alpha1.AttributeValue(long(1000)), "c": v1alpha1.AttributeValue(long(1000))}
		}),
		Entry("more attributes than fit", false, func(t *tokenType) {
			t.Spec.Attributes = map[string]v1alpha1.AttributeValue{}
			for _, name := range many(4) {
				t.Spec.Attributes[name] = v1alpha1.AttributeValue(long(800))
			}
		}),
		Entry("as many permissions as fit", true, func(t *tokenType) {
			for range 5 {
				t.Spec.Permissions = append(t.Spec.Permissions, v1alpha1.PermissionRule{Models: many(38)})
			}
		}),
		Entry("more permissions than fit", false, func(t *tokenType) {
			for range 3 {
				t.Spec.Permissions = append(t.Spec.Permissions, v1alpha1.PermissionRule{Modules: many(38), Models: many(38), Actions: many(38)})
			}
		}),
		Entry("more groups than fit", false, func(t *tokenType) { t.Spec.Groups = append(many(38), many(78)[40:78]...) }),
	)

	DescribeTable("agree on the tokens that an endpoint allows", func(valid bool, allowed *v1alpha1.AllowedTokens) {
		e := w.endpoint("shop")
		e.Spec.AllowedTokens = allowed
		agree(e, valid)
	},
		Entry("all", true, allow("All", nil, "readers")),
		Entry("no groups", true, allow("All", nil)),
		Entry("the same", true, allow("Same", nil)),
		Entry("from nowhere", false, allow("", nil)),
		Entry("by labels", true, allow("Selector", &v1alpha1.NamespaceSelector{MatchLabels: map[string]v1alpha1.LabelValue{"team": "a"}})),
		Entry("by expressions", true, allow("Selector", &v1alpha1.NamespaceSelector{MatchExpressions: []v1alpha1.NamespaceRequirement{
			{Key: "example.com/team", Operator: "In", Values: []v1alpha1.LabelValue{"a", "b"}}, {Key: "x", Operator: "Exists"},
		}})),
		Entry("without a selector", false, allow("Selector", nil)),
		Entry("with a selector of nothing", false, allow("Selector", &v1alpha1.NamespaceSelector{})),
		Entry("all, with a selector", false, allow("All", &v1alpha1.NamespaceSelector{MatchLabels: map[string]v1alpha1.LabelValue{"team": "a"}})),
		Entry("by a label that is none", false, allow("Selector", &v1alpha1.NamespaceSelector{MatchLabels: map[string]v1alpha1.LabelValue{"no way": "a"}})),
		Entry("by a value that is none", false, allow("Selector", &v1alpha1.NamespaceSelector{MatchLabels: map[string]v1alpha1.LabelValue{"a": "no way"}})),
		Entry("in nothing", false, allow("Selector", &v1alpha1.NamespaceSelector{MatchExpressions: []v1alpha1.NamespaceRequirement{{Key: "a", Operator: "In"}}})),
		Entry("by an operator that is none", false, allow("Selector", &v1alpha1.NamespaceSelector{MatchExpressions: []v1alpha1.NamespaceRequirement{{Key: "a", Operator: "Like"}}})),
		Entry("a group twice", false, allow("All", nil, "a", "a")),
	)
})

// aroundTheSchema creates a token that the schema refuses, as one that is older than the rule.
func aroundTheSchema(token *tokenType) {
	GinkgoHelper()
	definition := &unstructured.Unstructured{}
	definition.SetAPIVersion("apiextensions.k8s.io/v1")
	definition.SetKind("CustomResourceDefinition")
	definition.SetName("mcptokens.mcpadmin.dev")
	Expect(k8s.Get(context.Background(), client.ObjectKeyFromObject(definition), definition)).To(Succeed())
	strict := definition.DeepCopy()
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	unstructured.RemoveNestedField(versions[0].(map[string]any), "schema", "openAPIV3Schema", "x-kubernetes-validations")
	Expect(unstructured.SetNestedSlice(definition.Object, versions, "spec", "versions")).To(Succeed())
	Expect(k8s.Update(context.Background(), definition)).To(Succeed())
	another := token.DeepCopy()
	another.Name = "another-" + token.Name
	Eventually(func() error { return k8s.Create(context.Background(), token) }).Should(Succeed())
	strict.SetResourceVersion(definition.GetResourceVersion())
	Expect(k8s.Update(context.Background(), strict)).To(Succeed())
	Eventually(func() error {
		return k8s.Create(context.Background(), another, client.DryRunAll)
	}).Should(MatchError(ContainSubstring("are those of endpoints' Secrets")))
}

var _ = Describe("A token whose Secret would have a name of endpoints' Secrets", func() {
	It("gets no text, and can still be changed and revoked", func() {
		w, _, server := newShop()
		old := w.token("old-mcp-config-v9", "shop")
		aroundTheSchema(old)
		Eventually(reads(old, "Issued")).Should(Equal("False Invalid"))
		Eventually(reads(old, "Ready")).Should(Equal("False Invalid"))
		Expect(message(old, "Ready")).To(ContainSubstring("another spec.secret.name"))
		edit(old, func(t *tokenType) { t.Spec.Active = new(bool) }) // it fails if the API server refuses the change
		Eventually(reads(old, "Accepted")).Should(Equal("True Inactive"))
		Eventually(reads(old, "Ready")).Should(Equal("True Inactive"))
		Expect(exists(&corev1.Secret{ObjectMeta: w.meta(old.Name)})()).To(BeFalse())
		for _, config := range []*contract.Config{w.config("shop"), server.applied()} {
			Expect(config.Tokens).NotTo(ContainElement(And(HaveField("Name", old.Name), HaveField("Hashes", Not(BeEmpty())))))
		}
	})

	It("keeps no endpoint from its Config", func() {
		w, _, _ := newShop()
		tokens := []*tokenType{w.token("late-mcp-config", "shop"), w.token("late-mcp-config-tokens-0", "shop")}
		for _, token := range tokens {
			aroundTheSchema(token)
			Eventually(reads(token, "Ready")).Should(Equal("False Invalid"))
		}
		late := w.endpoint("late")
		w.create(late)
		Eventually(reads(late, "WorkloadAvailable")).ShouldNot(BeEmpty())
		w.runServer("late", "late-0")
		expectReady(late)
		for _, token := range tokens {
			Expect(metav1.IsControlledBy(w.secret(token.Name), late)).To(BeTrue())
			w.delete(w.secret(token.Name)) // the manager makes it anew, and not for the token
			Eventually(func(g Gomega) {
				secret := &corev1.Secret{ObjectMeta: w.meta(token.Name)}
				g.Expect(k8s.Get(context.Background(), client.ObjectKeyFromObject(secret), secret)).To(Succeed())
				g.Expect(metav1.IsControlledBy(secret, late)).To(BeTrue())
			}).Should(Succeed())
		}
	})
})
