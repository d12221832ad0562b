package main

import (
	"path/filepath"
	"testing"
)

// What the next release edits must be in the code, or make upgrade ends before it has begun.
func TestTheNextReleaseCanBeMade(t *testing.T) {
	root, err := filepath.Abs("../..")
	must(t, err)
	if _, err := writeEdits(root, t.TempDir()); err != nil {
		t.Error(err)
	}
}
