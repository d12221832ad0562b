// Command retail measures whether actions end in exactly the expected rows: it carries the actions of tasks out by calls of
// tools, one transaction an action, and compares every table. What an action means is in the folder's rules.md, and here in
// shop.go; the expected rows are read only to compare. "make jobs-retail" runs it.
package main

import (
	"context"
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
	folder := flag.String("jobs", "", "the folder with schema.sql, data.sql and tasks.json")
	only := flag.String("engines", "SQLite,PostgreSQL,MariaDB", "the engines to run on")
	one := flag.String("only", "", "carry out just the tasks whose id ends so")
	flag.Parse()
	if _, err := os.Stat(filepath.Join(*folder, "tasks.json")); err != nil {
		fmt.Printf("retail: SKIPPED: there are no tasks in %q; JOBS= names another folder\n", *folder)
		return
	}
	if err := run(context.Background(), *folder, strings.Split(*only, ","), *one); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run carries the tasks out on each engine, and reports. It is an error if an end state is not exact.
func run(ctx context.Context, folder string, names []string, only string) error {
	tasks, err := readTasks(folder)
	if err != nil {
		return err
	}
	tasks = slices.DeleteFunc(tasks, func(t *task) bool { return !strings.HasSuffix(t.ID, only) })
	var lines []string
	wrong := 0
	for _, e := range harness.Engines {
		if !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, e.Title) }) {
			continue
		}
		var results []*result
		skipped, err := program.With(func(h *program.Host) {
			if results, err = carryOut(ctx, h, e, folder, tasks); err != nil {
				h.Fatal(err)
			}
		})
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", e.Title, err)
		case skipped != "":
			lines = append(lines, fmt.Sprintf("retail: %s SKIPPED: %s", e.Title, skipped))
			continue
		}
		r := report{e.Title, results}
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
