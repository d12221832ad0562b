// Package memlimit has a program use the memory of its container: it collects garbage before the limit is reached, rather
// than be killed there, and if it prefers speed, not much earlier. It imports nothing of the project.
package memlimit

import (
	"math"
	"runtime/debug"
	"strconv"
)

// Variable is the environment variable that holds the container's memory limit, in bytes.
const Variable = "CONTAINER_MEMORY_LIMIT"

// Set makes four fifths of the container's memory limit the soft limit of the Go runtime, and returns it. The rest is for
// what the runtime does not count: of 256 MiB that is some 25 MiB, the program's own pages among them. It does nothing, and
// returns 0, if there is no limit or GOMEMLIMIT is set.
func Set(getenv func(string) string) int64 {
	limit, err := strconv.ParseInt(getenv(Variable), 10, 64)
	if err != nil || limit <= 0 || getenv("GOMEMLIMIT") != "" {
		return 0
	}
	soft := limit / 5 * 4
	debug.SetMemoryLimit(soft)
	return soft
}

const (
	// fastGoal is how much garbage may gather before it is collected, in percent of what is in use; the runtime's own
	// goal is 100. Of a server that 64 agents ask at once, 100 percent are 6 MB, and no time could be measured that
	// more than 250 save.
	fastGoal = 250
	// roomForSpeed is the least soft limit with which fastGoal is set.
	roomForSpeed = 96 << 20
)

// PreferSpeed has garbage collected more seldom, for a program that keeps little and makes garbage with each request. The
// soft limit goes before that: near it, the runtime collects as often as it must. So nothing is done, and false returned, if
// there is no soft limit, if it leaves little room, or if GOGC is set.
func PreferSpeed(getenv func(string) string) bool {
	soft := debug.SetMemoryLimit(-1) // a negative limit sets nothing and returns the limit in force
	if soft == math.MaxInt64 || soft < roomForSpeed || getenv("GOGC") != "" {
		return false
	}
	debug.SetGCPercent(fastGoal)
	return true
}
