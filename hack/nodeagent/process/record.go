package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// writeRecord notes a process by id and start time, which together name it for as long as the machine runs.
func writeRecord(path string, pid int) error {
	stat, err := readStat(pid)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil // it has ended already
		}
		return err
	}
	return os.WriteFile(path, fmt.Appendf(nil, "%d %d %s\n", pid, stat.start, bootID()), 0o600)
}

// EndRecorded kills the process groups that the records in a folder name, and removes the records. It
// is for what a killed run left: ids that other processes have by now are let alone. It returns how
// many groups were ended.
func EndRecorded(dir string) (int, error) {
	records, err := filepath.Glob(filepath.Join(dir, "*.pid"))
	if err != nil {
		return 0, err
	}
	ended := 0
	for _, record := range records {
		var pid int
		var start uint64
		var boot string
		text, err := os.ReadFile(record)
		if errors.Is(err, os.ErrNotExist) {
			continue // one of ours, which has just ended
		}
		if err != nil {
			return ended, err
		}
		if n, _ := fmt.Sscan(string(text), &pid, &start, &boot); n == 3 && pid > 1 && boot == bootID() {
			if endGroup(pid, start) {
				ended++
			}
		}
		if err := os.Remove(record); err != nil && !errors.Is(err, os.ErrNotExist) {
			return ended, err
		}
	}
	return ended, nil
}

// endGroup kills the group until it is gone, and reports whether there was one. The group may have lost
// its leader (the parent-death signal reaches the leader only); its id is then still taken, and every
// member is younger than the leader was.
func endGroup(group int, start uint64) bool {
	found := false
	for range 100 {
		members := groupMembers(group, start)
		if len(members) == 0 {
			break
		}
		found = true
		for _, pid := range members {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return found
}

func groupMembers(group int, start uint64) []int {
	if leader, err := readStat(group); err == nil && leader.start != start {
		return nil // another process has the id
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var members []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if s, err := readStat(pid); err == nil && s.group == group && s.start >= start && s.state != "Z" {
			members = append(members, pid)
		}
	}
	return members
}

type stat struct {
	state string
	group int
	start uint64
}

// readStat reads fields 3, 5 and 22 of /proc/PID/stat; see proc(5). The second field, the program's name, may hold anything.
func readStat(pid int) (stat, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, err
	}
	_, rest, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')')+1:]), " ")
	fields := strings.Fields(rest)
	if len(fields) < 20 {
		return stat{}, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(fields))
	}
	group, err := strconv.Atoi(fields[2])
	if err != nil {
		return stat{}, err
	}
	start, err := strconv.ParseUint(fields[19], 10, 64)
	return stat{state: fields[0], group: group, start: start}, err
}

// bootID tells one run of the machine from another: ids and start times begin anew with each.
func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(id))
}
