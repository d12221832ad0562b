// Command tasks measures whether actions end in exactly the expected rows: it carries the actions of a folder's tasks out by calls
// of tools, one transaction an action, and compares every table. What an action means, a file says (README.md has its form);
// the expected rows are read only to compare. "make jobs-retail" runs it.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/test/harness"
	"github.com/mcp-admin/mcp-admin-operator/test/jobs/program"
)

func main() {
	path := flag.String("folder", "", "the folder with schema.sql, data.sql and tasks.json")
	file := flag.String("actions", "", "the file that says what the actions mean; actions.yaml of the folder if it is left out")
	engines := flag.String("engines", "SQLite,PostgreSQL,MariaDB", "the engines to run on")
	only := flag.String("only", "", "carry out just the tasks whose id ends so")
	flag.Parse()
	if _, err := os.Stat(filepath.Join(*path, "tasks.json")); err != nil {
		fmt.Printf("tasks: SKIPPED: there are no tasks in %q; DIR= names another folder\n", *path)
		return
	}
	if err := run(context.Background(), *path, cmp.Or(*file, filepath.Join(*path, "actions.yaml")), strings.Split(*engines, ","), *only); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run carries the tasks out on each engine, and reports. It is an error if an end state is not exact, or if there is none.
func run(ctx context.Context, path, file string, names []string, only string) error {
	f, err := readFolder(path, file)
	if err != nil {
		return err
	}
	f.tasks = slices.DeleteFunc(f.tasks, func(t *task) bool { return !strings.HasSuffix(t.ID, only) })
	engines := slices.DeleteFunc(slices.Clone(harness.Engines), func(e harness.Engine) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, e.Title) })
	})
	if len(f.tasks) == 0 || len(engines) == 0 {
		return errors.New("no task or no engine is named so; there is nothing to measure")
	}
	var lines []string
	wrong := 0
	for _, e := range engines {
		var results []*result
		skipped, err := program.With(func(h *program.Host) {
			if results, err = carryOut(ctx, h, e, f); err != nil {
				h.Fatal(err)
			}
		})
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", e.Title, err)
		case skipped != "":
			lines = append(lines, fmt.Sprintf("%s: %s SKIPPED: %s", f.name, e.Title, skipped))
			continue
		}
		r := report{f.name, e.Title, results}
		r.write(os.Stdout)
		lines = append(lines, r.line())
		wrong += len(results) - r.exact(results)
	}
	fmt.Println(strings.Join(lines, "\n"))
	if wrong > 0 {
		return fmt.Errorf("%d end states are not exact", wrong)
	}
	return nil
}
