//go:build race

package mcp_test

// raceDetector reports whether the race detector watches, which empties pools at random.
const raceDetector = true
