package main

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestMedianIsTheMiddle(t *testing.T) {
	for _, row := range []struct {
		values []float64
		want   float64
	}{
		{nil, 0},
		{[]float64{3}, 3},
		{[]float64{9, 1, 2}, 2},
		{[]float64{4, 1, 2, 100}, 3},
	} {
		if got := median(row.values); got != row.want {
			t.Errorf("%v: got %v, want %v", row.values, got, row.want)
		}
	}
}

// sides are a server and a limit with the CPU times of their rounds, in microseconds.
func sides(server, limit []float64) []side {
	all := []side{{name: "server", trips: 3}, {name: "limit", trips: 2}}
	for i := range server {
		for n, micros := range []float64{server[i], limit[i]} {
			d := time.Duration(micros * float64(time.Microsecond))
			all[n].cells = append(all[n].cells, cell{cpu: d, p50: 10 * d, p99: 100 * d, garbage: 5000, others: 0.04, peak: 40e6})
		}
	}
	return all
}

func TestRatioIsOfEachRoundByItself(t *testing.T) {
	// The second round was disturbed on both sides.
	m := measured{engine: "PostgreSQL", op: operations[0], sides: sides([]float64{11, 330, 12}, []float64{10, 300, 10})}
	if got := m.ratio(m.limit()); math.Abs(got-1.1) > 0.001 {
		t.Errorf("got %v, want 1.1", got)
	}
}

func TestRunEndsInALineOfTheMainOperations(t *testing.T) {
	var all []measured
	for _, e := range []string{"PostgreSQL", "SQLite"} {
		for _, op := range operations {
			m := measured{engine: e, op: op, sides: sides([]float64{54}, []float64{50})}
			if !op.bare {
				m.sides = m.sides[:1]
			}
			all = append(all, m)
		}
	}
	want := "bench: PostgreSQL get 1.08, list 1.08, create 1.08, update 1.08, aggregate 1.08; " +
		"SQLite get 1.08, list 1.08, create 1.08, update 1.08, aggregate 1.08 of the limit"
	if got := line(all); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := strings.Count(bars(all), `<rect class="bar"`), 10; got != want {
		t.Errorf("the picture has %d bars, want %d", got, want)
	}
}

func TestTableHasTheServersAndTheLimitsFigures(t *testing.T) {
	all := []measured{
		{engine: "PostgreSQL", op: operation{name: "get", bare: true, main: true}, sides: sides([]float64{54}, []float64{50})},
		{engine: "PostgreSQL", op: operation{name: "ping"}, sides: sides([]float64{20}, []float64{1})[:1]},
	}
	for _, want := range []string{
		"| PostgreSQL get | 54/50 | **1.08** | 0.54/0.50 | 5.40/5.00 | 5.0/5.0 | 3/2 |\n",
		"| PostgreSQL ping | 20 | – | 0.20 | 2.00 | 5.0 | 3 |\n",
	} {
		if got := markdown(all); !strings.Contains(got, want) {
			t.Errorf("got\n%swant the line\n%s", got, want)
		}
	}
	if got, want := disturbance(all), "Other programs used at most 4% of the machine meanwhile."; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := peaks(all), "The most memory that the servers had, the server/the limit: PostgreSQL 40/40 MB."; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAnswersAreComparedButForWhatOneOfThemHasAlone(t *testing.T) {
	const page = `{"text":"{\"count\":1,\"results\":[{\"id\":7}]`
	if a, b := inCommon(page+`,\"next_cursor\":\"abc\",\"notice\":\"more\"}"}`, false), inCommon(page+`}"}`, false); a != b {
		t.Errorf("got %s and %s, want the same", a, b)
	}
	if a, b := inCommon(page+`}"}`, false), inCommon(strings.Replace(page, "7", "8", 1)+`}"}`, false); a == b {
		t.Error("answers with other rows are taken for the same")
	}
	if a, b := inCommon(`{\"id\":7,\"title\":\"A\",\"call\":\"X\"}`, true), inCommon(`{\"id\":8,\"title\":\"A\",\"call\":\"Y\"}`, true); a != b {
		t.Errorf("two writes: got %s and %s, want the same", a, b)
	}
}

func TestScriptsMakeAnAuthorForEachHundredBooks(t *testing.T) {
	for _, e := range engines {
		text, err := script(e.seed, 5000)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text, "5000") || !strings.Contains(text, "50") || strings.Contains(text, ":books") || strings.Contains(text, ":authors") {
			t.Errorf("%s: %s", e.seed, text)
		}
	}
}

func TestFlameGraphAddsUpWhatStacksHaveInCommon(t *testing.T) {
	root := readTraces(`File: mcp-admin-server
Type: cpu
-----------+-------------------------------------------------------
      20ms   runtime.memmove
             main.work (inline)
             main.main
-----------+-------------------------------------------------------
      10ms   main.work (inline)
             main.main
-----------+-------------------------------------------------------
      10ms   runtime.gc
`)
	work := root.calls["main.main"].calls["main.work (inline)"]
	if root.value != 40 || work.value != 30 || work.calls["runtime.memmove"].value != 20 {
		t.Errorf("got %v in all, %v of main.work and %v of memmove, want 40, 30 and 20", root.value, work.value, work.calls["runtime.memmove"].value)
	}
	drawn := flameGraph("a profile", root)
	for _, want := range []string{"main.work (inline): 75.0%", "runtime.gc: 25.0%", "runtime.memmove: 50.0%"} {
		if !strings.Contains(drawn, want) {
			t.Errorf("the graph has no %q: %s", want, drawn)
		}
	}
}
