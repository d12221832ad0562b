package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/test/bookshop"
)

// A step is something that every client does, and what must be in what it made of the answer.
type step struct{ name, proof string }

// stepsOf are a client's steps, in order.
func stepsOf(c client) []step {
	steps := []step{
		{"connect", c.version},
		{"tools/list", `"list_book"`},
		{"tools/call", "Solaris"},
		{"tools/call, writing", `in_stock\":6`},
		{"resources/list", `"data://book/"`},
		{"resources/templates/list", `"data://{model_name}/{id}"`},
		{"resources/read", "Solaris"},
		{"prompts/list", `"understand_model"`},
		{"prompts/get", "in_stock"}, // a column of book
	}
	if c.name != "inspector" { // which connects and closes in every step
		steps = append(steps, step{"close", ""})
	}
	return steps
}

// A row has the results of one client.
type row struct {
	client
	passed int
	// failures say what went wrong; refusal is the client's error for a 401.
	failures []string
	refusal  string
	took     time.Duration
}

const (
	// patience ends a conversation that hangs.
	patience = 5 * time.Minute

	wrongToken = "mcp_wrongwrongwrong.0000000000000000000000000000000000000000000"
)

// told matches what a client says of a 401 that its user can understand.
var told = regexp.MustCompile(`(?i)\b401\b|unauthorized|authorization required|invalid or missing authentication token`)

// ask has a client converse with the bookshop, first with the right token, then with a wrong one.
func ask(ctx context.Context, c client, shop *bookshop.Server) row {
	r, begin := row{client: c}, time.Now()
	limited, cancel := context.WithTimeout(ctx, patience)
	lines, err := c.converse(limited, shop.URL, shop.Token, c.version)
	r.judge(lines, err)
	cancel()

	limited, cancel = context.WithTimeout(ctx, patience)
	lines, err = c.converse(limited, shop.URL, wrongToken, c.version)
	if limited.Err() != nil {
		err = fmt.Errorf("no answer within %s", patience)
	}
	r.judgeRefusal(lines, err)
	cancel()
	r.took = time.Since(begin)
	return r
}

// judge weighs a conversation with the right token.
func (r *row) judge(lines []line, err error) {
	steps := stepsOf(r.client)
	for i, s := range steps {
		switch {
		case i >= len(lines):
			r.failures = append(r.failures, fmt.Sprintf("%s: not reached", s.name))
		case lines[i].Step != s.name:
			r.failures = append(r.failures, fmt.Sprintf("%s: the client told of %s instead", s.name, lines[i].Step))
		case lines[i].Error != "":
			r.failures = append(r.failures, fmt.Sprintf("%s: %s", s.name, lines[i].Error))
		case !strings.Contains(string(lines[i].Value), s.proof):
			r.failures = append(r.failures, fmt.Sprintf("%s: there is no %s in %.300s", s.name, s.proof, lines[i].Value))
		default:
			r.passed++
		}
	}
	if err != nil {
		r.failures = append(r.failures, err.Error())
	}
}

// judgeRefusal weighs a conversation with a wrong token: it ends when connecting, with an error that says why.
func (r *row) judgeRefusal(lines []line, err error) {
	switch {
	case err != nil:
		r.failures = append(r.failures, "401: "+err.Error())
	case len(lines) != 1 || lines[0].Step != "connect" || !told.MatchString(lines[0].Error):
		r.failures = append(r.failures, fmt.Sprintf("401: no clear error when connecting: %+v", lines))
	default:
		r.passed++
		r.refusal = lines[0].Error
	}
}

// printReport prints the table and says whether all is well; its last line counts.
func printReport(out io.Writer, rows []row) (good bool) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nCLIENT\tVERSION\tPASSED\tFAILED\tSECONDS\tWHAT IT SAYS OF A 401")
	passed, failed := 0, 0
	for _, r := range rows {
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%.1f\t%s\n", r.name, r.version, r.passed, len(r.failures), r.took.Seconds(), r.refusal)
		passed, failed = passed+r.passed, failed+len(r.failures)
	}
	_ = table.Flush() // to the terminal
	for _, r := range rows {
		for _, failure := range r.failures {
			fmt.Fprintf(out, "\nFAILED: %s at %s: %s\n", r.name, r.version, failure)
		}
	}
	fmt.Fprintf(out, "\n%d passed, %d failed\n", passed, failed)
	fmt.Fprintf(out, "clients: %d clients and versions: %d passed, %d failed\n", len(rows), passed, failed)
	return failed == 0 && passed > 0
}
