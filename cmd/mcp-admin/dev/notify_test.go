package dev

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// dev sends the events of a policy's webhook, as a cluster does, and says which did not arrive.
func TestDevTellsTheWebhookOfAPolicy(t *testing.T) {
	type told struct{ signature, content, body string }
	events := make(chan told, 10)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		events <- told{r.Header.Get("Mcp-Admin-Signature"), r.Header.Get("Content-Type"), string(body)}
	}))
	defer hook.Close()
	host := strings.TrimPrefix(hook.URL, "http://")
	manifests := strings.Replace(heldBack(1), "    show: Values\n", fmt.Sprintf("    show: Values\n    notify: {url: %q, headersSecretRef: {name: hook}}\n", hook.URL), 1) +
		"---\napiVersion: v1\nkind: Secret\nmetadata: {name: hook, annotations: {mcpadmin.dev/webhook-host: \"" + host + "\"}}\nstringData: {signing-key: hush}\n"
	folder := write(t, map[string]string{"notes.yaml": manifests})
	t.Run("allowed", func(t *testing.T) {
		out, _ := start(t, "--allow-local-webhooks", "-f", folder, "--state", t.TempDir())
		printed := out.waitFor(t, "claude mcp add")
		token := bearerToken.FindStringSubmatch(printed)[1]
		until(t, printed, token, asks)
		got := <-events
		var e struct {
			Type string
			Data struct{ Endpoint, Operation, Token string }
		}
		if err := json.Unmarshal([]byte(got.body), &e); err != nil || e.Type != "dev.mcpadmin.approval.waiting" || e.Data.Endpoint != "notes" || e.Data.Operation != "update" {
			t.Errorf("got %s, %v", got.body, err)
		}
		if !strings.Contains(got.signature, ",v1=") || got.content != "application/cloudevents+json" || strings.Contains(got.body, "bold words") {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("not allowed", func(t *testing.T) {
		out, _ := start(t, "-f", folder, "--state", t.TempDir())
		printed := out.waitFor(t, "claude mcp add")
		until(t, printed, bearerToken.FindStringSubmatch(printed)[1], asks)
		out.waitFor(t, "events about calls that wait are not sent: the webhook of the approval policy bold has an address that may not be called")
		if len(events) != 0 {
			t.Error("it was told")
		}
	})
	t.Run("without its Secret", func(t *testing.T) {
		folder := write(t, map[string]string{"notes.yaml": strings.Replace(manifests, "metadata: {name: hook,", "metadata: {name: other,", 1)})
		out, _ := start(t, "--allow-local-webhooks", "-f", folder, "--state", t.TempDir())
		out.waitFor(t, `the webhook of the approval policy bold cannot be called: Secret "hook" does not exist`)
	})
}
