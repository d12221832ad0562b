package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
)

// A check is one of the suite's findings, as it writes them to checks.json.
type check struct {
	ID, Name, Description, ErrorMessage string
	// Status is SUCCESS, FAILURE, WARNING, SKIPPED or INFO.
	Status  string
	Details json.RawMessage
}

// untestable reports whether the check failed only because the server lacks what it asks for by name.
func (c check) untestable() bool {
	var details struct{ Untestable bool }
	return json.Unmarshal(c.Details, &details) == nil && details.Untestable
}

// A result has the findings of one scenario at one endpoint.
type result struct {
	revision, endpoint, scenario string
	checks                       []check
}

var (
	started  = regexp.MustCompile(`(?m)^=== Running scenario: (\S+) ===$`)
	finished = regexp.MustCompile(`^server-(.+)-\d{4}-\d{2}-\d{2}T[\dZ-]+$`)
)

// runSuite runs what a revision requires of a server, and what the suite has beside that, and returns what it found.
// Its exit code says nothing here: the suite counts other scenarios than judge does.
func runSuite(ctx context.Context, program, url, revision, out string) ([]result, error) {
	suite := exec.CommandContext(ctx, program, filepath.Join(folder, "node_modules/@modelcontextprotocol/conformance/dist/index.js"),
		"server", "--url", url, "--requirements", revision, "--output-dir", out)
	printed, err := suite.CombinedOutput()
	if exited := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exited) {
		return nil, err
	}
	// The suite writes no result of a scenario that it could not run to its end.
	var expected []string
	for _, match := range started.FindAllSubmatch(printed, -1) {
		expected = append(expected, string(match[1]))
	}
	results, err := readResults(out, revision)
	if err != nil || len(expected) == 0 {
		return nil, errors.Join(err, fmt.Errorf("the suite did not run at %s:\n%s", revision, bytes.TrimSpace(printed)))
	}
	for _, scenario := range expected {
		if !slices.ContainsFunc(results, func(r result) bool { return r.scenario == scenario }) {
			broken := check{ID: scenario, Description: "The scenario runs to its end", ErrorMessage: "it broke off", Status: "FAILURE"}
			results = append(results, result{revision: revision, scenario: scenario, checks: []check{broken}})
		}
	}
	return results, nil
}

// readResults reads the suite's folder of results: one folder per scenario, named for it and the time.
func readResults(out, revision string) ([]result, error) {
	folders, err := os.ReadDir(out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var results []result
	for _, f := range folders {
		name := finished.FindStringSubmatch(f.Name())
		if name == nil {
			return nil, fmt.Errorf("%s is no folder of a scenario", f.Name())
		}
		content, err := os.ReadFile(filepath.Join(out, f.Name(), "checks.json"))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it broke off, which runSuite finds
		}
		if err != nil {
			return nil, err
		}
		r := result{revision: revision, scenario: name[1]}
		if err := json.Unmarshal(content, &r.checks); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		results = append(results, r)
	}
	return results, nil
}
