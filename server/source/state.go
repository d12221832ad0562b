package source

import (
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/mcp-admin/mcp-admin-operator/server/statefile"
)

// A state is a folder in memory that outlives the process: in it lie the parts that the server answers from, one file for
// each Secret, as they came. A container that is started again while the API is away uses them.
type state struct {
	// dir is "" if nothing is stored.
	dir string
	log *slog.Logger
}

func (s state) file(secret string) string { return filepath.Join(s.dir, secret+".json") }

// load returns what was stored of a Secret; nil if nothing was.
func (s state) load(secret string) Secret {
	if s.dir == "" {
		return nil
	}
	var data Secret
	text, err := os.ReadFile(s.file(secret))
	if err == nil {
		err = json.Unmarshal(text, &data)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.log.Warn("A stored part of the Config cannot be read", "secret", secret, "error", err)
		return nil
	}
	return data
}

// save stores what a Secret holds; nil removes what was stored. Nothing is ever half there.
func (s state) save(secret string, data Secret) {
	if s.dir == "" {
		return
	}
	if err := s.write(secret, data); err != nil {
		s.log.Warn("A part of the Config cannot be stored; the server cannot be started from it while the API is away", "secret", secret, "error", err)
	}
}

func (s state) write(secret string, data Secret) error {
	if data == nil {
		if err := os.Remove(s.file(secret)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	return statefile.Replace(s.file(secret), text)
}
