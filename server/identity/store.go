package identity

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/statefile"
)

// A store is a folder in which what issuers publish outlives the process: a container that is started again while an issuer
// is away reads it. Each document has a file, whose name follows from the settings that it was read by.
type store struct {
	// dir is "" if nothing is stored.
	dir string
	log *slog.Logger
}

func newStore(stateDir string, log *slog.Logger) store {
	if stateDir == "" {
		return store{"", log}
	}
	return store{filepath.Join(stateDir, "issuers"), log}
}

func (s store) file(name string) string { return filepath.Join(s.dir, name+".json") }

// load returns the keys that were stored; nil if none were.
func (s store) load(name string) *keySet {
	if s.dir == "" {
		return nil
	}
	var stored document
	text, err := os.ReadFile(s.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, &stored)
	}
	var known *keySet
	if err == nil {
		known, err = newKeySet(stored)
	}
	if err != nil {
		s.log.Warn("Stored keys of an issuer cannot be read", "error", err)
		return nil
	}
	return known
}

// save stores what an issuer publishes. Nothing is ever half there.
func (s store) save(name string, d document) {
	if s.dir == "" {
		return
	}
	if err := s.write(name, d); err != nil {
		s.log.Warn("The keys of an issuer cannot be stored; the server cannot be started from them while the issuer is away",
			"issuer", d.Issuer, "error", err)
	}
}

func (s store) write(name string, d document) error {
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	if stored, err := os.ReadFile(s.file(name)); err == nil && bytes.Equal(stored, text) {
		return nil
	}
	return statefile.Replace(s.file(name), text)
}

// keep removes the files of all issuers but these.
func (s store) keep(names map[string]bool) {
	if s.dir == "" {
		return
	}
	files, _ := os.ReadDir(s.dir) // a folder that is not there has none
	for _, file := range files {
		if name, found := strings.CutSuffix(file.Name(), ".json"); found && !names[name] {
			if err := os.Remove(filepath.Join(s.dir, file.Name())); err != nil {
				s.log.Warn("Stored keys of an issuer cannot be removed", "error", err)
			}
		}
	}
}
