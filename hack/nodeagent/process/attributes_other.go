//go:build !linux

package process

import (
	"errors"
	"os"
	"syscall"
)

var errOther = errors.New("local processes as pods need Linux; elsewhere use a cluster such as kind")

// These exist so that the module builds elsewhere; only Linux ends a process with its parent.

func attributes(bool) (*syscall.SysProcAttr, error) { return nil, errOther }

func OpenTerminal() (ours, theirs *os.File, err error) { return nil, nil, errOther }

func ResizeTerminal(*os.File, uint16, uint16) error { return errOther }
