package harness

import "os"

// Whole reports whether tests try all that they can: every pair of a type and a value, every random call. Else they take a
// part that finds most faults in a fraction of the time; such a part may happen to lack what is rare. "make test-rest" sets
// MCP_TEST_WHOLE.
func Whole() bool { return os.Getenv("MCP_TEST_WHOLE") != "" }

// Part is the given number if tests are whole, else a third of it.
func Part(whole int) int {
	if Whole() {
		return whole
	}
	return whole / 3
}
