package harness

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Apart runs the test's own program once more, with more arguments and variables, as a server in a process of its own. It
// returns once that has printed "serving" and its address, which is returned too. The process ends with the test: it must do
// so when its input ends.
func Apart(t testing.TB, variables []string, arguments ...string) (process *exec.Cmd, address string) {
	t.Helper()
	process = exec.Command(os.Args[0], arguments...)
	process.Env = append(os.Environ(), variables...)
	process.Stderr = os.Stderr
	input, err := process.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = input.Close()
		_ = process.Wait()
	})
	var said strings.Builder
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if address, ok := strings.CutPrefix(lines.Text(), "serving "); ok {
			go func() { _, _ = io.Copy(io.Discard, output) }() // it ends with the process
			return process, address
		}
		fmt.Fprintln(&said, lines.Text())
	}
	t.Fatalf("the server does not start: %s", said.String())
	return nil, ""
}
