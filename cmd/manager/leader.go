package main

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// leaseName is the Lease of leader election, in the manager's own namespace.
const leaseName = "mcp-admin-manager.mcpadmin.dev"

// The times of leader election (docs/design/managers.md, "The leader"). A standby follows a killed leader within the
// duration and two waits of the standby, each of at most 2.2 periods: 4.3 s.
const (
	leaseDuration = 3 * time.Second
	renewDeadline = 2 * time.Second
	retryPeriod   = 300 * time.Millisecond
)

// errDeposed is the end of a manager that could not renew its Lease.
var errDeposed = errors.New("the Lease could not be renewed in time")

// lost is the error that a manager's Start returns then; the package has no value for it.
const lost = "leader election lost"

// deposed makes errDeposed of the error of a manager that lost its Lease, and returns any other unchanged.
func deposed(ctx context.Context, mgr manager.Manager, err error) error {
	if err == nil || ctx.Err() != nil || err.Error() != lost {
		return err
	}
	select {
	case <-mgr.Elected():
		return errDeposed
	default:
		return err
	}
}

// startAnew replaces this process by a new one with the same command line. What the old one remembered may be out of
// date, since another manager has led meanwhile; and a process that ended would be a crash, after which the kubelet
// waits longer each time.
func startAnew() error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(program, os.Args, os.Environ())
}
