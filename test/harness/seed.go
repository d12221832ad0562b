package harness

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Seed returns the seed of random tests: MCP_TEST_SEED, else a random number.
func Seed(t testing.TB) uint64 {
	t.Helper()
	text := os.Getenv("MCP_TEST_SEED")
	if text == "" {
		return rand.Uint64() //nolint:gosec // a seed that picks the worlds of a test guards nothing
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("MCP_TEST_SEED is %q, want a number", text)
	}
	return seed
}
