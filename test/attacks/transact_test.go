package attacks

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// longText is how long the text of one row is, nearly as much as get_ shows of a value.
const longText = 250_000

// steps are the arguments of a transact that keeps nothing. Its last step writes, so that it is not refused as one that only
// reads.
func steps(all ...string) string {
	return `{"dry_run":true,"steps":[` + strings.Join(append(all, `{"tool":"update_book","arguments":{"id":1,"data":{"even":0}}}`), ",") + `]}`
}

// repeated is a text n times, joined by commas.
func repeated(n int, text string) string { return strings.TrimSuffix(strings.Repeat(text+",", n), ",") }

// memoryAttack is a call of few bytes that makes the server hold many; says is a text in the answer.
type memoryAttack struct{ name, arguments, says string }

func memoryAttacks() []memoryAttack {
	page := `{"tool":"list_wide","arguments":{"limit":1000,"max_bytes":1048576}}`
	rows := `{"_step":0,"path":"results"}`
	long := `{"tool":"get_wide","arguments":{"id":` + fmt.Sprint(wideRows+1) + `}}`
	byText := func(n int) string {
		return `{"tool":"list_book","arguments":{"filters":{"name__in":[` + repeated(n, `{"_step":0,"path":"a"}`) + `]}}}`
	}
	named := func(name string) string {
		return `{"tool":"update_book","arguments":{"id":1,"data":{"name":` + name + `}}}`
	}
	nested := func(inside string) string { return strings.Repeat(`{"a":`, 50) + inside + strings.Repeat("}", 50) }
	const tooLarge = `"code":"too_large","step":1`
	return []memoryAttack{
		{"60 references to a page of rows", steps(page, named(`[`+repeated(60, rows)+`]`)), tooLarge},
		{"150 references to a page of rows", steps(page, named(`[`+repeated(150, rows)+`]`)), tooLarge},
		{"900 references to a page of rows", steps(page, named(`[`+repeated(900, rows)+`]`)), tooLarge},
		{"a page of rows in 100 steps", steps(repeated(99, page)), `"code":"too_large","step":1`},
		{"98 steps that name a long text four times", steps(long, repeated(98, byText(4))), tooLarge},
		{"98 steps that name a long text once", steps(long, repeated(98, byText(1))), `"code":"too_large","step":5`},
		{"a page of rows, 50 deep", steps(page, named(`[`+repeated(8, nested(rows))+`]`)), tooLarge},
		{"a number beside 3 MiB, 50 deep", steps(page, named(nested(`["`+strings.Repeat("x", 3<<20)+`",{"_step":0,"path":"count"}]`))), `"code":"validation_error"`},
	}
}

func TestAttackByReferences(t *testing.T) {
	if os.Getenv("MCP_TEST_ATTACKS") == "" {
		t.Skip("MCP_TEST_ATTACKS is not set: make test-attacks sets it")
	}
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("the memory of a process is read from /proc")
	}
	var peaks []string
	for _, engine := range harness.Engines {
		if engine.Product == harness.MariaDB {
			continue // its texts are not that long
		}
		t.Run(engine.Title, func(t *testing.T) {
			served, _ := engine.Open(t, script()+fmt.Sprintf("insert into wide (id, even, a) values (%d, 0, '%s');\n", wideRows+1, strings.Repeat("a", longText)))
			for _, a := range memoryAttacks() {
				t.Run(a.name, func(t *testing.T) {
					s := start(t, served, timeoutVariable+"=1m")
					peaks = append(peaks, s.repeat(a)...)
				})
			}
		})
	}
	fmt.Printf("attacks: %d calls whose steps repeat what others answered, alone and then four at once; each server had at most so many MiB: %s\n",
		len(memoryAttacks()), strings.Join(peaks, ", "))
}

// repeat makes an attack once, and then four times at once. It returns the peaks of the server's memory.
func (s *attacked) repeat(a memoryAttack) (peaks []string) {
	s.Helper()
	for _, n := range []int{1, 4} {
		var all sync.WaitGroup
		for range n {
			all.Go(func() {
				if text, _ := s.call("writing", "transact", a.arguments); !strings.Contains(text, a.says) && text != tooMany && !strings.Contains(text, `"code":"unavailable"`) {
					s.Errorf("%s: %.300s", a.name, text)
				}
			})
		}
		all.Wait()
		peak := s.peak() >> 20
		peaks = append(peaks, fmt.Sprint(peak))
		s.Logf("%s, %d at once: %d MiB", a.name, n, peak)
		if peak >= podMemory>>20 {
			s.Errorf("%s, %d at once: the process had %d MiB", a.name, n, peak)
		}
	}
	return peaks
}
