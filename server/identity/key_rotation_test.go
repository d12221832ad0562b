package identity_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/identity"
)

// Bad tokens, however many, have an issuer asked at most once in 30 seconds.
func TestUnknownKeysAskTheIssuerSeldom(t *testing.T) {
	t.Parallel()
	key, forged := newSigner(t, "k1", "ES256"), newSigner(t, "", "ES256")
	p := newProvider(t, key)
	v := start(t, identity.Options{}, settings(p.issuer()), false)
	now := time.Now()
	before := p.requests.Load()
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for i := range 1250 {
				text := forged.sign(t, p.claims(now, nil), map[jose.HeaderKey]any{"kid": fmt.Sprintf("x%d-%d", worker, i)})
				mustRefuse(t, v, text, time.Now(), identity.UnknownKey)
			}
		})
	}
	group.Wait()
	requests := p.requests.Load() - before
	most := 2 * int64(time.Since(now)/(30*time.Second)+1) // the configuration and the keys
	if requests > most {
		t.Errorf("10000 tokens with unknown keys made %d requests to the issuer, want at most %d", requests, most)
	}
	mustAccept(t, v, key.sign(t, p.claims(now, nil), nil), now)
}

func TestRotatedKeys(t *testing.T) {
	t.Parallel()
	old, next := newSigner(t, "k1", "ES256"), newSigner(t, "k2", "ES256")
	p := newProvider(t, old)
	v := start(t, identity.Options{}, settings(p.issuer()), false)
	now := time.Now()
	oldText, nextText := old.sign(t, p.claims(now, nil), nil), next.sign(t, p.claims(now, nil), nil)
	mustAccept(t, v, oldText, now)

	p.publish(old, next)
	mustRefuse(t, v, nextText, now, identity.UnknownKey) // the keys were read a moment ago
	later := now.Add(31 * time.Second)
	mustAccept(t, v, nextText, later)
	mustAccept(t, v, oldText, later)

	p.publish(next) // the old key is withdrawn
	mustAccept(t, v, oldText, later)
	refresh(t, v, p, later.Add(31*time.Second))
	mustRefuse(t, v, oldText, later, identity.UnknownKey)
	mustAccept(t, v, nextText, later)
}

// A key that takes the id of another one is another key.
func TestReplacedKeyOfTheSameID(t *testing.T) {
	t.Parallel()
	old, next := newSigner(t, "k1", "ES256"), newSigner(t, "k1", "ES256")
	p := newProvider(t, old)
	v := start(t, identity.Options{}, settings(p.issuer()), false)
	now := time.Now()
	oldText := old.sign(t, p.claims(now, nil), nil)
	mustAccept(t, v, oldText, now)
	p.publish(next)
	refresh(t, v, p, now.Add(31*time.Second))
	mustRefuse(t, v, oldText, now, identity.Signature)
	mustAccept(t, v, next.sign(t, p.claims(now, nil), nil), now)
}

// An issuer that publishes no key any more has withdrawn all.
func TestAllKeysWithdrawn(t *testing.T) {
	t.Parallel()
	key := newSigner(t, "k1", "ES256")
	p := newProvider(t, key)
	v := start(t, identity.Options{}, settings(p.issuer()), false)
	now := time.Now()
	text := key.sign(t, p.claims(now, nil), nil)
	mustAccept(t, v, text, now)
	p.answers(answerKeys(`{"keys":[]}`))
	refresh(t, v, p, now.Add(31*time.Second))
	mustRefuse(t, v, text, now, identity.UnknownKey)
	status := v.Status()[0]
	if status.Usable || status.Reason != contract.ReasonIssuerUnreachable || !strings.Contains(status.Message, "publishes no key for RS256, ES256") {
		t.Errorf("%+v", status)
	}
}
