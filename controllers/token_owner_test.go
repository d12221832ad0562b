package controllers_test

import (
	"context"
	"maps"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

const macAnnotation = "mcpadmin.dev/token-mac"

var _ = Describe("A token's Secret", func() {
	var (
		w      *world
		server *fakeServer
	)
	BeforeEach(func() {
		w = newWorld()
		w.create(w.endpoint("shop"))
		server = w.runServer("shop", "shop-0")
	})
	// gone deletes a token as the garbage collector of this API server's would, if it had one: the Secret goes only if the
	// caller asks for it.
	gone := func(t *tokenType) {
		w.delete(t)
		Eventually(func() error { return k8s.Get(context.Background(), client.ObjectKeyFromObject(t), &tokenType{}) }).ShouldNot(Succeed())
	}
	copyOf := func(s *corev1.Secret) *corev1.Secret {
		return &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name, Labels: s.Labels, Annotations: maps.Clone(s.Annotations)},
			Data:       s.Data, Type: s.Type,
		}
	}
	expectKept := func(t *tokenType, text string) {
		GinkgoHelper()
		expectReady(t)
		Expect(w.text(t.Name)).To(Equal(text))
		Eventually(func() bool { return server.lets(text) }).Should(BeTrue())
		Expect(metav1.IsControlledBy(w.secret(t.Name), t)).To(BeTrue())
		Expect(w.secret(t.Name).OwnerReferences).To(HaveLen(1))
	}

	It("keeps its text if it lost its owner", func() {
		token := w.token("agent", "shop")
		w.create(token)
		expectReady(token)
		text := w.text("agent")
		edit(w.secret("agent"), func(s *corev1.Secret) { s.OwnerReferences = nil })
		Eventually(func() bool { return metav1.IsControlledBy(w.secret("agent"), token) }).Should(BeTrue())
		expectKept(token, text)
		edit(token, func(t *tokenType) { t.Spec.Active = new(bool) })
		Eventually(reads(token, "Ready")).Should(Equal("True Inactive"))
		edit(w.secret("agent"), func(s *corev1.Secret) { s.OwnerReferences = nil })
		Eventually(func() bool { return metav1.IsControlledBy(w.secret("agent"), token) }).Should(BeTrue(), "while it is not active, too")
	})

	It("does not bring back the text of a token that was deleted, if the garbage collector is late", func() {
		token := w.token("agent", "shop")
		w.create(token)
		expectReady(token)
		text := w.text("agent")
		gone(token) // its Secret still names it as its owner
		again := w.token("agent", "shop")
		w.create(again)
		expectReady(again)
		Expect(w.text("agent")).NotTo(Equal(text))
		Expect(metav1.IsControlledBy(w.secret("agent"), again)).To(BeTrue())
		Eventually(func() bool { return server.lets(w.text("agent")) }).Should(BeTrue())
		Expect(server.lets(text)).To(BeFalse())
	})

	It("keeps its text when a backup is restored, with new UIDs and owners that are gone", func() {
		token := w.token("agent", "shop")
		w.create(token)
		expectReady(token)
		text, backup := w.text("agent"), copyOf(w.secret("agent"))
		backup.OwnerReferences = w.secret("agent").OwnerReferences
		gone(token)
		w.delete(w.secret("agent"))
		Eventually(func() bool { return server.lets(text) }).Should(BeFalse())
		w.create(backup)
		restored := w.token("agent", "shop")
		w.create(restored)
		expectKept(restored, text)
	})

	It("keeps its text if its code is not ours, and nothing else of what its annotations say", func() {
		token := w.token("agent", "shop")
		w.create(token)
		expectReady(token)
		text, planted := w.text("agent"), contract.NewToken()
		edit(w.secret("agent"), func(s *corev1.Secret) {
			s.Annotations[macAnnotation] = "bm8="
			s.Annotations["mcpadmin.dev/token-next-hash"] = contract.HashToken(planted)
			s.Annotations["mcpadmin.dev/token-previous-hash"] = contract.HashToken(planted)
			s.Annotations["mcpadmin.dev/token-previous-until"] = "2999-01-01T00:00:00Z"
		})
		Eventually(func() string { return w.secret("agent").Annotations[macAnnotation] }).ShouldNot(Equal("bm8="))
		expectKept(token, text)
		Expect(server.lets(planted)).To(BeFalse())
		Expect(w.secret("agent").Annotations).NotTo(ContainElement(contract.HashToken(planted)))
	})

	It("is never one that somebody planted in the place of one that was issued", func() {
		for name, plant := range map[string]func(*corev1.Secret){
			"written-over": func(s *corev1.Secret) { Expect(k8s.Update(context.Background(), s)).To(Succeed()) },
			"put":          func(s *corev1.Secret) { w.delete(w.secret(s.Name)); w.create(s) },
		} {
			token := w.token(name, "shop")
			w.create(token)
			expectReady(token)
			text := contract.NewToken()
			planted := &corev1.Secret{ObjectMeta: w.meta(name), Data: map[string][]byte{"token": []byte(text)}}
			planted.Annotations = map[string]string{"mcpadmin.dev/token-hash": contract.HashToken(text)}
			planted.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(token, v1alpha1.GroupVersion.WithKind("MCPToken"))}
			plant(planted)
			Eventually(func() map[string]string { return w.secret(name).Annotations }).Should(HaveKey(macAnnotation), name)
			expectReady(token)
			Expect(w.text(name)).NotTo(Equal(text), name)
			Eventually(func() bool { return server.lets(w.text(name)) }).Should(BeTrue(), name)
			Expect(server.lets(text)).To(BeFalse(), name)
		}
	})

	It("is never one that somebody planted", func() {
		other := w.token("other", "shop")
		w.create(other)
		expectReady(other)
		code := w.secret("other").Annotations
		text := contract.NewToken()
		for name, annotations := range map[string]map[string]string{
			"bare":   {},
			"hashed": {"mcpadmin.dev/token-hash": contract.HashToken(text)},
			"signed": {"mcpadmin.dev/token-hash": contract.HashToken(text), macAnnotation: code[macAnnotation]},
			"copied": maps.Clone(code),
		} {
			data := map[string][]byte{"token": []byte(text)}
			if name == "copied" {
				data = w.secret("other").Data
			}
			for _, owned := range []string{"", "-owned"} {
				token := w.token(name+owned, "shop")
				token.Spec.Active = new(bool)
				w.create(token)
				planted := &corev1.Secret{ObjectMeta: w.meta(name + owned), Data: data}
				planted.Annotations = annotations
				if owned != "" {
					planted.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(token, v1alpha1.GroupVersion.WithKind("MCPToken"))}
				}
				w.create(planted)
				edit(token, func(t *tokenType) { t.Spec.Active = nil })
				Eventually(reads(token, "Issued")).Should(Equal("False OwnershipConflict"), token.Name)
				Expect(server.lets(text)).To(BeFalse(), token.Name)
				Expect(w.secret(token.Name).Data).To(Equal(data), token.Name)
			}
		}
	})

	It("is the older one's of two that want it; the other is told, and gets it when that goes", func() {
		older, younger := w.token("a-older", "shop"), w.token("b-younger", "shop")
		older.Spec.Secret, younger.Spec.Secret = &v1alpha1.TokenSecretSpec{Name: "one"}, &v1alpha1.TokenSecretSpec{Name: "one"}
		older.Spec.Active = new(bool) // so that the younger is looked at while nothing is issued
		w.create(younger)
		expectReady(younger)
		text := w.text("one")
		w.create(older)
		if older.CreationTimestamp.After(younger.CreationTimestamp.Time) {
			older, younger = younger, older
		}
		Eventually(reads(younger, "Issued")).Should(Equal("False Conflicted"))
		Expect(message(younger, "Issued")).To(Equal(`Secret "one" is that of MCPToken "` + older.Name + `", which is older; make a new MCPToken with another spec.secret.name`))
		edit(older, func(t *tokenType) { t.Spec.Active = nil })
		edit(younger, func(t *tokenType) { t.Spec.Active = nil })
		expectReady(older)
		if older.Name == "a-older" {
			Expect(w.text("one")).NotTo(Equal(text), "the text of another token is not taken over")
		}
		Eventually(func() bool { return server.lets(w.text("one")) }).Should(BeTrue())
		gone(older)
		w.delete(w.secret("one"))
		expectReady(younger)
		Eventually(func() bool { return server.lets(w.text("one")) }).Should(BeTrue())
	})

	It("outlives its MCPToken if it is to be retained, and is taken up again", func() {
		token := w.token("agent", "shop")
		token.Spec.Secret = &v1alpha1.TokenSecretSpec{DeletionPolicy: v1alpha1.SecretRetain}
		w.create(token)
		expectReady(token)
		text := w.text("agent")
		Expect(w.secret("agent").OwnerReferences).To(BeEmpty())
		edit(token, func(t *tokenType) { t.Spec.Secret = nil })
		Eventually(func() bool { return metav1.IsControlledBy(w.secret("agent"), token) }).Should(BeTrue())
		edit(token, func(t *tokenType) { t.Spec.Secret = &v1alpha1.TokenSecretSpec{DeletionPolicy: v1alpha1.SecretRetain} })
		Eventually(func() []metav1.OwnerReference { return w.secret("agent").OwnerReferences }).Should(BeEmpty())
		gone(token)
		Eventually(func() bool { return server.lets(text) }).Should(BeFalse())
		again := w.token("agent", "shop")
		w.create(again)
		expectKept(again, text)
		edit(w.secret("agent"), func(s *corev1.Secret) { s.Data["token"] = []byte("x") })
		Eventually(func() bool { return server.lets(text) }).Should(BeFalse())
		expectReady(again)
	})

	It("has the keys and formats, the type and the mutability that are asked for", func() {
		token := w.token("agent", "shop")
		token.Spec.Secret = &v1alpha1.TokenSecretSpec{Type: "example.com/mcp", Keys: []v1alpha1.TokenSecretKey{
			{Key: "MCP_TOKEN", Format: v1alpha1.FormatToken}, {Key: ".env", Format: v1alpha1.FormatDotEnv}, {Key: "config.toml", Format: v1alpha1.FormatCodex},
		}}
		w.create(token)
		expectReady(token)
		secret := w.secret("agent")
		text := string(secret.Data["MCP_TOKEN"])
		Expect(server.lets(text)).To(BeTrue())
		Expect(secret.Type).To(Equal(corev1.SecretType("example.com/mcp")))
		Expect(secret.Data).To(HaveLen(3))
		Expect(string(secret.Data[".env"])).To(ContainSubstring("MCP_TOKEN=" + text))
		edit(token, func(t *tokenType) {
			t.Spec.Secret.Keys = []v1alpha1.TokenSecretKey{{Key: "t", Format: v1alpha1.FormatToken}, {Key: "mcp.json", Format: v1alpha1.FormatVSCode}}
		})
		Eventually(func() []byte { return w.secret("agent").Data["t"] }).Should(Equal([]byte(text)), "the text is another key's now")
		Eventually(func() map[string][]byte { return w.secret("agent").Data }).Should(HaveLen(2))

		edit(token, func(t *tokenType) { t.Spec.Secret.Mutability = v1alpha1.SecretImmutable })
		Eventually(func() *bool { return w.secret("agent").Immutable }).Should(HaveValue(BeTrue()))
		edit(token, func(t *tokenType) { t.Annotations = map[string]string{v1alpha1.RotateAnnotation: "1"} })
		edit(token, func(t *tokenType) { t.Spec.Secret.Keys[1].Format = v1alpha1.FormatMCPServers })
		Eventually(reads(token, "Ready")).Should(Equal("False SecretImmutable"))
		Expect(server.lets(text)).To(BeTrue(), "the token works all the same")
		Expect(string(w.secret("agent").Data["t"])).To(Equal(text))
		w.delete(w.secret("agent"))
		expectReady(token)
		Expect(w.secret("agent").Data["mcp.json"]).To(ContainSubstring("mcpServers"))
		Expect(w.secret("agent").Immutable).To(HaveValue(BeTrue()))
	})
})
