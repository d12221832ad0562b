package duckdb

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// A CSV file is text without an end of its own: a row that is cut off is a row too, with a shorter last value. Many programs write no line
// break at the end (RFC 4180 allows it), so that nothing but time tells such a file from one that is being written: its rows are read once it
// has been left alone for a while. A compressed file that is cut off, of which DuckDB reads what is there, is never read. And what was read is
// answered only if the files are then as they were when they were opened.

const (
	// unendedMark is the error that a table of such a file ends a query with.
	unendedMark = "mcp-admin: a file has no end"
	// refused has a view fail as soon as it is read, even without a row, though its columns are known.
	refused = " WHERE (SELECT error('" + unendedMark + "')) IS NULL"
	// noteUnended follows the name of such a file in a status.
	noteUnended = " is not read until it has not changed for a minute: its last line has no end, as if it was still being written. Write files beside, and rename them; or end the last line with a line break."
	// noteCutOff follows the name of a compressed file.
	noteCutOff = " is not read: it is cut off, as if it was still being written, or its writer was interrupted. Write files beside, and rename them."
	// quiet is how long a file whose last line has no end must not have changed to count as whole.
	quiet = time.Minute
	// tellUnended is the message for a caller.
	tellUnended = "a file that this call needs is being written, or was not written to its end; try again in a few seconds, and if that does not help, whoever administers the endpoint finds the file in the endpoint's status"
)

// unended says of a file of the source that has no end that it is not read; nothing if there is none. If time alone may tell that it is whole, the
// version knows until when.
func (v *version) unended(ctx context.Context, s source, known wholeFiles) database.Unserved {
	if s.kind != csv {
		return database.Unserved{}
	}
	for _, path := range s.files {
		f, err := os.Open(path)
		if err != nil {
			continue // DuckDB judges it
		}
		note, until := known.unended(ctx, f)
		_ = f.Close() // it was only read
		if note == "" {
			continue
		}
		if !until.IsZero() && (v.settles.IsZero() || until.Before(v.settles)) {
			v.settles = until
		}
		return database.Unserved{Note: filepath.Base(path) + note, Why: "a file" + strings.TrimSuffix(note, ".")}
	}
	return database.Unserved{}
}

// wholeFiles are the compressed files that were found to be whole, as they were then: to see that, one has to read all of them.
type wholeFiles map[string]os.FileInfo

// unended returns the note about a CSV file without an end, and when the file will count as whole, if time tells; "" if it has its end. An empty
// file is for DuckDB to judge.
func (known wholeFiles) unended(ctx context.Context, f *os.File) (note string, until time.Time) {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return "", until
	}
	isWhole := map[string]func(context.Context, *os.File, int64) bool{".gz": gzipEnds, ".zst": zstdEnds}[strings.ToLower(filepath.Ext(f.Name()))]
	if isWhole == nil {
		until = info.ModTime().Add(quiet)
		if lineEnds(f, info.Size()) || !time.Now().Before(until) {
			return "", time.Time{}
		}
		return noteUnended, until
	}
	if before := known[f.Name()]; before != nil && isSameFile(before, info) {
		return "", until
	}
	if !isWhole(ctx, f, info.Size()) {
		return noteCutOff, until
	}
	known[f.Name()] = info
	return "", until
}

// lineEnds reports whether a file ends with the end of a line.
func lineEnds(f *os.File, size int64) bool {
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, size-1); err != nil {
		return false // it is shorter by now
	}
	return last[0] == '\n' || last[0] == '\r'
}

// gzipEnds reports whether a file is compressed by gzip to its end: DuckDB takes what it finds before.
func gzipEnds(ctx context.Context, f *os.File, _ int64) bool {
	unpacked, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return false
	}
	for buffer := make([]byte, 64<<10); err == nil && ctx.Err() == nil; {
		_, err = unpacked.Read(buffer)
	}
	return errors.Is(err, io.EOF)
}

// zstdEnds reports whether the frames of a file that is compressed by Zstandard are whole (RFC 8878): each block tells how long it is, and
// whether it is the frame's last.
func zstdEnds(ctx context.Context, f *os.File, size int64) bool {
	at := int64(0)
	number := func(bytes int) int64 {
		piece := make([]byte, 8)
		if _, err := f.ReadAt(piece[:bytes], at); err != nil {
			at = size + 1
		}
		at += int64(bytes)
		return int64(binary.LittleEndian.Uint32(piece))
	}
	for at < size && ctx.Err() == nil {
		if magic := number(4); magic&^0xf == 0x184d2a50 { // a frame that holds no data
			at += number(4)
			continue
		} else if magic != 0xfd2fb528 {
			return false
		}
		descriptor := number(1)
		single := descriptor >> 5 & 1
		at += 1 - single + []int64{0, 1, 2, 4}[descriptor&3] + []int64{single, 2, 4, 8}[descriptor>>6]
		for isLast := false; !isLast && at <= size; {
			block := number(3)
			isLast = block&1 == 1
			if block>>1&3 == 1 {
				at++ // one byte that is repeated
			} else {
				at += block >> 3
			}
		}
		at += (descriptor >> 2 & 1) * 4
	}
	return at == size && ctx.Err() == nil
}

// isAsItWas reports whether all CSV files of a version are still as they were. A Parquet file has an end without which it is not read, and
// a database of DuckDB's own is locked while it is open.
func (v *version) isAsItWas() bool {
	for _, f := range v.files {
		if kindOf(f.path) != csv {
			continue
		}
		now, err := os.Stat(f.path)
		if err != nil || !isSameFile(f.info, now) {
			return false
		}
	}
	return true
}

// errUnended is the error of a query that needs such a file.
func errUnended() *database.Error {
	return &database.Error{Code: database.Unready, Reason: reasonError, Message: tellUnended}
}
