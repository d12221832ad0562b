package controllers_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// agents call every pod of an endpoint with the text of a Secret, over HTTP, and count how they are answered.
type agents struct {
	w       *world
	servers []*fakeServer
	stop    context.CancelFunc
	ended   sync.WaitGroup

	sent, refused atomic.Int64
	mu            sync.Mutex
	complaint     string
}

func (w *world) runAgents(secret string, lag time.Duration, servers ...*fakeServer) *agents {
	ctx, stop := context.WithCancel(context.Background())
	a := &agents{w: w, servers: servers, stop: stop}
	for range 3 {
		a.ended.Go(func() { a.call(ctx, secret, 0) })
	}
	a.ended.Go(func() { a.call(ctx, secret, lag) })
	DeferCleanup(stop)
	return a
}

// call asks with the Secret's present text; with a lag, with one that it reads again only after that time.
func (a *agents) call(ctx context.Context, name string, lag time.Duration) {
	var text string
	var read time.Time
	for ctx.Err() == nil {
		if time.Since(read) >= lag {
			read = time.Now() // before the read: its answer is at least as new
			var secret corev1.Secret
			if err := k8s.Get(ctx, client.ObjectKey{Namespace: a.w.namespace, Name: name}, &secret); err != nil {
				continue
			}
			text = string(secret.Data["token"])
		}
		for _, s := range a.servers {
			request, _ := http.NewRequestWithContext(ctx, http.MethodPost, s.http.URL+"/mcp/", nil)
			request.Header.Set("Authorization", "Bearer "+text)
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				continue
			}
			_ = response.Body.Close()
			a.sent.Add(1)
			// A text that was read longer ago than the overlap may have been retired: this machine was slow, not the rotation.
			if response.StatusCode != http.StatusOK && time.Since(read) < overlap {
				a.refused.Add(1)
				a.mu.Lock()
				a.complaint = fmt.Sprintf("%s after %s, with a lag of %s", response.Status, time.Since(read), lag)
				a.mu.Unlock()
			}
		}
	}
}

func (a *agents) expectNoneRefused() {
	GinkgoHelper()
	a.stop()
	a.ended.Wait()
	fmt.Fprintf(GinkgoWriter, "%d requests, %d refused\n", a.sent.Load(), a.refused.Load())
	Expect(a.sent.Load()).To(BeNumerically(">", 0))
	Expect(a.refused.Load()).To(BeZero(), a.complaint)
}

// overlap is how long the old text of a rotated token still works.
const overlap = 1500 * time.Millisecond

const (
	rotatedFor = "mcpadmin.dev/token-rotated-for"
	nextHash   = "mcpadmin.dev/token-next-hash"
)

var _ = Describe("A token's rotation", func() {
	var (
		w             *world
		first, second *fakeServer
		token         *tokenType
	)
	BeforeEach(func() {
		w = newWorld()
		w.create(w.endpoint("shop"))
		first, second = w.runTwo("shop")
		token = w.token("agent", "shop")
		token.Spec.Rotation = &v1alpha1.TokenRotation{Overlap: &metav1.Duration{Duration: overlap}}
		w.create(token)
		expectReady(token)
	})
	ask := func(request string) {
		edit(token, func(t *tokenType) { t.Annotations = map[string]string{v1alpha1.RotateAnnotation: request} })
	}
	annotation := func(name string) func() string {
		return func() string { return w.secret("agent").Annotations[name] }
	}

	It("refuses no request, however often it is done", func() {
		texts := map[string]bool{w.text("agent"): true}
		running := w.runAgents("agent", overlap-500*time.Millisecond, first, second)
		for i := 1; i <= 8 || running.sent.Load() < 10_000; i++ {
			ask(fmt.Sprint(i))
			Eventually(annotation(rotatedFor)).Should(Equal(fmt.Sprint(i)))
			texts[w.text("agent")] = true
			Expect(reads(token, "Ready")()).To(Equal("True Ready"), "a rotation leaves it Ready")
		}
		running.expectNoneRefused()
		Expect(len(texts)).To(BeNumerically(">=", 9))
		Expect(reads(token, "Ready")()).To(Equal("True Ready"))
		Eventually(func() int {
			n := 0
			for text := range texts {
				if first.lets(text) || second.lets(text) {
					n++
				}
			}
			return n
		}).Should(Equal(1), "only the last text works in the end")
		Eventually(func() *metav1.Time { reads(token, "Ready")(); return token.Status.LastRotation }).ShouldNot(BeNil())
	})

	It("is done by itself when it is time, and says when", func() {
		edit(token, func(t *tokenType) { t.Spec.Rotation.Every = &metav1.Duration{Duration: 10 * time.Minute} })
		Eventually(func() *metav1.Time { reads(token, "Ready")(); return token.Status.NextRotation }).ShouldNot(BeNil())
		next := token.Status.NextRotation.Time
		Expect(next).To(BeTemporally(">", token.Status.LastRotation.Add(9*time.Minute-time.Second)))
		Expect(next).To(BeTemporally("<=", token.Status.LastRotation.Add(10*time.Minute)))
	})

	for name, kill := range map[string]func(){
		"before the pods have the next text": func() {
			first.change(func(s *fakeServer) { s.frozen = true })
			ask("1")
			Eventually(annotation(nextHash)).ShouldNot(BeEmpty())
			lost := annotation(nextHash)()
			Eventually(func() int { return len(w.config("shop").Tokens[0].Hashes) }).Should(Equal(2))
			running.stop()
			running = startManager(apiServer.Config)
			Eventually(annotation(nextHash)).ShouldNot(Equal(lost), "a text that was lost is made anew")
			first.change(func(s *fakeServer) { s.frozen = false })
		},
		"while the next text is being programmed": func() {
			first.change(func(s *fakeServer) { s.frozen = true }) // else it may be programmed before the test looks
			ask("1")
			Eventually(annotation(nextHash)).ShouldNot(BeEmpty())
			running.stop()
			first.change(func(s *fakeServer) { s.frozen = false })
			running = startManager(apiServer.Config)
		},
		"within the overlap": func() {
			ask("1")
			Eventually(annotation(rotatedFor)).Should(Equal("1"))
			running.stop()
			running = startManager(apiServer.Config)
		},
		"until the overlap is over": func() {
			ask("1")
			Eventually(annotation(rotatedFor)).Should(Equal("1"))
			running.stop()
			time.Sleep(overlap)
			running = startManager(apiServer.Config)
		},
		"as soon as it is asked for": func() {
			running.stop()
			ask("1")
			running = startManager(apiServer.Config)
		},
	} {
		It("refuses no request though the manager ends "+name, func() {
			old := w.text("agent")
			calls := w.runAgents("agent", overlap-500*time.Millisecond, first, second)
			kill()
			Eventually(annotation(rotatedFor)).Should(Equal("1"))
			Eventually(func() bool { return first.lets(old) || second.lets(old) }).Should(BeFalse(), "the old text is retired")
			Expect(w.text("agent")).NotTo(Equal(old))
			expectReady(token)
			calls.expectNoneRefused()
		})
	}
})
