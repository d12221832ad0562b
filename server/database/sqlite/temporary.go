package sqlite

import (
	"cmp"
	"os"
)

// temporaryStore says where SQLite keeps data that does not fit its memory while it sorts: in files (1), or in memory
// (2) if there is no folder for files. Without either a sort of a few megabytes would fail.
func temporaryStore() string {
	// The folders that SQLite itself tries, in its order.
	for _, folder := range []string{os.Getenv("SQLITE_TMPDIR"), os.Getenv("TMPDIR"), "/var/tmp", "/usr/tmp", "/tmp", "."} {
		if folder != "" && canWrite(folder) {
			return "1"
		}
	}
	return "2"
}

// canWrite reports whether files can be made in a folder.
func canWrite(folder string) bool {
	file, err := os.CreateTemp(folder, "mcp-admin-")
	if err != nil {
		return false
	}
	return cmp.Or(file.Close(), os.Remove(file.Name())) == nil
}
