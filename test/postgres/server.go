package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// server is a PostgreSQL server in a folder: its cluster, its log and its password.
type server struct {
	folder, binaries string
	// owner is whom the server runs as where we are root, which PostgreSQL refuses to be.
	owner *syscall.Credential
}

const superuser = "postgres"

func newServer(folder string) (*server, error) {
	folder, err := absolute(folder)
	if err != nil {
		return nil, err
	}
	binaries, err := findOrInstall()
	if err != nil {
		return nil, err
	}
	s := &server{folder: folder, binaries: binaries}
	if os.Geteuid() != 0 {
		return s, nil
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL does not run as root, and there is no user to run it as: %w", err)
	}
	uid, uidErr := strconv.ParseUint(account.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(account.Gid, 10, 32)
	if err := errors.Join(uidErr, gidErr); err != nil {
		return nil, err
	}
	s.owner = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return s, os.Chown(folder, int(uid), int(gid))
}

func (s *server) path(name string) string { return filepath.Join(s.folder, name) }

// program prepares a call of one of PostgreSQL's programs, as the server's owner.
func (s *server) program(name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(s.binaries, name), args...)
	c.Dir = s.folder
	c.SysProcAttr = &syscall.SysProcAttr{Credential: s.owner}
	return c
}

// start makes the cluster where there is none, starts the server where it is not running, and returns its URI.
func (s *server) start(port int) (string, error) {
	password, err := s.initialise()
	if err != nil {
		return "", err
	}
	running, err := s.runningPort()
	if err != nil {
		return "", err
	}
	if running == 0 {
		if running, err = s.launch(port); err != nil {
			return "", err
		}
	}
	uri := url.URL{
		Scheme: "postgres", User: url.UserPassword(superuser, password), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(running)),
		Path: "/postgres", RawQuery: "sslmode=disable",
	}
	return uri.String(), nil
}

// initialise makes the cluster, and returns the superuser's password.
func (s *server) initialise() (string, error) {
	known, err := os.ReadFile(s.path("password"))
	if err == nil {
		return string(known), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	password := rand.Text()
	file := s.path("password.new")
	if err := os.WriteFile(file, []byte(password), 0o600); err != nil {
		return "", err
	}
	if s.owner != nil {
		if err := os.Chown(file, int(s.owner.Uid), int(s.owner.Gid)); err != nil {
			return "", err
		}
	}
	err = quietly(s.program("initdb", "--pgdata", s.path("cluster"), "--username", superuser, "--pwfile", file,
		"--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync"))
	if err != nil {
		return "", err
	}
	return password, os.Rename(file, s.path("password"))
}

// runningPort returns the port of the server where it is running, else 0.
func (s *server) runningPort() (int, error) {
	status := s.program("pg_ctl", "status", "--pgdata", s.path("cluster"))
	if err := status.Run(); status.ProcessState == nil {
		return 0, err
	} else if err != nil {
		return 0, nil //nolint:nilerr // it ended, and so said that no server runs
	}
	text, err := os.ReadFile(s.path("cluster/postmaster.pid"))
	if err != nil {
		return 0, err
	}
	const portLine = 3
	lines := strings.Split(string(text), "\n")
	if len(lines) <= portLine {
		return 0, errors.New("the server is starting; try again")
	}
	return strconv.Atoi(lines[portLine])
}

// launch starts the server. Its data is worth nothing, so it never waits for the disk.
func (s *server) launch(port int) (int, error) {
	if port == 0 {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return 0, err
		}
		port = listener.Addr().(*net.TCPAddr).Port
		if err := listener.Close(); err != nil {
			return 0, err
		}
	}
	options := fmt.Sprintf("-p %d -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=200 "+
		"-c fsync=off -c synchronous_commit=off -c full_page_writes=off", port)
	c := s.program("pg_ctl", "start", "--wait", "--pgdata", s.path("cluster"), "--log", s.path("log"), "--options", options)
	if err := c.Run(); err != nil { // its output would stay open for as long as the server runs
		said, _ := os.ReadFile(s.path("log"))
		return 0, fmt.Errorf("PostgreSQL did not start: %w\n%s", err, said)
	}
	return port, nil
}

func (s *server) stop() error {
	if port, err := s.runningPort(); err != nil || port == 0 {
		return err
	}
	return quietly(s.program("pg_ctl", "stop", "--wait", "--mode", "fast", "--pgdata", s.path("cluster")))
}

// keep has the server stopped when release is called, or when this process ends in whatever way: a killed test run must
// leave no server behind. With remove the folder goes as well.
func (s *server) keep(remove bool) (release func() error, err error) {
	// The keeper waits for the end of its input, whose other end only this process holds.
	script := `cat; "$0" stop --wait --mode fast --pgdata "$1/cluster"; if [ "$2" = true ]; then cd / && rm -rf "$1"; fi`
	keeper := exec.Command("/bin/sh", "-c", script, filepath.Join(s.binaries, "pg_ctl"), s.folder, strconv.FormatBool(remove))
	keeper.Dir = s.folder
	// In a group of its own it outlives a signal to ours.
	keeper.SysProcAttr = &syscall.SysProcAttr{Credential: s.owner, Setpgid: true}
	input, err := keeper.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := keeper.Start(); err != nil {
		return nil, err
	}
	return func() error { return errors.Join(input.Close(), keeper.Wait()) }, nil
}
