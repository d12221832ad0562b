package program

import "time"

const (
	// GatherTime is how long an addition may wait for others before it is written (docs/design/controllers.md,
	// "Gathering changes").
	GatherTime = 100 * time.Millisecond
	// gatherShare is how many times as long as the last additions took to write the next ones wait, so that ten thousand new
	// tokens do not keep the API server busy with parts that are soon written again. They wait at most GatherTime for each of
	// those parts: a new token of a small endpoint does not wait longer because others keep the API server busy.
	gatherShare = 2
	// restShare is how many times as long as compiling took a program rests before it compiles what only adds; maxRest is the
	// longest. What took less than minCompile is not worth a rest.
	restShare  = 2
	maxRest    = 250 * time.Millisecond
	minCompile = 5 * time.Millisecond
)

// gatherPause is how long additions wait after the last ones, which took so long to write, in so many parts.
func gatherPause(took time.Duration, parts int) time.Duration {
	return max(GatherTime, min(gatherShare*took, time.Duration(parts)*GatherTime))
}
