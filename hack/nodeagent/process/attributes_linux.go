package process

import "syscall"

// attributes put a process into a group of its own and tie its life to the thread that forks it. One whose standard input is
// its terminal leads a session, too.
func attributes(terminal bool) (*syscall.SysProcAttr, error) {
	return &syscall.SysProcAttr{Setpgid: !terminal, Setsid: terminal, Setctty: terminal, Pdeathsig: syscall.SIGKILL}, nil
}
