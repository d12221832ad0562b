package doctor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/target"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/version"
	"github.com/mcp-admin/mcp-admin-operator/server/selftest"
)

// engineFlags are the flags about a database without a cluster.
type engineFlags struct {
	target.Flags
	wanted bool
	schema string
}

func (f *engineFlags) addTo(flags *pflag.FlagSet) {
	flags.BoolVar(&f.wanted, "engine", false, "try out a database, without a cluster")
	flags.StringVar(&f.schema, "schema", "", "with --engine: also test writing, in tables that are made in the schema `NAME` and dropped in the end; "+
		"MySQL's schemas are its databases, and SQLite's is main; DuckDB is never written")
	f.Add(flags)
}

// given reports whether a flag was given that has a meaning with --engine alone.
func (f *engineFlags) given(command *cobra.Command) bool {
	return command.Flags().Changed("dsn") || command.Flags().Changed("sqlite") || command.Flags().Changed("duckdb") || command.Flags().Changed("schema")
}

// tryEngine tries out a database.
func (o *options) tryEngine(command *cobra.Command, args []string) error {
	switch {
	case !o.engine.wanted:
		return errors.New("--dsn, --sqlite, --duckdb and --schema go with --engine")
	case len(args) > 0 || o.all || o.state.Folder != "":
		return errors.New("--engine looks at a database alone: leave out the ENDPOINT, -A and --state")
	}
	db, err := o.engine.Database(os.Getenv)
	if err != nil {
		return err
	}
	o.engine.announce(command.ErrOrStderr(), db)
	screen := output.NewScreen(command.OutOrStdout())
	test := selftest.Options{Tables: o.engine.schema != "", Schema: o.engine.schema, Program: version.String()}
	if o.format == output.Text {
		fmt.Fprintf(screen, "mcp-admin %s, self-test of a database\n", test.Program)
		test.Told = func(c selftest.Check) { showCheck(screen, c) }
	}
	report, err := db.SelfTest(command.Context(), test)
	if report == nil {
		return err
	}
	if printErr := o.format.Print(command.OutOrStdout(), report, func(*output.Screen) { showEnd(screen, report) }); err == nil {
		err = printErr
	}
	if n := report.Count(selftest.Fails); err == nil && n > 0 {
		err = fmt.Errorf("%s that a server needs", map[bool]string{true: "1 thing fails", false: fmt.Sprint(n) + " things fail"}[n == 1])
	}
	return err
}

// announce says what will be done, apart from the report.
func (f *engineFlags) announce(to io.Writer, db *target.Database) {
	switch {
	case db.Engine == contract.EngineDuckDB:
		fmt.Fprintln(to, "Nothing is written. One row of one table is read, and not shown.")
	case f.schema == "":
		fmt.Fprintln(to, "Nothing is written. One row of one table is read, and not shown. --schema NAME tests writing as well.")
	case db.Engine == contract.EngineSQLite:
		fmt.Fprintln(to, "The file is only read. Tables are made and written to in a new file beside it, which is removed in the end.")
	default:
		fmt.Fprintf(to, "Six tables mcp_admin_selftest_… are made in the schema %s, written to, and dropped in the end. No other table is touched. "+
			"Ctrl-C ends the test, and drops them, too.\n", output.Printable(f.schema))
	}
}

// marks are how the results look.
var marks = map[selftest.Result]struct {
	sign  string
	style output.Style
}{
	selftest.Works: {"✓", output.Good}, selftest.Differs: {"!", output.Warning}, selftest.Fails: {"✗", output.Bad}, selftest.NotAsked: {"–", output.Faint},
}

// showCheck prints a check in a line, and below it what a result that is not as expected means.
func showCheck(screen *output.Screen, c selftest.Check) {
	if c.Result == selftest.NotAsked && c.Answer == selftest.NeedsTables {
		return // the end has all of these
	}
	mark := marks[c.Result]
	line := screen.Styled(mark.style, mark.sign) + " " + screen.Styled(output.Bold, c.Name) + ": " + c.Expected
	switch {
	case c.Result == selftest.NotAsked:
		line = screen.Styled(mark.style, mark.sign+" "+c.Name+": not asked: "+c.Answer)
	case c.Result == selftest.Works && c.Answer != "":
		line += " (" + c.Answer + ")"
	}
	fmt.Fprintln(screen, line)
	if c.Result == selftest.Fails || c.Result == selftest.Differs {
		fmt.Fprintf(screen, "    the engine: %s\n    for agents: %s\n", c.Answer, c.Means)
	}
}

// showEnd prints what the test as a whole came to.
func showEnd(screen *output.Screen, r *selftest.Report) {
	var writing []string
	for i := range r.Checks {
		if c := &r.Checks[i]; c.Result == selftest.NotAsked && c.Answer == selftest.NeedsTables {
			writing = append(writing, c.Name)
		}
	}
	if len(writing) > 0 {
		fmt.Fprintln(screen, screen.Styled(output.Faint, "– not asked, as it would write (--schema NAME): "+strings.Join(writing, ", ")))
	}
	for _, note := range r.Notes {
		fmt.Fprintf(screen, "  the status of an endpoint would say: %s\n", note)
	}
	engine := strings.TrimSpace(r.Engine + " " + r.Version)
	if r.Says != "" && r.Says != r.Version {
		engine += ", which calls itself " + r.Says
	}
	if engine != "" {
		fmt.Fprintf(screen, "%s\n", engine)
	}
	fmt.Fprintf(screen, "%d work, %d differ, %d fail, %d not asked\n", r.Count(selftest.Works), r.Count(selftest.Differs), r.Count(selftest.Fails), r.Count(selftest.NotAsked))
}
