package v1alpha1

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestWhenATokenWarnsThatItExpires(t *testing.T) {
	made := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const day = 24 * time.Hour
	of := func(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }
	for name, c := range map[string]struct {
		expiry, ttl time.Duration
		warning     *metav1.Duration
		want        time.Duration // after the creation; 0 is never
	}{
		"never expires":             {0, 0, nil, 0},
		"lives a month":             {0, 30 * day, nil, 0},
		"lives longer than a month": {0, 30*day + time.Hour, nil, 23*day + time.Hour},
		"expires in a year":         {365 * day, 0, nil, 358 * day},
		"expires tomorrow":          {day, 0, nil, 0},
		"says how long before":      {0, 2 * time.Hour, of(time.Hour), time.Hour},
		"says that it does not":     {0, 365 * day, of(0), 0},
	} {
		token := &MCPToken{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(made)}, Spec: MCPTokenSpec{ExpiryWarning: c.warning}}
		if c.ttl > 0 {
			token.Spec.TTL = of(c.ttl)
		}
		if c.expiry > 0 {
			token.Spec.Expiry = &metav1.Time{Time: made.Add(c.expiry)}
		}
		at := token.WarnsAt()
		if got := at != nil; got != (c.want > 0) || got && !at.Equal(made.Add(c.want)) {
			t.Errorf("a token that %s warns at %v, want %v after its creation", name, at, c.want)
		}
	}
}
