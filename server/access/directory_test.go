package access

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
)

// partsOf are tokens in that many parts, each of a revision.
func partsOf(count int, revision int64, tokens []contract.Token) []*contract.TokenPart {
	parts := make([]*contract.TokenPart, count)
	for i := range parts {
		parts[i] = &contract.TokenPart{Version: contract.Version, Revision: revision, Index: i}
	}
	for _, t := range tokens {
		p := parts[contract.PartOf(t.Namespace, t.Name, count)]
		p.Tokens = append(p.Tokens, t)
	}
	return parts
}

// manyTokens are tokens as a large endpoint has them: in one of ten groups, with an attribute of their own.
func manyTokens(count int) []contract.Token {
	tokens := make([]contract.Token, count)
	for i := range tokens {
		tokens[i] = contract.Token{
			Revision: 1, Namespace: "agents", Name: fmt.Sprintf("agent-%05d", i), UID: fmt.Sprintf("01234567-89ab-cdef-0123-%012d", i),
			PublicID: fmt.Sprintf("%016d", i), Hashes: []string{contract.HashToken(textOf(i))},
			Groups: []string{fmt.Sprintf("group-%d", i%10)}, Attributes: map[string]string{"customer": fmt.Sprint("c", i)},
		}
	}
	return tokens
}

func textOf(i int) string { return fmt.Sprintf("mcp_0123456789abcdef.%043d", i) }

// TestAnyOrderOfPartsGivesWhatTheNewestPartsSay applies random changes of parts one after the other, and holds each
// directory against one that is made of the present parts alone, and against the parts themselves.
func TestAnyOrderOfPartsGivesWhatTheNewestPartsSay(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	models := catalog.Build(&contract.Config{}, nil)
	const texts = 40
	randomPart := func(index, parts int) *contract.TokenPart {
		if r.IntN(6) == 0 {
			return nil
		}
		p := &contract.TokenPart{Revision: r.Int64N(100), Index: index}
		for name := range 30 { // some of them belong into other parts
			if r.IntN(3) > 0 {
				continue
			}
			token := contract.Token{Namespace: "ns", Name: fmt.Sprint(name), Groups: []string{fmt.Sprint("g", r.IntN(3))}}
			for range r.IntN(3) {
				if h := contract.HashToken(textOf(r.IntN(texts))); !slices.ContainsFunc(p.Tokens, func(o contract.Token) bool { return slices.Contains(o.Hashes, h) }) && !slices.Contains(token.Hashes, h) {
					token.Hashes = append(token.Hashes, h)
				}
			}
			p.Tokens = append(p.Tokens, token)
		}
		return p
	}
	found := 0
	for range 8 {
		d := NewDirectory()
		var parts []*contract.TokenPart
		for range 60 {
			if len(parts) == 0 || r.IntN(15) == 0 {
				parts = make([]*contract.TokenPart, []int{1, 4, 16}[r.IntN(3)])
				for i := range parts {
					parts[i] = randomPart(i, len(parts))
				}
			} else {
				parts = slices.Clone(parts)
				for range 1 + r.IntN(3) {
					i := r.IntN(len(parts))
					parts[i] = randomPart(i, len(parts))
				}
			}
			d = d.With(parts)
			now, scratch := NewTokens(&contract.Config{}, d, models), NewTokens(&contract.Config{}, NewDirectory().With(parts), models)
			for i := range texts {
				got, want := now.Authenticate("Bearer "+textOf(i), time.Time{}), scratch.Authenticate("Bearer "+textOf(i), time.Time{})
				if oracle := holderIn(parts, textOf(i)); nameOf(got) != nameOf(want) || nameOf(got) != oracle {
					t.Fatalf("token %d is %q, from scratch %q, and the parts say %q", i, nameOf(got), nameOf(want), oracle)
				}
				if !got.IsNobody() {
					found++
				}
			}
			missing := 0
			for _, p := range parts {
				if p == nil {
					missing++
				}
			}
			if d.Missing() != missing || now.Incomplete() != (missing > 0) || d.Len() != NewDirectory().With(parts).Len() {
				t.Fatalf("%d parts are missing, want %d", d.Missing(), missing)
			}
		}
	}
	if found == 0 {
		t.Fatal("no token was ever found: the cases are too poor")
	}
}

func nameOf(t Token) string {
	if t.IsNobody() {
		return ""
	}
	return t.Name()
}

// holderIn reads the parts word by word: the first part in which a token of its own has the text's hash.
func holderIn(parts []*contract.TokenPart, text string) string {
	for i, p := range parts {
		if p == nil {
			continue
		}
		for _, t := range p.Tokens {
			if slices.Contains(t.Hashes, contract.HashToken(text)) && contract.PartOf(t.Namespace, t.Name, len(parts)) == i {
				return t.Namespace + "/" + t.Name
			}
		}
	}
	return ""
}

func TestATokenThatThisServerDoesNotUnderstandIsRefused(t *testing.T) {
	entry := contract.Token{Namespace: "ns", Name: "t", Hashes: []string{contract.HashToken(text)}, Requires: []string{"what-nobody-understands"}}
	if all, _ := tokens(entry); !all.Authenticate("Bearer "+text, time.Now()).IsNobody() {
		t.Error("it is let in")
	}
}

func TestRulesOfGroupsHold(t *testing.T) {
	entry := contract.Token{Namespace: "ns", Name: "t", Hashes: []string{contract.HashToken(text)}, Groups: []string{"readers", "unknown"},
		Rules: []contract.Rule{{Models: []string{"b"}, Verbs: []string{"add"}}}}
	_, models := tokens(entry)
	d := DirectoryOf(&contract.Config{Tokens: []contract.Token{entry}})
	verbs := func(groups ...contract.Group) (verbs []Verbs) {
		token := NewTokens(&contract.Config{Groups: groups}, d, models).Authenticate("Bearer "+text, time.Now())
		for _, m := range models.Models() {
			verbs = append(verbs, token.Verbs(m))
		}
		return verbs
	}
	readers := func(model string) contract.Group {
		return contract.Group{Name: "readers", Rules: []contract.Rule{{Models: []string{model}, Verbs: []string{"view"}}}}
	}
	for _, tc := range []struct {
		got, want []Verbs
	}{
		{verbs(), []Verbs{0, Add, 0}},
		{verbs(readers("a")), []Verbs{View, Add, 0}},
		{verbs(readers("*"), contract.Group{Name: "others", Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"*"}}}}), []Verbs{View, View | Add, View}},
		{verbs(readers("b")), []Verbs{0, View | Add, 0}}, // the same tokens under changed groups
	} {
		if !slices.Equal(tc.got, tc.want) {
			t.Errorf("the verbs are %v, want %v", tc.got, tc.want)
		}
	}
}

func TestRuleSetsThatNoTokenHasAreForgotten(t *testing.T) {
	d := NewDirectory()
	for i := range 20 * minSweep {
		rules := []contract.Rule{{Models: []string{fmt.Sprint("m", i)}}}
		d = d.With([]*contract.TokenPart{{Tokens: []contract.Token{{Namespace: "ns", Name: "t", Hashes: []string{contract.HashToken(text)}, Rules: rules}}}})
		if i%minSweep == 0 {
			runtime.GC()
		}
	}
	if n := len(d.sets.byKey); n > 4*minSweep {
		t.Errorf("%d rule sets are kept for one token", n)
	}
}

func TestMemoryOfATokenIsBounded(t *testing.T) {
	const count = 50_000
	heap := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	d := NewDirectory()
	parts := decoded(t, partsOf(contract.PartsFor(count), 1, manyTokens(count)))
	d = d.With(parts)
	for _, p := range parts {
		p.Tokens = nil // as the source does
	}
	each := (heap() - before) / count
	t.Logf("%d bytes a token", each)
	if each > 400 || d.Len() != count {
		t.Errorf("%d tokens take %d bytes each", d.Len(), each)
	}
	runtime.KeepAlive(d)
}

// decoded are parts as they come: encoded and decoded.
func decoded(t testing.TB, parts []*contract.TokenPart) []*contract.TokenPart {
	t.Helper()
	read := make([]*contract.TokenPart, len(parts))
	for i, p := range parts {
		encoded, err := contract.EncodeTokens(p)
		if err == nil {
			read[i], err = contract.DecodeTokens(encoded, i)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return read
}

// BenchmarkChangedPart applies one changed part of a large endpoint.
func BenchmarkChangedPart(b *testing.B) {
	for _, count := range []int{10_000, 50_000} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			parts := partsOf(contract.PartsFor(count), 1, manyTokens(count))
			d := NewDirectory().With(parts)
			other := slices.Clone(parts)
			changed := *parts[3]
			changed.Tokens = changed.Tokens[1:]
			other[3] = &changed
			b.ReportMetric(float64(len(parts[3].Tokens)), "tokens/part")
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if i%2 == 0 {
					d = d.With(other)
				} else {
					d = d.With(parts)
				}
			}
		})
	}
}

// BenchmarkDecodePart reads one part of two hundred tokens, as it comes.
func BenchmarkDecodePart(b *testing.B) {
	encoded, err := contract.EncodeTokens(&contract.TokenPart{Version: contract.Version, Revision: 1, Tokens: manyTokens(200)})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := contract.DecodeTokens(encoded, 0); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAuthenticateOfMany(b *testing.B) {
	const count = 50_000
	d := NewDirectory().With(partsOf(contract.PartsFor(count), 1, manyTokens(count)))
	tokens := NewTokens(&contract.Config{}, d, catalog.Build(&contract.Config{}, nil))
	now := time.Now()
	headers := make([]string, 1000)
	for i := range headers {
		headers[i] = "Bearer " + textOf(i*50)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if tokens.Authenticate(headers[i%len(headers)], now).IsNobody() {
			b.Fatal("refused")
		}
	}
}

func TestTheTokensInForceAreThoseThatAreLetIn(t *testing.T) {
	at := func(seconds int64) *time.Time { return new(time.Unix(seconds, 0)) }
	tokens := manyTokens(5)
	tokens[0].Expiry, tokens[1].Expiry, tokens[2].Expiry, tokens[3].Expiry = at(50), at(300), at(200), at(100)
	tokens[3].Hashes = nil
	tokens[2].ShortLived = true
	tokens[1].Hashes = append(tokens[1].Hashes, contract.HashToken("another text of the same token, while it is rotated"))
	d := NewDirectory().With(partsOf(2, 1, tokens))
	for now, want := range map[int64]string{10: "never:long 50:long 200:short 300:long", 50: "never:long 200:short 300:long", 250: "never:long 300:long", 300: "never:long"} {
		var got []string
		for expiry, long := range d.InForce(time.Unix(now, 0)) {
			text, life := "never", "short"
			if expiry != nil {
				text = strconv.FormatInt(expiry.Unix(), 10)
			}
			if long {
				life = "long"
			}
			got = append(got, text+":"+life)
		}
		wanted := strings.Fields(want)
		slices.Sort(got)
		slices.Sort(wanted)
		if !slices.Equal(got, wanted) {
			t.Errorf("at %d there are %q, want %q", now, got, wanted)
		}
	}
}

// Whoever gives the parts drops their tokens then, as source does: why somebody is refused is known all the same.
func TestRefusalsAreExplainedOfPartsWithoutTokens(t *testing.T) {
	const text = "mcp_AAAAAAAAAAAAAAAA.ssssssssssssssssssssssssssssssssssssssssssM"
	sum := sha256.Sum256([]byte(text))
	twice := sha256.Sum256(sum[:])
	part := &contract.TokenPart{Tokens: []contract.Token{{
		Namespace: "shop", Name: "agent", PublicID: "mcp_AAAAAAAAAAAAAAAA", Refused: "Inactive", RefusedSums: []string{hex.EncodeToString(twice[:])},
	}}}
	d := NewDirectory().With([]*contract.TokenPart{part})
	part.Tokens = nil
	got := d.WhyRefused(Bearer{Text: text, Sum: sum}, nil, time.Now())
	if want := (Cause{Reason: Inactive, Token: "shop/agent", PublicID: "mcp_AAAAAAAAAAAAAAAA", Condition: "Inactive", Genuine: true}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
