package controllers_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

var _ = Describe("An endpoint", func() {
	It("becomes Ready whatever the order of its objects, and then nothing is written", func() {
		w := newWorld()
		token, exposure, endpoint := w.token("agent", "shop"), w.exposure("order", "shop"), w.endpoint("shop")
		w.create(token, exposure)
		Eventually(reads(token, "Ready")).Should(Equal("False EndpointNotFound"))
		Eventually(reads(exposure, "Ready")).Should(Equal("False EndpointNotFound"))
		w.create(endpoint)
		server := w.runServer("shop", "shop-0")
		expectReady(token, exposure, endpoint)

		Expect(server.lets(w.text("agent"))).To(BeTrue())
		Expect(endpoint.Status.URL).To(Equal("http://shop-mcp." + w.namespace + ".svc/mcp/"))
		Expect(endpoint.Status.Database.Display).To(Equal("SQLite 3.50"))
		Expect(*endpoint.Status.ModelCount).To(BeEquivalentTo(1))
		Expect(*endpoint.Status.TokenCount).To(BeEquivalentTo(1))
		Expect(endpoint.Status.ReadyDisplay).To(Equal("1/1"))
		Expect(exposure.Status.Columns).To(Equal([]string{"id", "name"}))
		Expect(*exposure.Status.ToolCount).To(BeEquivalentTo(2))
		Expect(token.Status.Secret.Name).To(Equal("agent"))
		Expect(token.Status.ExpirationTime).To(BeNil())
		Expect(token.Status.GroupsDisplay).To(Equal("readers"))

		w.expectQuiet()
		before := running.writes.to(w.namespace)
		for _, o := range []client.Object{token, exposure, endpoint} { // every reconciler has work, and finds nothing to do
			o.SetAnnotations(map[string]string{"touched": "yes"})
			Expect(k8s.Update(context.Background(), o)).To(Succeed())
		}
		server.change(func(*fakeServer) {})
		Consistently(func() []string { return running.writes.to(w.namespace) }).Should(HaveLen(len(before)),
			"written: %v", running.writes.to(w.namespace)[len(before):])
	})

	It("runs its server with no more rights than it needs", func() {
		w := newWorld()
		endpoint := w.endpoint("shop")
		endpoint.Spec.Database.SQLite = nil
		endpoint.Spec.Database.ConnectionSecretRef = connection("db")
		w.create(endpoint)
		role, deployment := &rbacv1.Role{}, &appsv1.Deployment{}
		key := client.ObjectKey{Namespace: w.namespace, Name: "shop-mcp"}
		Eventually(func() error { return k8s.Get(context.Background(), key, deployment) }).Should(Succeed())
		Expect(k8s.Get(context.Background(), key, role)).To(Succeed())
		Expect(role.Rules).To(HaveLen(1))
		Expect(role.Rules[0].ResourceNames).To(Equal([]string{"shop-mcp-config", "shop-mcp-config-tokens-0", "db"}))
		Expect(role.Rules[0].Verbs).To(Equal([]string{"get", "list", "watch"}))
		Expect(k8s.Get(context.Background(), key, &rbacv1.RoleBinding{})).To(Succeed())
		Expect(k8s.Get(context.Background(), key, &corev1.Service{})).To(Succeed())
		account := &corev1.ServiceAccount{}
		Expect(k8s.Get(context.Background(), key, account)).To(Succeed())
		Expect(*account.AutomountServiceAccountToken).To(BeFalse())

		pod := deployment.Spec.Template.Spec
		Expect(*pod.AutomountServiceAccountToken).To(BeTrue())
		Expect(pod.Containers[0].Image).To(Equal("server:test"))
		Expect(pod.Containers[0].Args).To(ContainElements("--config-secret=shop-mcp-config", "--connection-secret=db", "--connection-dir=/etc/mcp-admin/connection"))
		for _, volume := range pod.Volumes {
			Expect(volume.EmptyDir != nil || *volume.Secret.Optional).To(BeTrue(), volume.Name)
		}
		Expect(deployment.Spec.Strategy.Type).To(Equal(appsv1.RollingUpdateDeploymentStrategyType))
	})

	It("leaves alone what others do with its Deployment, and heals what is its own", func() {
		w := newWorld()
		endpoint := w.endpoint("shop")
		endpoint.Spec.Database.SQLite = nil
		endpoint.Spec.Database.ConnectionSecretRef = connection("db")
		w.create(endpoint)
		deployment := &appsv1.Deployment{ObjectMeta: w.meta("shop-mcp")}
		Eventually(func() error {
			return k8s.Get(context.Background(), client.ObjectKeyFromObject(deployment), deployment)
		}).Should(Succeed())
		edit(deployment, func(d *appsv1.Deployment) {
			d.Spec.Replicas = new(int32(3)) // as an autoscaler does
			d.Spec.Template.Annotations = map[string]string{"kubectl.kubernetes.io/restartedAt": "now"}
			d.Spec.Template.Spec.Containers[0].Image = "somebody/elses:image"
		})
		Eventually(func() string {
			Expect(k8s.Get(context.Background(), client.ObjectKeyFromObject(deployment), deployment)).To(Succeed())
			return deployment.Spec.Template.Spec.Containers[0].Image
		}).Should(Equal("server:test"))
		Expect(*deployment.Spec.Replicas).To(BeEquivalentTo(3))
		Expect(deployment.Spec.Template.Annotations).To(HaveKey("kubectl.kubernetes.io/restartedAt"))
	})

	It("serves a SQLite file from one pod at a time", func() {
		w := newWorld()
		endpoint := w.endpoint("shop")
		endpoint.Spec.Server.Replicas = new(int32(3))
		w.create(endpoint)
		deployment := &appsv1.Deployment{ObjectMeta: w.meta("shop-mcp")}
		Eventually(func() error {
			return k8s.Get(context.Background(), client.ObjectKeyFromObject(deployment), deployment)
		}).Should(Succeed())
		Expect(*deployment.Spec.Replicas).To(BeEquivalentTo(1))
		Expect(deployment.Spec.Strategy.Type).To(Equal(appsv1.RecreateDeploymentStrategyType))
	})

	It("is stuck while it is scaled to zero by its own spec", func() {
		w := newWorld()
		endpoint := w.endpoint("shop")
		endpoint.Spec.Server.Replicas = new(int32(0))
		w.create(endpoint)
		Eventually(reads(endpoint, "Stalled")).Should(Equal("True ScaledToZero"))
	})

	It("says which of its Secrets is missing, and recovers when it comes", func() {
		w := newWorld()
		endpoint := w.endpoint("shop")
		endpoint.Spec.Database.SQLite = nil
		endpoint.Spec.Database.ConnectionSecretRef = connection("db")
		w.create(endpoint)
		w.runServer("shop", "shop-0")
		Eventually(reads(endpoint, "DatabaseReady")).Should(Equal("False SecretNotFound"))
		Expect(message(endpoint, "Ready")).To(Equal(`Secret "db" does not exist`))
		w.create(&corev1.Secret{ObjectMeta: w.meta("db")})
		expectReady(endpoint)
	})

	It("says what the API server has against its server, and recovers", func() {
		w := newWorld()
		quota := &corev1.ResourceQuota{ObjectMeta: w.meta("none")}
		quota.Spec.Hard = corev1.ResourceList{"count/deployments.apps": resource.MustParse("0")}
		w.create(quota)
		quota.Status = corev1.ResourceQuotaStatus{Hard: quota.Spec.Hard, Used: quota.Spec.Hard}
		Expect(k8s.Status().Update(context.Background(), quota)).To(Succeed())
		endpoint := w.endpoint("shop")
		w.create(endpoint)
		Eventually(reads(endpoint, "WorkloadAvailable")).Should(Equal("False Unavailable"))
		Eventually(func() string {
			reads(endpoint, "WorkloadAvailable")()
			return message(endpoint, "WorkloadAvailable")
		}).Should(ContainSubstring("exceeded quota: none"))
		w.delete(quota)
		Eventually(func() error {
			return k8s.Get(context.Background(), client.ObjectKey{Namespace: w.namespace, Name: "shop-mcp"}, &appsv1.Deployment{})
		}).Should(Succeed())
	})

	It("is not Ready while its database is down, and its tokens do not notice", func() {
		w := newWorld()
		endpoint, token := w.endpoint("shop"), w.token("agent", "shop")
		w.create(endpoint, token)
		server := w.runServer("shop", "shop-0")
		expectReady(endpoint, token)
		server.change(func(s *fakeServer) {
			s.status.Database = contract.DatabaseStatus{Reason: contract.ReasonUnreachable, Message: "db:5432 does not answer"}
		})
		Eventually(reads(endpoint, "DatabaseReady")).Should(Equal("False Unreachable"))
		Expect(message(endpoint, "Ready")).To(Equal("db:5432 does not answer"))
		Consistently(reads(token, "Ready")).Should(Equal("True Ready"))
		server.change(func(s *fakeServer) {
			s.status.Database = contract.DatabaseStatus{Reason: contract.ReasonConnected, Engine: "SQLite", Version: "3.50", Notes: "it has no EXPLAIN"}
		})
		expectReady(endpoint)
		Expect(endpoint.Status.Notes).To(ContainElement("database: it has no EXPLAIN"))
	})

	It("says that a pod cannot be asked, as behind a NetworkPolicy", func() {
		w := newWorld()
		endpoint := w.endpoint("shop")
		pod := &corev1.Pod{ObjectMeta: w.meta("shop-0"), Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "server", Image: "server:test"}}}}
		pod.Labels = map[string]string{"mcpadmin.dev/endpoint": "shop", "mcpadmin.dev/component": "server"}
		pod.Annotations = map[string]string{addressAnnotation: "127.0.0.1:1"}
		w.create(endpoint)
		w.deploymentAvailable("shop")
		pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(w.replicaSet("shop"), appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))}
		w.create(pod)
		pod.Status.PodIP = "10.0.0.1"
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		Expect(k8s.Status().Update(context.Background(), pod)).To(Succeed())
		Eventually(reads(endpoint, "Programmed")).Should(Equal("False WaitingForPods"))
		Eventually(func() string {
			reads(endpoint, "Programmed")()
			return message(endpoint, "Programmed")
		}).Should(ContainSubstring("the manager must reach its port 8081"))
	})

	It("is not made unready by a new token", func() {
		w := newWorld()
		endpoint := w.endpoint("shop")
		w.create(endpoint)
		server := w.runServer("shop", "shop-0")
		expectReady(endpoint)
		server.change(func(s *fakeServer) { s.frozen = true })
		token := w.token("agent", "shop")
		w.create(token)
		Eventually(reads(token, "Programmed")).Should(Equal("False WaitingForPods"))
		Consistently(reads(endpoint, "Ready")).Should(Equal("True Ready"))
	})

	It("never takes a Secret or a Deployment that is somebody else's", func() {
		w := newWorld()
		foreign := &corev1.Secret{ObjectMeta: w.meta("shop-mcp-config"), Data: map[string][]byte{"mine": []byte("x")}}
		service := &corev1.Service{ObjectMeta: w.meta("shop-mcp"), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 1}}}}
		endpoint, token := w.endpoint("shop"), w.token("agent", "shop")
		w.create(foreign, service, endpoint, token)
		Eventually(reads(endpoint, "Programmed")).Should(Equal("False OwnershipConflict"))
		Eventually(reads(endpoint, "WorkloadAvailable")).Should(Equal("False OwnershipConflict"))
		Expect(message(endpoint, "WorkloadAvailable")).To(ContainSubstring(`Secret "shop-mcp-config"`))
		Eventually(reads(token, "Programmed")).Should(Equal("False OwnershipConflict"))
		Expect(w.secret("shop-mcp-config").Data).To(Equal(foreign.Data))

		w.delete(foreign)
		edit(endpoint, func(e *endpointType) { e.Spec.Server.Limits.MaxBodyBytes = 2048 })
		Eventually(reads(endpoint, "Programmed")).Should(Equal("False WaitingForPods"))
		Eventually(func() string {
			reads(endpoint, "WorkloadAvailable")()
			return message(endpoint, "WorkloadAvailable")
		}).Should(ContainSubstring(`Service "shop-mcp"`))
		w.delete(service)
		Eventually(reads(endpoint, "Programmed")).Should(Equal("False WaitingForPods"))
	})

	It("says that its pods refuse the Config", func() {
		w := newWorld()
		endpoint := w.endpoint("shop")
		w.create(endpoint)
		server := w.runServer("shop", "shop-0")
		expectReady(endpoint)
		server.change(func(s *fakeServer) {
			s.frozen = true
			s.status.Refused = &contract.Refusal{Revision: 9, Message: "it makes no sense"}
		})
		edit(endpoint, func(e *endpointType) { e.Spec.Server.Limits.MaxBodyBytes = 2048 })
		Eventually(reads(endpoint, "Programmed")).Should(Equal("False ConfigRefused"))
		Expect(message(endpoint, "Programmed")).To(HaveSuffix("it makes no sense"))
	})

	It("waits for every pod that answers agents, and a hung one holds up only the news about itself", func() {
		w := newWorld()
		endpoint, token := w.endpoint("shop"), w.token("agent", "shop")
		w.create(endpoint, token)
		first, second := w.runServer("shop", "shop-0"), w.runServer("shop", "shop-1")
		expectReady(endpoint, token)

		Eventually(second.applied).ShouldNot(BeNil(), "Ready does not wait for a pod that nobody has seen yet")
		second.change(func(s *fakeServer) { s.frozen = true })
		text := w.text("agent")
		edit(token, func(t *tokenType) { t.Spec.Active = new(bool) })
		Eventually(func() bool { return first.lets(text) }).Should(BeFalse())
		Eventually(reads(token, "Ready")).Should(Equal("False WaitingForPods"))
		Consistently(reads(token, "Ready")).Should(Equal("False WaitingForPods"))

		Expect(message(token, "Ready")).To(HavePrefix("not every server pod has applied revision"))

		second.setReady(false) // it is counted no more
		Eventually(reads(token, "Ready")).Should(Equal("True Inactive"))
	})
})

var _ = Describe("The Config", func() {
	It("is written again when somebody deletes a part of it", func() {
		w := newWorld()
		endpoint, token := w.endpoint("shop"), w.token("agent", "shop")
		w.create(endpoint, token)
		server := w.runServer("shop", "shop-0")
		expectReady(endpoint, token)
		text, before := w.text("agent"), w.config("shop").Revision
		for _, part := range []string{"shop-mcp-config", "shop-mcp-config-tokens-0"} {
			gone := w.secret(part)
			w.delete(gone)
			Eventually(func() bool {
				again := &corev1.Secret{}
				return k8s.Get(context.Background(), client.ObjectKeyFromObject(gone), again) == nil && again.UID != gone.UID
			}).Should(BeTrue())
		}
		Expect(w.config("shop").Revision).To(BeNumerically(">=", before))
		expectReady(endpoint, token)
		Expect(server.lets(text)).To(BeTrue())
		Expect(w.text("agent")).To(Equal(text))
	})

	It("lets a revocation out though it is too large for all that was added", func() {
		w := newWorld()
		endpoint, leaver := w.endpoint("shop"), w.token("leaver", "shop")
		w.create(endpoint, leaver)
		server := w.runServer("shop", "shop-0")
		expectReady(endpoint, leaver)
		text := w.text("leaver")
		Expect(server.lets(text)).To(BeTrue())

		// More models than fit, with texts that hardly compress.
		var last *exposureType
		for i := range 70 {
			last = w.exposure(fmt.Sprintf("large-%d", i), "shop")
			for range 60 {
				description := ""
				for range 19 {
					description += rand.Text()
				}
				last.Spec.Fields.Overrides = append(last.Spec.Fields.Overrides, v1alpha1.FieldOverride{
					Name: strings.ToLower("c" + rand.Text()), Description: description,
				})
			}
			w.create(last)
		}
		Eventually(reads(last, "Accepted")).Should(Equal("False ConfigTooLarge"))
		Expect(server.lets(text)).To(BeTrue())

		edit(leaver, func(t *tokenType) { t.Spec.Active = new(bool) })
		Eventually(func() bool { return server.lets(text) }).Should(BeFalse())
		Eventually(reads(leaver, "Ready")).Should(Equal("True Inactive"))
	})

	It("is repaired when somebody writes nonsense into it", func() {
		w := newWorld()
		endpoint := w.endpoint("shop")
		w.create(endpoint)
		w.runServer("shop", "shop-0")
		expectReady(endpoint)
		before := w.config("shop").Revision
		edit(w.secret("shop-mcp-config"), func(s *corev1.Secret) { s.Data[contract.PartKeyConfig] = []byte("nonsense") })
		Eventually(func() error {
			_, err := contract.DecodeMain(w.secret("shop-mcp-config").Data)
			return err
		}).Should(Succeed())
		Expect(w.config("shop").Revision).To(BeNumerically(">=", before))
		expectReady(endpoint)
	})

	It("keeps its revisions when the manager is restarted, and nothing is written", func() {
		w := newWorld()
		endpoint, token, exposure := w.endpoint("shop"), w.token("agent", "shop"), w.exposure("order", "shop")
		given := w.token("given", "shop")
		given.Spec.TokenSecretRef = secretKey("given-text", "key")
		w.create(&corev1.Secret{ObjectMeta: w.meta("given-text"), Data: map[string][]byte{"key": []byte("a text of at least thirty-two characters")}})
		w.create(endpoint, token, exposure, given)
		server := w.runServer("shop", "shop-0")
		expectReady(endpoint, token, exposure, given)
		revision, written := w.config("shop").Revision, w.secret("shop-mcp-config-tokens-0").ResourceVersion

		running.stop()
		inactive := w.token("late", "shop")
		w.create(inactive) // while nobody looks
		running = startManager(apiServer.Config)
		expectReady(inactive)
		Expect(w.config("shop").Revision).To(Equal(revision + 1))
		Expect(w.secret("shop-mcp-config-tokens-0").ResourceVersion).NotTo(Equal(written))
		for _, name := range []string{"agent", "given"} {
			uid := map[string]string{"agent": string(token.UID), "given": string(given.UID)}[name]
			Expect(w.config("shop").FindToken(w.namespace, name, uid).Revision).To(BeNumerically("<=", revision))
		}
		Expect(server.lets(w.text("agent"))).To(BeTrue())
		for _, request := range running.writes.to(w.namespace) {
			Expect(request).To(Or(
				ContainSubstring("secrets/shop-mcp-config-tokens-0"), HaveSuffix("POST /api/v1/namespaces/"+w.namespace+"/secrets"),
				ContainSubstring("mcptokens/late/status"), ContainSubstring("mcpendpoints/shop/status")),
				"only what the new token needs is written")
		}
	})
})
