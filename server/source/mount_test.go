package source

import (
	"log/slog"
	"testing"
)

func TestChangesOfAMountAreNotified(t *testing.T) {
	dir := t.TempDir()
	n := newNotifier(dir, slog.New(slog.DiscardHandler))
	t.Cleanup(n.close)
	if n.watcher == nil {
		t.Skip("this user has used up the system's inotify instances")
	}
	write(t, dir, tokensPart(t, 0, 1, "a"))
	<-n.events()
}

func TestANotifierThatHadNoWatchTriesAgain(t *testing.T) {
	dir := t.TempDir()
	n := newNotifier(dir, slog.New(slog.DiscardHandler))
	t.Cleanup(n.close)
	if n.watcher == nil {
		t.Skip("this user has used up the system's inotify instances")
	}
	n.close() // as if there had been no instance left
	if err := n.add(); err != nil {
		t.Fatal(err)
	}
	write(t, dir, tokensPart(t, 0, 1, "a"))
	<-n.events()
}
