// Package statefile writes the files in which what a server knows outlives its process.
//
// Packages identity and source import it.
package statefile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Replace makes a text the content of a file that only its owner may read. Nothing is ever half there. If the text cannot be
// written, the file is removed: what was stored before says less than nothing, because it may let in what was taken away since.
func Replace(file string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	temporary := file + ".new"
	if err := os.WriteFile(temporary, text, 0o600); err != nil {
		return errors.Join(fmt.Errorf("what was stored before is removed: %w", err), os.Remove(file))
	}
	return os.Rename(temporary, file)
}
