package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// pidsOf reads the files with the processes of detach, some of which do not end with a line break.
const pidsOf = `all=$(for file in "$1"/pid*; do cat "$file" && echo; done 2>/dev/null); `

// haltProcesses stops the servers that detach started, all at once. It waits for them to end, as their files are in use until
// then; one that takes longer than ten seconds is killed, with its children.
const haltProcesses = pidsOf + `kill $all 2>/dev/null
for pid in $all; do n=0; while kill -0 "$pid" 2>/dev/null; do n=$((n+1)); [ $n -lt 100 ] || kill -9 "-$pid" 2>/dev/null || kill -9 "$pid"; sleep 0.1; done; done`

// killProcesses kills the servers that detach started, and waits until they are gone.
const killProcesses = pidsOf + `kill -9 $all
for pid in $all; do while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done; done`

// patience ends the wait for a server that hangs.
const patience = 10 * time.Minute

// detach starts a server in a group of its own, where a signal to ours does not reach it, and returns once it answers. Its
// port is kept in a file.
func (s *server) detach(c *exec.Cmd, file string, port int, answers func(port int) bool) error {
	c.SysProcAttr.Setpgid = true
	if err := s.write(file, strconv.Itoa(port)); err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for deadline := time.After(patience); ; {
		select {
		case err := <-ended:
			return fmt.Errorf("it ended: %w", errors.Join(err))
		case <-deadline:
			return errors.Join(errors.New("it does not answer"), s.stop())
		case <-time.After(50 * time.Millisecond):
		}
		if answers(port) {
			return nil
		}
	}
}

// process returns the port of a server that detach started if it is running, else 0.
func (s *server) process() (int, error) {
	if !alive(s.path("pid")) {
		return 0, nil
	}
	return readNumber(s.path("port"))
}

// alive reports whether the process of a file runs.
func alive(file string) bool {
	pid, err := readNumber(file)
	return err == nil && syscall.Kill(pid, 0) == nil
}

// readNumber reads the number in a file. Pgpool-II ends its file with a zero byte.
func readNumber(path string) (int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimRight(string(text), "\n\x00"))
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// listens reports whether a port takes connections.
func listens(port int) bool {
	c, err := net.DialTimeout("tcp", address(port), time.Second)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

// greets reports whether a server of MySQL's kind greets whoever connects: it has made its users by then.
func greets(port int) bool {
	c, err := net.DialTimeout("tcp", address(port), time.Second)
	if err != nil {
		return false
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return false
	}
	n, _ := c.Read(make([]byte, 1))
	return n == 1
}
