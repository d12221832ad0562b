package controllers_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers"
)

var _ = Describe("The Config", func() {
	It("gathers what is added", func() {
		w, _, _ := newShop()
		var written []time.Time
		running.writes.refuse(func(r *http.Request) bool {
			if r.Method != http.MethodGet && strings.Contains(r.URL.Path, w.namespace+"/secrets/shop-mcp-config") {
				written = append(written, time.Now())
			}
			return false
		})
		DeferCleanup(func() { running.writes.refuse(nil) })
		var tokens []client.Object
		for i := range 20 {
			tokens = append(tokens, w.token(fmt.Sprint("agent-", i), "shop"))
			w.create(tokens[i])
		}
		expectReady(tokens...)
		running.writes.refuse(nil)
		Expect(written).NotTo(BeEmpty())
		for i := 1; i < len(written); i++ {
			Expect(written[i].Sub(written[i-1])).To(BeNumerically(">=", controllers.GatherTime), "write %d of %d", i+1, len(written))
		}
	})

	It("loses no time with what is taken away", func() {
		w, _, server := newShop()
		token := w.token("agent", "shop")
		w.create(token)
		expectReady(token)
		text := w.text("agent")
		// What is gathered waits for ever by a clock that stands still.
		began := time.Now()
		var passed atomic.Int64
		running.stop()
		running = startManagerWith(apiServer.Config, func(o *controllers.Options) {
			o.Now = func() time.Time { return began.Add(time.Duration(passed.Load())) }
		})
		DeferCleanup(func() {
			running.stop()
			running = startManager(apiServer.Config)
		})
		w.create(w.exposure("book", "shop"))
		w.delete(token)
		Eventually(func() bool { return server.lets(text) }).Should(BeFalse())
		Consistently(func() []contract.Model { return w.config("shop").Models }).Should(BeEmpty())
		Eventually(func() []contract.Model {
			passed.Add(int64(time.Second)) // again and again: a step that the clock passed once took a second, and is rested for
			return w.config("shop").Models
		}).Should(HaveLen(1))
	})
})
