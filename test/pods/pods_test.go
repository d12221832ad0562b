package main

import (
	"strings"
	"testing"
	"time"
)

func TestTheLastLineSumsUp(t *testing.T) {
	of := func(pods int, perSecond, spread float64, revoked time.Duration) *result {
		return &result{pods: pods, perSecond: perSecond, spread: spread, revoked: latencies{revoked}}
	}
	all := []*result{of(1, 1000.4, 1.01, 30*time.Millisecond), of(8, 2100, 0.96, 42*time.Millisecond)}
	if got, want := lastLine(all), "pods: 1, 8: 1000, 2100 requests/s, revoke p99 42 ms, rate off by 4%"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := table(all, nil, options{}); strings.Count(got, "\n| ") != 10 || !strings.Contains(got, "| 101%; 0% | 96%; 0% |") {
		t.Errorf("the table is\n%s", got)
	}
}

func TestNumbersOfPods(t *testing.T) {
	for text, good := range map[string]bool{"1": true, "1,2,8": true, "": false, "0": false, "51": false, "a": false} {
		if err := new(options).take(text); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
}
