package dev

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
)

// What dev keeps may lie among the manifests, as it does by default with "-f .". Writing it is no reason to read again.
func TestDevDoesNotReadAgainForWhatItWritesItself(t *testing.T) {
	for _, state := range []string{".mcp-admin-dev", "state"} {
		t.Run(state, func(t *testing.T) {
			folder := write(t, map[string]string{"notes.yaml": notes})
			reads := make(chan *outcome, 1000)
			s := &manifestSource{
				paths: []string{folder}, state: State(filepath.Join(folder, state)), baseURL: "http://127.0.0.1:1",
				statusKey: "key", sealKey: contract.NewSealKey(),
				compiled: func(o *outcome) { reads <- o }, failed: func(err error) { t.Error(err) },
			}
			if _, err := s.load(time.Now()); err != nil { // as the command does first; it makes the state
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- s.Run(ctx, func(source.Update) {}) }()
			time.Sleep(6 * settle)
			stop()
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			if len(reads) != 1 {
				t.Errorf("read %d times, want once", len(reads))
			}
		})
	}
}
