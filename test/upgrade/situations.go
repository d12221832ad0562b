package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/hack/platform"
)

// test is the cluster, and the two releases that it goes to and fro between.
type test struct {
	cluster    *platform.Platform
	this, next *release
	// server is the URI of the PostgreSQL server, connection what a Secret has that leads to the test's database.
	server, connection string
	// many is how many tokens the endpoint has whose Config is lost.
	many    int
	results []counts
}

// brokenImage is an image whose container ends at once.
const brokenImage = "mcp-admin/server:broken"

// run goes through all situations.
func (t *test) run(ctx context.Context) error {
	say("this release is installed")
	if err := t.this.install(ctx, t.cluster); err != nil {
		return err
	}
	upgraded, err := t.upgrade(ctx)
	if err != nil {
		return fmt.Errorf("upgrade: %w", err)
	}
	var problems []error
	for _, situation := range []struct {
		name string
		do   func(context.Context, string) error
	}{
		{"foreign Config Secret", t.foreign},
		{"ownerless Config Secret", t.ownerless},
		{"lost Config Secret", t.lost},
	} {
		say("%s", situation.name)
		if err := situation.do(ctx, situation.name); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", situation.name, err))
		}
	}
	say("rollback")
	err = t.during(ctx, []*agents{startAgents(ctx, "rollback", upgraded.shop, upgraded.living)}, func() error {
		if err := t.this.install(ctx, t.cluster); err != nil {
			return err
		}
		return upgraded.shop.rolledOut(ctx, t.this.image("server"))
	})
	if err != nil {
		problems = append(problems, fmt.Errorf("rollback: %w", err))
	}
	return errors.Join(problems...)
}

// upgrade installs the next release while agents call three endpoints: one that follows, one that is pinned to this
// release's server, and one whose rollout is stuck. It returns the agents of the first.
func (t *test) upgrade(ctx context.Context) (*agents, error) {
	var all []*agents
	for _, of := range []struct{ namespace, situation, image string }{
		{"upgrade", "upgrade", ""},
		{"pinned", "pinned image", t.this.image("server")},
		{"stuck", "stuck rollout", ""},
	} {
		s, living, err := t.open(ctx, of.namespace, of.image, 3)
		if err != nil {
			return nil, err
		}
		if of.namespace == "stuck" {
			if _, err := s.kubectl(ctx, "patch", "mcpendpoint", s.name, "--type=merge", "-p", `{"spec":{"server":{"image":"`+brokenImage+`"}}}`); err != nil {
				return nil, err
			}
		}
		all = append(all, startAgents(ctx, of.situation, s, living))
	}
	say("the manager is upgraded, while agents call %d endpoints", len(all))
	return all[0], t.during(ctx, all, func() error {
		if err := addColumn(ctx, t.server); err != nil {
			return err
		}
		if err := t.next.install(ctx, t.cluster); err != nil {
			return err
		}
		if err := all[0].shop.useAddedField(ctx); err != nil {
			return err
		}
		return all[0].shop.rolledOut(ctx, t.next.image("server"))
	})
}

// open makes a shop with so many tokens, and waits until all is Ready.
func (t *test) open(ctx context.Context, namespace, image string, tokens int) (*shop, []token, error) {
	say("an endpoint is made: %s", namespace)
	s, err := newShop(ctx, t.cluster, namespace, "shop", t.connection, image)
	if err != nil {
		return nil, nil, err
	}
	if err := s.ready(ctx, "mcpendpoint/shop", "mcpmodelexposure/shop-item"); err != nil {
		return nil, nil, err
	}
	names := make([]string, tokens)
	for i := range names {
		names[i] = fmt.Sprintf("agent-%d", i)
	}
	living, err := s.issue(ctx, names...)
	return s, living, err
}

// during does something while tokens are issued and revoked, waits for a moment more, and keeps the outcomes of the
// calls.
func (t *test) during(ctx context.Context, all []*agents, do func() error) error {
	churning, stop := context.WithCancel(ctx)
	defer stop()
	var running sync.WaitGroup
	for _, a := range all {
		running.Go(func() { a.churn(churning) })
	}
	pause(ctx, 2*time.Second)
	problem := do()
	pause(ctx, 5*time.Second)
	stop()
	running.Wait()
	pause(ctx, late+3*time.Second) // the last revocations are old enough then
	for _, a := range all {
		found := a.end()
		say("  %s: %d calls, %d refused, %d failed; %d tokens revoked, %d calls with them answered late", found.situation,
			found.sent, found.refused, found.failed, found.revoked, found.answeredLate)
		t.results = append(t.results, found)
	}
	return problem
}

// foreign makes an endpoint and puts another endpoint's Config in the place of its own. The other's tokens must not
// work here.
func (t *test) foreign(ctx context.Context, name string) error {
	donor, living, err := t.open(ctx, "foreign", "", 1)
	if err != nil {
		return err
	}
	configs, err := donor.configs(ctx)
	if err != nil {
		return err
	}
	var forged []string
	for _, config := range configs {
		text, err := donor.kubectl(ctx, "get", "secret", config, "-o", "json")
		if err != nil {
			return err
		}
		var secret map[string]any
		if err := json.Unmarshal([]byte(text), &secret); err != nil {
			return err
		}
		copied := strings.Replace(config, "shop", "victim", 1)
		secret["metadata"] = map[string]any{"name": copied, "namespace": donor.namespace}
		manifest, err := json.Marshal(secret)
		if err != nil {
			return err
		}
		if _, err := t.cluster.KubectlInput(ctx, string(manifest), "create", "-f", "-"); err != nil {
			return err
		}
		forged = append(forged, "secret/"+copied)
	}
	victim, err := newShop(ctx, t.cluster, "foreign", "victim", t.connection, "")
	if err != nil {
		return err
	}
	found := counts{situation: name, revoked: 1}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 5 * time.Second}
	for began := time.Now(); time.Since(began) < late+5*time.Second; pause(ctx, 50*time.Millisecond) {
		if status, _ := ask(ctx, client, victim.url, living[0].text, `{"method":"tools/list"}`); status == http.StatusOK {
			found.answered++
			found.answeredLate++ // it never was this endpoint's
		}
	}
	if _, err := victim.kubectl(ctx, append([]string{"delete", "--ignore-not-found"}, forged...)...); err != nil {
		return err
	}
	if _, err := victim.kubectl(ctx, "wait", "--timeout=120s", "--for=condition=Ready", "mcpendpoint/victim"); err != nil {
		return fmt.Errorf("it does not open once the foreign Secrets are gone: %w", err)
	}
	own, err := victim.issue(ctx, "own")
	if err != nil {
		return err
	}
	a := startAgents(ctx, name, victim, own)
	pause(ctx, 2*time.Second)
	calls := a.end()
	calls.revoked, calls.answered, calls.answeredLate = found.revoked, found.answered, found.answeredLate
	t.results = append(t.results, calls)
	return nil
}

// ownerless removes the owner references of the Config's Secrets, as a restore from a backup may.
func (t *test) ownerless(ctx context.Context, name string) error {
	s, living, err := t.open(ctx, "ownerless", "", 3)
	if err != nil {
		return err
	}
	return t.during(ctx, []*agents{startAgents(ctx, name, s, living)}, func() error {
		configs, err := s.configs(ctx)
		for _, config := range configs {
			_, removing := s.kubectl(ctx, "patch", "secret", config, "--type=json", "-p", `[{"op":"remove","path":"/metadata/ownerReferences"}]`)
			err = errors.Join(err, removing)
		}
		pause(ctx, 5*time.Second)
		return err
	})
}

// lost deletes the Config's Secrets of an endpoint with many tokens.
func (t *test) lost(ctx context.Context, name string) error {
	s, living, err := t.open(ctx, "lost", "", t.many)
	if err != nil {
		return err
	}
	a := startAgents(ctx, fmt.Sprintf("%s, %d tokens", name, t.many), s, living)
	a.counts.closes = true // until the manager has written the Config again
	return t.during(ctx, []*agents{a}, func() error {
		configs, err := s.configs(ctx)
		if err != nil {
			return err
		}
		_, err = s.kubectl(ctx, append([]string{"delete", "secret", "--wait=false"}, configs...)...)
		pause(ctx, 5*time.Second)
		return err
	})
}
