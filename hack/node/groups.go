package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Control groups: the components run in ownGroup, the pods below podsGroup, whose name is the kubelet's. All that runs in them
// is the node's.
const (
	groupsRoot = "/sys/fs/cgroup"
	ownGroup   = "mcp-admin-node"
	podsGroup  = "kubepods"
)

// hierarchies are the roots of the control groups: one in version 2, one for each controller in version 1.
func hierarchies() []string {
	if _, err := os.Stat(groupsRoot + "/cgroup.controllers"); err == nil {
		return []string{groupsRoot}
	}
	found, _ := filepath.Glob(groupsRoot + "/*/cgroup.procs")
	for i := range found {
		found[i] = filepath.Dir(found[i])
	}
	return found
}

// makeGroup makes the components' group in every hierarchy.
func makeGroup() error {
	all := hierarchies()
	if len(all) == 0 {
		return errors.New("none are mounted at " + groupsRoot)
	}
	for _, root := range all {
		group := filepath.Join(root, ownGroup)
		if err := os.MkdirAll(group, 0o755); err != nil {
			return err
		}
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} { // in version 1 a group has none of its own
			if value, err := os.ReadFile(filepath.Join(group, file)); err != nil || strings.TrimSpace(string(value)) != "" || root == groupsRoot {
				continue
			}
			value, err := os.ReadFile(filepath.Join(root, file))
			if err == nil {
				err = os.WriteFile(filepath.Join(group, file), value, 0o600)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// joinGroup moves a process into the components' group; what it starts from then on is there as well.
func joinGroup(pid int) error {
	for _, root := range hierarchies() {
		err := os.WriteFile(filepath.Join(root, ownGroup, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o600)
		if err != nil && !errors.Is(err, syscall.ESRCH) { // one that has ended is found out by whoever waits for it
			return fmt.Errorf("control group of process %d: %w", pid, err)
		}
	}
	return nil
}

// members are the processes of a group and of those below it.
func members(group string) []int {
	var pids []int
	for _, root := range hierarchies() {
		_ = filepath.WalkDir(filepath.Join(root, group), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Base(path) != "cgroup.procs" {
				return nil //nolint:nilerr // a group may end meanwhile
			}
			text, _ := os.ReadFile(path)
			for word := range strings.FieldsSeq(string(text)) {
				if pid, err := strconv.Atoi(word); err == nil && pid > 1 {
					pids = append(pids, pid)
				}
			}
			return nil
		})
	}
	slices.Sort(pids)
	return slices.Compact(pids)
}

// Kill kills the processes of a pod that run a program, and says if there is none.
func (n *Node) Kill(podUID, program string) error {
	killed := false
	for _, root := range hierarchies() {
		pods, _ := filepath.Glob(filepath.Join(root, podsGroup, "*", "pod"+podUID))
		guaranteed, _ := filepath.Glob(filepath.Join(root, podsGroup, "pod"+podUID))
		for _, pod := range append(pods, guaranteed...) {
			group, _ := filepath.Rel(root, pod)
			for _, pid := range members(group) {
				line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
				first, _, _ := strings.Cut(string(line), "\x00")
				if err == nil && filepath.Base(first) == program {
					killed = syscall.Kill(pid, syscall.SIGKILL) == nil || killed
				}
			}
		}
	}
	if !killed {
		return fmt.Errorf("no process of pod %s runs %s", podUID, program)
	}
	return nil
}

// endGroup kills all processes of a group, until there are none.
func endGroup(group string) error {
	for range 100 {
		left := members(group)
		if len(left) == 0 {
			return nil
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("processes %v do not end", members(group))
}

// endPods kills the pods' processes.
func endPods() { _ = endGroup(podsGroup) } // clean tells what is left

// removeGroup removes a group and those below it, the deepest first.
func removeGroup(group string) {
	for _, root := range hierarchies() {
		var folders []string
		_ = filepath.WalkDir(filepath.Join(root, group), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				folders = append(folders, path)
			}
			return nil
		})
		for _, folder := range slices.Backward(folders) {
			_ = os.Remove(folder)
		}
	}
}
