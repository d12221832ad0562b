package duckdb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

func TestALinkThatLeadsOutOfTheFolderIsNotRead(t *testing.T) {
	outside := folder(t, "token", "more/b.csv")
	path := folder(t, "item.csv", "..2026/kept.csv", "year/a.csv")
	link(t, filepath.Join(outside, "token"), filepath.Join(path, "token.csv"))
	link(t, filepath.Join(outside, "token"), filepath.Join(path, "year", "b.csv"))
	link(t, filepath.Join(outside, "more"), filepath.Join(path, "more"))
	link(t, filepath.Join("..2026", "kept.csv"), filepath.Join(path, "kept.csv")) // as a ConfigMap's files are
	v, err := look(path)
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, f := range v.files {
		files = append(files, strings.TrimPrefix(f.path, path+"/"))
	}
	if got, want := strings.Join(files, " "), "item.csv kept.csv year/a.csv"; got != want {
		t.Errorf("it reads %s, want %s", got, want)
	}
	if notes := fmt.Sprint(v.notes); !strings.Contains(notes, "token.csv is not served") || !strings.Contains(notes, "more is not served") {
		t.Errorf("the notes are %q", notes)
	}
	if _, err := look(filepath.Join(path, "token.csv")); !errors.Is(err, errLink) {
		t.Errorf("a link as the path: %v", err)
	}
	if v, err := look(filepath.Join(path, "kept.csv")); err != nil || len(v.files) != 1 {
		t.Errorf("a link that stays: %v", err)
	}
}
