// Command jobs measures what an agent's questions cost: it turns the SQL of questions with known answers into calls of
// tools by general rules, makes the calls over HTTP, and compares. It knows nothing of the databases. "make jobs" runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/test/jobs/program"
)

func main() {
	folder := flag.String("jobs", "", "the folder with jobs.json and databases")
	only := flag.String("engines", "SQLite,PostgreSQL,MariaDB", "the engines to run on")
	one := flag.String("only", "", "ask just the questions whose ids end in one of these (0117,0118), or all, and show their calls")
	flag.Parse()
	if _, err := os.Stat(filepath.Join(*folder, "jobs.json")); err != nil {
		fmt.Printf("jobs: SKIPPED: there are no questions in %q; JOBS= names another folder\n", *folder)
		return
	}
	if err := run(context.Background(), *folder, strings.Split(*only, ","), *one); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run asks the questions on each engine, and reports. It is an error if an answer is wrong, or if fewer are answered in one call
// than the floor says.
func run(ctx context.Context, folder string, names []string, only string) error {
	jobs, err := readJobs(folder)
	if err != nil {
		return err
	}
	floors, err := readFloors(folder)
	if err != nil {
		return err
	}
	var lines, below []string
	wrong := 0
	floor := func(e engine, results []*result, name, what string) {
		if inOne := count(notOpen(results), outcomeOneCall); only == "" && inOne < floors[name] {
			below = append(below, fmt.Sprintf("%s answers %d questions in one call%s, and the floor is %d", e.title, inOne, what, floors[name]))
		}
	}
	for _, e := range engines {
		if !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, e.title) }) {
			continue
		}
		results, declared, skipped := askAll(ctx, e, folder, jobs, only)
		if skipped != "" {
			lines = append(lines, fmt.Sprintf("jobs: %s SKIPPED: %s", e.title, skipped))
			continue
		}
		r := &report{engine: e.title, results: results}
		r.write(os.Stdout)
		fmt.Println("\n  with relations and reads declared:")
		(&report{results: declared}).writeFailures(os.Stdout)
		lines = append(lines, r.line()+"; declared: "+counts(notOpen(declared)))
		wrong += count(results, outcomeWrong) + count(declared, outcomeWrong)
		floor(e, results, e.title, "")
		floor(e, declared, e.title+" declared", " with relations and reads declared")
	}
	fmt.Println(strings.Join(lines, "\n"))
	if wrong > 0 {
		return fmt.Errorf("%d answers are wrong", wrong)
	}
	if len(below) > 0 {
		return errors.New(strings.Join(below, "; "))
	}
	return nil
}

// askAll asks the questions of each database in turn, as its schema is, and with what all of its questions want declared. only is
// the end of the ids of those that are asked.
func askAll(ctx context.Context, e engine, folder string, jobs []*job, only string) (results, declared []*result, skipped string) {
	byDatabase := map[string][]*job{}
	var order []string
	for _, j := range jobs {
		if isAsked(j, only) && !slices.Contains(order, j.Database) {
			order = append(order, j.Database)
		}
		byDatabase[j.Database] = append(byDatabase[j.Database], j)
	}
	for i, name := range order {
		fmt.Fprintf(os.Stderr, "%s: %d of %d: %s, %d questions …\n", e.title, i+1, len(order), name, len(byDatabase[name]))
		var err error
		skipped, err = program.With(func(h *program.Host) {
			some, more, err := askOne(ctx, h, e, filepath.Join(folder, "databases", name+".sqlite"), byDatabase[name], only)
			if err != nil {
				h.Fatal(err)
			}
			results, declared = append(results, some...), append(declared, more...)
		})
		if skipped != "" {
			return nil, nil, skipped
		}
		if err != nil { // a server that does not answer is no refusal
			for _, j := range askedOf(byDatabase[name], only) {
				failed := &result{job: j, outcome: outcomeWrong, wrong: name + " cannot be served: " + err.Error()}
				results, declared = append(results, failed), append(declared, failed)
			}
		}
	}
	return results, declared, ""
}

func askOne(ctx context.Context, h *program.Host, e engine, file string, jobs []*job, only string) (results, declared []*result, err error) {
	s, err := openSource(ctx, file)
	if err != nil {
		return nil, nil, err
	}
	defer s.Close()
	database, made, err := e.open(ctx, h, file, s)
	if err != nil {
		return nil, nil, err
	}
	d, err := serve(h, e, s, database, made)
	if err != nil {
		return nil, nil, err
	}
	results = d.tryAll(jobs, only)
	more, err := d.serveDeclared(ctx, h, s, jobs)
	if more == nil || err != nil { // nothing is declared
		return results, results, err
	}
	return results, more.tryAll(jobs, only), nil
}

// isAsked reports whether a question's id ends in one of these, which commas separate; all do if it is "all".
func isAsked(j *job, only string) bool {
	return only == "all" || slices.ContainsFunc(strings.Split(only, ","), func(end string) bool { return strings.HasSuffix(j.ID, end) })
}

func askedOf(jobs []*job, only string) []*job {
	return slices.DeleteFunc(slices.Clone(jobs), func(j *job) bool { return !isAsked(j, only) })
}

func (d *served) tryAll(jobs []*job, only string) []*result {
	var results []*result
	for _, j := range askedOf(jobs, only) {
		r := d.try(j)
		if results = append(results, r); only != "" {
			r.show(os.Stdout)
		}
	}
	return results
}
