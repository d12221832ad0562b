package dev

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
)

// What dev keeps may lie among the manifests, as it does by default with "-f .". Writing it is no reason to read again.
func TestDevDoesNotReadAgainForWhatItWritesItself(t *testing.T) {
	for _, state := range []string{".mcp-admin-dev", "state"} {
		t.Run(state, func(t *testing.T) {
			folder := write(t, map[string]string{"notes.yaml": notes})
			reads := make(chan *outcome, 1000)
			s := &manifestSource{approvals: &approvals{},
				paths: []string{folder}, state: openState(t, filepath.Join(folder, state)), baseURL: "http://127.0.0.1:1",
				statusKey: "key", sealKey: contract.NewSealKey(),
				compiled: func(o *outcome) { reads <- o }, failed: func(err error) { t.Error(err) },
			}
			if _, err := s.load(t.Context(), time.Now()); err != nil { // as the command does first; it makes the state
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

// readings runs a source over paths and returns a function that says how often the manifests were read since it was last asked:
// it waits for the first time if there is to be one, and then until nothing is read any more.
func readings(t *testing.T, paths ...string) func(some bool) int {
	t.Helper()
	reads := make(chan struct{}, 1000)
	s := &manifestSource{approvals: &approvals{},
		paths: paths, state: openState(t, t.TempDir()), baseURL: "http://127.0.0.1:1",
		statusKey: "key", sealKey: contract.NewSealKey(),
		compiled: func(*outcome) { reads <- struct{}{} }, failed: func(error) { reads <- struct{}{} },
	}
	ended := make(chan error, 1)
	ctx, stop := context.WithCancel(context.Background())
	go func() { ended <- s.Run(ctx, func(source.Update) {}) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return func(some bool) int {
		count := 0
		if some {
			<-reads
			count++
		}
		for ; ; count++ {
			select {
			case <-reads:
			case <-time.After(10 * settle):
				return count
			}
		}
	}
}

func TestDevReadsAgainOnlyIfAManifestChanges(t *testing.T) {
	folder := write(t, map[string]string{"notes.yaml": notes, "sub/more.yaml": "# nothing\n", "log.txt": "", "other.yaml": "# nothing\n"})
	change := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, paths := range map[string][]string{"a file": {filepath.Join(folder, "notes.yaml")}, "a folder": {folder}} {
		t.Run(name, func(t *testing.T) {
			count := readings(t, paths...)
			if n := count(true); n != 1 {
				t.Fatalf("read %d times at first", n)
			}
			change("log.txt", "a line\n")
			if n := count(false); n != 0 {
				t.Errorf("read %d times for a file that is no manifest", n)
			}
			change("notes.yaml", notes)
			if n := count(true); n != 1 {
				t.Errorf("read %d times for its own file", n)
			}
			for _, file := range []string{"other.yaml", "sub/more.yaml"} {
				change(file, "# other\n")
				want := map[string]int{"a file": 0, "a folder": 1}[name]
				if n := count(want > 0); n != want {
					t.Errorf("read %d times for %s, want %d", n, file, want)
				}
			}
		})
	}
}

// A machine may have no watches left. Then the files are looked at.
func TestDevLooksAtFilesThatItCannotWatch(t *testing.T) {
	for name, broken := range map[string]func() (*fsnotify.Watcher, error){
		"no watcher": func() (*fsnotify.Watcher, error) { return nil, syscall.EMFILE },
		"no watch": func() (*fsnotify.Watcher, error) {
			w, err := fsnotify.NewWatcher()
			if err == nil {
				err = w.Close() // it refuses to watch anything
			}
			return w, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := write(t, map[string]string{"notes.yaml": notes})
			reads := make(chan error, 100)
			s := &manifestSource{approvals: &approvals{},
				paths: []string{folder}, state: openState(t, t.TempDir()), baseURL: "http://127.0.0.1:1", openWatcher: broken,
				statusKey: "key", sealKey: contract.NewSealKey(), compiled: func(*outcome) { reads <- nil }, failed: func(err error) { reads <- err },
			}
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- s.Run(ctx, func(source.Update) {}) }()
			if err := <-reads; err != nil {
				t.Error(err)
			}
			if err := os.WriteFile(filepath.Join(folder, "more.yaml"), []byte("no: manifest\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := <-reads; err == nil {
				t.Error("the new file was not read")
			}
			if err := os.Remove(filepath.Join(folder, "more.yaml")); err != nil {
				t.Fatal(err)
			}
			if err := <-reads; err != nil {
				t.Error(err)
			}
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

// A file that changes after it was read and before the watch is known to be lost is looked at again.
func TestAChangeWhileTheWatchIsLostIsSeen(t *testing.T) {
	for name, broken := range map[string]func() (*fsnotify.Watcher, error){
		"the watch never worked": func() (*fsnotify.Watcher, error) {
			w, err := fsnotify.NewWatcher()
			if err == nil {
				err = w.Close()
			}
			return w, err
		},
		"the watch worked": fsnotify.NewWatcher,
	} {
		t.Run(name, func(t *testing.T) {
			folder := write(t, map[string]string{"notes.yaml": notes})
			w, err := newWatch([]string{folder}, t.TempDir(), broken)
			if err != nil {
				t.Fatal(err)
			}
			w.renew()
			if err := os.WriteFile(filepath.Join(folder, "more.yaml"), []byte("no: manifest\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			w.unwatch()
			if !w.changed() {
				t.Error("the new file is not seen")
			}
			if w.changed() {
				t.Error("a change is seen twice")
			}
		})
	}
}
