package duckdb

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// A CSV file is text without an end of its own: a row that is cut off is a row too, with a shorter last value. So a file whose last line
// has no end counts as one that is being written, or whose writer was interrupted, and its rows are not read. And what was read is answered
// only if all files are then as they were when they were opened.

const (
	// unendedMark is the error that a table of such a file ends a query with.
	unendedMark = "mcp-admin: the last line has no end"
	// refused has a view fail as soon as it is read, though its columns are known.
	refused = " WHERE error('" + unendedMark + "') IS NULL"
	// noteUnended follows the name of such a file in a status.
	noteUnended = " is not read: its last line has no end, as if it was still being written, or its writer was interrupted. Write files beside, and rename them; if this one is whole, end it with a line break."
	// tellUnended is what a caller is told.
	tellUnended = "a file that this call needs is being written, or was not written to its end; try again in a few seconds, and if that does not help, whoever administers the endpoint finds the file in the endpoint's status"
)

// unended is the name of a file of the source whose last line has no end; "" if there is none. What is compressed has an end of its own.
func (s source) unended() string {
	if s.kind != csv {
		return ""
	}
	for _, path := range s.files {
		if name := strings.ToLower(path); strings.HasSuffix(name, ".gz") || strings.HasSuffix(name, ".zst") {
			continue
		}
		if !endsLine(path) {
			return filepath.Base(path)
		}
	}
	return ""
}

// endsLine reports whether a file ends with the end of a line. A file that is empty or cannot be read is for DuckDB to judge.
func endsLine(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return true
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return true
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, info.Size()-1); err != nil {
		return false // it is shorter by now
	}
	return last[0] == '\n' || last[0] == '\r'
}

// isAsItWas reports whether all files of a version are still as they were. A database of DuckDB's own is locked while it is open.
func (v *version) isAsItWas() bool {
	if v.database {
		return true
	}
	for _, f := range v.files {
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
