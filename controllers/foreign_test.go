package controllers_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

var _ = Describe("What others put beside an endpoint", func() {
	var w *world
	BeforeEach(func() { w = newWorld() })

	It("is not read as its Config, even if it could be", func() {
		endpoint, token := w.endpoint("shop"), w.token("agent", "shop")
		w.create(endpoint, token)
		w.runServer("shop", "shop-0")
		expectReady(endpoint, token)
		forged := *w.config("shop")
		forged.Revision = 1 << 40
		forged.Endpoint.StatusKey = "forged"
		part, err := contract.EncodeMain(&forged)
		Expect(err).NotTo(HaveOccurred())
		edit(w.secret("shop-mcp-config"), func(s *corev1.Secret) { s.Data = part })
		Eventually(func() int64 { return w.config("shop").Revision }).Should(BeNumerically("<", forged.Revision))
		Expect(w.config("shop").Endpoint.StatusKey).NotTo(Equal("forged"))
		expectReady(endpoint, token)
	})

	It("is not made its workload's Config", func() {
		foreign := &corev1.Secret{ObjectMeta: w.meta("shop-mcp-config")}
		w.create(foreign, w.endpoint("shop"))
		endpoint := w.endpoint("shop")
		Eventually(reads(endpoint, "Programmed")).Should(Equal("False OwnershipConflict"))
		Consistently(func() error {
			return k8s.Get(context.Background(), client.ObjectKey{Namespace: w.namespace, Name: "shop-mcp"}, &appsv1.Deployment{})
		}).Should(MatchError(ContainSubstring("not found")))
		w.delete(foreign)
		Eventually(reads(endpoint, "Programmed")).Should(Equal("False WaitingForPods"), "it is seen that the Secret goes")
	})

	It("is not asked for its status, whatever its labels say", func() {
		asked := atomic.Int32{}
		listener := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
		DeferCleanup(listener.Close)
		endpoint := w.endpoint("shop")
		w.create(endpoint)
		stranger := &corev1.Pod{ObjectMeta: w.meta("stranger")}
		stranger.Labels = map[string]string{"mcpadmin.dev/endpoint": "shop", "mcpadmin.dev/component": "server"}
		stranger.Annotations = map[string]string{addressAnnotation: strings.TrimPrefix(listener.URL, "http://")}
		stranger.Spec.Containers = []corev1.Container{{Name: "server", Image: "evil"}}
		w.create(stranger)
		stranger.Status.PodIP = "10.0.0.2"
		stranger.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		Expect(k8s.Status().Update(context.Background(), stranger)).To(Succeed())
		w.runServer("shop", "shop-0")
		expectReady(endpoint)
		Expect(*endpoint.Status.ReadyReplicas).To(BeEquivalentTo(1))
		Consistently(asked.Load).WithTimeout(500 * time.Millisecond).Should(BeZero())
	})

	It("is not run where the manager's list of images does not have it", func() {
		endpoint := w.endpoint("shop")
		endpoint.Spec.Server.Image = "evil/server:1"
		w.create(endpoint)
		Eventually(reads(endpoint, "WorkloadAvailable")).Should(Equal("False ImageNotAllowed"))
		edit(endpoint, func(e *endpointType) { e.Spec.Server.Image = "server:1" })
		w.runServer("shop", "shop-0")
		expectReady(endpoint)
	})

	It("loses what is no longer wanted, also of what was made long ago", func() {
		endpoint, token := w.endpoint("shop"), w.token("agent", "shop")
		token.Spec.Secret = &v1alpha1.TokenSecretSpec{Labels: map[string]v1alpha1.LabelValue{"team": "a", "stage": "test"}}
		w.create(endpoint, token)
		w.runServer("shop", "shop-0")
		expectReady(endpoint, token)
		text := w.text("agent")
		edit(w.secret("agent"), func(s *corev1.Secret) { metav1.SetMetaDataLabel(&s.ObjectMeta, "theirs", "x") })
		edit(token, func(t *tokenType) { t.Spec.Secret.Labels = map[string]v1alpha1.LabelValue{"team": "b"} })
		Eventually(func() map[string]string { return w.secret("agent").Labels }).Should(And(
			HaveKeyWithValue("team", "b"), HaveKeyWithValue("theirs", "x"), Not(HaveKey("stage"))))
		Expect(w.text("agent")).To(Equal(text))
	})
})
