package process_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/hack/nodeagent/process"
)

func TestExitTellsCodeAndSignal(t *testing.T) {
	for script, want := range map[string]int{"exit 0": 0, "exit 3": 3, "kill -TERM $$": 128 + 15} {
		p := start(t, script, "")
		<-p.Done()
		if got := p.Exit().Code; got != want {
			t.Errorf("%q: exit code %d, want %d", script, got, want)
		}
	}
}

func TestStopKillsWhatDoesNotEnd(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	p := start(t, "trap '' TERM; touch "+ready+"; while :; do sleep 0.05; done", "")
	waitFor(t, "the trap", func() bool { _, err := os.Stat(ready); return err == nil })
	if exit := p.Stop(100 * time.Millisecond); exit.Signal != syscall.SIGKILL {
		t.Errorf("ended by %v, want SIGKILL", exit.Signal)
	}
}

func TestTheGroupEndsWithItsLeader(t *testing.T) {
	file := filepath.Join(t.TempDir(), "child")
	p := start(t, "sleep 1000 & echo $! > "+file, "")
	<-p.Done()
	child := readPID(t, file)
	waitFor(t, "the end of the child", func() bool { return !alive(child) })
}

func TestEndRecordedEndsWhatIsLeftOfAGroup(t *testing.T) {
	dir := t.TempDir()
	p := start(t, "sleep 1000", filepath.Join(dir, "x.pid"))
	if n, err := process.EndRecorded(dir); n != 1 || err != nil {
		t.Fatalf("ended %d groups, error %v", n, err)
	}
	<-p.Done()
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestEndRecordedLetsOthersAlone(t *testing.T) {
	dir := t.TempDir()
	p := start(t, "sleep 1000", "")
	// the same id with the start time of a process that is gone
	record := fmt.Sprintf("%d 1 %s", p.PID(), mustRead(t, "/proc/sys/kernel/random/boot_id"))
	if err := os.WriteFile(filepath.Join(dir, "x.pid"), []byte(record), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := process.EndRecorded(dir); n != 0 || err != nil {
		t.Fatalf("ended %d groups, error %v", n, err)
	}
	if !alive(p.PID()) {
		t.Error("the process was ended")
	}
	p.Stop(0)
}

func start(t *testing.T, script, record string) *process.Process {
	t.Helper()
	p, err := process.Start(process.Spec{
		Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=" + os.Getenv("PATH")}, Dir: t.TempDir(), Record: record,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop(0) })
	return p
}

// alive does not count a process that waits to be collected.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 200 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("waited in vain for %s", what)
}

func readPID(t *testing.T, path string) (pid int) {
	t.Helper()
	if _, err := fmt.Sscan(mustRead(t, path), &pid); err != nil {
		t.Fatal(err)
	}
	return pid
}

func mustRead(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
