package identity

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// Options are the settings of a Verifier from its process.
type Options struct {
	// API is how the API server is reached; nil if there is none: no token of a ServiceAccount is accepted then.
	API *API
	// StateDir is a folder in which the keys of issuers outlive the process; "" stores nothing.
	StateDir string
	Log      *slog.Logger
	// Changed is called, from any goroutine, when Status differs from before; nil calls nothing.
	Changed func()
}

// API is how the API server is reached with the credentials of the server's own ServiceAccount.
type API struct {
	// URL is https://host:port.
	URL string
	// Client adds the credentials, and trusts the API server's certificate.
	Client *http.Client
}

// Verifier checks tokens, by settings that change while it works. All its methods may be called at any time.
type Verifier struct {
	options    Options
	store      store
	cache      *cache
	settings   atomic.Pointer[settings]
	configured chan struct{}
	// waiting bounds how many callers wait for keys at a time.
	waiting chan struct{}

	// mutex is held while settings change, reportMutex while reported does.
	mutex       sync.Mutex
	reportMutex sync.Mutex
	reported    []contract.IssuerStatus
}

// The limits of waiting for keys that a token needs and that are not known yet.
const (
	maxWaiting  = 64
	waitForKeys = 3 * time.Second
)

// acceptedFor is for how long a token that was checked is not checked again.
const acceptedFor = 5 * time.Minute

// NewVerifier returns a Verifier that accepts nothing until it is configured and runs.
func NewVerifier(options Options) *Verifier {
	if options.API != nil {
		options.API = &API{strings.TrimSuffix(options.API.URL, "/"), withoutRedirects(options.API.Client)}
	}
	v := &Verifier{
		options:    options,
		store:      newStore(options.StateDir, options.Log),
		cache:      newCache(),
		configured: make(chan struct{}, 1),
		waiting:    make(chan struct{}, maxWaiting),
	}
	v.settings.Store(&settings{})
	return v
}

// Run reads the issuers' keys, at once and again and again, until ctx ends.
func (v *Verifier) Run(ctx context.Context) {
	var readers sync.WaitGroup
	defer readers.Wait()
	running := map[*keySource]context.CancelFunc{}
	sweep := time.NewTicker(time.Minute)
	defer sweep.Stop()
	for {
		v.follow(ctx, running, &readers)
		select {
		case <-ctx.Done():
			return
		case <-v.configured:
		case now := <-sweep.C:
			v.cache.sweep(now)
		}
	}
}

// follow starts a goroutine for each source of keys that has none, and stops the goroutines of sources that are needed no
// more.
func (v *Verifier) follow(ctx context.Context, running map[*keySource]context.CancelFunc, readers *sync.WaitGroup) {
	needed := map[*keySource]bool{}
	for _, i := range v.settings.Load().all() {
		needed[i.source] = true
		if running[i.source] == nil {
			reading, stop := context.WithCancel(ctx)
			running[i.source] = stop
			readers.Go(func() { i.source.run(reading) })
		}
	}
	for source, stop := range running {
		if !needed[source] {
			stop()
			delete(running, source)
		}
	}
}

// Configure has tokens checked by these settings from now on; serviceAccounts says whether ServiceAccounts' tokens are,
// too. What is known of an issuer stays known if its settings are the same.
func (v *Verifier) Configure(authentication contract.Authentication, serviceAccounts bool) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	before := v.settings.Load()
	after := v.newSettings(before, authentication, serviceAccounts)
	v.settings.Store(after)
	if after.cluster != before.cluster || !maps.Equal(after.byURL, before.byURL) {
		v.cache.drop(func(e *entry) bool { return after.find(e.url) != e.issuer })
	}
	names := map[string]bool{}
	for _, i := range after.all() {
		names[i.source.name] = true
	}
	v.store.keep(names)
	select {
	case v.configured <- struct{}{}:
	default:
	}
	v.report()
}

// Verify returns who a token was issued to, or why it is refused. The sum is the SHA-256 of its text. It may wait for keys or
// for the API server, some seconds at most.
func (v *Verifier) Verify(ctx context.Context, text string, sum [32]byte, now time.Time) (*Caller, Refusal) {
	if e := v.cache.get(sum, now); e != nil {
		return e.caller, e.refusal
	}
	const attempts = 3
	for range attempts {
		generation := v.cache.current()
		e, refusal := v.check(ctx, text, sum, now)
		if refusal != Accepted {
			return nil, refusal
		}
		if v.cache.add(sum, e, generation) {
			return e.caller, e.refusal
		}
		// Settings or keys were replaced meanwhile: nobody is let in by those from before.
	}
	return nil, Unavailable
}

// Recheck returns who claims speak of that were verified some minutes ago, or why they do not count any more: by the settings of now,
// and by the time. Signature and review are not asked for again.
func (v *Verifier) Recheck(claims map[string]any, now time.Time) (*Caller, Refusal) {
	url, _ := claims["iss"].(string)
	i := v.settings.Load().find(url)
	if i == nil {
		return nil, UnknownIssuer
	}
	switch known := i.source.known.Load(); {
	case known == nil:
		return nil, Unavailable
	case url != known.document.Issuer: // the cluster stands in for every issuer that is not declared
		return nil, UnknownIssuer
	}
	return i.caller(claims, now)
}

// check checks a token without the cache. It returns an entry for the cache, or why there is none.
func (v *Verifier) check(ctx context.Context, text string, sum [32]byte, now time.Time) (*entry, Refusal) {
	t, refusal := parse(text)
	if refusal != Accepted {
		return nil, refusal
	}
	i := v.settings.Load().find(t.issuer)
	if i == nil {
		return nil, UnknownIssuer
	}
	keys, refusal := v.keysFor(ctx, i, t, now)
	if refusal != Accepted {
		return nil, refusal
	}
	claims, signer, refusal := t.verify(keys)
	if refusal != Accepted {
		return nil, refusal
	}
	caller, refusal := i.caller(claims, now)
	if refusal != Accepted {
		return nil, refusal
	}
	e := &entry{
		caller: caller, until: earlier(caller.Expiry, now.Add(acceptedFor)),
		url: t.issuer, issuer: i, key: signer.sum, size: len(text),
	}
	if i.reviews == nil {
		return e, Accepted
	}
	refusal, asked := i.reviews.review(ctx, text, sum, caller.Subject, now)
	e.refusal, e.until = refusal, earlier(e.until, asked.Add(reviewedFor))
	v.report()
	switch e.refusal {
	case Accepted:
	case Reviewed:
		e.caller = nil // it is kept all the same: the issuer has signed it, so there are few such, and the API server is spared
	default:
		return nil, e.refusal
	}
	return e, Accepted
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// keysFor returns the keys that a token may be signed with. If they are not known, it has them read, but not for each token.
func (v *Verifier) keysFor(ctx context.Context, i *issuer, t *token, now time.Time) ([]*key, Refusal) {
	keys, refusal := i.keysFor(t)
	if refusal == Accepted || refusal == Algorithm {
		return keys, refusal
	}
	v.await(ctx, i.source.ask(now))
	return i.keysFor(t)
}

// await waits until a channel is closed, but not for long, and not with too many others.
func (v *Verifier) await(ctx context.Context, done <-chan struct{}) {
	if done == nil {
		return
	}
	select {
	case v.waiting <- struct{}{}:
	default:
		return
	}
	defer func() { <-v.waiting }()
	ctx, cancel := context.WithTimeout(ctx, waitForKeys)
	defer cancel()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// replaced puts new keys in the place of those from before, and forgets the tokens that were accepted by keys that are withdrawn.
func (v *Verifier) replaced(source *keySource, after *keySet) {
	before := source.known.Swap(after)
	if before == nil || !slices.ContainsFunc(before.keys, func(k *key) bool { return after.withdraws(before, k.sum) }) {
		return
	}
	v.cache.drop(func(e *entry) bool { return e.issuer.source == source && after.withdraws(before, e.key) })
}

// Status returns the issuers as they were last seen: the cluster first, if its tokens are checked. One that was not asked yet
// is left out.
func (v *Verifier) Status() (issuers []contract.IssuerStatus) {
	s := v.settings.Load()
	for _, i := range s.all() {
		if status, seen := i.status(); seen {
			issuers = append(issuers, s.unlessHidden(i, status))
		}
	}
	return issuers
}

// report calls Changed if the status is another one.
func (v *Verifier) report() {
	v.reportMutex.Lock()
	status := v.Status()
	changed := !reflect.DeepEqual(status, v.reported)
	v.reported = status
	v.reportMutex.Unlock()
	if changed && v.options.Changed != nil {
		v.options.Changed()
	}
}
