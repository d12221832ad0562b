package controllers_test

import (
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

var _ = Describe("A token's last use", func() {
	It("is in its status to the hour, and is written once for it", func() {
		w, other := newWorld(), newWorld()
		w.create(w.endpoint("shop"), w.endpoint("crm"))
		other.create(other.endpoint("shop"))
		token, foreign := w.token("agent", "shop"), other.token("agent", "shop")
		w.create(token)
		other.create(foreign)
		server := w.runServer("shop", "shop-0")
		other.runServer("shop", "shop-0")
		expectReady(token, foreign)
		used := func(at time.Time) func() {
			return func() {
				server.change(func(s *fakeServer) {
					s.used = contract.Usage{Cursor: at.UnixNano(), Tokens: map[string]time.Time{
						w.namespace + "/agent": at, other.namespace + "/agent": at, "no such/token": at, "": at,
					}}
				})
			}
		}
		ready := len(running.writes.to(w.namespace))
		writesTo := func(path string) []string {
			return slices.DeleteFunc(slices.Clone(running.writes.to(w.namespace)[ready:]), func(request string) bool { return !strings.Contains(request, path) })
		}
		last := func() *metav1.Time { reads(token, "Ready")(); return token.Status.LastUsedTime }
		hour := time.Now().UTC().Truncate(time.Hour)
		used(hour.Add(-time.Hour))()
		Eventually(last).Should(HaveValue(HaveField("Time.UTC()", hour.Add(-time.Hour))))
		used(hour.Add(10 * time.Minute))()
		Eventually(last).Should(HaveValue(HaveField("Time.UTC()", hour)))
		used(hour.Add(20 * time.Minute))()
		w.expectQuiet()
		Expect(writesTo("/mcptokens/agent/")).To(HaveLen(2), "once an hour")
		used(hour.Add(48 * time.Hour))()
		used(hour.Add(-5 * time.Hour))()
		Consistently(last).WithTimeout(time.Second).Should(HaveValue(HaveField("Time.UTC()", hour)), "neither the future nor the past")
		reads(foreign, "Ready")()
		Expect(foreign.Status.LastUsedTime).To(BeNil(), "a pod speaks of its own endpoint's tokens")
	})
})
