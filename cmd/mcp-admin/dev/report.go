package dev

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/laptop"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/page"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// reporter prints what the server serves: all of it at first, then what has changed.
type reporter struct {
	out io.Writer
	mu  sync.Mutex
	o   *outcome
	// status is the newest that the server said of itself; nil before the first.
	status *contract.Status
	// shown is the last printed report; nil if nothing was printed yet.
	shown report
	// failing says why the manifests could not be used when they were last read; "" if they could.
	failing string
	// page is the link that opens the page, once; "" if there is none.
	page string
	// whole shows all of what there is, in place of a screenful.
	whole bool
	// story makes the text that dev prints first, with the page's link in it. If it is nil, dev prints the usual screenful.
	story func(o *outcome, link string) string
	// stdio reports whether one client calls over this process's own input and output.
	stdio bool
	// client reaches the server's own admin port.
	client *http.Client
	// approvals are the calls that wait for people.
	approvals *approvals
	// tell writes for other commands what is served; nil if only one client can reach it.
	tell func(*laptop.Served) error
}

func (r *reporter) compiled(o *outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.o = o
	if r.failing != "" {
		r.failing = ""
		fmt.Fprint(r.out, "What is to be served can be read again.\n\n")
	}
}

func (r *reporter) failed(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failing == err.Error() {
		return // it was said
	}
	r.failing = err.Error()
	fmt.Fprintf(r.out, "What is to be served cannot be read; what was served before stays:\n%s\n\n", indent(output.PrintableBut(err.Error(), "\n")))
}

// follow asks the server's own /status, as the controllers would, and prints what changed.
func (r *reporter) follow(ctx context.Context, statusURL, key string) {
	var last contract.Status
	for ctx.Err() == nil {
		status, err := r.fetchStatus(ctx, statusURL+"?wait=20s&seen="+last.Serial, key)
		if err != nil {
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond): // the server is still starting
			}
			continue
		}
		if status.ApprovalsSerial != last.ApprovalsSerial {
			if err := r.approvals.follow(ctx); err != nil {
				continue // the status is asked for again
			}
		}
		last = *status
		r.print(status)
	}
}

func (r *reporter) fetchStatus(ctx context.Context, url, key string) (*contract.Status, error) {
	status := &contract.Status{}
	return status, getJSON(ctx, r.client, url, key, status)
}

// getJSON reads an answer of the admin port for who shows the status key.
func getJSON(ctx context.Context, client *http.Client, url, key string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+key)
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %s", response.Status)
	}
	return json.NewDecoder(response.Body).Decode(into)
}

// print shows a status of the newest Config: the first one whole, of later ones what has changed.
func (r *reporter) print(status *contract.Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
	if r.o == nil || status.Revision != r.o.config.Revision || status.Database.Reason == contract.ReasonConnecting || awaits(status) {
		return
	}
	now, before := r.o.report(status), r.shown
	if r.page != "" {
		now[0].entries = append(now[0].entries, entry{"page", "page: " + r.page + " (the link works once)", nil})
	}
	r.shown = now
	if r.tell != nil {
		if err := r.tell(r.o.served(status)); err != nil {
			fmt.Fprintf(r.out, "Other commands cannot know what is served: %v\n", err)
		}
	}
	switch {
	case before != nil:
		now = now.since(before)
	case r.stdio:
		fmt.Fprintf(r.out, "%s is served over standard input and output: %s %s, %s, %d models\n", r.o.endpoint.Name,
			status.Database.Engine, status.Database.Version, output.Printable(status.Database.Name), len(status.Models))
		now = now.titled(policiesTitle)
	case r.story != nil:
		fmt.Fprint(r.out, r.story(r.o, r.page))
		return
	case !r.whole:
		now = now.screenful()
	}
	fmt.Fprint(r.out, now)
}

// awaits reports whether the schema is being read for the newest Config.
func awaits(status *contract.Status) bool {
	return slices.ContainsFunc(status.Models, func(m contract.ModelStatus) bool { return m.Reason == contract.ReasonWaitingForReport })
}

// served is what is served; nil before the first.
func (r *reporter) served() *outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.o
}

// waits says that a call waits, and how it is allowed.
func (r *reporter) waits(a *v1alpha1.MCPApproval, state string) {
	q := &a.Spec.Request
	var policies []string
	for i := range q.Policies {
		policies = append(policies, q.Policies[i].Name)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.out, "A call of %s waits for an approval (%s): %s, %s\n  %s\n\n", output.Printable(q.TokenRef.Name), strings.Join(policies, ", "), output.Printable(q.Tool),
		output.Numbered(int(*q.Rows), "row"), page.CommandLine("mcp-admin", "approve", a.ShortName(), "--state", state))
}

// text is the text of the newest outcome's token; "" if it has none, or is not in force.
func (r *reporter) text(key types.NamespacedName) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.o == nil || !r.o.verdicts.Tokens[key].InForce {
		return ""
	}
	return r.o.texts[key]
}

// report says what is served: the URL, the models, the approval policies, the tokens with their client configuration.
func (o *outcome) report(status *contract.Status) report {
	return report{{entries: o.reportEndpoint(status)}, {"MODELS", o.reportModels(status)}, {policiesTitle, o.reportPolicies(status)}, {"TOKENS", o.reportTokens()}, o.reportClients()}
}

func (o *outcome) reportEndpoint(status *contract.Status) []entry {
	entries := []entry{{"endpoint", fmt.Sprintf("%s/%s is served at %s", o.endpoint.Namespace, o.endpoint.Name, o.config.Endpoint.URL), nil}}
	if d := status.Database; d.Reason == contract.ReasonConnected {
		entries = append(entries, entry{"database", fmt.Sprintf("database: %s %s, %s%s", d.Engine, d.Version, d.Name, o.access()), nil})
		if d.Notes != "" {
			entries = append(entries, entry{"database notes", "note: " + d.Notes, nil})
		}
		entries = append(entries, o.reportAudit(d.AuditProblem)...)
	} else {
		entries = append(entries, entry{"database", fmt.Sprintf("database: %s: %s", d.Reason, d.Message), nil})
	}
	entries = append(entries, reportIssuers(status.Issuers)...)
	for _, note := range o.verdicts.Endpoint.Notes {
		entries = append(entries, entry{note, "note: " + note, nil})
	}
	if row := o.manifests.keysToCheck(); row != "" {
		entries = append(entries, entry{"guessed keys", "note: " + row, nil})
	}
	if len(o.leftOut) > 0 {
		entries = append(entries, entry{"left out", "left out: " + strings.Join(o.leftOut, ", "), nil})
	}
	if len(o.ignored) > 0 {
		entries = append(entries, entry{"not used", "not used: " + strings.Join(o.ignored, ", "), nil})
	}
	return entries
}

// access says of a database that nothing may write to it; each model need not say so then.
func (o *outcome) access() string {
	if o.endpoint.Spec.Database.EffectiveAccess() == v1alpha1.DatabaseReadOnly {
		if o.guessed && o.endpoint.Spec.Database.DuckDB == nil {
			return ", read-only (--write lets callers change rows)"
		}
		return ", read-only"
	}
	return ""
}

// reportIssuers says whether the issuers' tokens can be checked. There is no cluster here that issues any.
func reportIssuers(issuers []contract.IssuerStatus) []entry {
	var entries []entry
	for _, i := range issuers {
		if i.Name == "" {
			continue
		}
		name, row := "issuer "+i.Name, ": its keys are known"
		if i.Reason != contract.ReasonKeysKnown {
			row = fmt.Sprintf(": %s: %s", i.Reason, i.Message)
		}
		entries = append(entries, entry{name, name + row, nil})
	}
	return entries
}

// reportAudit says where changes are recorded.
func (o *outcome) reportAudit(problem string) []entry {
	switch table := o.config.Endpoint.Audit; {
	case table == nil:
		return nil
	case problem != "":
		return []entry{{"audit", "audit: " + problem, nil}}
	}
	return []entry{{"audit", "audit: " + o.endpoint.Spec.Audit.Table.String(), nil}}
}

func (o *outcome) reportModels(status *contract.Status) []entry {
	var entries []entry
	for _, m := range status.Models {
		e := entry{name: m.Name}
		if m.Served() {
			e.row = fmt.Sprintf("  %s\t%s\t%s%s", m.Name, m.Table, operations(&m), o.concealed(&m))
		} else {
			e.row = fmt.Sprintf("  %s\t%s\t%s", m.Name, m.Reason, m.Message)
		}
		for _, note := range m.Notes {
			if o.access() != "" && (strings.HasPrefix(note, "Read-only: the endpoint's database.access") || note == "Read-only: "+contract.DuckDBOnlyReads+".") {
				continue
			}
			e.notes = append(e.notes, fmt.Sprintf("  %s: %s", m.Name, note))
		}
		entries = append(entries, e)
	}
	for i := range o.config.Models {
		if m := &o.config.Models[i]; o.unset[m.Exposure] && compile.ForgotToExpose(o.config, m) {
			entries = append(entries, entry{"expose " + m.Name, "", []string{fmt.Sprintf("  %s: %s", m.Name, compile.NotAdvertised)}})
		}
	}
	for _, key := range sortedKeys(o.verdicts.Exposures) {
		name := fmt.Sprintf("MCPModelExposure %s", key)
		switch v := o.verdicts.Exposures[key]; {
		case !v.Accepted:
			entries = append(entries, entry{name, "", []string{fmt.Sprintf("  %s: %s: %s", name, v.Reason, v.Message)}})
		case v.Lack.Reason != "":
			entries = append(entries, entry{name, "", []string{fmt.Sprintf("  %s lacks something: %s: %s", name, v.Lack.Reason, v.Lack.Message)}})
		}
	}
	return entries
}

func (o *outcome) reportTokens() []entry {
	var entries []entry
	for _, key := range sortedKeys(o.verdicts.Tokens) {
		e := entry{name: key.String()}
		switch v := o.verdicts.Tokens[key]; {
		case !v.InForce:
			e.row = fmt.Sprintf("  %s is refused: %s: %s", key, v.Reason, v.Message)
		case o.identity(key) != nil:
			e.row = fmt.Sprintf("  %s is for %s", key, callersOf(o.identity(key)))
		case o.texts[key] == "":
			e.row = fmt.Sprintf("  %s: only its hash is known", key)
		case o.files[key] == "":
			e.row = fmt.Sprintf("  %s: its text is in the manifests", key)
		default:
			e.row = fmt.Sprintf("  %s: its text is in %s", key, o.files[key])
		}
		for _, note := range o.verdicts.Tokens[key].Notes {
			e.notes = append(e.notes, fmt.Sprintf("  %s: %s", key, note))
		}
		entries = append(entries, e)
	}
	return entries
}

// usable are the tokens in force whose texts are known.
func (o *outcome) usable() []types.NamespacedName {
	return slices.DeleteFunc(sortedKeys(o.verdicts.Tokens), func(key types.NamespacedName) bool {
		return !o.verdicts.Tokens[key].InForce || o.texts[key] == ""
	})
}

// reportClients are lines to paste, by which a client calls with the first token that can be used.
func (o *outcome) reportClients() section {
	usable := o.usable()
	if len(usable) == 0 {
		return section{}
	}
	s := section{title: "PASTE ONE OF THESE TO CALL AS " + usable[0].String()}
	for _, line := range pasted(o.endpoint.Name, o.config.Endpoint.URL, o.texts[usable[0]]) {
		s.entries = append(s.entries, entry{line[0], "  " + line[0] + "\t" + line[1], nil})
	}
	return s
}

// concealed says which columns of a model are not shown as they are, whoever decided so.
func (o *outcome) concealed(m *contract.ModelStatus) string {
	var all []string
	hidden := slices.Clone(m.Hidden)
	if i := slices.IndexFunc(o.config.Models, func(c contract.Model) bool { return c.Name == m.Name }); i >= 0 {
		hidden = append(hidden, o.config.Models[i].Exclude...)
	}
	slices.Sort(hidden)
	hidden = slices.Compact(hidden)
	if len(m.Masked) > 0 {
		all = append(all, "masked: "+strings.Join(m.Masked, ", "))
	}
	if len(hidden) > 0 {
		all = append(all, "hidden: "+strings.Join(hidden, ", "))
	}
	if len(all) == 0 {
		return ""
	}
	return "\t" + strings.Join(all, "; ")
}

// identity says whom a token is for; nil if it has a text.
func (o *outcome) identity(key types.NamespacedName) *contract.Identity {
	i := slices.IndexFunc(o.config.Tokens, func(t contract.Token) bool { return t.Namespace == key.Namespace && t.Name == key.Name })
	if i < 0 {
		return nil
	}
	return o.config.Tokens[i].Identity
}

// callersOf says in words whom an identity is for.
func callersOf(i *contract.Identity) string {
	switch {
	case i.ServiceAccount != "":
		return fmt.Sprintf("ServiceAccount %s, and lets nobody in here: it needs a cluster, which issues the tokens of ServiceAccounts", i.ServiceAccount)
	case i.Subject != "":
		return fmt.Sprintf("the subject %s of the issuer %s", i.Subject, i.Issuer)
	}
	var claims []string
	for _, name := range slices.Sorted(maps.Keys(i.Claims)) {
		claims = append(claims, fmt.Sprintf("%s=%s", name, i.Claims[name]))
	}
	return fmt.Sprintf("callers of the issuer %s with %s", i.Issuer, strings.Join(claims, ", "))
}

// operations are a model's tools without its name, which stands before them.
func operations(m *contract.ModelStatus) string {
	names := make([]string, len(m.Tools))
	for i, tool := range m.Tools {
		names[i] = strings.TrimSuffix(tool, "_"+m.Name)
	}
	return strings.Join(names, ", ")
}

func sortedKeys[V any](m map[types.NamespacedName]V) []types.NamespacedName {
	var keys []types.NamespacedName
	for key := range m {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) })
	return keys
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(text, "\n", "\n  ")
}
