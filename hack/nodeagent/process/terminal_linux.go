package process

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// OpenTerminal opens a pseudo-terminal. What is written to ours is typed there, and what is shown there is read from ours;
// theirs is for a process ([Spec.Terminal]). Reading fails once no process has the terminal any more.
func OpenTerminal() (ours, theirs *os.File, err error) {
	if ours, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	var number int
	err = control(ours, func(fd int) (err error) {
		if number, err = unix.IoctlGetInt(fd, unix.TIOCGPTN); err != nil {
			return err
		}
		return unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0) // it is locked at first
	})
	if err == nil {
		theirs, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		_ = ours.Close()
		return nil, nil, err
	}
	return ours, theirs, nil
}

// ResizeTerminal tells those who use a terminal its size.
func ResizeTerminal(ours *os.File, columns, rows uint16) error {
	return control(ours, func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows})
	})
}

// control calls a function with a file's descriptor. With [os.File.Fd] a read would no longer end when the file is closed.
func control(file *os.File, do func(fd int) error) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	if problem := raw.Control(func(fd uintptr) { err = do(int(fd)) }); problem != nil {
		return problem
	}
	return err
}
