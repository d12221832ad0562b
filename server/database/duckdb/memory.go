package duckdb

import (
	"os"
	"runtime/debug"
	"strconv"

	"github.com/mcp-admin/mcp-admin-operator/contract/memlimit"
)

const (
	// usualMemory is DuckDB's limit if nothing limits the server's memory, in bytes.
	usualMemory = 2 << 30
	// leastMemory is the smallest limit with which DuckDB answers, in bytes.
	leastMemory = 32 << 20
)

// memory is how much DuckDB may use: half of the container's memory limit. It does not count all that it allocates, so a tenth stays
// free, and Go's own part becomes the rest.
func memory() int64 {
	limit, err := strconv.ParseInt(os.Getenv(memlimit.Variable), 10, 64)
	if err != nil || limit <= 0 {
		return usualMemory
	}
	if soft := limit / 5 * 2; soft < debug.SetMemoryLimit(-1) {
		debug.SetMemoryLimit(soft)
	}
	return max(limit/2, leastMemory)
}
