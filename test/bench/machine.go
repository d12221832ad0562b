package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of times in /proc: sysconf(_SC_CLK_TCK) is 100 on every Linux.
const tick = time.Second / 100

// process has what /proc says of a process: its CPU time so far, and the most memory that it had, in bytes.
type process struct {
	name string
	cpu  time.Duration
	peak int64
}

// processOf is the process of an id; one that is gone has used nothing.
func processOf(pid int) process {
	var p process
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	// proc(5): the name stands in parentheses, and may hold some; utime and stime are the fields 14 and 15.
	if open, end := strings.IndexByte(string(stat), '('), strings.LastIndexByte(string(stat), ')'); open >= 0 && end > open {
		p.name = string(stat[open+1 : end])
		if fields := strings.Fields(string(stat[end+1:])); len(fields) > 12 {
			p.cpu = ticks(fields[11:13])
		}
	}
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		if value, found := strings.CutPrefix(line, "VmHWM:"); found {
			kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			p.peak = kib << 10
		}
	}
	return p
}

func ticks(fields []string) time.Duration {
	var sum time.Duration
	for _, field := range fields {
		n, _ := strconv.ParseInt(field, 10, 64)
		sum += time.Duration(n) * tick
	}
	return sum
}

// databasePrograms are the names of database servers' processes.
var databasePrograms = []string{"postgres", "mariadbd", "mysqld"}

// databaseCPU is the CPU time that the database servers of this machine have used so far.
func databaseCPU() time.Duration {
	folders, _ := filepath.Glob("/proc/[0-9]*") // it fails for bad patterns only
	var sum time.Duration
	for _, folder := range folders {
		pid, _ := strconv.Atoi(filepath.Base(folder))
		if p := processOf(pid); slices.Contains(databasePrograms, p.name) {
			sum += p.cpu
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
	return ticks(fields[1:9]), ticks(fields[1:4]) + ticks(fields[6:9])
}
