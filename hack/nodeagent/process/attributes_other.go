//go:build !linux

package process

import (
	"errors"
	"syscall"
)

// attributes exists so that the module builds elsewhere; only Linux ends a process with its parent.
func attributes() (*syscall.SysProcAttr, error) {
	return nil, errors.New("local processes as pods need Linux; elsewhere use a cluster such as kind")
}
