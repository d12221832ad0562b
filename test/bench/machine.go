package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/test/usage"
)

// databasePrograms are the names of database servers' processes.
var databasePrograms = []string{"postgres", "mariadbd", "mysqld"}

// databaseCPU is the CPU time that the database servers of this machine have used so far.
func databaseCPU() time.Duration {
	folders, _ := filepath.Glob("/proc/[0-9]*") // it fails for bad patterns only
	var sum time.Duration
	for _, folder := range folders {
		pid, _ := strconv.Atoi(filepath.Base(folder))
		if p := usage.Of(pid); slices.Contains(databasePrograms, p.Name) {
			sum += p.CPU
		}
	}
	return sum
}

// machineCPU is the CPU time that all processors together have had so far, and how much of it somebody used.
func machineCPU() (all, used time.Duration) {
	stat, _ := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(stat), "\n")
	fields := strings.Fields(line) // cpu user nice system idle iowait irq softirq steal …
	if len(fields) < 9 {
		return 0, 0
	}
	return usage.Ticks(fields[1:9]), usage.Ticks(fields[1:4]) + usage.Ticks(fields[6:9])
}
