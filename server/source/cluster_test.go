package source

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

var one = contract.Layout{Parts: 1}

// putWhole puts a Config of one token part.
func (a *fakeAPI) putWhole(t *testing.T, revision int64, names ...string) {
	a.put(tokensSecret(0), tokensPart(t, 0, revision, names...))
	a.put(mainSecret, mainPart(t, revision, one))
}

func TestPartsComeThroughTheAPIInAnyOrder(t *testing.T) {
	t.Parallel()
	for _, mainFirst := range []bool{true, false} {
		api := newFakeAPI(t)
		r := start(t, &Cluster{API: api.config()})
		r.next("closed")
		if mainFirst {
			api.put(mainSecret, mainPart(t, 5, contract.Layout{Parts: 4}))
			r.reaches("5: - - - -")
		}
		for i, part := range layoutParts(t, contract.Layout{Parts: 4}, 5, "a", "b", "c", "d", "e") {
			api.put(tokensSecret(i), part)
		}
		if !mainFirst {
			api.put(mainSecret, mainPart(t, 5, contract.Layout{Parts: 4}))
		}
		r.reaches("5: 5 5 5 5")
		if got := r.known("a", "b", "c", "d", "e", "f"); len(got) != 5 {
			t.Errorf("known are %q", got)
		}
	}
}

func TestAChangedPartAloneIsApplied(t *testing.T) {
	t.Parallel()
	api := newFakeAPI(t)
	api.putWhole(t, 5, "a", "b")
	r := start(t, &Cluster{API: api.config()})
	r.next("5: 5")
	before := r.last.Config
	changed := time.Now()
	api.put(tokensSecret(0), tokensPart(t, 0, 6, "b"))
	r.next("5: 6")
	if took := time.Since(changed); took > 20*time.Second {
		t.Errorf("a change took %v", took)
	}
	if got := r.known("a", "b"); !slices.Equal(got, []string{"b"}) || r.last.Config != before {
		t.Errorf("known are %q", got)
	}
	api.put(mainSecret, mainPart(t, 7, one))
	part := r.last.TokenParts[0]
	r.next("7: 6")
	if r.last.TokenParts[0] != part {
		t.Error("the token part is another one")
	}
}

// While the layout grows, tokens come and go, and the parts are written in any order.
func TestLayoutGrowsWhileTokensAreRevoked(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	api := newFakeAPI(t)
	api.putWhole(t, 1, names...)
	r := start(t, &Cluster{API: api.config()})
	r.next("1: 1")

	grown := contract.Layout{Parts: 4, Before: 1}
	parts := layoutParts(t, grown, 2, names...)
	api.put(mainSecret, mainPart(t, 3, grown))
	r.reaches("3: 1") // from the parts of the layout before
	api.put(tokensSecret(1), parts[1])
	api.put(tokensSecret(2), parts[2])
	// Revoked while part 3 has not come.
	api.put(tokensSecret(0), layoutParts(t, grown, 4, names[1:]...)[0])
	r.reaches("3: 4")
	if got := r.known(names...); !slices.Equal(got, names[1:]) {
		t.Errorf("known are %q", got)
	}
	for i, part := range layoutParts(t, grown, 5, names[1:]...)[1:] {
		api.put(tokensSecret(i+1), part)
	}
	r.reaches("3: 4 5 5 5")
	if got := r.known(names...); !slices.Equal(got, names[1:]) {
		t.Errorf("known are %q", got)
	}
	// The layout before is no longer kept.
	alone := contract.Layout{Parts: 4}
	api.put(mainSecret, mainPart(t, 6, alone))
	api.put(tokensSecret(0), layoutParts(t, alone, 6, names[1:]...)[0])
	r.reaches("6: 6 5 5 5")
	if got := r.known(names...); !slices.Equal(got, names[1:]) {
		t.Errorf("known are %q", got)
	}
}

func TestAPartThatIsMissingRefusesItsTokensOnly(t *testing.T) {
	t.Parallel()
	four := contract.Layout{Parts: 4}
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	api := newFakeAPI(t)
	parts := layoutParts(t, four, 1, names...)
	for i, part := range parts {
		api.put(tokensSecret(i), part)
	}
	api.put(mainSecret, mainPart(t, 1, four))
	r := start(t, &Cluster{API: api.config()})
	r.next("1: 1 1 1 1")
	api.remove(tokensSecret(2))
	r.next("1: 1 1 - 1")
	for _, name := range names {
		if known := len(r.known(name)) == 1; known == (contract.PartOf("shop", name, 4) == 2) {
			t.Errorf("the token %s is known: %v", name, known)
		}
	}
	api.put(tokensSecret(2), parts[2])
	r.next("1: 1 1 1 1")
	if got := r.known(names...); len(got) != len(names) {
		t.Errorf("known are %q", got)
	}
}

func TestMainPartThatIsGoneClosesTheEndpoint(t *testing.T) {
	t.Parallel()
	api, stored := newFakeAPI(t), t.TempDir()
	api.putWhole(t, 5, "a")
	r := start(t, &Cluster{API: api.config(), StateDir: stored})
	r.next("5: 5")
	api.remove(mainSecret)
	r.next("closed")
	r.stop()
	api.setAway(true)
	r = start(t, &Cluster{API: api.config(), StateDir: stored})
	r.next("closed") // it is not opened by what was stored
	api.setAway(false)
	api.put(mainSecret, mainPart(t, 1, one))
	r.reaches("1: 5")
	if got := r.known("a"); len(got) != 1 {
		t.Error("the token is not known")
	}
}

// The pod's Role names a new part a moment late.
func TestANewPartThatIsForbiddenAtFirst(t *testing.T) {
	t.Parallel()
	grown := contract.Layout{Parts: 4, Before: 1}
	api := newFakeAPI(t)
	api.putWhole(t, 1, "a", "b", "c", "d")
	r := start(t, &Cluster{API: api.config()})
	r.next("1: 1")
	api.forbid(tokensSecret(3), true)
	for i, part := range layoutParts(t, grown, 2, "a", "b", "c", "d") {
		api.put(tokensSecret(i), part)
	}
	api.put(mainSecret, mainPart(t, 2, grown))
	r.reaches("2: 2")
	time.Sleep(300 * time.Millisecond)
	allowed := time.Now()
	api.forbid(tokensSecret(3), false)
	r.reaches("2: 2 2 2 2")
	if took := time.Since(allowed); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
	if got := r.known("a", "b", "c", "d"); len(got) != 4 {
		t.Errorf("known are %q", got)
	}
}

func TestAPodIsIncompleteAsLongAsAPartWasNotHeard(t *testing.T) {
	t.Parallel()
	api := newFakeAPI(t)
	api.putWhole(t, 1, "a")
	api.forbid(tokensSecret(0), true)
	r := start(t, &Cluster{API: api.config()})
	r.next("1: -, incomplete")
	api.forbid(tokensSecret(0), false)
	r.next("1: 1")
}

func TestAPIThatGoesAwayLeavesTheLastConfig(t *testing.T) {
	t.Parallel()
	api := newFakeAPI(t)
	api.putWhole(t, 5, "a")
	r := start(t, &Cluster{API: api.config()})
	r.next("5: 5")
	api.setAway(true)
	r.quiet()
	api.put(tokensSecret(0), tokensPart(t, 0, 6))
	api.setAway(false)
	r.next("5: 6")
}

func TestServerStartsAgainWithoutTheAPI(t *testing.T) {
	t.Parallel()
	api, stored := newFakeAPI(t), filepath.Join(t.TempDir(), "state")
	four := contract.Layout{Parts: 4}
	for i, part := range layoutParts(t, four, 1, "a", "b", "c") {
		api.put(tokensSecret(i), part)
	}
	api.put(mainSecret, mainPart(t, 1, four))
	r := start(t, &Cluster{API: api.config(), StateDir: stored})
	r.next("1: 1 1 1 1")
	index := contract.PartOf("shop", "a", 4)
	api.put(tokensSecret(index), tokensPart(t, index, 2))
	revisions := []any{1, 1, 1, 1}
	revisions[index] = 2
	now := fmt.Sprintf("1: %d %d %d %d", revisions...)
	r.next(now)
	known := r.known("a", "b", "c")
	r.stop()

	api.setAway(true)
	r = start(t, &Cluster{API: api.config(), StateDir: stored})
	r.next(now)
	if got := r.known("a", "b", "c"); !slices.Equal(got, known) {
		t.Errorf("known are %q, and were %q", got, known)
	}
	// The API counts as soon as it answers, even with an older revision.
	api.setAway(false)
	api.put(mainSecret, mainPart(t, 1, four))
	api.remove(tokensSecret(index))
	revisions[index] = "-"
	r.reaches(fmt.Sprintf("1: %v %v %v %v", revisions...))
	r.stop()

	// A stored part is verified like any other.
	state{dir: stored}.save(mainSecret, forged(mainPart(t, 9, four)))
	api.setAway(true)
	r = start(t, &Cluster{API: api.config(), StateDir: stored})
	r.next("closed")
}

func TestRefusedPartsLeaveTheLastGoodOnesForAWhile(t *testing.T) {
	t.Parallel()
	api := newFakeAPI(t)
	api.putWhole(t, 5, "a")
	r := start(t, &Cluster{API: api.config(), patience: 500 * time.Millisecond})
	r.next("5: 5")
	api.put(tokensSecret(0), broken(t, tokensSecret(0), tokensPart(t, 0, 6)))
	r.next("5: 5, refused tokens-0 6")
	r.next("5: -, refused tokens-0 6 closed")
	if got := r.known("a"); got != nil {
		t.Errorf("known are %q", got)
	}
	api.put(tokensSecret(0), tokensPart(t, 0, 5, "a")) // the last good one again
	r.next("5: 5")
	if got := r.known("a"); len(got) != 1 {
		t.Error("the token is not known")
	}
	api.put(mainSecret, forged(mainPart(t, 7, one)))
	r.next("5: 5, refused main 0")
	r.next("closed, refused main 0 closed")
	api.put(mainSecret, mainPart(t, 8, one))
	r.next("8: 5")
	if got := r.known("a"); len(got) != 1 {
		t.Error("the token is not known")
	}
}

func TestExpiredWatchListsAgain(t *testing.T) {
	t.Parallel()
	api := newFakeAPI(t)
	api.putWhole(t, 5)
	r := start(t, &Cluster{API: api.config()})
	r.next("5: 5")
	api.expire()
	api.put(mainSecret, mainPart(t, 6, one))
	r.next("6: 5")
	api.mu.Lock()
	defer api.mu.Unlock()
	if api.lists < 3 {
		t.Errorf("listed %d times", api.lists)
	}
}

func TestSecretsOfTheDatabase(t *testing.T) {
	t.Parallel()
	api, dir := newFakeAPI(t), t.TempDir()
	api.putWhole(t, 5)
	api.put("db", map[string][]byte{"uri": []byte("from the API")})
	api.put("replicas", map[string][]byte{"uri": []byte("replica")})
	api.put("client", map[string][]byte{"tls.crt": []byte("shown")})
	api.put("tls", map[string][]byte{"tls.crt": []byte("first")})
	api.forbid("ca", true)
	write(t, filepath.Join(dir, "db"), map[string][]byte{"uri": []byte("from the mount")})
	write(t, filepath.Join(dir, "ca"), map[string][]byte{"ca.crt": []byte("from the mount")})
	r := start(t, &Cluster{
		API:              api.config(),
		ConnectionSecret: "db", ConnectionDir: filepath.Join(dir, "db"),
		CASecret: "ca", CADir: filepath.Join(dir, "ca"),
		CertificateSecret: "tls", CertificateDir: filepath.Join(dir, "tls"),
		ReplicasSecret: "replicas", ReplicasDir: filepath.Join(dir, "replicas"),
		ClientCertificateSecret: "client", ClientCertificateDir: filepath.Join(dir, "client"),
	})
	r.next("5: 5")
	if got := string(r.last.Replicas["uri"]); got != "replica" {
		t.Errorf("the replicas' connection is %q", got)
	}
	if got := string(r.last.ClientCertificate["tls.crt"]); got != "shown" {
		t.Errorf("the client certificate is %q", got)
	}
	if got := string(r.last.Connection["uri"]); got != "from the API" {
		t.Errorf("the connection is %q", got)
	}
	if got := string(r.last.Certificate["tls.crt"]); got != "first" {
		t.Errorf("the certificate is %q", got)
	}
	if got := string(r.last.CA["ca.crt"]); got != "from the mount" {
		t.Errorf("the CA, which the API refuses to show, is %q", got)
	}
	api.put("db", map[string][]byte{"uri": []byte("rotated")})
	r.next("5: 5")
	if got := string(r.last.Connection["uri"]); got != "rotated" {
		t.Errorf("the rotated connection is %q", got)
	}
	api.put("tls", map[string][]byte{"tls.crt": []byte("renewed")})
	r.next("5: 5")
	if got := string(r.last.Certificate["tls.crt"]); got != "renewed" {
		t.Errorf("the renewed certificate is %q", got)
	}
	api.remove("db")
	r.next("5: 5")
	if r.last.Connection != nil {
		t.Errorf("the deleted connection is %q", r.last.Connection)
	}
}

func TestFoldersAloneAreEnough(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	main, tokens := filepath.Join(dir, "main"), filepath.Join(dir, "tokens-0")
	write(t, main, mainPart(t, 1, one))
	write(t, tokens, tokensPart(t, 0, 1, "a"))
	for i := range 3 {
		mkdir(t, filepath.Join(dir, tokensFolder(i+1)))
	}
	r := start(t, &Cluster{ConfigDir: dir})
	r.next("1: 1")
	write(t, tokens, tokensPart(t, 0, 3))
	r.next("1: 3")
	write(t, tokens, tokensPart(t, 0, 2, "a")) // comes late
	r.quiet()
	write(t, main, broken(t, mainSecret, mainPart(t, 4, one)))
	r.next("1: 3, refused main 4")
	write(t, main, mainPart(t, 5, contract.Layout{Parts: 4, Before: 1}))
	r.reaches("5: 3") // a server that can only poll is closed meanwhile
	for i := range 3 {
		write(t, filepath.Join(dir, tokensFolder(i+1)), tokensPart(t, i+1, 5))
	}
	r.reaches("5: 3 5 5 5")
	write(t, main, nil)
	r.next("closed")
	write(t, main, mainPart(t, 2, one))
	r.next("2: 3")
}
