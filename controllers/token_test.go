package controllers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

type (
	endpointType  = v1alpha1.MCPEndpoint
	exposureType  = v1alpha1.MCPModelExposure
	tokenType     = v1alpha1.MCPToken
	runtimeObject = runtime.Object
)

func connection(name string) *v1alpha1.ConnectionSecretReference {
	return &v1alpha1.ConnectionSecretReference{Name: name}
}

func secretKey(name, key string) *v1alpha1.SecretKeyReference {
	return &v1alpha1.SecretKeyReference{Name: name, Key: key}
}

var _ = Describe("A token", func() {
	var (
		w        *world
		endpoint *endpointType
		server   *fakeServer
	)
	BeforeEach(func() {
		w = newWorld()
		endpoint = w.endpoint("shop")
		w.create(endpoint)
		server = w.runServer("shop", "shop-0")
	})

	It("is issued with a client configuration, which follows the endpoint's URL", func() {
		token := w.token("agent", "shop")
		token.Spec.Secret = &v1alpha1.TokenSecretSpec{
			Name:        "agent-mcp",
			Labels:      map[string]v1alpha1.LabelValue{"app": "agent", "app.kubernetes.io/managed-by": "somebody"},
			Annotations: map[string]v1alpha1.AnnotationValue{"note": "hello"},
		}
		w.create(token)
		expectReady(token)
		secret := w.secret("agent-mcp")
		text := string(secret.Data["token"])
		Expect(contract.PublicTokenID(text)).To(Equal(token.Status.PublicID))
		Expect(string(secret.Data["url"])).To(Equal("http://shop-mcp." + w.namespace + ".svc/mcp/"))
		Expect(secret.Labels).To(HaveKeyWithValue("app", "agent"))
		Expect(secret.Labels).To(HaveKeyWithValue("app.kubernetes.io/managed-by", "mcp-admin-manager"))
		Expect(secret.Annotations).To(HaveKeyWithValue("note", "hello"))
		Expect(secret.Annotations).To(HaveKeyWithValue("mcpadmin.dev/token-hash", contract.HashToken(text)))
		Expect(metav1.IsControlledBy(secret, token)).To(BeTrue())

		edit(endpoint, func(e *endpointType) { e.Spec.Network.ExternalURL = "https://shop.example/" })
		Eventually(func() string { return string(w.secret("agent-mcp").Data["url"]) }).Should(Equal("https://shop.example/mcp/"))
		secret = w.secret("agent-mcp")
		Expect(string(secret.Data["token"])).To(Equal(text))
		var configuration map[string]any
		Expect(json.Unmarshal(secret.Data["mcp.json"], &configuration)).To(Succeed())
		Expect(secret.Data["mcp.json"]).To(ContainSubstring("https://shop.example/mcp/"))
		edit(token, func(t *tokenType) { t.Spec.Secret.Labels = nil })
		Eventually(func() map[string]string { return w.secret("agent-mcp").Labels }).ShouldNot(HaveKey("app"))
	})

	It("goes on working though its Secret cannot be written", func() {
		token := w.token("agent", "shop")
		w.create(token)
		expectReady(token)
		text := w.text("agent")
		edit(w.secret("agent"), func(s *corev1.Secret) { s.Immutable = new(true) })
		edit(endpoint, func(e *endpointType) { e.Spec.Network.ExternalURL = "https://shop.example" })
		Eventually(func() string { return server.applied().Endpoint.URL }).Should(Equal("https://shop.example/mcp/"))
		Consistently(func() bool { return server.lets(text) }).Should(BeTrue())
		Expect(w.text("agent")).To(Equal(text))
	})

	It("is refused as soon as it is inactive, and works again with the same text", func() {
		token := w.token("agent", "shop")
		w.create(token)
		expectReady(token)
		text := w.text("agent")
		edit(token, func(t *tokenType) { t.Spec.Active = new(bool) })
		Eventually(reads(token, "Ready")).Should(Equal("True Inactive"))
		Expect(server.lets(text)).To(BeFalse(), "Ready says that it is enforced")
		edit(token, func(t *tokenType) { t.Spec.Active = nil })
		expectReady(token)
		Expect(server.lets(text)).To(BeTrue())
	})

	It("is Ready with all verbs that there are, and counts them", func() {
		token := w.token("agent", "shop")
		all := []v1alpha1.Verb{v1alpha1.VerbView, v1alpha1.VerbAdd, v1alpha1.VerbChange, v1alpha1.VerbDelete, v1alpha1.VerbExport}
		token.Spec.Permissions = []v1alpha1.PermissionRule{{Models: []string{"*"}, Verbs: all}}
		w.create(w.exposure("customer", "shop"), token)
		expectReady(token)
		Expect(token.Status.Rights.Verbs).To(Equal(all))
	})

	It("is never issued while it is inactive", func() {
		token := w.token("agent", "shop")
		token.Spec.Active = new(bool)
		w.create(token)
		Eventually(reads(token, "Ready")).Should(Equal("True Inactive"))
		Expect(apierrors.IsNotFound(k8s.Get(context.Background(), client.ObjectKeyFromObject(token), &corev1.Secret{}))).To(BeTrue())
	})

	It("expires by itself, which is as it should be, and works again if the expiry moves", func() {
		token, short := w.token("agent", "shop"), w.token("short", "shop")
		short.Spec.TTL = &metav1.Duration{Duration: time.Minute}
		w.create(token, short)
		expectReady(token, short)
		text := w.text("agent")
		Expect(server.lets(text)).To(BeTrue())
		edit(token, func(t *tokenType) { t.Spec.Expiry = soon() })
		Eventually(func() *metav1.Time { reads(token, "Ready")(); return token.Status.ExpirationTime }).Should(
			HaveValue(HaveField("Time.UTC()", token.Spec.Expiry.UTC())))
		Expect(short.Status.ExpirationTime.UTC()).To(Equal(short.CreationTimestamp.Add(time.Minute).UTC()))
		Eventually(reads(token, "Ready")).Should(Equal("True Expired"))
		Expect(server.lets(text)).To(BeFalse(), "Ready says that it is enforced")
		edit(token, func(t *tokenType) { t.Spec.Expiry = nil })
		expectReady(token)
		Expect(server.lets(text)).To(BeTrue())
	})

	It("is refused while one of its groups is missing, and works when it comes", func() {
		token := w.token("agent", "shop")
		token.Spec.Groups = []string{"readers", "writers"}
		w.create(token)
		Eventually(reads(token, "Stalled")).Should(Equal("True GroupNotFound"))
		Expect(message(token, "Accepted")).To(Equal(`MCPEndpoint shop has no group "writers"`))
		Expect(server.lets(w.text("agent"))).To(BeFalse())
		edit(endpoint, func(e *endpointType) { e.Spec.Groups = append(e.Spec.Groups, v1alpha1.Group{Name: "writers"}) })
		expectReady(token)
		Expect(server.lets(w.text("agent"))).To(BeTrue())
	})

	It("is issued anew when its Secret is deleted, edited or emptied", func() {
		token := w.token("agent", "shop")
		w.create(token)
		expectReady(token)
		for name, change := range map[string]func(){
			"deleted": func() { w.delete(w.secret("agent")) },
			"edited": func() {
				edit(w.secret("agent"), func(s *corev1.Secret) { s.Data["token"] = []byte(contract.NewToken()) })
			},
			"emptied": func() { edit(w.secret("agent"), func(s *corev1.Secret) { delete(s.Data, "token") }) },
		} {
			old := w.text("agent")
			change()
			Eventually(func(g Gomega) {
				var secret corev1.Secret
				g.Expect(k8s.Get(context.Background(), client.ObjectKeyFromObject(token), &secret)).To(Succeed())
				text := string(secret.Data["token"])
				g.Expect(text).NotTo(Equal(old))
				g.Expect(server.lets(text)).To(BeTrue())
				g.Expect(secret.Data["mcp.json"]).To(ContainSubstring(text))
			}).Should(Succeed(), name)
			Expect(server.lets(old)).To(BeFalse(), name)
			expectReady(token)
		}
		var told eventsv1.EventList
		Eventually(func(g Gomega) {
			g.Expect(k8s.List(context.Background(), &told, client.InNamespace(w.namespace))).To(Succeed())
			g.Expect(told.Items).To(ContainElement(HaveField("Reason", "Reissued")))
		}).Should(Succeed())
		for _, event := range told.Items {
			Expect(event.Note).NotTo(ContainSubstring(w.text("agent")))
		}
	})

	It("never takes a Secret that is somebody else's", func() {
		foreign := &corev1.Secret{ObjectMeta: w.meta("agent"), Data: map[string][]byte{"token": []byte("mine")}}
		token := w.token("agent", "shop")
		w.create(foreign, token)
		Eventually(reads(token, "Issued")).Should(Equal("False OwnershipConflict"))
		Expect(w.secret("agent").Data).To(Equal(foreign.Data))
		w.delete(foreign)
		expectReady(token)
	})

	It("takes its text from a Secret that is read once, however many tokens name it", func() {
		first, second := contract.NewToken(), contract.NewToken()
		given := &corev1.Secret{ObjectMeta: w.meta("given"), Data: map[string][]byte{}}
		tokens := make([]*tokenType, 20)
		for i := range tokens {
			key := fmt.Sprint("text-", i)
			given.Data[key] = []byte(first + key)
			tokens[i] = w.token(fmt.Sprint("agent-", i), "shop")
			tokens[i].Spec.TokenSecretRef = secretKey("given", key)
		}
		w.create(given)
		for _, token := range tokens {
			w.create(token)
		}
		for _, token := range tokens {
			expectReady(token)
		}
		reads := func() int {
			n := 0
			for _, path := range running.writes.reads(w.namespace) {
				if strings.HasSuffix(path, "/secrets/given") {
					n++
				}
			}
			return n
		}
		before := reads()
		edit(given, func(s *corev1.Secret) {
			for key := range s.Data {
				s.Data[key] = []byte(second + key)
			}
		})
		for i := range tokens {
			Eventually(func() bool { return server.lets(second + fmt.Sprint("text-", i)) }).Should(BeTrue())
		}
		Expect(server.lets(first + "text-0")).To(BeFalse())
		Expect(reads() - before).To(BeNumerically("<", len(tokens)/2))
	})

	It("may be given, as a text or as a hash, and waits while it is not there", func() {
		text := strings.Repeat("a text of one's own ", 2)
		plain, hashed := w.token("plain", "shop"), w.token("hashed", "shop")
		plain.Spec.TokenSecretRef = secretKey("given", "text")
		hashed.Spec.TokenHashSecretRef = secretKey("given", "hash")
		w.create(plain, hashed)
		Eventually(reads(plain, "Reconciling")).Should(Equal("True SecretNotFound"))
		given := &corev1.Secret{ObjectMeta: w.meta("given"), Data: map[string][]byte{"text": []byte("short")}}
		w.create(given)
		Eventually(reads(plain, "Issued")).Should(Equal("False SecretNotFound"))
		Eventually(reads(hashed, "Issued")).Should(Equal("False SecretNotFound"))
		Expect(message(hashed, "Ready")).To(ContainSubstring(`Secret "given" must exist, and its key "hash" must hold`))
		edit(given, func(s *corev1.Secret) {
			s.Data["text"], s.Data["hash"] = []byte(text), []byte(contract.HashToken("another"))
		})
		expectReady(plain, hashed)
		Expect(server.lets(text)).To(BeTrue())
		Expect(server.lets("another")).To(BeTrue())
		w.delete(given)
		Eventually(func() bool { return server.lets(text) }).Should(BeFalse())
		Eventually(reads(plain, "Ready")).Should(Equal("False SecretNotFound"))
	})

	It("is Conflicted where an older one has the same text", func() {
		w.create(&corev1.Secret{ObjectMeta: w.meta("given"), Data: map[string][]byte{"text": []byte(strings.Repeat("x", 40))}})
		older, younger := w.token("a-older", "shop"), w.token("b-younger", "shop")
		older.Spec.TokenSecretRef, younger.Spec.TokenSecretRef = secretKey("given", "text"), secretKey("given", "text")
		w.create(older, younger)
		expectReady(older)
		Eventually(reads(younger, "Reconciling")).Should(Equal("True Conflicted"))
		Expect(message(younger, "Ready")).To(ContainSubstring(`"a-older"`))
		w.delete(older)
		expectReady(younger)
	})

	It("waits again when its endpoint is deleted", func() {
		token, exposure := w.token("agent", "shop"), w.exposure("order", "shop")
		w.create(token, exposure)
		expectReady(token, exposure)
		w.delete(endpoint)
		Eventually(reads(token, "Ready")).Should(Equal("False EndpointNotFound"))
		Eventually(reads(exposure, "Ready")).Should(Equal("False EndpointNotFound"))
	})
})

var _ = Describe("An exposure", func() {
	var (
		w      *world
		server *fakeServer
	)
	BeforeEach(func() {
		w = newWorld()
		w.create(w.endpoint("shop"))
		server = w.runServer("shop", "shop-0")
	})

	It("says what the server's pods found, and recovers", func() {
		for name, row := range map[string]struct{ reason, condition, want, abnormal string }{
			"missing":  {contract.ReasonTableNotFound, "Resolved", "False TableNotFound", "Stalled"},
			"unseen":   {contract.ReasonSchemaUnknown, "Resolved", "Unknown SchemaUnknown", "Reconciling"},
			"unlisted": {contract.ReasonFieldNotFound, "Accepted", "False FieldNotFound", "Stalled"},
			"forbids":  {contract.ReasonFieldNotAllowed, "Accepted", "False FieldNotAllowed", "Stalled"},
			"taken":    {contract.ReasonTableConflicted, "Accepted", "False Conflicted", "Reconciling"},
		} {
			server.change(func(s *fakeServer) {
				s.tables[name] = contract.ModelStatus{Reason: row.reason, Message: "look at " + name}
			})
			exposure := w.exposure(name, "shop")
			w.create(exposure)
			Eventually(reads(exposure, row.condition)).Should(Equal(row.want), name)
			Eventually(reads(exposure, row.abnormal)).Should(HavePrefix("True "), name)
			Expect(message(exposure, "Ready")).To(Equal("look at " + name))
			server.change(func(s *fakeServer) { delete(s.tables, name) })
			expectReady(exposure)
		}
	})

	It("is Conflicted where an older one has the model or the table, and takes its place when that goes", func() {
		older, younger := w.exposure("a-older", "shop"), w.exposure("b-younger", "shop")
		older.Spec.Model, younger.Spec.Model = "order", "order"
		w.create(older, younger)
		expectReady(older)
		Eventually(reads(younger, "Reconciling")).Should(Equal("True Conflicted"))
		Expect(message(younger, "Ready")).To(ContainSubstring(`"a-older"`))
		edit(younger, func(e *exposureType) { e.Spec.Model, e.Spec.Table.Name = "purchase", "a-older" })
		Eventually(reads(younger, "Accepted")).Should(Equal("False Conflicted"))
		w.delete(older)
		expectReady(younger)
		Expect(younger.Status.Model).To(Equal("purchase"))
	})
})
