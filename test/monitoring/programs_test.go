package monitoring

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/test/debian"
)

// prometheusProgram returns a program of Prometheus ("promtool", "prometheus"): the one of PATH, else that of Debian's package, unpacked
// into bin/monitoring. The test is skipped, and says so in the suite's output too, if it cannot be had.
func prometheusProgram(t *testing.T, name string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts " + name)
	}
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	cache, err := filepath.Abs(root + "/bin/monitoring")
	if err != nil {
		t.Fatal(err)
	}
	p := debian.Package{Cache: cache, Name: "prometheus", Alone: true}
	path := filepath.Join(p.Root(), "usr/bin", name)
	if executable(path) {
		return path
	}
	if os.Getenv("MCP_TEST_MONITORING") == "" {
		t.Skip(name + " is not there; make test-monitoring fetches it from a Debian package")
	}
	if err := p.Install(); err != nil || !executable(path) {
		fmt.Printf("monitoring: NOTHING WAS TRIED with %s, as it cannot be had: put it into PATH\n", name)
		t.Skipf("%s is not in PATH, and cannot be had from Debian: %v", name, err)
	}
	return path
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&0o111 != 0
}
