package source

import (
	"slices"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// wholePart is a Config of version 2 with tokens of these names, signed.
func wholePart(t testing.TB, revision int64, besideParts bool, names ...string) Secret {
	t.Helper()
	main, err := contract.DecodeMain(contract.Part(mainPart(t, revision, one)))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		main.Tokens = append(main.Tokens, contract.Token{
			Revision: revision, Namespace: "shop", Name: name, UID: name, Hashes: []string{contract.HashToken(textOf(name))},
		})
	}
	p, err := contract.EncodeVersion2(main, besideParts)
	return signed(t, p, err, base)
}

// A manager of the last release takes over, with a counter that may be behind, and gives way again.
func TestAManagerOfTheLastReleaseRevokesAtOnce(t *testing.T) {
	t.Parallel()
	api, stored := newFakeAPI(t), t.TempDir()
	api.putWhole(t, 9, "a", "b")
	api.put(base, wholePart(t, 5, true))
	r := start(t, &Cluster{API: api.config(), StateDir: stored})
	r.next("9: 9")
	api.put(base, wholePart(t, 6, false, "b", "c"))
	r.next("6:")
	if !r.last.Version2 || r.last.Config.Version != contract.Version || len(r.last.Config.Tokens) != 2 {
		t.Errorf("it answers from %+v", r.last.Config)
	}
	api.put(base, wholePart(t, 7, false)) // the last token is revoked
	r.next("7:")
	r.stop()

	api.setAway(true)
	r = start(t, &Cluster{API: api.config(), StateDir: stored})
	r.next("7:") // and not from the parts
	api.setAway(false)
	api.put(mainSecret, mainPart(t, 10, one))
	api.put(tokensSecret(0), tokensPart(t, 0, 10, "c"))
	r.quiet()
	api.put(base, wholePart(t, 10, true, "c"))
	r.reaches("10: 10")
	if got := r.known("a", "b", "c"); r.last.Version2 || !slices.Equal(got, []string{"c"}) {
		t.Errorf("known are %q", got)
	}
}

func TestAWholeConfigThatCountedAndIsGoneClosesTheEndpoint(t *testing.T) {
	t.Parallel()
	api := newFakeAPI(t)
	api.putWhole(t, 9, "a")
	api.put(base, wholePart(t, 6, false, "b"))
	r := start(t, &Cluster{API: api.config()})
	r.next("6:")
	api.remove(base)
	r.next("closed")
	if !r.last.Version2 {
		t.Error("a manager of this release would not write it again")
	}
	api.put(base, wholePart(t, 7, true))
	r.reaches("9: 9")
}

func TestThePartsCountForAWhileAfterARollback(t *testing.T) {
	t.Parallel()
	began := time.Now()
	at := func(d time.Duration) time.Time { return began.Add(d) }
	w := newVersion2(base, time.Minute, func(string, contract.Part) error { return nil })
	w.hear(wholePart(t, 5, true), at(0))
	w.hear(wholePart(t, 6, false), at(time.Second)) // the manager has not looked up the tokens yet
	w.hear(wholePart(t, 7, false, "a"), at(3*time.Second))
	for after, counts := range map[time.Duration]bool{time.Second: false, 5900 * time.Millisecond: false, 6 * time.Second: true, time.Hour: true} {
		if w.counts(at(after)) != counts {
			t.Errorf("%v later it counts: %v", after, !counts)
		}
	}
	booted := newVersion2(base, time.Minute, func(string, contract.Part) error { return nil })
	if booted.hear(wholePart(t, 7, false, "a"), at(0)); !booted.counts(at(0)) {
		t.Error("a server that starts then does not answer from it at once")
	}
}

func TestAForeignSecretInPlaceOfTheWholeConfigSaysNothing(t *testing.T) {
	t.Parallel()
	api := newFakeAPI(t)
	api.putWhole(t, 9, "a")
	api.put(base, forged(wholePart(t, 10, false, "b")))
	r := start(t, &Cluster{API: api.config()})
	r.next("9: 9")
	r.quiet()
}
