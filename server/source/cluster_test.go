package source

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

const configSecret = "books-mcp-config"

// partOf is a Config of a revision as one part.
func partOf(t *testing.T, revision int64) map[string][]byte {
	t.Helper()
	parts, err := contract.Encode(&contract.Config{
		Version: contract.Version, Layout: contract.Layout{Parts: 1}, Revision: revision,
		Endpoint: contract.Endpoint{
			Namespace: "shop", Name: "books", StatusKey: "key", SealKey: contract.NewSealKey(),
			Database: contract.Database{Engine: contract.EngineSQLite, MaxConnections: 1},
			Limits:   contract.Limits{MaxBodyBytes: 1, MaxConcurrentRequests: 1, MaxResultBytes: 1},
		},
	}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return parts[0]
}

// brokenPart is a part that does not decode.
func brokenPart(t *testing.T, revision int64) map[string][]byte {
	part := partOf(t, revision)
	part[contract.PartKeyConfig] = []byte("no gzip")
	return part
}

// write puts a mounted Secret in place as the kubelet does: a new folder, and the link ..data moved to it.
func write(t *testing.T, dir string, data map[string][]byte) {
	t.Helper()
	version, err := os.MkdirTemp(mkdir(t, dir), "..version")
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range data {
		if err := os.WriteFile(filepath.Join(version, key), value, 0o600); err != nil {
			t.Fatal(err)
		}
		_ = os.Symlink(filepath.Join("..data", key), filepath.Join(dir, key))
	}
	if err := os.Symlink(filepath.Base(version), filepath.Join(dir, "..data_tmp")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, dir string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A run is a Cluster source at work.
type run struct {
	t       *testing.T
	updates chan Update
	last    Update
}

// start runs a source over the API and the folder until the test ends.
func start(t *testing.T, c *Cluster) *run {
	t.Helper()
	if c.Log == nil {
		c.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	c.Namespace = "shop"
	if c.ConfigSecrets == nil {
		c.ConfigSecrets = []string{configSecret}
	}
	r := &run{t: t, updates: make(chan Update, 100)}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx, func(u Update) { r.updates <- u }) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("Run: %v", err)
			}
		case <-time.After(5 * time.Second):
			t.Error("Run does not end")
		}
	})
	return r
}

// describe says in a word what an update tells of the Config.
func describe(u Update) string {
	text := "closed"
	if u.Config != nil {
		text = fmt.Sprintf("revision %d", u.Config.Revision)
	}
	if u.Refused != nil {
		text += fmt.Sprintf(", refused %d", u.Refused.Revision)
	}
	return text
}

// next takes the very next update and checks what it says.
func (r *run) next(want string) {
	r.t.Helper()
	select {
	case r.last = <-r.updates:
		if got := describe(r.last); got != want {
			r.t.Fatalf("the next update is %q, want %q", got, want)
		}
	case <-time.After(8 * time.Second):
		r.t.Fatalf("no update; want %q", want)
	}
}

// quiet checks that no update comes for a while.
func (r *run) quiet() {
	r.t.Helper()
	select {
	case u := <-r.updates:
		r.t.Fatalf("came to %q", describe(u))
	case <-time.After(300 * time.Millisecond):
	}
}

func TestConfigComesThroughTheAPI(t *testing.T) {
	t.Parallel()
	api := newFakeAPI(t)
	api.put(configSecret, partOf(t, 5))
	r := start(t, &Cluster{API: api.config(), ConfigDir: t.TempDir()})
	r.next("revision 5")

	changed := time.Now()
	api.put(configSecret, partOf(t, 6))
	r.next("revision 6")
	if took := time.Since(changed); took > 500*time.Millisecond {
		t.Errorf("a change took %v", took)
	}
}

func TestAPIBeatsTheMount(t *testing.T) {
	t.Parallel()
	api, dir := newFakeAPI(t), t.TempDir()
	write(t, filepath.Join(dir, "0"), partOf(t, 9))
	api.put(configSecret, partOf(t, 5))
	r := start(t, &Cluster{API: api.config(), ConfigDir: dir})
	r.next("revision 5")
	write(t, filepath.Join(dir, "0"), partOf(t, 12))
	r.quiet()
}

func TestMountAnswersForAnAPIThatIsAway(t *testing.T) {
	t.Parallel()
	api, dir := newFakeAPI(t), t.TempDir()
	api.setAway(true)
	write(t, filepath.Join(dir, "0"), partOf(t, 9))
	r := start(t, &Cluster{API: api.config(), ConfigDir: dir})
	r.next("revision 9")
	write(t, filepath.Join(dir, "0"), partOf(t, 8))
	r.quiet() // the higher revision stays
	write(t, filepath.Join(dir, "0"), partOf(t, 10))
	r.next("revision 10")

	api.put(configSecret, partOf(t, 7))
	api.setAway(false)
	r.next("revision 7") // the API is right, even with a lower one
}

func TestAPIThatGoesAwayLeavesTheLastConfig(t *testing.T) {
	t.Parallel()
	api, dir := newFakeAPI(t), t.TempDir()
	write(t, filepath.Join(dir, "0"), partOf(t, 4))
	api.put(configSecret, partOf(t, 5))
	r := start(t, &Cluster{API: api.config(), ConfigDir: dir})
	r.next("revision 5")
	api.setAway(true)
	time.Sleep(300 * time.Millisecond)
	write(t, filepath.Join(dir, "0"), partOf(t, 5)) // comes late
	r.quiet()
	write(t, filepath.Join(dir, "0"), partOf(t, 6)) // must be newer
	r.next("revision 6")

	api.put(configSecret, partOf(t, 7))
	api.setAway(false)
	r.next("revision 7")
	if got := describe(r.last); got != "revision 7" {
		t.Errorf("the API's first word after it was away is %q", got)
	}
}

func TestDeletedConfigSecretClosesTheEndpoint(t *testing.T) {
	t.Parallel()
	api, dir := newFakeAPI(t), t.TempDir()
	write(t, filepath.Join(dir, "0"), partOf(t, 5))
	api.put(configSecret, partOf(t, 5))
	r := start(t, &Cluster{API: api.config(), ConfigDir: dir})
	r.next("revision 5")
	api.remove(configSecret)
	r.next("closed")
	api.setAway(true)
	time.Sleep(200 * time.Millisecond)
	write(t, filepath.Join(dir, "0"), partOf(t, 6)) // a file cannot open what the API closed
	r.quiet()
	api.setAway(false)
	r.quiet()
	api.put(configSecret, partOf(t, 1))
	r.next("revision 1")
}

func TestMissingConfigSecretIsTold(t *testing.T) {
	t.Parallel()
	api := newFakeAPI(t)
	r := start(t, &Cluster{API: api.config(), ConfigDir: t.TempDir()})
	r.next("closed")
	api.put(configSecret, partOf(t, 1))
	r.next("revision 1")
}

func TestRefusedConfigLeavesTheLastGoodOne(t *testing.T) {
	t.Parallel()
	api := newFakeAPI(t)
	api.put(configSecret, partOf(t, 5))
	r := start(t, &Cluster{API: api.config(), ConfigDir: t.TempDir()})
	r.next("revision 5")
	api.put(configSecret, brokenPart(t, 6))
	r.next("revision 5, refused 6")
	if message := r.last.Refused.Message; !strings.Contains(message, "unpacked") {
		t.Errorf("the refusal does not say why: %q", message)
	}
	api.put(configSecret, partOf(t, 7))
	r.next("revision 7")
}

func TestExpiredWatchListsAgain(t *testing.T) {
	t.Parallel()
	api := newFakeAPI(t)
	api.put(configSecret, partOf(t, 5))
	r := start(t, &Cluster{API: api.config(), ConfigDir: t.TempDir()})
	r.next("revision 5")
	api.expire()
	api.put(configSecret, partOf(t, 6))
	r.next("revision 6")
	api.mu.Lock()
	defer api.mu.Unlock()
	if api.lists < 2 {
		t.Errorf("listed %d times", api.lists)
	}
}

func TestSecretsOfTheDatabase(t *testing.T) {
	t.Parallel()
	api, dir := newFakeAPI(t), t.TempDir()
	api.put(configSecret, partOf(t, 5))
	api.put("db", map[string][]byte{"uri": []byte("from the API")})
	api.put("tls", map[string][]byte{"tls.crt": []byte("first")})
	api.forbidden["ca"] = true
	write(t, filepath.Join(dir, "db"), map[string][]byte{"uri": []byte("from the mount")})
	write(t, filepath.Join(dir, "ca"), map[string][]byte{"ca.crt": []byte("from the mount")})
	r := start(t, &Cluster{
		API: api.config(), ConfigDir: filepath.Join(dir, "config"),
		ConnectionSecret: "db", ConnectionDir: filepath.Join(dir, "db"),
		CASecret: "ca", CADir: filepath.Join(dir, "ca"),
		CertificateSecret: "tls", CertificateDir: filepath.Join(dir, "tls"),
	})
	r.next("revision 5")
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
	r.next("revision 5")
	if got := string(r.last.Connection["uri"]); got != "rotated" {
		t.Errorf("the rotated connection is %q", got)
	}
	api.put("tls", map[string][]byte{"tls.crt": []byte("renewed")})
	r.next("revision 5")
	if got := string(r.last.Certificate["tls.crt"]); got != "renewed" {
		t.Errorf("the renewed certificate is %q", got)
	}
	api.remove("db")
	r.next("revision 5")
	if r.last.Connection != nil {
		t.Errorf("the deleted connection is %q", r.last.Connection)
	}
}

func TestMountsAloneAreEnough(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "0"), partOf(t, 1))
	r := start(t, &Cluster{ConfigDir: dir})
	r.next("revision 1")
	changed := time.Now()
	write(t, filepath.Join(dir, "0"), partOf(t, 2))
	r.next("revision 2")
	if took := time.Since(changed); took > 2*time.Second {
		t.Errorf("a changed file took %v", took)
	}
	write(t, filepath.Join(dir, "0"), brokenPart(t, 3))
	r.next("revision 2, refused 3")
	write(t, filepath.Join(dir, "0"), nil)
	r.next("closed")
	write(t, filepath.Join(dir, "0"), partOf(t, 2))
	r.next("revision 2")
}

func TestForbiddenSecretIsReadFromItsMount(t *testing.T) {
	t.Parallel()
	api, dir := newFakeAPI(t), t.TempDir()
	api.forbidden[configSecret] = true
	write(t, filepath.Join(dir, "0"), partOf(t, 3))
	r := start(t, &Cluster{API: api.config(), ConfigDir: dir})
	r.next("revision 3")
}

func TestConfigInTwoParts(t *testing.T) {
	t.Parallel()
	api := newFakeAPI(t)
	whole := partOf(t, 5)
	packed := whole[contract.PartKeyConfig]
	halves := [][]byte{packed[:len(packed)/2], packed[len(packed)/2:]}
	for i, half := range halves {
		api.put(fmt.Sprintf("part-%d", i), map[string][]byte{
			contract.PartKeyRevision: []byte("5"), contract.PartKeyIndex: fmt.Append(nil, i),
			contract.PartKeyCount: []byte("2"), contract.PartKeyConfig: half,
		})
	}
	r := start(t, &Cluster{API: api.config(), ConfigDir: t.TempDir(), ConfigSecrets: []string{"part-0", "part-1"}})
	r.next("revision 5")
	api.remove("part-1")
	r.next("closed")
}

func TestOnlyAConfigThatTheManagerSignedIsApplied(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	signed := partOf(t, 3)
	contract.Sign([]contract.Part{signed}, private, contract.Place("shop", configSecret))
	write(t, filepath.Join(dir, "0"), signed)
	r := start(t, &Cluster{ConfigDir: dir, ConfigKey: public})
	r.next("revision 3")
	write(t, filepath.Join(dir, "0"), partOf(t, 4))
	r.next("revision 3, refused 0")
}
