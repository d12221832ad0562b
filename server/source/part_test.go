package source

import (
	"slices"
	"testing"
	"time"
)

func TestAPartFromBeforeARevocationIsRefused(t *testing.T) {
	t.Parallel()
	api, stored := newFakeAPI(t), t.TempDir()
	api.putWhole(t, 5, "a", "b")
	before, beforeMain := tokensPart(t, 0, 5, "a", "b"), mainPart(t, 5, one)
	r := start(t, &Cluster{API: api.config(), StateDir: stored, patience: time.Minute})
	r.next("5: 5")
	api.put(tokensSecret(0), tokensPart(t, 0, 7, "b"))
	r.next("5: 7")
	for _, tc := range []struct {
		name string
		put  func()
		// says is the pod's report then, known who is let in.
		says  string
		known []string
	}{
		{"written over", func() { api.put(tokensSecret(0), before) }, "5: 7, refused tokens-0 5", []string{"b"}},
		{"made anew", func() { api.remove(tokensSecret(0)); api.put(tokensSecret(0), before) }, "5: -, refused tokens-0 5", nil},
	} {
		tc.put()
		r.reaches(tc.says)
		if r.last.Refused.Highest != 7 {
			t.Errorf("%s: the manager is told of revision %d", tc.name, r.last.Refused.Highest)
		}
		if got := r.known("a", "b"); !slices.Equal(got, tc.known) {
			t.Errorf("%s: known are %q", tc.name, got)
		}
		api.put(tokensSecret(0), tokensPart(t, 0, 7, "b"))
		r.reaches("5: 7")
	}
	r.stop()
	api.put(tokensSecret(0), before)
	r = start(t, &Cluster{API: api.config(), StateDir: stored, patience: time.Minute})
	r.reaches("5: 7, refused tokens-0 5") // the container was started again
	api.put(tokensSecret(0), tokensPart(t, 0, 8, "b"))
	r.reaches("5: 8")
	api.put(mainSecret, mainPart(t, 9, one))
	r.reaches("9: 8")
	api.put(mainSecret, beforeMain)
	r.reaches("9: 8, refused main 5")
	if r.last.Refused.Highest != 9 {
		t.Errorf("the manager is told of revision %d", r.last.Refused.Highest)
	}
}

// A manager that finds no main part makes one with keys of its own, and cannot ask the pods which revision they had.
func TestAMainPartThatWasDeletedMayHaveAnyRevision(t *testing.T) {
	now := time.Now()
	v := newTestView(t, now)
	v.main.hear(nil, now)
	v.main.hear(mainPart(t, 2, one), now)
	if got := describe(v.update(now)); got != "2: 5" {
		t.Errorf("got %q, want %q", got, "2: 5")
	}
	v.tokens[0].hear(nil, now)
	v.tokens[0].hear(tokensPart(t, 0, 3, "a"), now)
	if got := describe(v.update(now)); got != "2: -, refused tokens-0 3" {
		t.Errorf("got %q, want %q", got, "2: -, refused tokens-0 3")
	}
	if highest := v.update(now).Refused.Highest; highest != 5 {
		t.Errorf("the manager is told of revision %d", highest)
	}
}
