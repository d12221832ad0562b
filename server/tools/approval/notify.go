package approval

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// Send sends an event about a call that waits to the webhook of a policy. It must not block.
type Send func(policy string, to *contract.ApprovalNotify, event []byte)

// notified are the webhooks that get events about calls that wait, by a Config.
type notified struct {
	namespace, endpoint string
	// webhooks are those of the policies that have one, by their names.
	webhooks map[string]*contract.ApprovalNotify
}

func notifiedBy(e *contract.Endpoint) notified {
	n := notified{namespace: e.Namespace, endpoint: e.Name, webhooks: map[string]*contract.ApprovalNotify{}}
	for i := range e.Approvals {
		if p := &e.Approvals[i]; p.Notify != nil {
			n.webhooks[p.Name] = p.Notify
		}
	}
	return n
}

// event is a CloudEvent in its JSON form. It has no value of a row.
type event struct {
	SpecVersion string `json:"specversion"`
	// ID is the same from each pod that tells of the same state of the same approval.
	ID          string    `json:"id"`
	Source      string    `json:"source"`
	Type        string    `json:"type"`
	Subject     string    `json:"subject"`
	Time        time.Time `json:"time"`
	ContentType string    `json:"datacontenttype"`
	Data        eventData `json:"data"`
}

type eventData struct {
	Namespace string   `json:"namespace"`
	Endpoint  string   `json:"endpoint"`
	Approval  string   `json:"approval"`
	State     string   `json:"state"`
	Token     string   `json:"token"`
	Subject   string   `json:"subject,omitempty"`
	Tool      string   `json:"tool"`
	Operation string   `json:"operation"`
	Model     string   `json:"model,omitempty"`
	Rows      int      `json:"rows"`
	Policies  []string `json:"policies"`
	Reason    string   `json:"reason,omitempty"`
	// Expires is when it is too late to allow it.
	Expires time.Time `json:"expires,omitzero"`
	// DecidedBy are the people who decided; Call is the call's id in the journal, once it has run.
	DecidedBy []string `json:"decided_by,omitempty"`
	Call      string   `json:"call,omitempty"`
	// URL is the approval's screen of the page.
	URL string `json:"url,omitempty"`
}

// tell tells the webhooks of the policies that ask of the state that a call came into, each URL once. The caller holds the lock.
func (r *Register) tell(e *entry, state string, by []string, now time.Time) {
	if r.send == nil || e.told == state {
		return
	}
	e.told = state
	var urls []string
	for _, policy := range e.Policies {
		to := r.notified.webhooks[policy]
		if to == nil || !slices.Contains(to.States, state) || slices.Contains(urls, to.URL) {
			continue
		}
		urls = append(urls, to.URL)
		r.send(policy, to, r.notified.event(e, state, by, to.PageURL, now))
	}
}

func (n *notified) event(e *entry, state string, by []string, page string, now time.Time) []byte {
	name := n.endpoint + "-" + e.Name // the MCPApproval's
	id := name + "-" + strings.ToLower(state)
	if e.round != 0 {
		id += "-" + strconv.FormatInt(e.round, 10)
	}
	told := eventData{
		Namespace: n.namespace, Endpoint: n.endpoint, Approval: name, State: state, Token: e.Token, Subject: e.Subject,
		Tool: e.Tool, Operation: e.Operation, Model: e.Model, Rows: e.Rows, Policies: e.Policies, Reason: e.Reason,
		DecidedBy: by, Call: e.Call,
	}
	if !e.waitsUntil.IsZero() {
		told.Expires = e.waitsUntil.UTC().Truncate(time.Second)
	}
	if page != "" {
		told.URL = strings.TrimSuffix(page, "/") + "/e/" + n.namespace + "/" + n.endpoint + "/approvals/" + name
	}
	text, err := json.Marshal(event{
		SpecVersion: "1.0", ID: id, Source: "/namespaces/" + n.namespace + "/mcpendpoints/" + n.endpoint,
		Type: "dev.mcpadmin.approval." + strings.ToLower(state), Subject: name, Time: now.UTC().Truncate(time.Millisecond),
		ContentType: "application/json", Data: told,
	})
	if err != nil {
		panic(err) // texts, numbers and moments: it cannot fail
	}
	return text
}

// tellDecided tells of decisions that were not there before about calls that wait here. The caller holds the lock.
func (r *Register) tellDecided(now time.Time) {
	for _, e := range r.entries {
		if e.State != contract.ApprovalWaiting {
			continue
		}
		if d := r.about(e); d != nil {
			r.tell(e, d.State, d.By, now)
		}
	}
}
