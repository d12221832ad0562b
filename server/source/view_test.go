package source

import (
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// newTestView is a view that has heard of a Config of one token part.
func newTestView(t *testing.T, now time.Time) *view {
	v := newView(base, usualPatience, (&Cluster{Namespace: "shop", ConfigSecret: base, ConfigKey: signer}).verify)
	v.main.hear(mainPart(t, 5, one), now)
	v.settle()
	v.tokens[0].hear(tokensPart(t, 0, 5, "a"), now)
	return v
}

func TestAPartThatIsRefusedClosesAfterTenSeconds(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	tokens := tokensSecret(0)
	for _, tc := range []struct {
		name string
		hear func(v *view)
		// until holds up to 9 seconds after, then from 10 seconds on.
		until, then string
	}{
		{"a main part that does not decode", func(v *view) { v.main.hear(broken(t, mainSecret, mainPart(t, 6, one)), start) },
			"5: 5, refused main 6", "closed, refused main 6 closed"},
		{"a main part of another's hand", func(v *view) { v.main.hear(forged(mainPart(t, 4, one)), start) },
			"5: 5, refused main 0", "closed, refused main 0 closed"},
		{"an older main part", func(v *view) { v.main.hear(broken(t, mainSecret, mainPart(t, 4, one)), start) },
			"5: 5, refused main 4", "closed, refused main 4 closed"},
		{"a token part that does not decode", func(v *view) { v.tokens[0].hear(broken(t, tokens, tokensPart(t, 0, 6)), start) },
			"5: 5, refused tokens-0 6", "5: -, refused tokens-0 6 closed"},
		{"a token part that was copied from elsewhere", func(v *view) { v.tokens[0].hear(tokensPart(t, 1, 6), start) },
			"5: 5, refused tokens-0 0", "5: -, refused tokens-0 0 closed"},
		{"another that is refused, too", func(v *view) {
			v.tokens[0].hear(broken(t, tokens, tokensPart(t, 0, 6)), start)
			v.tokens[0].hear(broken(t, tokens, tokensPart(t, 0, 7)), at(6))
		}, "5: 5, refused tokens-0 7", "5: -, refused tokens-0 7 closed"},
		{"a newer one after an older one", func(v *view) {
			v.tokens[0].hear(broken(t, tokens, tokensPart(t, 0, 4)), start)
			v.tokens[0].hear(broken(t, tokens, tokensPart(t, 0, 6)), at(3))
		}, "5: 5, refused tokens-0 6", "5: -, refused tokens-0 6 closed"},
		{"one that is good for a moment in between", func(v *view) {
			v.tokens[0].hear(broken(t, tokens, tokensPart(t, 0, 6)), at(-8))
			v.tokens[0].hear(tokensPart(t, 0, 5, "a"), at(-4))
			v.tokens[0].hear(broken(t, tokens, tokensPart(t, 0, 7)), start)
		}, "5: 5, refused tokens-0 7", "5: -, refused tokens-0 7 closed"},
		{"an older one of another's hand in a folder", func(v *view) { v.tokens[0].look(forged(tokensPart(t, 0, 4)), start) },
			"5: 5, refused tokens-0 0", "5: -, refused tokens-0 0 closed"},
		{"a closed part before one that is refused later", func(v *view) {
			v.main.hear(broken(t, mainSecret, mainPart(t, 6, one)), start)
			v.tokens[0].hear(broken(t, tokens, tokensPart(t, 0, 6)), at(5))
		}, "5: 5, refused tokens-0 6", "closed, refused main 6 closed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := newTestView(t, start)
			tc.hear(v)
			if got := describe(v.update(at(9))); got != tc.until {
				t.Errorf("after 9 s it is %q, want %q", got, tc.until)
			}
			if got := describe(v.update(at(10))); got != tc.then {
				t.Errorf("after 10 s it is %q, want %q", got, tc.then)
			}
			next, ok := v.nextChange(at(9))
			if closes := tc.until != tc.then; ok != closes || ok && !next.Equal(at(10)) {
				t.Errorf("the next closing is %v, %v", next, ok)
			}
			v.main.hear(mainPart(t, 7, one), at(40))
			v.tokens[0].hear(tokensPart(t, 0, 7, "a"), at(40))
			if got := describe(v.update(at(100))); got != "7: 7" {
				t.Errorf("after good ones it is %q", got)
			}
		})
	}
}

// A part whose tokens were dropped when it was applied has them again if it has to be applied anew.
func TestDroppedTokensComeBack(t *testing.T) {
	now := time.Now()
	v := newTestView(t, now)
	apply := func() Update {
		u := v.update(now)
		held := u
		held.TokenParts = nil
		for _, p := range u.TokenParts {
			if p != nil {
				c := *p
				p = &c
			}
			held.TokenParts = append(held.TokenParts, p)
		}
		v.appliedUpdate(u)
		return held
	}
	good := v.tokens[0].raw
	if u := apply(); len(u.TokenParts[0].Tokens) != 1 {
		t.Errorf("the first update has %v", u.TokenParts[0])
	}
	if u := apply(); u.TokenParts[0].Tokens != nil {
		t.Error("the tokens stay in memory")
	}
	v.main.hear(nil, now)
	apply()
	v.main.hear(mainPart(t, 6, one), now)
	if u := apply(); len(u.TokenParts[0].Tokens) != 1 {
		t.Error("the tokens are gone once the main part is back")
	}
	v.tokens[0].hear(broken(t, tokensSecret(0), tokensPart(t, 0, 7)), now)
	now = now.Add(usualPatience)
	apply()
	v.tokens[0].hear(good, now)
	if u := apply(); len(u.TokenParts[0].Tokens) != 1 {
		t.Error("the tokens are gone once the part is good again")
	}
	v.main.hear(mainPart(t, 8, contract.Layout{Parts: 4}), now)
	v.settle()
	if u := apply(); len(u.TokenParts) != 4 || len(u.TokenParts[0].Tokens) != 1 {
		t.Error("the tokens are gone once the layout is another")
	}
}

func TestLayoutThatIsAnsweredFrom(t *testing.T) {
	now := time.Now()
	for _, tc := range []struct {
		name          string
		parts, before int
		// there are the parts that exist, others that were heard to be missing.
		there []int
		want  int
	}{
		{"all of the new one", 4, 1, []int{0, 1, 2, 3}, 4},
		{"one is missing", 4, 1, []int{0, 1, 2}, 1},
		{"one is missing of both", 4, 1, []int{1, 2, 3}, 4},
		{"one is missing, and there is none before", 4, 0, []int{0, 1, 2}, 4},
		{"the one before is the first four", 16, 4, []int{0, 1, 2, 3, 15}, 4},
		{"the one before lacks one", 16, 4, []int{0, 1, 2, 15}, 16},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := newView(base, usualPatience, func(string, contract.Part) error { return nil })
			v.main.hear(mainPart(t, 5, contract.Layout{Parts: tc.parts, Before: tc.before}), now)
			v.settle()
			for _, i := range tc.there {
				v.tokens[i].hear(tokensPart(t, i, 5), now)
			}
			if got := len(v.update(now).TokenParts); got != tc.want {
				t.Errorf("it answers from %d parts, want %d", got, tc.want)
			}
		})
	}
}
