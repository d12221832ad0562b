package project

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Fill puts a text between two marks in a document of the project, in the place of what is there.
func Fill(document, begin, end, text string) error {
	path := filepath.Join(Root(), filepath.FromSlash(document))
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, begins := strings.Cut(string(old), begin)
	_, after, ends := strings.Cut(rest, end)
	if !begins || !ends {
		return fmt.Errorf("%s has no place for the text: put the comments %s and %s there", document, begin, end)
	}
	return os.WriteFile(path, []byte(before+begin+text+end+after), 0o644) //nolint:gosec // G306: a document is for everybody
}
