package process

import "syscall"

// attributes put a process into a group of its own and tie its life to the thread that forks it.
func attributes() (*syscall.SysProcAttr, error) {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}, nil
}
