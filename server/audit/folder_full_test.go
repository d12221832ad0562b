//go:build linux

package audit_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/audit"
)

// A line that Write has taken is in a file, whole, whatever the disk did before and after.
func TestADiskThatIsFullLosesNoLineThatWasTaken(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("NOT TESTED: no small disk can be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	ballast := filepath.Join(disk, "ballast")
	dir, c := filepath.Join(disk, "shop"), newClock()
	f := audit.NewFolder(dir, "shop", c.now)
	f.Limit(audit.FolderLimits{MaxFileBytes: 10_000})
	taken, refused := map[string]bool{}, 0
	n := 0
	put := func() {
		n++
		line := fmt.Sprintf("%04d %s", n, strings.Repeat("x", 300))
		switch _, err := f.Write([]byte(line + "\n")); {
		case err == nil:
			taken[line] = true
		case errors.Is(err, syscall.ENOSPC):
			refused++
		default:
			t.Fatal(err)
		}
	}
	for round := range 3 {
		if err := os.WriteFile(ballast, make([]byte, 24_000-8_000*round), 0o600); err != nil {
			t.Fatal(err)
		}
		before := refused
		for refused < before+5 {
			put()
		}
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			put()
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, text := range filesIn(t, dir) {
		for line := range strings.Lines(text) {
			if taken[strings.TrimSuffix(line, "\n")] {
				found++
			}
		}
	}
	if found != len(taken) || refused < 15 {
		t.Errorf("%d lines were taken, and %d are there; %d were refused, want 15 at least", len(taken), found, refused)
	}
}

// Who asks whether lines can be written is told without a line: a call may not come for hours.
func TestALogSaysThatLinesCannotBeWrittenUntilTheyCan(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("NOT TESTED: no small disk can be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	dir, ballast := filepath.Join(disk, "shop"), filepath.Join(disk, "ballast")
	folder := audit.NewFolder(dir, "shop", nil)
	defer folder.Close()
	changes := 0
	log := audit.NewLog(folder)
	log.Changed = func() { changes++ }
	write := func() error { return log.Write(t.Context(), &audit.Record{Tool: "create_book"}) }
	if err := write(); err != nil || log.Problem() != "" {
		t.Fatal(err, log.Problem())
	}
	fill := func() {
		file, err := os.Create(ballast)
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = file.Write(make([]byte, 512))
		}
		_ = file.Close()
		for write() == nil { // the last page of its file had room
		}
	}
	fill()
	const want = "/shop: no space left on device"
	for range 3 {
		if log.Try(); !strings.HasSuffix(log.Problem(), want) || changes != 1 {
			t.Fatalf("got %q and %d changes, want …%s and 1", log.Problem(), changes, want)
		}
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if log.Try(); log.Problem() != "" || changes != 2 {
		t.Errorf("got %q and %d changes, want no problem and 2", log.Problem(), changes)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("got %v, %v, want the one file of lines", files, err)
	}
}

func BenchmarkFolder(b *testing.B) {
	f := audit.NewFolder(b.TempDir(), "shop", nil)
	defer f.Close()
	f.Limit(audit.FolderLimits{MaxFileBytes: 100 << 20})
	line := []byte(strings.Repeat("x", 599) + "\n")
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Write(line); err != nil {
			b.Fatal(err)
		}
	}
}
