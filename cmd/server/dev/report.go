package dev

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// reporter prints what the server serves, each time that it is another.
type reporter struct {
	out io.Writer
	mu  sync.Mutex
	o   *outcome
	// shown is what was printed last.
	shown string
}

func (r *reporter) compiled(o *outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.o = o
}

func (r *reporter) failed(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.out, "The manifests cannot be used; what was served before stays:\n%s\n\n", indent(err.Error()))
	r.shown = ""
}

// follow asks the server's own /status, as the controllers would, and prints what changed.
func (r *reporter) follow(ctx context.Context, statusURL, key string) {
	var last contract.Status
	for ctx.Err() == nil {
		status, err := fetchStatus(ctx, statusURL+"?wait=20s&seen="+last.Serial, key)
		if err != nil {
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond): // the server is still starting
			}
			continue
		}
		last = *status
		r.print(status)
	}
}

func fetchStatus(ctx context.Context, url, key string) (*contract.Status, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %s", response.Status)
	}
	var status contract.Status
	return &status, json.NewDecoder(response.Body).Decode(&status)
}

// print shows a status that is of the newest Config and says something new.
func (r *reporter) print(status *contract.Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.o == nil || status.Revision != r.o.config.Revision || status.Database.Reason == contract.ReasonConnecting {
		return
	}
	text := r.o.describe(status)
	if text == r.shown {
		return
	}
	r.shown = text
	fmt.Fprint(r.out, text)
}

// describe says what is served: the URL, the models, the tokens with their client configuration.
func (o *outcome) describe(status *contract.Status) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s/%s is served at %s\n", o.endpoint.Namespace, o.endpoint.Name, o.config.Endpoint.URL)
	if d := status.Database; d.Reason == contract.ReasonConnected {
		fmt.Fprintf(&b, "database: %s %s, %s\n", d.Engine, d.Version, d.Name)
		o.describeAudit(&b, d.AuditProblem)
	} else {
		fmt.Fprintf(&b, "database: %s: %s\n", d.Reason, d.Message)
	}
	if len(o.ignored) > 0 {
		fmt.Fprintf(&b, "not used: %s\n", strings.Join(o.ignored, ", "))
	}
	b.WriteString("\nMODELS\n")
	table := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	for _, m := range status.Models {
		if m.Served() {
			fmt.Fprintf(table, "  %s\t%s\t%s\n", m.Name, m.Table, operations(&m))
		} else {
			fmt.Fprintf(table, "  %s\t%s\t%s\n", m.Name, m.Reason, m.Message)
		}
	}
	table.Flush()
	for _, m := range status.Models {
		for _, note := range m.Notes {
			fmt.Fprintf(&b, "  %s: %s\n", m.Name, note)
		}
	}
	for _, key := range sortedKeys(o.verdicts.Exposures) {
		switch v := o.verdicts.Exposures[key]; {
		case !v.Accepted:
			fmt.Fprintf(&b, "  MCPModelExposure %s: %s: %s\n", key, v.Reason, v.Message)
		case v.Lack.Reason != "":
			fmt.Fprintf(&b, "  MCPModelExposure %s lacks something: %s: %s\n", key, v.Lack.Reason, v.Lack.Message)
		}
	}
	b.WriteString("\nTOKENS\n")
	for _, key := range sortedKeys(o.verdicts.Tokens) {
		switch v := o.verdicts.Tokens[key]; {
		case !v.InForce:
			fmt.Fprintf(&b, "  %s is refused: %s: %s\n", key, v.Reason, v.Message)
		case o.texts[key] == "":
			fmt.Fprintf(&b, "  %s: only its hash is known\n", key)
		default:
			configuration := contract.ClientConfiguration(o.endpoint.Name, o.config.Endpoint.URL, o.texts[key])
			fmt.Fprintf(&b, "  %s\n%s\n", key, indent(indent(strings.TrimSpace(string(configuration)))))
		}
	}
	b.WriteString("\n")
	return b.String()
}

// operations are a model's tools without its name, which stands before them.
func operations(m *contract.ModelStatus) string {
	names := make([]string, len(m.Tools))
	for i, tool := range m.Tools {
		names[i] = strings.TrimSuffix(tool, "_"+m.Name)
	}
	return strings.Join(names, ", ")
}

// describeAudit says where changes are recorded.
func (o *outcome) describeAudit(b *bytes.Buffer, problem string) {
	switch table := o.config.Endpoint.Audit; {
	case table == nil:
	case problem != "":
		fmt.Fprintf(b, "audit: %s\n", problem)
	default:
		fmt.Fprintf(b, "audit: %s\n", o.endpoint.Spec.Audit.Table)
	}
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
