package server_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
)

func TestProfilesAreServedOnRequestAndNeverToAgents(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name      string
		asked     bool
		wantAdmin int
	}{
		{"by default", false, http.StatusNotFound},
		{"if they were asked for", true, http.StatusOK},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := start(t, func(s *server.Server, _ *running) { s.Profiles = row.asked })
			r.apply(source.Update{Config: config(1)})
			r.untilReady()
			for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/goroutine?debug=2", "/debug/pprof/trace?seconds=0.1"} {
				if status := statusOf(t, r.admin+path); status != row.wantAdmin {
					t.Errorf("%s on the admin port: got %d, want %d", path, status, row.wantAdmin)
				}
				if status := statusOf(t, r.endpoint+path); status != http.StatusNotFound {
					t.Errorf("%s on the agents' port: got %d, want 404", path, status)
				}
			}
			if status := statusOf(t, r.admin+"/debug/pprof/cmdline"); status != http.StatusNotFound {
				t.Errorf("the command line on the admin port: got %d, want 404", status)
			}
		})
	}
}

// statusOf gets a page, and returns its status.
func statusOf(t *testing.T, page string) int {
	t.Helper()
	response, err := http.Get(page)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode
}
