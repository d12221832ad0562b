package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/mcp-admin/mcp-admin-operator/test/project"
)

// engine has the differences between the servers.
type engine interface {
	// account is the user to run as if we are root.
	account() string
	// find returns the folder of the programs, or "" if they are not there; install brings them.
	find() string
	install() error
	// loader starts the programs, and environment has the variables that they need; nil for programs of the machine's
	// own system.
	loader() []string
	environment(binaries string) []string
	// initialise makes the folder "cluster" and a user who may do everything.
	initialise(s *server, password string) error
	// running returns the port of the server if it is running, else 0.
	running(s *server) (int, error)
	// launch starts the server, and returns once it answers. Its data is worth nothing, so it never waits for the disk.
	launch(s *server, port int) error
	uri(s *server, port int, password string) string
	// halt is the shell's script that stops the server, given its programs' folder as $0 and its own as $1; it may be
	// run if none is running. crash is one that gives the server no time to end what it does.
	halt() string
	crash() string
}

// fronted is an engine whose server has the rows of its tables on other servers, which tests fill beside it.
type fronted interface {
	// behind returns the URIs of these servers, once the engine is running.
	behind(s *server, password string) ([]string, error)
}

// server is a database server in a folder: its cluster, its log and its password.
type server struct {
	engine
	folder, binaries string
	// owner is whom the server runs as where we are root, which databases refuse to be.
	owner *syscall.Credential
}

func newServer(name, folder string, e engine) (*server, error) {
	folder, err := absolute(folder)
	if err != nil {
		return nil, err
	}
	s := &server{engine: e, folder: folder, binaries: e.find()}
	if s.binaries == "" {
		return nil, notInstalled(name)
	}
	if os.Geteuid() != 0 {
		return s, s.makeTemporary()
	}
	account, err := user.Lookup(e.account())
	if err != nil {
		if account, err = user.Lookup("nobody"); err != nil {
			return nil, fmt.Errorf("a database does not run as root, and there is no user to run it as: %w", err)
		}
	}
	uid, uidErr := strconv.ParseUint(account.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(account.Gid, 10, 32)
	if err := errors.Join(uidErr, gidErr); err != nil {
		return nil, err
	}
	s.owner = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	if err := os.Chown(folder, int(uid), int(gid)); err != nil {
		return nil, err
	}
	return s, s.makeTemporary()
}

// makeTemporary makes the folder of the server's temporary files. Servers must not share one: MariaDB and MySQL remove all temporary
// tables in it when they start, and a server crashes if another one removes its tables.
func (s *server) makeTemporary() error {
	if err := os.MkdirAll(s.temporary(), 0o700); err != nil || s.owner == nil {
		return err
	}
	return os.Chown(s.temporary(), int(s.owner.Uid), int(s.owner.Gid))
}

func (s *server) temporary() string { return s.path("tmp") }

func (s *server) path(name string) string { return filepath.Join(s.folder, name) }

// program prepares a call of one of the engine's programs, as the server's owner.
func (s *server) program(name string, args ...string) *exec.Cmd {
	command := append(s.loader(), filepath.Join(s.binaries, name))
	command = append(command, args...)
	return s.prepare(command)
}

// capDACOverride lets a process into folders that its user may not enter.
const capDACOverride = 1

// prepare prepares a command as the server's owner. The project's folder, with programs in it, may be closed to that user:
// then a program of the system's has to start the command, as the right to enter is in force from the first program on.
func (s *server) prepare(command []string) *exec.Cmd {
	attributes := &syscall.SysProcAttr{Credential: s.owner}
	if s.owner != nil && strings.HasPrefix(s.binaries, project.Root()) {
		attributes.AmbientCaps = []uintptr{capDACOverride}
		command = append([]string{"/usr/bin/env"}, command...)
	}
	c := exec.Command(command[0], command[1:]...)
	c.Dir, c.SysProcAttr = s.folder, attributes
	c.Env = append(append(os.Environ(), "TMPDIR="+s.temporary()), s.environment(s.binaries)...)
	return c
}

// write writes a file that only the server's owner reads.
func (s *server) write(name, text string) error {
	if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil || s.owner == nil {
		return err
	}
	return os.Chown(s.path(name), int(s.owner.Uid), int(s.owner.Gid))
}

// start makes the cluster if there is none, starts the server if it is not running, and returns its URI.
func (s *server) start(port int) (string, error) {
	password, err := s.password()
	if err != nil {
		return "", err
	}
	running, err := s.running(s)
	if err != nil {
		return "", err
	}
	if running == 0 {
		if running, err = freePort(port); err != nil {
			return "", err
		}
		if err := s.launch(s, running); err != nil {
			said, _ := os.ReadFile(s.path("error.log"))
			return "", fmt.Errorf("the server did not start: %w\n%s", err, said)
		}
	}
	return s.uri(s, running, password), nil
}

// behind returns the URIs of the servers behind one that is running; none for most engines.
func (s *server) behind() ([]string, error) {
	f, ok := s.engine.(fronted)
	if !ok {
		return nil, nil
	}
	password, err := s.password()
	if err != nil {
		return nil, err
	}
	return f.behind(s, password)
}

// password returns the password, making the cluster if there is none.
func (s *server) password() (string, error) {
	known, err := os.ReadFile(s.path("password"))
	if err == nil {
		return string(known), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	password := rand.Text()
	if err := s.write("password.new", password); err != nil {
		return "", err
	}
	if err := s.initialise(s, password); err != nil {
		return "", err
	}
	if err := os.Rename(s.path("password.new"), s.path("password")); err != nil {
		return "", err
	}
	// Whatever follows another server has that one's password.
	known, err = os.ReadFile(s.path("password"))
	return string(known), err
}

func freePort(port int) (int, error) {
	if port != 0 {
		return port, nil
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return listener.Addr().(*net.TCPAddr).Port, listener.Close()
}

// shell prepares a script that works on the server, given further arguments from $2 on.
func (s *server) shell(script string, args ...string) *exec.Cmd {
	return s.prepare(append([]string{"/bin/sh", "-c", script, s.binaries, s.folder}, args...))
}

// maxLogEnd is how many bytes of a log's end are shown.
const maxLogEnd = 8 << 10

// checkRunning returns an error with the end of the log if the server has ended by itself.
func (s *server) checkRunning() error {
	if port, err := s.running(s); err != nil || port != 0 {
		return err
	}
	said, err := os.ReadFile(s.path("error.log"))
	said = said[max(0, len(said)-maxLogEnd):]
	return errors.Join(fmt.Errorf("the server in %s ended while tests used it; the end of its log:\n%s", s.folder, said), err)
}

func (s *server) stop() error { return quietly(s.shell(s.halt())) }

// keep has the server stopped when release is called, or when this process ends in whatever way: a killed test run must
// leave no server behind. With remove the folder's content goes as well.
func (s *server) keep(remove bool) (release func() error, err error) {
	// The keeper waits for the end of its input, whose other end only this process holds.
	keeper := s.shell(`cat; `+s.halt()+`; if [ "$2" = true ]; then rm -rf "$1"/*; fi`, strconv.FormatBool(remove))
	keeper.SysProcAttr.Setpgid = true // in a group of its own it outlives a signal to ours
	input, err := keeper.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := keeper.Start(); err != nil {
		return nil, err
	}
	return func() error { return errors.Join(input.Close(), keeper.Wait()) }, nil
}

// absolute returns a folder's absolute path, links resolved, making the folder if there is none.
func absolute(folder string) (string, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	path, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}
