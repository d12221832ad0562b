package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Why something is dropped: too much waits for the collector, or it did not take it.
const (
	DroppedFull   = "queue_full"
	DroppedFailed = "export_failed"
)

// endPatience is how long the last of what waits may take on its way to the collector.
const endPatience = 5 * time.Second

// Sink is what sends to a collector, and may be changed while it is used. The zero Sink is off.
type Sink[T any] struct {
	active   atomic.Pointer[T]
	mu       sync.Mutex
	settings *Settings
	ending   sync.WaitGroup
}

// Active returns nil if the sink is off.
func (s *Sink[T]) Active() *T { return s.active.Load() }

// Configure changes the settings; nil turns the sink off. Open returns what sends by new settings, or nil; end, which has
// endPatience, sends what waits in the one before.
func (s *Sink[T]) Configure(settings *Settings, open func(*Settings) *T, end func(context.Context, *T)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if reflect.DeepEqual(settings, s.settings) {
		return
	}
	s.settings = settings
	var next *T
	if settings != nil {
		next = open(settings)
	}
	if old := s.active.Swap(next); old != nil {
		s.ending.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), endPatience)
			defer cancel()
			end(ctx, old)
		})
	}
}

// Wait returns when what was in use before has ended.
func (s *Sink[T]) Wait() { s.ending.Wait() }

// Failures counts what a collector does not take, and tells of it in the log once a minute.
type Failures struct {
	log      *slog.Logger
	settings *Settings
	dropped  func(reason string, n int)
	// message is the line; things names what is counted.
	message, things string
	told            atomic.Int64
}

// NewFailures returns a counter that has seen none.
func NewFailures(log *slog.Logger, settings *Settings, dropped func(reason string, n int), message, things string) *Failures {
	return &Failures{log: log, settings: settings, dropped: dropped, message: message, things: things}
}

// Note counts n things that the collector did not take.
func (f *Failures) Note(n int, err error) {
	f.dropped(DroppedFailed, n)
	now, last := time.Now().Unix(), f.told.Load()
	if now >= last+60 && f.told.CompareAndSwap(last, now) {
		f.log.Warn(f.message, f.things, n, "error", f.settings.Problem(err))
	}
}

// maxProblem is the most bytes of an error in the log.
const maxProblem = 300

// Problem is the text of an error of the collector, without the headers' values, which the collector may repeat.
func (s *Settings) Problem(err error) string {
	text := fmt.Sprint(err)
	for _, secret := range s.Headers {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "…")
		}
	}
	return strings.ToValidUTF8(text[:min(len(text), maxProblem)], "")
}
