package node

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/mcp-admin/mcp-admin-operator/hack/nodeagent/process"
)

// Files in the node's folder. The first marks a folder as a node's; its node keeps it locked.
const (
	lockFile    = "node.lock"
	sysctlsFile = "sysctls.before"
	tablesFile  = "tables.before"
)

// Clean takes away what a node in this folder left behind, if it was killed.
func Clean(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, lockFile)); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	lock, err := take(dir)
	if err != nil {
		return err
	}
	return errors.Join(clean(dir), lock.Close())
}

// take makes the folder ours until the returned file is closed. It refuses a folder that holds something else.
func take(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, lockFile)
	if _, err := os.Stat(path); err != nil && len(entries) > 0 {
		return nil, fmt.Errorf("%s is neither empty nor a node's folder", dir)
	}
	lock, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("another node runs in %s", dir), lock.Close())
	}
	// Whoever runs pods in the same control groups would lose them.
	if _, err := os.Stat(filepath.Join(dir, tablesFile)); err != nil && len(members(podsGroup)) > 0 {
		return nil, errors.Join(errors.New("another kubelet runs pods on this machine"), lock.Close())
	}
	return lock, nil
}

// clean ends all processes of a node, and takes away its mounts, network, control groups and files, but for the lock and the
// logs. It may be run again.
func clean(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, tablesFile)); err != nil {
		return removeFiles(dir) // no node has begun here
	}
	_, err := process.EndRecorded(filepath.Join(dir, "run"))
	err = errors.Join(err, endGroup(podsGroup), endGroup(ownGroup), unmount(dir))
	cleanNetwork(dir)
	removeGroup(podsGroup)
	removeGroup(ownGroup)
	restoreSysctls(dir)
	removeElsewhere(dir)
	if err != nil {
		return err
	}
	return removeFiles(dir)
}

// unmount unmounts all below a folder, the deepest first.
func unmount(dir string) error {
	dir, err := filepath.EvalSymlinks(dir) // as the kernel has it
	if err != nil {
		return err
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return err
	}
	var places []string
	for line := range strings.Lines(string(mounts)) {
		if fields := strings.Fields(line); len(fields) > 1 && strings.HasPrefix(fields[1], dir+"/") {
			places = append(places, fields[1])
		}
	}
	slices.Sort(places)
	for _, place := range slices.Backward(places) {
		if problem := syscall.Unmount(place, syscall.MNT_DETACH); problem != nil && !errors.Is(problem, syscall.EINVAL) {
			err = errors.Join(err, fmt.Errorf("unmount %s: %w", place, problem))
		}
	}
	return err
}

// cleanNetwork removes the pods' bridge and the tables of kube-proxy and the CNI plugins, if they were not there before.
func cleanNetwork(dir string) {
	_, _ = run("ip", "link", "delete", bridge)
	before, _ := os.ReadFile(filepath.Join(dir, tablesFile))
	for _, table := range []string{"ip kube-proxy", "ip6 kube-proxy", "inet cni_plugins_masquerade", "inet cni_hostport"} {
		if !slices.Contains(strings.Split(string(before), "\n"), "table "+table) {
			_, _ = run("nft", append([]string{"delete", "table"}, strings.Fields(table)...)...)
		}
	}
}

func restoreSysctls(dir string) {
	before, _ := os.ReadFile(filepath.Join(dir, sysctlsFile))
	for line := range strings.Lines(string(before)) {
		if file, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			_ = os.WriteFile(file, []byte(value), 0o600)
		}
	}
}

// removeElsewhere removes what kubelet, containerd, mount and the CNI library write to folders that cannot be chosen.
func removeElsewhere(dir string) {
	results, _ := filepath.Glob("/var/lib/cni/results/mcp-admin-node-*")
	loopback, _ := filepath.Glob("/var/lib/cni/results/cni-loopback-*")
	for _, file := range append(results, loopback...) {
		_ = os.Remove(file)
	}
	links, _ := filepath.Glob("/var/log/containers/*")
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && strings.HasPrefix(target, dir+"/") {
			_ = os.Remove(link)
		}
	}
	for _, file := range []string{"kubelet.sock", "kubelet_internal_checkpoint", "DEPRECATION"} {
		_ = os.Remove("/var/lib/kubelet/device-plugins/" + file)
	}
	sockets, _ := filepath.Glob("/run/containerd/s/*")
	for _, socket := range sockets {
		if connection, err := net.Dial("unix", socket); err == nil {
			_ = connection.Close() // another containerd's
		} else {
			_ = os.Remove(socket)
		}
	}
	for _, folder := range []string{
		"/run/containerd/s", "/run/containerd", "/run/mount", "/var/lib/cni/results", "/var/lib/cni", "/var/log/containers", "/var/lib/kubelet/device-plugins", "/var/lib/kubelet",
	} {
		_ = os.Remove(folder) // only if it is empty
	}
}

func removeFiles(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	// What says that there is something to clean goes last.
	slices.SortFunc(entries, func(a, b os.DirEntry) int {
		return strings.Compare(strings.Replace(a.Name(), tablesFile, "~", 1), strings.Replace(b.Name(), tablesFile, "~", 1))
	})
	for _, entry := range entries {
		if entry.Name() == lockFile || entry.Name() == "logs" {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}
