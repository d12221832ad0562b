package main

import (
	"fmt"
	"os"
	"testing"
)

// host is what the tests' harness wants of a test, for a program. What fails panics with a failure, skips with a skip.
type host struct {
	testing.TB
	cleanups []func()
}

type failure string

func (f failure) Error() string { return string(f) }

type skip string

// with runs something with a host, cleans up after it, and returns how it failed, or why it was skipped.
func with(run func(*host)) (skipped string, err error) {
	h := &host{}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
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

func (h *host) Helper()                          {}
func (h *host) Cleanup(f func())                 { h.cleanups = append(h.cleanups, f) }
func (h *host) Fatal(args ...any)                { panic(failure(fmt.Sprint(args...))) }
func (h *host) Fatalf(format string, all ...any) { panic(failure(fmt.Sprintf(format, all...))) }
func (h *host) Error(args ...any)                { fmt.Fprintln(os.Stderr, args...) }
func (h *host) Skip(args ...any)                 { panic(skip(fmt.Sprint(args...))) }

func (h *host) TempDir() string {
	folder, err := os.MkdirTemp("", "jobs-")
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { _ = os.RemoveAll(folder) })
	return folder
}
