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

// readMount returns the content of a mounted Secret; nil if the folder does not exist or is empty. The files are
// those of one version: the kubelet swaps the link ..data, and everything is read behind one resolution of it.
func readMount(dir string) (Secret, error) {
	for attempt := 0; ; attempt++ {
		data, err := readVersion(dir)
		// A version that is swapped while it is read is gone; the next attempt sees its successor.
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

// watchMount calls seen with the mount's content whenever it may have changed, until ctx ends. It looks once as soon as it
// would be notified: what changed since the caller's own look would be noticed by the poll only.
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
			notify.add()
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

// A notifier tells of changes in a folder where the system can; where it cannot there is the poll.
type notifier struct {
	dir     string
	watcher *fsnotify.Watcher
}

func newNotifier(dir string, log *slog.Logger) *notifier {
	n := &notifier{dir: dir}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		log.Warn("Changes of a mounted Secret are only noticed by polling", "dir", dir, "error", err)
		return n
	}
	n.watcher = watcher
	n.add()
	return n
}

// add watches the folder, if it exists by now; adding it again does no harm.
func (n *notifier) add() {
	if n.watcher != nil {
		_ = n.watcher.Add(n.dir)
	}
}

func (n *notifier) events() <-chan fsnotify.Event {
	if n.watcher == nil {
		return nil
	}
	return n.watcher.Events
}

// missed tells of notifications that were lost, which is a reason to look, too.
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
