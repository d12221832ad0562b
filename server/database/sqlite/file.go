package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// lookEvery is how often a read looks at the path, at most: that takes longer than a quick read should. Writes always look, as does Ping.
const lookEvery = time.Second

// A file is the file that the connections have open. Whoever moves or replaces it does so without a word: SQLite goes on with the old
// one, and what is written there is seen by nobody. So the file at the path is compared with it, and if it is another one or none, all
// connections are closed before new ones are opened: two files must never share what SQLite keeps beside a file.
type file struct {
	path string
	// drop closes the connections that are idle.
	drop func()
	// looked is when the path was looked at last, in nanoseconds. lost is set while connections are open to a file that is not there any more.
	looked atomic.Int64
	lost   atomic.Bool
	// info is the file that was opened last; nil if none was.
	info atomic.Pointer[os.FileInfo]

	mu sync.Mutex
	// open is how many connections there are, log the write-ahead log beside their file; nil if none is known.
	open int
	log  os.FileInfo
}

// logPath is where SQLite keeps the write-ahead log of the file at the path.
func (f *file) logPath() string { return f.path + "-wal" }

// isThere reports whether the open file is the one at the path, as far as the path was looked at within lookEvery.
func (f *file) isThere() bool {
	if now := time.Now().UnixNano(); now-f.looked.Load() < int64(lookEvery) {
		return !f.lost.Load()
	}
	return f.look()
}

// look looks at the path, and reports whether the open file is there. A file that was not opened yet is not missed.
func (f *file) look() bool {
	f.looked.Store(time.Now().UnixNano())
	opened := f.info.Load()
	if opened == nil {
		return true
	}
	if now, err := os.Stat(f.path); err == nil && os.SameFile(now, *opened) {
		return !f.lost.Load()
	}
	if f.lost.CompareAndSwap(false, true) {
		f.mu.Lock()
		if f.log == nil {
			f.log, _ = os.Stat(f.logPath()) // it is taken for the lost file's: better too careful than two files mixed
		}
		f.mu.Unlock()
	}
	f.drop()
	return false
}

// connect opens a connection to the file at the path.
func (f *file) connect(uri string) (*conn, error) {
	f.look()
	f.mu.Lock()
	defer f.mu.Unlock()
	opened := f.info.Load()
	now, err := os.Stat(f.path)
	switch {
	case opened == nil:
	case err != nil:
		return nil, err
	case !os.SameFile(now, *opened) && f.open > 0:
		return nil, errInUse
	case !os.SameFile(now, *opened) && f.leftLog():
		return nil, errOldLog
	}
	c, failed := openConn(uri)
	if failed != nil {
		return nil, failed
	}
	if is, failed := os.Stat(f.path); err != nil || failed != nil || !os.SameFile(now, is) {
		c.Close()
		return nil, errReplaced
	}
	if opened == nil || !os.SameFile(now, *opened) {
		f.log = nil
	}
	f.open++
	f.info.Store(&now)
	f.lost.Store(false)
	c.file = f
	return c, nil
}

// closed is called when a connection was closed.
func (f *file) closed() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open--
}

// noteLog notes the write-ahead log, after a connection has read from the file: it stays the same as long as one is open.
func (f *file) noteLog() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.lost.Load() {
		f.log, _ = os.Stat(f.logPath()) // nil: the file has none
	}
}

// leftLog reports whether the write-ahead log beside the path is that of the file before.
func (f *file) leftLog() bool {
	if f.log == nil {
		return false
	}
	now, err := os.Stat(f.logPath())
	return err == nil && now.Size() > 0 && os.SameFile(now, f.log)
}

var (
	errReplaced = errors.New("it was replaced at this moment; try again")
	errInUse    = errors.New("another file is there than the one that was open; it is opened once the calls that use that one have ended")
	errOldLog   = errors.New("another file is there than the one that was open, and SQLite would mix it with the write-ahead log of that one; move the files -wal and -shm beside it away, or restart the server once they are right")
)

// lostError is the error about a file that was open and is not at its path any more; nil if the error is about something else.
func (d *db) lostError(err error) *database.Error {
	switch {
	case errors.Is(err, errReplaced), errors.Is(err, errInUse), errors.Is(err, errOldLog):
		return d.unreachable(err.Error(), err)
	case errors.Is(err, fs.ErrNotExist):
		return d.unreachable("it is gone: it was moved or removed while it was in use; it is opened again once it is back", err)
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return d.unreachable(reasonOf(err), err)
	}
	switch resultCode(err) {
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
	default:
		return nil
	}
	return d.lookAgain(err)
}

// lookAgain is the error that the open file is not at its path any more; nil if it is there.
func (d *db) lookAgain(cause error) *database.Error {
	if d.file.look() {
		return nil
	}
	if _, err := os.Stat(d.settings.SQLitePath); err != nil {
		return d.lostError(err)
	}
	return d.unreachable("another file is there than the one that was open; try again", cause)
}

// opener opens connections to the file for a pool. writes is set if they write.
func (f *file) opener(uri string, writes bool) func(context.Context) (*conn, error) {
	return func(context.Context) (*conn, error) {
		c, err := f.connect(uri)
		if err == nil {
			c.writes = writes
		}
		return c, err
	}
}
