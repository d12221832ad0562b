// Package lint is the command "mcp-admin lint": it checks manifests without a cluster, as an API server and the controllers
// would.
package lint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
)

// options are the command's flags.
type options struct {
	format    output.Format
	files     []string
	namespace string
	strict    bool
}

// Command returns the command.
func Command() *cobra.Command {
	var o options
	command := &cobra.Command{
		Use:   "lint -f PATH…",
		Short: "Check manifests without a cluster, for CI",
		Long: `lint reads manifests of files and folders, and says what an API server and the manager would refuse: fields that do not exist,
values that the schema or its rules do not allow, groups, models and actions that do not exist, two exposures of one table, and
so on, with file and line. No cluster and no database is needed; whether tables and columns exist only the database knows.

What refuses an object or a part of it is an error, and the exit code is 1 then. What is allowed and has no effect is a warning;
with --strict warnings count as errors. Objects of other kinds are passed over, but for Namespaces, whose labels count, and the
Secrets of webhooks. With -o github the findings are annotations of a workflow run.`,
		Example: `  mcp-admin lint -f manifests/
  mcp-admin lint -f endpoint.yaml -f models/ --strict
  mcp-admin lint -f manifests/ -o github`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(command *cobra.Command, _ []string) error {
			return o.run(command.Context(), command.OutOrStdout())
		},
	}
	o.format.AddFlag(command, github)
	flags := command.Flags()
	flags.StringArrayVarP(&o.files, "filename", "f", nil, "`PATH` of a manifest, or of a folder of them; may be repeated")
	flags.StringVarP(&o.namespace, "namespace", "n", "default", "`NAMESPACE` of objects that name none")
	flags.BoolVar(&o.strict, "strict", false, "count warnings as errors")
	_ = command.MarkFlagRequired("filename") // fails only for a flag that does not exist
	return command
}

func (o *options) run(ctx context.Context, out io.Writer) error {
	report, err := check(ctx, o.files, o.namespace)
	if err != nil {
		return err
	}
	if err := o.print(out, report); err != nil {
		return err
	}
	if failed := report.count(severityError); failed > 0 {
		return errors.New(output.Numbered(failed, "error"))
	}
	if warned := report.count(severityWarning); o.strict && warned > 0 {
		return errors.New(output.Numbered(warned, "warning"))
	}
	return nil
}

// The severities of findings, in the words of GitHub's annotations.
const (
	severityError   = "error"
	severityWarning = "warning"
)

// finding is one thing that is wrong.
type finding struct {
	File string `json:"file"`
	// Line is 0 if it is not known.
	Line     int    `json:"line,omitempty"`
	Severity string `json:"severity"`
	// Object is the kind, namespace and name; "" if they cannot be read. Field is the path in it.
	Object  string `json:"object,omitempty"`
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
}

// report is the command's output.
type report struct {
	Files    int       `json:"files"`
	Objects  int       `json:"objects"`
	Findings []finding `json:"findings"`
}

func (r *report) count(severity string) int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity == severity {
			n++
		}
	}
	return n
}

// github is the format of GitHub's annotations.
const github output.Format = "github"

// print prints a report.
func (o *options) print(out io.Writer, r *report) error {
	if o.format == github {
		for _, found := range r.Findings {
			if _, err := fmt.Fprintln(out, annotation(found)); err != nil {
				return err
			}
		}
		return nil
	}
	return o.format.Print(out, r, r.show)
}

// escapes are for the values of workflow commands; their properties need two more.
var (
	escapeValue    = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapeProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// annotation is a workflow command of GitHub Actions.
func annotation(f finding) string {
	properties := "file=" + escapeProperty.Replace(f.File)
	if f.Line > 0 {
		properties += fmt.Sprintf(",line=%d", f.Line)
	}
	if f.Object != "" {
		properties += ",title=" + escapeProperty.Replace(f.Object)
	}
	return fmt.Sprintf("::%s %s::%s", f.Severity, properties, escapeValue.Replace(output.PrintableBut(f.text(), "\r\n")))
}

// text is the finding without its place.
func (f finding) text() string {
	if f.Field == "" {
		return f.Message
	}
	return f.Field + ": " + f.Message
}

func (r *report) show(screen *output.Screen) {
	for _, f := range r.Findings {
		place := f.File
		if f.Line > 0 {
			place += fmt.Sprintf(":%d", f.Line)
		}
		style := output.Bad
		if f.Severity == severityWarning {
			style = output.Warning
		}
		object := f.Object
		if object != "" {
			object += ": "
		}
		fmt.Fprintf(screen, "%s: %s: %s%s\n", place, screen.Styled(style, f.Severity), object, f.text())
	}
	fmt.Fprintf(screen, "%s in %s: %s, %s\n", output.Numbered(r.Objects, "object"), output.Numbered(r.Files, "file"),
		output.Numbered(r.count(severityError), "error"), output.Numbered(r.count(severityWarning), "warning"))
}
