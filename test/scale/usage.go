package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/test/usage"
)

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
		manager: l.manager.usage().CPU, apiServer: usage.Of(child("kube-apiserver")).CPU,
		etcd: usage.Of(child("etcd")).CPU, laboratory: usage.Of(os.Getpid()).CPU,
	}
}

func (s spent) since(before spent) spent {
	return spent{s.manager - before.manager, s.apiServer - before.apiServer, s.etcd - before.etcd, s.laboratory - before.laboratory}
}
