package audit

import (
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// FolderLimits say when a new file is begun, and which old files are removed. Zero values: none of that.
type FolderLimits struct {
	// MaxFileBytes is about how many bytes a file has: it ends before the line that would make it larger.
	MaxFileBytes int64
	// MaxAge is how long a file stays after its last line, MaxTotalBytes how many bytes all files may have together. If several servers
	// write to the folder, each may add a hundredth before it sees what the others have written.
	MaxAge        time.Duration
	MaxTotalBytes int64
}

// maxUnlooked is the most bytes that a server writes before it looks at the folder again.
const maxUnlooked = 64 << 20

// unlooked is how many bytes a server writes before it looks at the folder again.
func (l *FolderLimits) unlooked() int64 { return min(l.MaxTotalBytes/100, maxUnlooked) }

// Folder writes lines to files of a folder: audit-<server>-<when the file was begun>.jsonl. Several servers may share the folder.
// A new file begins each day (UTC). Any server may remove a file to which nobody wrote for an hour, or whose server has a newer one.
//
// It is an io.Writer, of one line with each Write. Safe for concurrent use.
type Folder struct {
	dir, server string
	now         func() time.Time

	mu     sync.Mutex
	limits FolderLimits
	file   *os.File
	begun  time.Time
	size   int64
	// wrote is when the last line came; unlooked is how many bytes were written since the folder was last looked at.
	wrote    time.Time
	unlooked int64
	// torn is set if the file ends within a line.
	torn bool
}

// NewFolder returns a Folder of which nothing is made before the first line. server is the server's name, which no other one has.
// now is the clock; nil is time.Now.
func NewFolder(dir, server string, now func() time.Time) *Folder {
	if now == nil {
		now = time.Now
	}
	return &Folder{dir: dir, server: server, now: now}
}

// Limit changes the limits, from the next line on.
func (f *Folder) Limit(limits FolderLimits) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.limits = limits
}

// Write appends a line. If that fails, the file has the line not at all or torn, and the next line begins anew.
func (f *Folder) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	length := int64(len(line))
	switch {
	case f.isOver(length):
		if err := f.begin(); err != nil {
			return 0, err
		}
		f.removeOld(length)
	case f.limits.MaxTotalBytes > 0 && f.unlooked+length > f.limits.unlooked():
		f.removeOld(length)
	}
	if f.torn {
		if _, err := f.file.WriteString("\n"); err != nil {
			return 0, err
		}
		f.torn = false
	}
	n, err := f.file.Write(line)
	f.size, f.unlooked, f.wrote = f.size+int64(n), f.unlooked+int64(n), f.now()
	f.torn = err != nil && n > 0
	return n, err
}

// Try reports whether a line would have room: it makes a small file, and removes it.
func (f *Folder) Try() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := os.MkdirAll(f.dir, 0o750); err != nil { //nolint:gosec // as in begin
		return err
	}
	file, err := os.CreateTemp(f.dir, "try-*")
	if err != nil {
		return err
	}
	_, err = file.Write(make([]byte, 4096))
	return errors.Join(err, file.Close(), os.Remove(file.Name()))
}

// isOver reports whether a line of so many bytes belongs in a new file.
func (f *Folder) isOver(length int64) bool {
	now := f.now()
	return f.file == nil || !dayOf(f.begun).Equal(dayOf(now)) || f.limits.MaxFileBytes > 0 && f.size > 0 && f.size+length > f.limits.MaxFileBytes ||
		now.Sub(f.wrote) > idle/2 && f.isRemoved()
}

// isRemoved reports whether another server has removed the file.
func (f *Folder) isRemoved() bool {
	_, err := os.Stat(f.file.Name())
	return err != nil
}

const (
	day = 24 * time.Hour
	// idle is how long nobody has written to a file that may be removed though it is its server's newest. After half of it the server
	// looks whether its file is still there.
	idle = time.Hour
)

// dayOf returns the day of a moment, in UTC.
func dayOf(t time.Time) time.Time { return t.UTC().Truncate(day) }

// The names of files: their time sorts them.
const (
	filePrefix = "audit-"
	fileSuffix = ".jsonl"
	fileTime   = "20060102T150405.000000000Z"
)

// begin opens a new file.
func (f *Folder) begin() error {
	if err := os.MkdirAll(f.dir, 0o750); err != nil { //nolint:gosec // who collects the files has the claim's group
		return err
	}
	now := f.now().UTC()
	file, err := os.OpenFile(filepath.Join(f.dir, filePrefix+f.server+"-"+now.Format(fileTime)+fileSuffix), os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o640) //nolint:gosec // likewise
	if err != nil {
		return err
	}
	if f.file != nil {
		_ = f.file.Close() // each line was written already
	}
	f.file, f.begun, f.size, f.torn = file, now, 0, false
	return nil
}

// kept is a file of the folder.
type kept struct {
	path    string
	server  string
	begun   time.Time
	changed time.Time
	size    int64
}

// removeOld removes the files that are too old, and those with the oldest last lines if a line of so many bytes, and what comes until the
// folder is looked at again, would be too many. What cannot be removed stays: the disk will be full then, and the next line says so.
func (f *Folder) removeOld(length int64) {
	f.unlooked = 0
	if f.limits.MaxAge <= 0 && f.limits.MaxTotalBytes <= 0 {
		return
	}
	files, total := f.list()
	total += max(length, f.limits.unlooked())
	newest := map[string]string{}
	for i := range files {
		newest[files[i].server] = files[i].path
	}
	slices.SortStableFunc(files, func(a, b kept) int { return a.changed.Compare(b.changed) })
	now := f.now()
	for i := range files {
		k := &files[i]
		if k.path == f.file.Name() || newest[k.server] == k.path && now.Sub(k.changed) < idle {
			continue // its server may be writing to it
		}
		tooOld := f.limits.MaxAge > 0 && now.Sub(k.changed) > f.limits.MaxAge
		tooMany := f.limits.MaxTotalBytes > 0 && total > f.limits.MaxTotalBytes
		if (tooOld || tooMany) && os.Remove(k.path) == nil {
			total -= k.size
		}
	}
}

// list returns the files of all servers, the oldest first, and how many bytes they have.
func (f *Folder) list() (files []kept, total int64) {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return nil, 0
	}
	for _, entry := range entries {
		name, ours := strings.CutPrefix(entry.Name(), filePrefix)
		name, also := strings.CutSuffix(name, fileSuffix)
		dash := strings.LastIndexByte(name, '-')
		if !ours || !also || dash < 0 {
			continue
		}
		begun, err := time.Parse(fileTime, name[dash+1:])
		info, gone := entry.Info()
		if err != nil || gone != nil || !info.Mode().IsRegular() {
			continue
		}
		files = append(files, kept{filepath.Join(f.dir, entry.Name()), name[:dash], begun, info.ModTime(), info.Size()})
		total += info.Size()
	}
	slices.SortFunc(files, func(a, b kept) int { return cmp.Or(a.begun.Compare(b.begun), cmp.Compare(a.path, b.path)) })
	return files, total
}

// Close ends the file. A line that comes later begins a new one.
func (f *Folder) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file = nil
	return err
}

var _ io.WriteCloser = (*Folder)(nil)
