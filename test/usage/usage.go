// Package usage tells what processes use of the machine, as /proc of Linux says.
package usage

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of times in /proc: sysconf(_SC_CLK_TCK) is 100 on every Linux.
const tick = time.Second / 100

// Process is what a process has used so far. RSS is the memory that it has now, and Peak the most that it had, in bytes.
type Process struct {
	Name      string
	CPU       time.Duration
	RSS, Peak int64
}

// Of is the process of an id; one that is gone has used nothing.
func Of(pid int) Process {
	var p Process
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	// proc(5): the name stands in parentheses, and may hold some; utime and stime are the fields 14 and 15.
	if open, end := strings.IndexByte(string(stat), '('), strings.LastIndexByte(string(stat), ')'); open >= 0 && end > open {
		p.Name = string(stat[open+1 : end])
		if fields := strings.Fields(string(stat[end+1:])); len(fields) > 12 {
			p.CPU = Ticks(fields[11:13])
		}
	}
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "VmRSS":
			p.RSS = kib << 10
		case "VmHWM":
			p.Peak = kib << 10
		}
	}
	return p
}

// Ticks is the sum of times as /proc writes them.
func Ticks(fields []string) time.Duration {
	var sum time.Duration
	for _, field := range fields {
		n, _ := strconv.ParseInt(field, 10, 64)
		sum += time.Duration(n) * tick
	}
	return sum
}
