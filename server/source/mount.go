package source

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// mountPoll is how often a mount is read if no notification comes.
const mountPoll = 10 * time.Second

// readMount returns the content of a mounted Secret; nil if the folder does not exist or is empty. All files are of one
// version: the kubelet swaps the link ..data, and readMount resolves that link once.
func readMount(dir string) (Secret, error) {
	for attempt := 0; ; attempt++ {
		data, err := readVersion(dir)
		// If a version is swapped while it is read, its files are gone; the next attempt sees the new version.
		if err == nil || !errors.Is(err, fs.ErrNotExist) || attempt == 3 {
			return data, err
		}
	}
}

func readVersion(dir string) (Secret, error) {
	version, err := filepath.EvalSymlinks(filepath.Join(dir, "..data"))
	if errors.Is(err, fs.ErrNotExist) {
		version = dir
	} else if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(version)
	if errors.Is(err, fs.ErrNotExist) && version == dir {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var data Secret
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), "..") || entry.IsDir() {
			continue
		}
		content, err := os.ReadFile(filepath.Join(version, entry.Name()))
		if err != nil {
			return nil, err
		}
		if data == nil {
			data = Secret{}
		}
		data[entry.Name()] = content
	}
	return data, nil
}

// watchMount calls seen with the mount's content whenever it may have changed, until ctx ends. It reads the mount once
// when notifications begin: otherwise only the poll would find a change since the caller's own reading.
func watchMount(ctx context.Context, dir string, log *slog.Logger, seen func(Secret)) {
	poll := time.NewTicker(mountPoll)
	defer poll.Stop()
	notify := newNotifier(dir, log)
	defer notify.close()
	failing := false
	look := func() {
		data, err := readMount(dir)
		if err == nil {
			seen(data)
		} else if !failing {
			log.Warn("A mounted Secret cannot be read; what it held stays", "dir", dir, "error", err)
		}
		failing = err != nil
	}
	look()
	for {
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
			_ = notify.add() // it was told once that there is only the poll
		case _, ok := <-notify.events():
			if !ok {
				notify.close()
				continue
			}
		case err := <-notify.missed():
			log.Debug("Notifications of a mounted Secret were lost", "dir", dir, "error", err)
		}
		look()
	}
}

// A notifier reports changes in a folder if the system can do that at the moment. If it cannot, there is only the poll.
type notifier struct {
	dir     string
	watcher *fsnotify.Watcher
}

func newNotifier(dir string, log *slog.Logger) *notifier {
	n := &notifier{dir: dir}
	if err := n.add(); err != nil {
		log.Warn("Changes of a mounted Secret are only noticed by polling for now", "dir", dir, "error", err)
	}
	return n
}

// add watches the folder if it exists by now. It may be called again: other programs may have freed what the system lacked.
func (n *notifier) add() (err error) {
	if n.watcher == nil {
		n.watcher, err = fsnotify.NewWatcher()
	}
	if n.watcher != nil {
		_ = n.watcher.Add(n.dir)
	}
	return err
}

func (n *notifier) events() <-chan fsnotify.Event {
	if n.watcher == nil {
		return nil
	}
	return n.watcher.Events
}

// missed reports lost notifications, which are a reason to read the mount, too.
func (n *notifier) missed() <-chan error {
	if n.watcher == nil {
		return nil
	}
	return n.watcher.Errors
}

func (n *notifier) close() {
	if n.watcher != nil {
		_ = n.watcher.Close()
		n.watcher = nil
	}
}
