package rate_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/rate"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func take(l *rate.Limits, name string, perSecond float64, n int, now time.Time) time.Duration {
	wait, _ := l.Take(name, perSecond, n, now)
	return wait
}

func TestTheFirstRefusalOfARowIsToldApart(t *testing.T) {
	var limits rate.Limits
	for i, want := range []bool{false, true, false, false} {
		if _, first := limits.Take("a", 1, 1, start); first != want {
			t.Errorf("call %d: first is %t", i, first)
		}
	}
	limits.Take("a", 1, 1, start.Add(time.Second)) // goes through
	if _, first := limits.Take("a", 1, 1, start.Add(time.Second)); !first {
		t.Error("a refusal after a call that went through is not told")
	}
}

func TestBucketHoldsASecondAndFillsAgain(t *testing.T) {
	var limits rate.Limits
	for _, c := range []struct {
		name  string
		token string
		at    time.Duration
		n     int
		wait  time.Duration
	}{
		{"the first", "a", 0, 1, 0},
		{"as many as the second holds", "a", 0, 9, 0},
		{"one more", "a", 0, 1, 100 * time.Millisecond},
		{"two more", "a", 0, 2, 200 * time.Millisecond},
		{"another token", "b", 0, 10, 0},
		{"too early by a bit", "a", 99 * time.Millisecond, 1, time.Millisecond},
		{"in time", "a", 100 * time.Millisecond, 1, 0},
		{"a clock that goes back", "a", 50 * time.Millisecond, 1, 100 * time.Millisecond},
		{"after a long time it holds no more than a second", "a", time.Hour, 10, 0},
		{"which is all", "a", time.Hour, 1, 100 * time.Millisecond},
		{"more than it holds, when it is not full", "b", 500 * time.Millisecond, 100, 500 * time.Millisecond},
		{"more than it holds, when it is full", "b", time.Second, 100, 0},
		{"which is paid for afterwards", "b", 2 * time.Second, 1, 8*time.Second + 100*time.Millisecond},
		{"until it is paid", "b", 10*time.Second + 100*time.Millisecond, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := take(&limits, c.token, 10, c.n, start.Add(c.at)).Round(time.Microsecond); got != c.wait {
				t.Errorf("waits %s, want %s", got, c.wait)
			}
		})
	}
}

func TestWithoutARateNothingWaits(t *testing.T) {
	var limits rate.Limits
	for range 1000 {
		if wait := take(&limits, "a", 0, 1000, start); wait != 0 {
			t.Fatalf("waits %s", wait)
		}
	}
}

func TestAChangedRateCountsAtOnce(t *testing.T) {
	var limits rate.Limits
	take(&limits, "a", 100, 50, start)
	if wait := take(&limits, "a", 10, 10, start); wait != 0 {
		t.Errorf("what is left of a larger bucket: waits %s", wait)
	}
	if wait := take(&limits, "a", 10, 1, start); wait != 100*time.Millisecond {
		t.Errorf("the new bucket holds more than a second: waits %s", wait)
	}
	if wait := take(&limits, "a", 1000, 1, start.Add(time.Millisecond)); wait != 0 {
		t.Errorf("the new rate fills it: waits %s", wait)
	}
}

func TestTheWaitIsLongEnough(t *testing.T) {
	for _, perSecond := range []float64{0.25, 1, 3, 7, 1000} {
		var limits rate.Limits
		now := start
		take(&limits, "a", perSecond, max(int(perSecond), 1), now)
		for i := range 100 {
			wait := take(&limits, "a", perSecond, 1, now)
			if wait <= 0 {
				t.Fatalf("%v per second: call %d need not wait", perSecond, i)
			}
			now = now.Add(wait)
			if again := take(&limits, "a", perSecond, 1, now); again != 0 {
				t.Fatalf("%v per second: after a wait of %s, another of %s", perSecond, wait, again)
			}
		}
	}
}

// A pod's share of a rate may be less than one call in a period: then one goes through in several.
func TestAShareOfLessThanOneLetsOneThrough(t *testing.T) {
	var limits rate.Limits
	through := 0
	for tenth := range 1000 { // 100 s
		if take(&limits, "a", 0.2, 1, start.Add(time.Duration(tenth)*100*time.Millisecond)) == 0 {
			through++
		}
	}
	if through != 20 {
		t.Errorf("%d calls went through in 100 s at 0.2 a second", through)
	}
}

// Many names come and go: what is kept does not decide who must wait.
func TestManyNamesAreLetGoOfWithoutForgettingWhoMustWait(t *testing.T) {
	var limits rate.Limits
	take(&limits, "busy", 1, 1000, start)
	for i := range 5000 {
		take(&limits, fmt.Sprint(i), 1, 1, start.Add(time.Duration(i)*time.Millisecond))
	}
	if take(&limits, "busy", 1, 1, start.Add(5*time.Second)) == 0 {
		t.Error("a bucket that is not full was let go of")
	}
}

func TestCallersAtOnceGetNoMoreThanThereIs(t *testing.T) {
	var limits rate.Limits
	var callers sync.WaitGroup
	granted := make(chan struct{}, 1000)
	for range 10 {
		callers.Go(func() {
			for range 100 {
				if take(&limits, "a", 50, 1, start) == 0 {
					granted <- struct{}{}
				}
			}
		})
	}
	callers.Wait()
	if got := len(granted); got != 50 {
		t.Errorf("%d calls went through, want 50", got)
	}
}

func BenchmarkTake(b *testing.B) {
	var limits rate.Limits
	now := start
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(time.Millisecond)
		take(&limits, "a", 1000, 1, now)
	}
}
