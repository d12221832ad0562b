package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// usage has the resources that a process has taken so far, as /proc says. An unknown process has taken nothing.
type usage struct {
	cpu       time.Duration
	rss, peak int64 // bytes
}

func usageOf(pid int) usage {
	var u usage
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if _, rest, ok := strings.Cut(string(stat), ") "); ok {
		// proc(5): utime and stime are the fields 14 and 15; the first after the name is the third.
		if fields := strings.Fields(rest); len(fields) > 12 {
			const ticksPerSecond = 100 // sysconf(_SC_CLK_TCK) on every Linux
			user, _ := strconv.ParseInt(fields[11], 10, 64)
			system, _ := strconv.ParseInt(fields[12], 10, 64)
			u.cpu = time.Duration(user+system) * time.Second / ticksPerSecond
		}
	}
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "VmRSS":
			u.rss = kib << 10
		case "VmHWM":
			u.peak = kib << 10
		}
	}
	return u
}

// child is the process of a program that this process has started; 0 if there is none.
func child(program string) int {
	folders, _ := filepath.Glob("/proc/[0-9]*")
	for _, folder := range folders {
		stat, _ := os.ReadFile(filepath.Join(folder, "stat"))
		_, rest, _ := strings.Cut(string(stat), ") ")
		command, _ := os.ReadFile(filepath.Join(folder, "cmdline"))
		path, _, _ := strings.Cut(string(command), "\x00")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) && filepath.Base(path) == program {
			pid, _ := strconv.Atoi(filepath.Base(folder))
			return pid
		}
	}
	return 0
}

// spent is the CPU time of everything in the laboratory.
type spent struct{ manager, apiServer, etcd, laboratory time.Duration }

func (l *lab) spent() spent {
	return spent{
		manager: l.manager.usage().cpu, apiServer: usageOf(child("kube-apiserver")).cpu,
		etcd: usageOf(child("etcd")).cpu, laboratory: usageOf(os.Getpid()).cpu,
	}
}

func (s spent) since(before spent) spent {
	return spent{s.manager - before.manager, s.apiServer - before.apiServer, s.etcd - before.etcd, s.laboratory - before.laboratory}
}
