package localcluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/mcp-admin/mcp-admin-operator/hack/nodeagent/process"
)

// layout is where things are in a cluster's directory.
type layout struct{ root string }

func (l layout) path(elements ...string) string {
	return filepath.Join(append([]string{l.root}, elements...)...)
}

func (l layout) pki(name string) string        { return l.path("pki", name) }
func (l layout) log(name string) string        { return l.path("logs", name+".log") }
func (l layout) kubeconfig(name string) string { return l.path("kubeconfigs", name+".kubeconfig") }
func (l layout) run() string                   { return l.path("run") }
func (l layout) pods() string                  { return l.path("pods") }

// lockName is the file that marks a directory as a cluster's. Its cluster keeps the file locked.
const lockName = "localcluster.lock"

// takeDirectory empties the directory except for the lock, which it holds until the returned file is closed. It ends
// and removes what a killed run left. It refuses a directory that is neither a cluster's nor empty, so that no content
// is lost.
func takeDirectory(dir string) (layout, *os.File, error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return layout{}, nil, err
	}
	l := layout{root: root}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return l, nil, err
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return l, nil, err
	}
	if _, err := os.Stat(l.path(lockName)); err != nil && len(entries) > 0 {
		return l, nil, fmt.Errorf("%s is not empty and not a local cluster's directory", root)
	}
	lock, err := os.OpenFile(l.path(lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return l, nil, err
	}
	if err := clear(l, lock); err != nil {
		_ = lock.Close()
		return l, nil, err
	}
	return l, lock, nil
}

func clear(l layout, lock *os.File) error {
	err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return fmt.Errorf("another local cluster runs in %s", l.root)
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	if _, err := process.EndRecorded(l.run()); err != nil {
		return fmt.Errorf("end what an earlier run left: %w", err)
	}
	entries, err := os.ReadDir(l.root)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Name() == lockName {
			continue
		}
		if err := os.RemoveAll(l.path(entry.Name())); err != nil {
			return err
		}
	}
	for _, sub := range []string{"pki", "logs", "kubeconfigs", "run", "pods", "claims", "etcd"} {
		if err := os.Mkdir(l.path(sub), 0o700); err != nil {
			return err
		}
	}
	return nil
}
