package controllers_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers"
)

// notesOf are the texts of the events of an object.
func (w *world) notesOf(name string) []string {
	var events eventsv1.EventList
	_ = k8s.List(context.Background(), &events, client.InNamespace(w.namespace))
	var notes []string
	for _, e := range events.Items {
		if e.Regarding.Name == name && e.ReportingController == controllers.Name {
			notes = append(notes, e.Note)
		}
	}
	return notes
}

// restart ends the manager and starts it again, and waits until it has looked at a token.
func restart(looked *tokenType) {
	GinkgoHelper()
	running.stop()
	running = startManager(apiServer.Config)
	look(looked)
}

// look has the manager look at a token, and waits until it did.
func look(t *tokenType) {
	GinkgoHelper()
	at := time.Now().String()
	edit(t, func(t *tokenType) { t.Annotations = map[string]string{v1alpha1.ReconcileRequestAnnotation: at} })
	Eventually(func() string {
		_ = k8s.Get(context.Background(), client.ObjectKeyFromObject(t), t)
		return t.Status.LastHandledReconcileAt
	}).Should(Equal(at))
}

var _ = Describe("A token that expires", func() {
	It("says so once, as long before as it was told, and stays Ready", func() {
		w, _, _ := newShop()
		token := w.token("agent", "shop")
		token.Spec.Expiry = &metav1.Time{Time: time.Now().Add(time.Hour)}
		token.Spec.ExpiryWarning = &metav1.Duration{Duration: time.Hour - 4*time.Second}
		w.create(token)
		expectReady(token)
		Eventually(reads(token, "ExpiresSoon")).Should(Equal("True ExpiresSoon"), "by itself")
		Expect(time.Now()).To(BeTemporally(">=", token.Spec.Expiry.Add(-time.Hour+4*time.Second)), "not before")
		expectReady(token)
		warned := map[string]int{"agent: Warning ExpiresSoon": 1}
		w.expectTold(warned)
		restart(token)
		Expect(reads(token, "ExpiresSoon")()).To(Equal("True ExpiresSoon"))
		w.expectTold(warned)

		edit(token, func(t *tokenType) { t.Spec.Expiry = &metav1.Time{Time: time.Now().Add(48 * time.Hour)} })
		expectReady(token)
		Expect(reads(token, "ExpiresSoon")()).To(BeEmpty(), "it was renewed")
		edit(token, func(t *tokenType) { t.Spec.ExpiryWarning = &metav1.Duration{Duration: 72 * time.Hour} })
		Eventually(reads(token, "ExpiresSoon")).Should(Equal("True ExpiresSoon"))
		edit(token, func(t *tokenType) { t.Spec.Active = new(bool) })
		Eventually(reads(token, "Ready")).Should(Equal("True Inactive"))
		Expect(reads(token, "ExpiresSoon")()).To(BeEmpty(), "nobody misses it")
	})

	It("says so a week before if it lives longer than a month, and not at all otherwise", func() {
		w, _, _ := newShop()
		var passed atomic.Int64
		running.stop()
		running = startManagerWith(apiServer.Config, func(o *controllers.Options) {
			o.Now = func() time.Time { return time.Now().Add(time.Duration(passed.Load())) }
		})
		DeferCleanup(func() {
			running.stop()
			running = startManager(apiServer.Config)
		})
		const day = 24 * time.Hour
		token, brief, never := w.token("agent", "shop"), w.token("brief", "shop"), w.token("silent", "shop")
		token.Spec.TTL = &metav1.Duration{Duration: 90 * day}
		brief.Spec.TTL = &metav1.Duration{Duration: 29 * day}
		never.Spec.TTL, never.Spec.ExpiryWarning = &metav1.Duration{Duration: 90 * day}, &metav1.Duration{}
		w.create(token, brief, never)
		expectReady(token, brief, never)
		passed.Store(int64(28 * day))
		look(brief)
		Expect(reads(brief, "ExpiresSoon")()).To(BeEmpty())
		passed.Store(int64(82 * day))
		look(token)
		Expect(reads(token, "ExpiresSoon")()).To(BeEmpty())
		passed.Store(int64(84 * day))
		look(token)
		Expect(reads(token, "ExpiresSoon")()).To(Equal("True ExpiresSoon"))
		look(never)
		Expect(reads(never, "ExpiresSoon")()).To(BeEmpty())
	})

	It("tells once in an hour that somebody still uses it", func() {
		w, other := newWorld(), newWorld()
		w.create(w.endpoint("shop"))
		other.create(other.endpoint("shop"))
		token, living, foreign := w.token("agent", "shop"), w.token("living", "shop"), other.token("agent", "shop")
		w.create(token, living)
		other.create(foreign)
		first, second := w.runTwo("shop")
		other.runServer("shop", "shop-0")
		expectReady(token, living, foreign)
		past := &metav1.Time{Time: time.Now().Add(-3 * time.Hour).Truncate(time.Second)}
		for _, t := range []*tokenType{token, foreign} {
			edit(t, func(t *tokenType) { t.Spec.Expiry = past })
			Eventually(reads(t, "Ready")).Should(Equal("True Expired"))
		}
		written := len(running.writes.to(w.namespace))
		writes := func() []string {
			return slices.DeleteFunc(slices.Clone(running.writes.to(w.namespace)[written:]), func(request string) bool { return !strings.Contains(request, "/mcptokens/") })
		}
		refusedAt := func(count int64, last time.Time, from string) map[string]contract.RefusedUse {
			use := contract.RefusedUse{Reason: "Expired", Count: count, Last: last, From: from}
			return map[string]contract.RefusedUse{w.namespace + "/agent": use, w.namespace + "/living": use, other.namespace + "/agent": use, "no such/token": use}
		}
		now := time.Now()
		earlier := now.Add(-2 * time.Hour)
		first.change(func(s *fakeServer) { s.used.Refused = refusedAt(7, earlier, "10.1.2.3") })
		second.change(func(s *fakeServer) { s.used.Refused = refusedAt(5, earlier.Add(time.Millisecond), "10.1.2.3") })
		last := func() *metav1.Time { reads(token, "Ready")(); return token.Status.LastRefusedTime }
		Eventually(last).Should(HaveValue(HaveField("Time.UTC()", earlier.UTC().Truncate(time.Hour))))
		expectReason := func(times int) {
			GinkgoHelper()
			Eventually(w.told).Should(Equal(map[string]int{"agent: Warning UsedAfterExpiry": times}))
		}
		expectReason(1)
		first.change(func(s *fakeServer) { s.used.Refused = refusedAt(100, earlier.Truncate(time.Hour), "10.1.2.3") })
		w.expectQuiet()
		restart(living)
		written = len(running.writes.to(w.namespace))
		w.expectQuiet()
		Expect(writes()).To(BeEmpty(), "nothing is news for another manager")
		expectReason(1)
		Expect(w.notesOf("agent")).To(ContainElement(MatchRegexp("^it was used (5|7|12) times after it expired at " + past.UTC().Format(time.RFC3339) + ", and refused; last from 10.1.2.3$")))
		second.change(func(s *fakeServer) { s.used.Refused = refusedAt(300, now, "\x1b[2J") })
		Eventually(last).Should(HaveValue(HaveField("Time.UTC()", now.UTC().Truncate(time.Hour))))
		expectReason(2)

		for _, t := range []*tokenType{living, foreign} {
			reads(t, "Ready")()
			Expect(t.Status.LastRefusedTime).To(BeNil(), "a pod speaks of its own endpoint's tokens, and of such as are not in force")
		}
		edit(token, func(t *tokenType) { t.Spec.Expiry = nil })
		expectReady(token)
		Expect(last()).To(BeNil(), "it is in force again")
	})
})
