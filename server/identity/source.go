package identity

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// The times at which an issuer's keys are read. Up to a fifth is taken off at random, so that pods do not ask all at once.
const (
	readEvery = 5 * time.Minute
	// retryEvery is for an issuer that did not answer, retryWithout for an issuer without known keys.
	retryEvery   = 30 * time.Second
	retryWithout = 10 * time.Second
	// askedEvery is how often keys are read at most because a token needs one that is not known, whatever tokens come.
	askedEvery = 30 * time.Second
)

// A keySource holds the newest keys of an issuer. One goroutine reads them, so that there is never more than one request.
type keySource struct {
	// name follows from all settings that say where the keys are.
	name  string
	read  func(context.Context) (document, error)
	store store
	log   *slog.Logger
	// replaced puts keys that were read in the place of those from before; looked is called after each attempt to read them.
	replaced func(*keySource, *keySet)
	looked   func(context.Context, *keySource)

	known atomic.Pointer[keySet]
	wake  chan struct{}

	mutex sync.Mutex
	// began is when the newest attempt began, done is closed when the present or next one ends.
	began time.Time
	done  chan struct{}
	// pending reports whether an attempt is being made, or was asked for.
	pending bool
	// seen reports whether an attempt has ended; problem is the result of the newest one.
	seen    bool
	problem *problem
}

func (s *keySource) init() *keySource {
	s.wake, s.done = make(chan struct{}, 1), make(chan struct{})
	s.known.Store(s.store.load(s.name))
	return s
}

// run reads the keys until ctx ends.
func (s *keySource) run(ctx context.Context) {
	for {
		s.refresh(ctx)
		timer := time.NewTimer(s.pause())
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-s.wake:
			timer.Stop()
		case <-timer.C:
		}
	}
}

func (s *keySource) pause() time.Duration {
	pause := readEvery
	if _, problem := s.state(); problem != nil {
		pause = retryEvery
		if s.known.Load() == nil {
			pause = retryWithout
		}
	}
	return pause - rand.N(pause/5)
}

// refresh reads the keys once. If they cannot be read, those from before stay.
func (s *keySource) refresh(ctx context.Context) {
	s.begin()
	known, err := s.readKeys(ctx)
	if ctx.Err() != nil {
		return
	}
	if err == nil {
		s.replaced(s, known)
		s.store.save(s.name, known.document)
	}
	s.ended(err)
	s.looked(ctx, s)
}

// begin notes that an attempt begins, and that somebody asked for it.
func (s *keySource) begin() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.began, s.pending = time.Now(), true
	select {
	case <-s.wake:
	default:
	}
}

func (s *keySource) readKeys(ctx context.Context) (*keySet, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	read, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	known, err := newKeySet(read)
	if err != nil {
		return nil, unreachable("The keys of %s are %s", read.Issuer, err)
	}
	return known, nil
}

// ended notes the result of an attempt, and wakes everybody who waits for it.
func (s *keySource) ended(err error) {
	var now *problem
	if err != nil && !errors.As(err, &now) {
		now = unreachable("%s", err)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	switch {
	case now != nil && (s.problem == nil || *s.problem != *now):
		s.log.Warn("Keys that tokens are checked by cannot be read; those that are known stay", "reason", now.reason, "error", now.message)
	case now == nil && s.problem != nil:
		s.log.Info("Keys that tokens are checked by can be read again", "issuer", s.known.Load().document.Issuer)
	}
	s.seen, s.problem, s.pending = true, now, false
	close(s.done)
	s.done = make(chan struct{})
}

// state returns whether an attempt to read the keys has ended, and what is wrong since the newest.
func (s *keySource) state() (seen bool, _ *problem) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.seen, s.problem
}

// ask has the keys read again, because a token needs one that is not known. It returns what to wait for; nil if they were read
// a moment ago.
func (s *keySource) ask(now time.Time) <-chan struct{} {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if !s.pending {
		if now.Sub(s.began) < askedEvery {
			return nil
		}
		s.pending = true
		s.again()
	}
	return s.done
}

// again has the keys read at once.
func (s *keySource) again() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// withdraws reports whether a key set takes back what tokens were accepted by under another one.
func (s *keySet) withdraws(before *keySet, sum [32]byte) bool {
	return !s.has(sum) || s.document.Issuer != before.document.Issuer ||
		!slices.Equal(s.document.Algorithms, before.document.Algorithms)
}
