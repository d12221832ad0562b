package controllers_test

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/mcp-admin/mcp-admin-operator/controllers"
)

var _ = Describe("A manager with another server image", func() {
	const waits = "replaces them when other endpoints' are"
	var w *world
	var endpoints map[string]*endpointType
	BeforeEach(func() {
		w = newWorld()
		endpoints = map[string]*endpointType{}
		for i := range 4 {
			name := fmt.Sprint("shop-", i)
			endpoints[name] = w.endpoint(name)
			w.create(endpoints[name])
			w.runServer(name, name+"-0")
			expectReady(endpoints[name])
		}
	})
	restart := func(change func(*controllers.Options)) {
		running.stop()
		running = startManagerWith(apiServer.Config, change)
		DeferCleanup(func() {
			running.stop()
			running = startManager(apiServer.Config)
		})
	}
	next := func(o *controllers.Options) { o.ServerImage = "server:next" }
	// changed are the endpoints whose Deployments have the new image.
	changed := func() []string {
		var names []string
		for i := range 4 {
			name := fmt.Sprint("shop-", i)
			if serverOf(w.deployment(name)).Image == "server:next" {
				names = append(names, name)
			}
		}
		return names
	}
	// waiting returns the endpoints that say that they wait, and are Ready.
	waiting := func() []string {
		var names []string
		for i := range 4 {
			e := endpoints[fmt.Sprint("shop-", i)]
			if reads(e, "Ready")() == "True Ready" && strings.Contains(message(e, "WorkloadAvailable"), waits) {
				names = append(names, e.Name)
			}
		}
		return names
	}
	fails := func(endpoint string) {
		Eventually(func() error {
			d := w.deployment(endpoint)
			d.Status.ObservedGeneration = d.Generation
			d.Status.Conditions = []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue},
				{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded"},
			}
			d.Status.Replicas, d.Status.UpdatedReplicas = 2, 1
			return k8s.Status().Update(context.Background(), d)
		}).Should(Succeed())
	}

	It("replaces the servers of one endpoint, and others' as that goes well", func() {
		restart(next)
		Eventually(waiting).Should(HaveLen(3))
		Eventually(changed).Should(HaveLen(1)) // The first may be decided on and not yet written.
		Expect(metric("mcp_admin_manager_rollouts_waiting", "")).To(BeEquivalentTo(3))
		first := changed()[0]
		w.deploymentAvailable(first)
		Eventually(changed).Should(HaveLen(3))
		Eventually(waiting).Should(HaveLen(1))
		for _, name := range changed() {
			w.deploymentAvailable(name)
		}
		Eventually(changed).Should(HaveLen(4))
		for name, endpoint := range endpoints {
			w.deploymentAvailable(name)
			expectReady(endpoint)
		}
	})

	It("goes on one by one if a server cannot be replaced", func() {
		restart(next)
		Eventually(waiting).Should(HaveLen(3))
		for replaced := 1; replaced < 4; replaced++ {
			Eventually(changed).Should(HaveLen(replaced))
			for _, name := range changed() {
				fails(name)
			}
			Eventually(changed).Should(HaveLen(replaced + 1))
		}
		for name := range endpoints {
			w.deploymentAvailable(name)
		}
	})

	It("replaces at once what somebody edits or asks to be looked at", func() {
		restart(next)
		Eventually(waiting).Should(HaveLen(3))
		names := waiting()
		edit(endpoints[names[0]], func(e *endpointType) { e.Spec.Server.Limits.MaxBodyBytes = 2048 })
		Eventually(changed).Should(And(HaveLen(2), ContainElement(names[0])))
		edit(endpoints[names[1]], func(e *endpointType) {
			e.Annotations = map[string]string{"reconcile.mcpadmin.dev/requestedAt": "now"}
		})
		Eventually(changed).Should(And(HaveLen(3), ContainElement(names[1])))
		w.delete(endpoints[changed()[0]])
	})

	It("waits for no server whose pods are being replaced already", func() {
		fails("shop-0")
		restart(next)
		Eventually(changed).Should(And(HaveLen(2), ContainElement("shop-0")))
		Eventually(waiting).Should(HaveLen(2))
	})

	It("replaces all at once that trust another key", func() {
		_, another, err := ed25519.GenerateKey(nil)
		Expect(err).NotTo(HaveOccurred())
		restart(func(o *controllers.Options) { next(o); o.ConfigKey = another })
		Eventually(changed).Should(HaveLen(4))
	})
})
