package access

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

func TestATokensUseIsToldOnceAnHour(t *testing.T) {
	now := time.Date(2026, 11, 22, 5, 10, 0, 0, time.UTC)
	u := NewUsage(now)
	u.Touch("shop/a", now)
	u.Touch("shop/a", now.Add(time.Minute))
	u.Touch("shop/b", now)
	first := u.After(0, now)
	if len(first.Tokens) != 2 || !first.Tokens["shop/a"].Equal(now.Truncate(time.Hour)) {
		t.Errorf("first: %+v", first)
	}
	u.Touch("shop/a", now.Add(49*time.Minute))
	if again := u.After(first.Cursor, now); len(again.Tokens) != 0 || again.Cursor != first.Cursor {
		t.Errorf("within the hour: %+v", again)
	}
	later := now.Add(time.Hour)
	u.Touch("shop/a", later)
	next := u.After(first.Cursor, later)
	if len(next.Tokens) != 1 || !next.Tokens["shop/a"].Equal(later.Truncate(time.Hour)) {
		t.Errorf("the next hour: %+v", next)
	}
	if all := u.After(0, later); len(all.Tokens) != 2 {
		t.Errorf("from the beginning: %+v", all)
	}
	if restarted := NewUsage(later).After(next.Cursor, later); restarted.Cursor <= next.Cursor {
		t.Errorf("after a restart the cursor is %d, before %d", restarted.Cursor, next.Cursor)
	}
	u.After(next.Cursor, now.Add(48*time.Hour))
	if len(u.uses) != 0 {
		t.Errorf("%d tokens are still remembered after two days", len(u.uses))
	}
}

func TestManyUsesAreToldInPieces(t *testing.T) {
	now := time.Date(2026, 11, 22, 5, 10, 0, 0, time.UTC)
	u := NewUsage(now)
	for i := range 2*contract.MaxUsedTokens + 1 {
		u.Touch(fmt.Sprint("shop/", i), now)
	}
	told, cursor := map[string]bool{}, int64(0)
	for range 3 {
		answer := u.After(cursor, now)
		cursor = answer.Cursor
		for token := range answer.Tokens {
			told[token] = true
		}
	}
	if len(told) != 2*contract.MaxUsedTokens+1 || len(u.After(cursor, now).Tokens) != 0 {
		t.Errorf("%d tokens were told", len(told))
	}
}

func TestAUseCostsNoMemory(t *testing.T) {
	now := time.Date(2026, 11, 22, 5, 10, 0, 0, time.UTC)
	u := NewUsage(now)
	u.Touch("shop/a", now)
	if n := testing.AllocsPerRun(1000, func() { u.Touch("shop/a", now) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 1000 {
				u.Touch(fmt.Sprint("shop/", j%10), now.Add(time.Duration(i)*time.Hour))
				u.After(int64(j), now)
			}
		})
	}
	all.Wait()
}

func BenchmarkTouch(b *testing.B) {
	now := time.Now()
	u := NewUsage(now)
	u.Touch("shop/a", now)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			u.Touch("shop/a", now)
		}
	})
}

func TestUsesThatWereRefusedAreTold(t *testing.T) {
	now := time.Date(2026, 11, 22, 5, 10, 0, 0, time.UTC)
	u := NewUsage(now)
	expired, inactive := Cause{Token: "shop/a", Reason: Expired, Condition: "Expired"}, Cause{Token: "shop/a", Reason: Inactive, Condition: "Inactive"}
	u.Refuse(Cause{Token: "shop/b", Reason: OtherText}, "10.1.2.4", now)
	u.Refuse(inactive, "10.1.2.4", now)
	u.Refuse(expired, "10.1.2.4", now)
	u.Refuse(expired, "10.1.2.3", now.Add(time.Minute))
	want := contract.RefusedUse{Reason: "Expired", Count: 2, Last: now.Add(time.Minute), From: "10.1.2.3"}
	for range 2 { // whatever the cursor
		if got := u.After(u.After(0, now).Cursor, now); len(got.Refused) != 1 || got.Refused["shop/a"] != want {
			t.Errorf("%+v, want %+v", got.Refused, want)
		}
	}
	u.Touch("shop/a", now)
	if got := u.After(0, now); got.Refused != nil {
		t.Errorf("the token is in force again, and it is still told: %+v", got.Refused)
	}
	for i := range contract.MaxRefusedUses + 1 {
		u.Refuse(Cause{Token: fmt.Sprint("shop/", i), Reason: Expired, Condition: "Expired"}, "", now.Add(time.Duration(i)))
	}
	if got := u.After(0, now).Refused; len(got) != contract.MaxRefusedUses || got["shop/0"].Count != 0 || got["shop/1000"].Count != 1 {
		t.Errorf("%d are told, the oldest: %v", len(got), got["shop/0"])
	}
	if u.After(0, now.Add(25*time.Hour)); len(u.refused) != 0 {
		t.Errorf("%d are still remembered after a day", len(u.refused))
	}
}
