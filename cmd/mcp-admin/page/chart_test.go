package page

import (
	"fmt"
	"strings"
	"testing"
	"time"

	lines "github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/tail"
)

func TestChartsOfCalls(t *testing.T) {
	now := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	made := func(ago time.Duration, outcome string, seconds float64) lines.Call {
		c := lines.Call{At: now.Add(-ago)}
		if c.Outcome = outcome; seconds > 0 {
			c.Seconds = &seconds
		}
		return c
	}
	if got := charts(nil, time.Time{}, now); got != nil {
		t.Errorf("of nothing: %v", got)
	}
	many := []lines.Call{made(0, "ok", 0.001), made(time.Second, "ok", 0.004), made(2*time.Second, "not_found", 0), made(90*time.Minute, "ok", 2)}
	for _, row := range []struct {
		calls  []lines.Call
		from   time.Time
		charts int
		want   string
	}{
		{many, time.Time{}, 2, "4 calls, 1 refused or failed 08:30:00 10:05:00 at most 2 in 5 minutes"},
		{many[:3], now.Add(-time.Hour), 2, "3 calls, 1 refused or failed 09:00:00 10:05:00 at most 2 in 5 minutes"},
		{many[2:3], time.Time{}, 1, "1 call, 1 refused or failed 09:59:58 10:00:10 at most 1 in 1 second"},
		{[]lines.Call{made(0, "ok", 1), made(9*365*24*time.Hour, "ok", 1)}, time.Time{}, 2, "2 calls, 0 refused or failed"},
	} {
		got := charts(row.calls, row.from, now)
		if len(got) != row.charts {
			t.Fatalf("%d charts, want %d", len(got), row.charts)
		}
		said := fmt.Sprint(got[0].Said, " ", got[0].First, " ", got[0].Last, " ", got[0].Most)
		if !strings.HasPrefix(said, row.want) {
			t.Errorf("got  %s\nwant %s", said, row.want)
		}
		for _, c := range got {
			if len(c.Bars) == 0 || len(c.Bars) > 3*mostBars {
				t.Errorf("%s has %d bars", c.Title, len(c.Bars))
			}
			for _, b := range c.Bars {
				if b.X < 0 || b.X+b.Wide > chartWide || b.Y < 0 || b.Y+b.High > chartHigh || b.High <= 0 {
					t.Errorf("%s: %+v is outside", c.Title, b)
				}
			}
		}
	}
	if got := charts(many, time.Time{}, now); got[1].Said != "median 4.0 ms, longest 2.0 s, of 3 calls" {
		t.Error(got[1].Said)
	}
}
