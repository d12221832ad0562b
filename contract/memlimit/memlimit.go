// Package memlimit makes a program collect garbage before its container's memory limit is reached, rather than be killed
// there. It imports nothing of the project.
package memlimit

import (
	"runtime/debug"
	"strconv"
)

// Variable is the environment variable that holds the container's memory limit, in bytes.
const Variable = "CONTAINER_MEMORY_LIMIT"

// Set makes nine tenths of the container's memory limit the soft limit of the Go runtime, and returns it; the rest is for
// what the runtime does not count. It does nothing, and returns 0, if there is no limit or GOMEMLIMIT is set.
func Set(getenv func(string) string) int64 {
	limit, err := strconv.ParseInt(getenv(Variable), 10, 64)
	if err != nil || limit <= 0 || getenv("GOMEMLIMIT") != "" {
		return 0
	}
	soft := limit / 10 * 9
	debug.SetMemoryLimit(soft)
	return soft
}
