package webhook

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

// Pauses are those before the second and each further attempt of a Sender: about ten minutes in all.
var Pauses = []time.Duration{time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 6 * time.Minute}

// The bounds of what waits for one URL, and of what is on its way to it at once.
const (
	maxWaiting = 500
	maxAtOnce  = 4
)

// errFull is why something is not sent at all.
var errFull = &Error{Message: "is too slow: too much waits to be sent to it"}

// Sender sends what may come twice, and goes on trying for some minutes. Nobody waits for it. It is safe for concurrent use.
type Sender struct {
	client *Client
	pauses []time.Duration
	// tell is called after each attempt: with nil if it succeeded. last reports whether there is no further one.
	tell func(name string, err error, last bool)

	ctx     context.Context
	end     context.CancelFunc
	running sync.WaitGroup
	mu      sync.Mutex
	targets map[string]*target // by URL
}

// target is a URL to which something waits to be sent.
type target struct {
	waiting int
	places  chan struct{}
}

// NewSender returns a Sender. tell must not block.
func NewSender(client *Client, pauses []time.Duration, tell func(name string, err error, last bool)) *Sender {
	s := &Sender{client: client, pauses: pauses, tell: tell, targets: map[string]*target{}}
	s.ctx, s.end = context.WithCancel(context.Background())
	return s
}

// Send sends a request, and returns at once. name is for tell.
func (s *Sender) Send(name string, r *Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return
	}
	to := s.targets[r.URL]
	if to == nil {
		to = &target{places: make(chan struct{}, maxAtOnce)}
		s.targets[r.URL] = to
	}
	if to.waiting >= maxWaiting {
		s.tell(name, errFull, true)
		return
	}
	to.waiting++
	s.running.Go(func() {
		s.try(name, to, r)
		s.mu.Lock()
		defer s.mu.Unlock()
		if to.waiting--; to.waiting == 0 {
			delete(s.targets, r.URL)
		}
	})
}

// try sends a request until it arrives, or no further attempt is worth it.
func (s *Sender) try(name string, to *target, r *Request) {
	for attempt := 0; ; attempt++ {
		select {
		case to.places <- struct{}{}:
		case <-s.ctx.Done():
			return
		}
		_, err := s.client.Post(s.ctx, r)
		<-to.places
		if s.ctx.Err() != nil && err != nil {
			return
		}
		last := err == nil || attempt == len(s.pauses) || !mayPass(err)
		if s.tell(name, err, last); last {
			return
		}
		pause := time.NewTimer(s.pauses[attempt])
		select {
		case <-pause.C:
		case <-s.ctx.Done():
			pause.Stop()
			return
		}
	}
}

// mayPass reports whether the same request may succeed later.
func mayPass(err error) bool {
	var failure *Error
	if !errors.As(err, &failure) {
		return false
	}
	switch failure.Status {
	case 0, http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return failure.Status >= 500
}

// Close gives up what is not sent yet.
func (s *Sender) Close() {
	s.mu.Lock()
	s.end()
	s.mu.Unlock()
	s.running.Wait()
}
