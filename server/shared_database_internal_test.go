package server

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/share"
)

// slowDatabase takes its time for each call, and knows how many it has at once.
type slowDatabase struct {
	database.DB
	takes     time.Duration
	writers   int
	now, most atomic.Int64
}

func (s *slowDatabase) Writers() int { return s.writers }

func (s *slowDatabase) work() {
	now := s.now.Add(1)
	for most := s.most.Load(); now > most && !s.most.CompareAndSwap(most, now); most = s.most.Load() {
	}
	time.Sleep(s.takes)
	s.now.Add(-1)
}

func (s *slowDatabase) Select(_ context.Context, _ *database.Select, out []byte) ([]byte, database.Page, error) {
	s.work()
	return out, database.Page{}, nil
}

func (s *slowDatabase) Transact(context.Context, func(database.Tx) error) error {
	s.work()
	return nil
}

func TestSlowCallsOfOneTokenLeaveConnectionsToOthers(t *testing.T) {
	for _, c := range []struct {
		name    string
		writers int
		call    func(context.Context, *sharedDatabase) error
		most    int64
		// patience is how long another token's call may take in all.
		patience time.Duration
	}{
		{"reads", 8, func(ctx context.Context, s *sharedDatabase) error {
			_, _, err := s.Select(ctx, nil, nil)
			return err
		}, 8, 300 * time.Millisecond},
		{"transactions of one writer", 1, func(ctx context.Context, s *sharedDatabase) error { return s.Transact(ctx, nil) }, 1, 550 * time.Millisecond},
	} {
		t.Run(c.name, inABubble(func(t *testing.T) {
			slow := &slowDatabase{takes: 150 * time.Millisecond, writers: c.writers}
			s := newSharedDatabase(slow, 8, nil, nil)
			ctx, cancel := context.WithCancel(share.WithName(context.Background(), "shop/greedy"))
			var calls sync.WaitGroup
			defer calls.Wait()
			defer cancel()
			for range 40 {
				calls.Go(func() {
					for ctx.Err() == nil {
						_ = c.call(ctx, s)
					}
				})
			}
			time.Sleep(50 * time.Millisecond)
			modest := share.WithName(context.Background(), "shop/modest")
			for range 5 {
				began := time.Now()
				if err := c.call(modest, s); err != nil {
					t.Fatalf("another token's call failed: %v", err)
				}
				if took := time.Since(began); took > c.patience {
					t.Errorf("another token's call took %s", took)
				}
			}
			if most := slow.most.Load(); most > c.most {
				t.Errorf("%d calls at once", most)
			}
		}))
	}
}

// inABubble runs a test by a clock of its own, which moves on once everything that the test started waits.
func inABubble(test func(*testing.T)) func(*testing.T) {
	return func(t *testing.T) { synctest.Test(t, test) }
}

func TestWhatIsDoneOnNobodysBehalfDoesNotStandInLine(t *testing.T) {
	slow := &slowDatabase{writers: 1}
	s := newSharedDatabase(slow, 1, nil, nil)
	if !s.calls.Try("shop/greedy", 1) {
		t.Fatal("not free")
	}
	if _, _, err := s.Select(context.Background(), nil, nil); err != nil {
		t.Error(err)
	}
}
