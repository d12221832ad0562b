package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// A verdict sums the results up.
type verdict struct {
	// passed, failed and excused count checks by revision. Excused checks fail because they do not apply.
	passed, failed, excused map[string]int
	// findings say what failed that should not, and what was expected to fail and does not.
	findings []finding
	// strays are expectations that met nothing.
	strays []expectation
}

type finding struct {
	result
	check
	what string
}

// wireSchema is the suite's check of all messages against the protocol's JSON schema. It applies whatever else does not.
const wireSchema = "wire-schema-valid"

// judge weighs results against what is expected to fail. A warning counts as a failure, as it does for the suite. With
// all, an expectation that met nothing is held against the list.
func judge(results []result, expected []expectation, all bool) verdict {
	v := verdict{passed: map[string]int{}, failed: map[string]int{}, excused: map[string]int{}}
	met := map[expectation]bool{}
	for _, r := range results {
		// An expectation may stand for several checks, and holds if one of them fails.
		fails := map[expectation]bool{}
		for _, c := range r.checks {
			if e, excused := excuse(expected, r.scenario, c.ID); excused {
				met[e], fails[e] = true, fails[e] || isFailure(c)
			}
		}
		for _, c := range r.checks {
			e, excused := excuse(expected, r.scenario, c.ID)
			switch {
			case isFailure(c) && excused:
				v.excused[r.revision]++
			case isFailure(c):
				v.fail(finding{r, c, c.ErrorMessage})
			case c.Status != "SUCCESS":
			case excused && !fails[e]:
				v.fail(finding{r, c, "passes, but expected-failures.yaml says that it does not apply"})
			case !excused:
				v.passed[r.revision]++
			}
		}
	}
	for _, e := range expected {
		if all && !met[e] {
			v.strays = append(v.strays, e)
		}
	}
	return v
}

// excuse returns the expectation that a check falls under, if any.
func excuse(expected []expectation, scenario, check string) (expectation, bool) {
	one, whole := expectation{scenario, check}, expectation{scenario: scenario}
	if slices.Contains(expected, one) {
		return one, true
	}
	return whole, check != wireSchema && slices.Contains(expected, whole)
}

func isFailure(c check) bool { return c.Status == "FAILURE" || c.Status == "WARNING" }

func (v *verdict) fail(f finding) {
	v.failed[f.revision]++
	v.findings = append(v.findings, f)
}

// good reports whether something passed, and nothing is wrong.
func (v *verdict) good() bool { return len(v.findings)+len(v.strays) == 0 && total(v.passed) > 0 }

func total(count map[string]int) (sum int) {
	for _, n := range count {
		sum += n
	}
	return sum
}

// print says what was found; its last line counts.
func (v *verdict) print(out io.Writer, verbose bool) {
	for _, f := range v.findings {
		fmt.Fprintf(out, "\nFAILED at %s, %s endpoint: %s:%s\n  %s\n  %s\n", f.revision, f.endpoint, f.scenario, f.ID, f.Description, f.what)
		if verbose {
			fmt.Fprintf(out, "  %s\n", f.Details)
		}
	}
	for _, e := range v.strays {
		fmt.Fprintf(out, "\nSTALE: expected-failures.yaml names %s, which is no check that ran\n", e)
	}
	fmt.Fprintf(out, "\n%d checks fail because they do not apply, each with its reason in %s/expected-failures.yaml\n", total(v.excused), folder)
	fmt.Fprintf(out, "%d passed, %d failed\n", total(v.passed), total(v.failed)+len(v.strays))
	var counts []string
	for _, revision := range revisions {
		counts = append(counts, fmt.Sprintf("%s: %d passed, %d failed", revision, v.passed[revision], v.failed[revision]))
	}
	fmt.Fprintln(out, "conformance:", strings.Join(counts, "; "))
}
