package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// filling is the making of a new file. It continues when the call that began it is cancelled.
type filling struct {
	done chan struct{}
	err  error
}

// ensureFile makes the file if there is none, once for all callers.
func (d *db) ensureFile(ctx context.Context) error {
	d.mu.Lock()
	if d.filled {
		d.mu.Unlock()
		return nil
	}
	if d.closing.Err() != nil {
		d.mu.Unlock()
		return cancelled(d.closing.Err())
	}
	under := d.filling
	if under == nil {
		under = &filling{done: make(chan struct{})}
		d.filling = under
		go d.fill(under)
	}
	d.mu.Unlock()
	select {
	case <-under.done:
		return under.err
	case <-ctx.Done():
		return cancelled(ctx.Err())
	}
}

func (d *db) fill(under *filling) {
	err := d.initialise()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.filled, d.filling = err == nil, nil
	if err != nil {
		under.err = err // a nil *database.Error in an error is not nil
	}
	close(under.done)
}

// initialise makes a new file under another name in the same folder, and gives it its name when it is complete. So
// nobody takes a half-filled file for a complete one.
func (d *db) initialise() *database.Error {
	path := d.settings.SQLitePath
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return d.unreachable("it is a folder", nil)
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return d.unreachable(reasonOf(err), err)
	}
	scripts, failed := readScripts(d.settings.SQLiteInitDir)
	if failed != nil {
		return failed
	}
	removeStale(path)
	made, err := os.CreateTemp(filepath.Dir(path), temporaryName(path, "*"))
	if err != nil {
		return d.unreachable("no new file can be made there: "+reasonOf(err), err)
	}
	temporary := made.Name()
	_ = made.Close()
	defer func() {
		for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
			_ = os.Remove(temporary + suffix) // most do not exist
		}
	}()
	failed = d.runScripts(temporary, scripts, true)
	if failed != nil && strings.Contains(failed.Cause.Error(), "within a transaction") {
		// The script has a transaction of its own, as dumps do, or a statement that must be outside of one.
		if err := os.Truncate(temporary, 0); err != nil {
			return d.unreachable(reasonOf(err), err)
		}
		failed = d.runScripts(temporary, scripts, false)
	}
	if failed != nil {
		return failed
	}
	if err := os.Chmod(temporary, 0o660); err != nil { //nolint:gosec // pods may have only the volume's group in common
		return d.unreachable(reasonOf(err), err)
	}
	if err := syncFile(temporary); err != nil {
		return d.unreachable(reasonOf(err), err)
	}
	// Unlike a rename, a link never replaces a file that another process made meanwhile.
	err = os.Link(temporary, path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = os.Rename(temporary, path) // some volumes have no links
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return d.unreachable(reasonOf(err), err)
	}
	return nil
}

// syncFile waits until a file is on the disk.
func syncFile(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

type script struct{ key, sql string }

// readScripts reads the files of a folder in the order of their names. It follows the links of a ConfigMap's keys, and
// skips what the kubelet keeps beside them (..data and the like).
func readScripts(folder string) ([]script, *database.Error) {
	if folder == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(folder) // sorted by name
	if err != nil {
		return nil, initFailed("the SQL for a new file cannot be read: "+reasonOf(err), err)
	}
	var scripts []script
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		if strings.HasPrefix(entry.Name(), "..") {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, initFailed(fmt.Sprintf("key %q of the SQL for a new file cannot be read: %s", entry.Name(), reasonOf(err)), err)
		}
		scripts = append(scripts, script{entry.Name(), strings.TrimPrefix(string(text), "\uFEFF")})
	}
	return scripts, nil
}

// runScripts fills an empty file, and closes it so that all of it lies in that one file.
func (d *db) runScripts(path string, scripts []script, transaction bool) *database.Error {
	// The file is thrown away if anything goes wrong, so it needs no journal and need not wait for the disk.
	c, err := openConn(fileURI(path, url.Values{"mode": {"rw"}, "_journal_mode": {"OFF"}, "_synchronous": {"OFF"}}))
	if err != nil {
		return d.unreachable("no new file can be made there", err)
	}
	defer c.Close()
	run := func(sql string) error {
		// Only Close ends the context: we set no limit to the time that filling takes.
		return c.exec(d.closing, sql)
	}
	if transaction {
		if err := run("BEGIN"); err != nil {
			return initFailed("a new file cannot be filled: "+err.Error(), err)
		}
	}
	for _, s := range scripts {
		if err := run(s.sql); err != nil {
			return initFailed(fmt.Sprintf("key %q of the SQL for a new file failed: %s", s.key, err), err)
		}
	}
	if transaction {
		if err := run("COMMIT"); err != nil {
			return initFailed("a new file cannot be filled: "+err.Error(), err)
		}
	}
	// The file itself keeps the mode of write-ahead logging; readers then never wait for a writer.
	if err := run("PRAGMA journal_mode = WAL"); err != nil {
		return initFailed("a new file cannot be filled: "+err.Error(), err)
	}
	return nil
}

func initFailed(message string, cause error) *database.Error {
	return &database.Error{Code: database.Unreachable, Reason: contract.ReasonInitFailed, Message: message, Cause: cause}
}

// staleAfter is the age after which an incomplete file belongs to nobody any more.
const staleAfter = time.Hour

func temporaryName(path, random string) string { return "." + filepath.Base(path) + ".init-" + random }

// removeStale removes the files of processes that were killed while they filled one.
func removeStale(path string) {
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), temporaryName(path, "*"))) // it fails for bad patterns only
	for _, file := range left {
		if info, err := os.Stat(file); err == nil && time.Since(info.ModTime()) > staleAfter {
			_ = os.Remove(file)
		}
	}
}

// reasonOf returns the system's own words, without the path, which the message already has.
func reasonOf(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}
