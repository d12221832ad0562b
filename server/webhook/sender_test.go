package webhook_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/webhook"
)

// attempts are what a Sender tells of its attempts.
type attempts struct {
	mu   sync.Mutex
	seen []string
	last chan string
}

func newSender(t *testing.T, pauses ...time.Duration) (*webhook.Sender, *attempts) {
	a := &attempts{last: make(chan string, 1000)}
	s := webhook.NewSender(client(), pauses, func(name string, err error, last bool) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.seen = append(a.seen, fmt.Sprint(name, ": ", err))
		if last {
			a.last <- name
		}
	})
	t.Cleanup(s.Close)
	return s, a
}

func TestASenderGoesOnTryingWhileThatMayHelp(t *testing.T) {
	for name, c := range map[string]struct {
		answers []int
		want    []string
	}{
		"at once":             {[]int{204}, []string{"x: <nil>"}},
		"a service that errs": {[]int{503, 429, 200}, []string{"x: answered 503", "x: answered 429", "x: <nil>"}},
		"one that refuses":    {[]int{404}, []string{"x: answered 404"}},
		"a redirect":          {[]int{307}, []string{"x: answered 307"}},
		"one that never does": {[]int{500, 500, 500, 500}, []string{"x: answered 500", "x: answered 500", "x: answered 500"}},
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int64
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if got := r.Header.Get("Content-Type"); got != "application/cloudevents+json" {
					t.Errorf("the content is %s", got)
				}
				w.WriteHeader(c.answers[calls.Add(1)-1])
			})
			s, a := newSender(t, time.Millisecond, time.Millisecond)
			s.Send("x", &webhook.Request{URL: url, Body: []byte("{}"), ContentType: "application/cloudevents+json"})
			<-a.last
			if !slices.Equal(a.seen, c.want) {
				t.Errorf("%q, want %q", a.seen, c.want)
			}
		})
	}
}

// One receiver that hangs keeps nothing from another, and what waits for it is bounded.
func TestASenderWaitsForNobody(t *testing.T) {
	hang := make(chan struct{})
	slow := serve(t, func(http.ResponseWriter, *http.Request) { <-hang })
	quick := serve(t, func(http.ResponseWriter, *http.Request) {})
	s, a := newSender(t)
	for range 501 {
		s.Send("slow", &webhook.Request{URL: slow, Timeout: time.Minute})
	}
	if name := <-a.last; name != "slow" || !slices.Equal(a.seen, []string{"slow: is too slow: too much waits to be sent to it"}) {
		t.Errorf("%s: %q", name, a.seen)
	}
	s.Send("quick", &webhook.Request{URL: quick})
	if name := <-a.last; name != "quick" {
		t.Errorf("%s came first", name)
	}
	close(hang)
	for range 500 {
		<-a.last
	}
}

func TestASenderThatIsClosedGivesUp(t *testing.T) {
	s, a := newSender(t, time.Hour)
	s.Send("x", &webhook.Request{URL: "http://service.invalid/"})
	s.Close()
	s.Send("y", &webhook.Request{URL: "http://service.invalid/"})
	if len(a.last) != 0 {
		t.Errorf("%q", a.seen)
	}
}
