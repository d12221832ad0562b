package server

import (
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/telemetry"
	"github.com/mcp-admin/mcp-admin-operator/server/webhook"
)

// notices are the events about calls that wait, on their way to the webhooks of approval policies.
type notices struct {
	log     *slog.Logger
	metrics *telemetry.Metrics
	sender  *webhook.Sender
	// changed is called when the problem may be another one.
	changed func()

	mu sync.Mutex
	// failing says of policies why the newest event did not arrive.
	failing map[string]string
}

func newNotices(log *slog.Logger, client *webhook.Client, metrics *telemetry.Metrics, changed func()) *notices {
	n := &notices{log: log, metrics: metrics, changed: changed, failing: map[string]string{}}
	n.sender = webhook.NewSender(client, webhook.Pauses, n.attempted)
	return n
}

// send implements approval.Send.
func (n *notices) send(policy string, to *contract.ApprovalNotify, event []byte) {
	if to.Problem != "" {
		n.metrics.Notified(false) // the manager, which found it, tells of it
		return
	}
	n.sender.Send(policy, &webhook.Request{
		URL: to.URL, Headers: to.Headers, SigningKey: to.SigningKey, Timeout: time.Duration(to.Timeout),
		Body: event, ContentType: "application/cloudevents+json",
	})
}

// attempted notes how an attempt ended.
func (n *notices) attempted(policy string, err error, last bool) {
	if last {
		n.metrics.Notified(err == nil)
	}
	n.mu.Lock()
	before := n.failing[policy]
	delete(n.failing, policy)
	if err != nil {
		n.failing[policy] = err.Error()
	}
	now := n.failing[policy]
	n.mu.Unlock()
	if before == now {
		return
	}
	if err != nil {
		n.log.Warn("An approval policy's webhook was not told of a call that waits", "policy", policy, "error", err)
	}
	n.changed()
}

// use forgets the policies that have no webhook any more.
func (n *notices) use(e *contract.Endpoint) {
	n.mu.Lock()
	defer n.mu.Unlock()
	maps.DeleteFunc(n.failing, func(policy, _ string) bool {
		return !slices.ContainsFunc(e.Approvals, func(p contract.ApprovalPolicy) bool { return p.Name == policy && p.Notify != nil })
	})
}

// problem says which policies' webhooks were not told, and why; "" if all were.
func (n *notices) problem() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var problems []string
	for _, policy := range slices.Sorted(maps.Keys(n.failing)) {
		problems = append(problems, "the webhook of the approval policy "+policy+" "+n.failing[policy])
	}
	return strings.Join(problems, "; ")
}
