// Package program runs what tests use, test databases and servers, in a program that measures.
package program

import (
	"fmt"
	"os"
	"testing"
)

// Host lets a program use the tests' harness as a test does. What fails panics with a Failure, skips with a skip.
type Host struct {
	testing.TB
	cleanups []func()
}

// Failure is why something could not go on.
type Failure string

func (f Failure) Error() string { return string(f) }

type skip string

// With runs something with a host, cleans up after it, and returns how it failed, or why it was skipped.
func With(run func(*Host)) (skipped string, err error) {
	h := &Host{}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case Failure:
			err = r
		case skip:
			skipped = string(r)
		default:
			panic(r)
		}
	}()
	defer func() {
		for i := len(h.cleanups) - 1; i >= 0; i-- {
			h.cleanups[i]()
		}
	}()
	run(h)
	return "", nil
}

// The methods of testing.TB that the fixtures use.

// Helper does nothing: a program has no lines of a test.
func (h *Host) Helper() {}

// Cleanup keeps what is done at the end.
func (h *Host) Cleanup(f func()) { h.cleanups = append(h.cleanups, f) }

// Fatal ends the program's run.
func (h *Host) Fatal(args ...any) { panic(Failure(fmt.Sprint(args...))) }

// Fatalf ends the program's run.
func (h *Host) Fatalf(format string, all ...any) { panic(Failure(fmt.Sprintf(format, all...))) }

// Error prints what is wrong, and returns.
func (h *Host) Error(args ...any) { fmt.Fprintln(os.Stderr, args...) }

// Skip ends the program's run: something that it needs is not there.
func (h *Host) Skip(args ...any) { panic(skip(fmt.Sprint(args...))) }

// TempDir makes a folder that is removed at the end.
func (h *Host) TempDir() string {
	folder, err := os.MkdirTemp("", "jobs-")
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { _ = os.RemoveAll(folder) })
	return folder
}
