package main

import (
	"fmt"
	"regexp"
	"strings"
)

// An expectation names what fails because it does not apply: a whole scenario, or one check of it.
type expectation struct {
	scenario string
	// check is "" if it is the whole scenario.
	check string
}

func (e expectation) String() string {
	if e.check == "" {
		return e.scenario
	}
	return e.scenario + ":" + e.check
}

var entry = regexp.MustCompile(`^  - ([^\s:]+)(?::(\S+))?\s+# \S.*$`)

// parseExpectations reads expected-failures.yaml. It is in the suite's own form, and more strictly read than the suite
// does: each entry says on its own line why it is there.
func parseExpectations(text string) ([]expectation, error) {
	var (
		found []expectation
		seen  = map[expectation]bool{}
	)
	for i, line := range strings.Split(text, "\n") {
		if trimmed := strings.TrimSpace(line); trimmed == "" || trimmed[0] == '#' || line == "server:" {
			continue
		}
		parts := entry.FindStringSubmatch(line)
		if parts == nil {
			return nil, fmt.Errorf("expected-failures.yaml:%d is no entry with its reason: %s", i+1, line)
		}
		e := expectation{scenario: parts[1], check: parts[2]}
		if seen[e] || seen[expectation{scenario: e.scenario}] {
			return nil, fmt.Errorf("expected-failures.yaml:%d says again what an entry above it says", i+1)
		}
		seen[e] = true
		found = append(found, e)
	}
	return found, nil
}
