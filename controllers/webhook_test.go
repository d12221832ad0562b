package controllers_test

import (
	"context"
	"encoding/json"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

var _ = Describe("A webhook", func() {
	It("waits for its Secret, has what that one says at present, and tells none of it", func() {
		w := newWorld()
		exposure := w.exposure("order", "shop")
		exposure.Spec.Actions = []v1alpha1.ActionSpec{{Name: "send", Webhook: &v1alpha1.WebhookSpec{
			URL: "http://billing.shop.svc:8080/send", HeadersSecretRef: &v1alpha1.SecretReference{Name: "hook"},
		}}}
		endpoint := w.endpoint("shop")
		w.create(exposure, endpoint)
		w.runServer("shop", "shop-0")
		sent := func() *contract.Webhook {
			for _, m := range w.config("shop").Models {
				return m.Actions[0].Webhook
			}
			return &contract.Webhook{}
		}

		Eventually(reads(exposure, "Ready")).Should(Equal("False SecretNotFound"))
		Expect(message(exposure, "Ready")).To(Equal(`action "send": Secret "hook" does not exist`))
		Expect(reads(exposure, "Accepted")()).To(Equal("True Accepted"))
		Expect(reads(exposure, "Reconciling")()).To(Equal("True SecretNotFound"))
		Expect(*exposure.Status.ToolCount).To(BeEquivalentTo(2), "what does not need the webhook is served")
		Expect(sent().Problem).To(Equal(`Secret "hook" does not exist`))
		Eventually(reads(endpoint, "Ready")).Should(Equal("True Ready"), "an action that waits makes no endpoint unready")

		secret := &corev1.Secret{ObjectMeta: w.meta("hook"), StringData: map[string]string{"Authorization": "Bearer hush-header", "signing-key": "hush-key"}}
		w.create(secret)
		Eventually(reads(exposure, "Ready")).Should(Equal("False WebhookSecretInvalid"))
		Expect(message(exposure, "Ready")).To(HaveSuffix(`must carry the annotation mcpadmin.dev/webhook-host: "billing.shop.svc:8080"`))
		Expect(sent().Headers).To(BeEmpty(), "a Secret that is for no webhook is sent nowhere")

		edit(secret, func(s *corev1.Secret) {
			s.Annotations = map[string]string{v1alpha1.WebhookHostAnnotation: "billing.shop.svc:8080"}
		})
		expectReady(exposure)
		Expect(sent()).To(HaveField("Headers", map[string]string{"Authorization": "Bearer hush-header"}))
		Expect(sent().SigningKey).To(Equal("hush-key"))
		Expect(sent().Problem).To(BeEmpty())

		edit(secret, func(s *corev1.Secret) { s.Data["signing-key"] = []byte("hush-other") })
		Eventually(func() string { return sent().SigningKey }).Should(Equal("hush-other"))

		w.delete(secret)
		Eventually(reads(exposure, "Ready")).Should(Equal("False SecretNotFound"))
		Expect(sent().Headers).To(BeEmpty())

		for _, list := range []client.ObjectList{&v1alpha1.MCPModelExposureList{}, &v1alpha1.MCPEndpointList{}, &corev1.EventList{}} {
			Expect(k8s.List(context.Background(), list, client.InNamespace(w.namespace))).To(Succeed())
			text, err := json.Marshal(list)
			Expect(err).NotTo(HaveOccurred())
			Expect(strings.Contains(string(text), "hush")).To(BeFalse(), "a value of the Secret is told")
		}
	})
})

var _ = Describe("A row policy", func() {
	It("waits for its group, and the keys that seal cursors stay what they are", func() {
		w := newWorld()
		order, endpoint := w.exposure("order", "shop"), w.endpoint("shop")
		order.Spec.RowPolicies = []v1alpha1.RowPolicy{{Name: "own", Groups: []string{"clerks"}, AllRows: new(true)}}
		w.create(order, endpoint)
		w.runServer("shop", "shop-0")
		Eventually(reads(order, "Ready")).Should(Equal("False GroupNotFound"))
		Expect(reads(order, "Accepted")()).To(Equal("True Accepted"))
		key := w.config("shop").Endpoint.SealKey

		edit(endpoint, func(e *v1alpha1.MCPEndpoint) { e.Spec.Groups = append(e.Spec.Groups, v1alpha1.Group{Name: "clerks"}) })
		expectReady(order)
		Expect(w.config("shop").Endpoint.SealKey).To(Equal(key))
	})
})

var _ = Describe("The webhook of an approval policy", func() {
	It("has what its Secret says at present, and events that are not sent are a note of the endpoint", func() {
		w := newWorld()
		endpoint := w.endpoint("shop")
		endpoint.Spec.Idempotency = &v1alpha1.IdempotencySpec{Table: v1alpha1.TableReference{Name: "answers"}}
		endpoint.Spec.Approvals = []v1alpha1.ApprovalPolicy{{Name: "all", Notify: &v1alpha1.ApprovalNotify{
			WebhookSpec: v1alpha1.WebhookSpec{URL: "http://chat.shop.svc:8080/", HeadersSecretRef: &v1alpha1.SecretReference{Name: "hook"}}, PageURL: "https://mcp.example.com",
		}}}
		w.create(endpoint)
		server := w.runServer("shop", "shop-0")
		notify := func() *contract.ApprovalNotify { return w.config("shop").Endpoint.Approvals[0].Notify }
		notes := func() []string {
			Expect(k8s.Get(context.Background(), client.ObjectKeyFromObject(endpoint), endpoint)).To(Succeed())
			return endpoint.Status.Notes
		}
		const untold = "events about calls that wait are not sent: "

		Eventually(notes).Should(ConsistOf(untold + `the webhook of the approval policy all cannot be called: Secret "hook" does not exist`))
		Expect(notify().Problem).To(Equal(`Secret "hook" does not exist`))
		Expect(notify().States).To(Equal([]string{"Waiting"}))
		Expect(notify().PageURL).To(Equal("https://mcp.example.com"))
		sum := w.config("shop").Endpoint.Approvals[0].Sum

		secret := &corev1.Secret{ObjectMeta: w.meta("hook"), StringData: map[string]string{"Authorization": "Bearer hush-header", "signing-key": "hush-key"}}
		secret.Annotations = map[string]string{v1alpha1.WebhookHostAnnotation: "chat.shop.svc:8080"}
		w.create(secret)
		Eventually(notes).Should(BeEmpty())
		Expect(notify().Headers).To(Equal(map[string]string{"Authorization": "Bearer hush-header"}))
		Expect(notify().SigningKey).To(Equal("hush-key"))

		server.change(func(s *fakeServer) { s.status.NotifyProblem = "the webhook of the approval policy all answered 503" })
		Eventually(notes).Should(ConsistOf(untold + "the webhook of the approval policy all answered 503"))
		edit(secret, func(s *corev1.Secret) { s.Data["signing-key"] = []byte("hush-other") })
		Eventually(func() string { return notify().SigningKey }).Should(Equal("hush-other"))
		Expect(w.config("shop").Endpoint.Approvals[0].Sum).To(Equal(sum), "calls that wait go on waiting, whoever is told of them")
	})
})
