// Package tail is the command "mcp-admin tail": the audit lines of all pods of an endpoint in one stream.
package tail

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/usage"
)

// options are the command's flags.
type options struct {
	cluster.Flags
	format output.Format
	follow bool
	since  time.Duration
	// file is a file with lines that were written before, or a folder of such files, in the place of a cluster; "-" is standard input.
	file string
	// filter lets through the lines that are asked for; row is its row, as MODEL/ID.
	filter filter
	row    string
	// journalAs is the name of the MCPToken that may view the audit table; "" if only logs are read.
	journalAs string
}

// Command returns the command.
func Command() *cobra.Command {
	var o options
	command := &cobra.Command{
		Use:   "tail ENDPOINT | tail --file FILE",
		Short: "Show the audit lines of all pods of an endpoint, merged by time, or of a file",
		Long: `tail reads the logs of an endpoint's pods, and prints the audit line of each call that changed something or was refused, in the
order of their times: who (the MCPToken), what, on which rows, and what came of it. Lines hold no values. Callers that were not let in
have lines, with the cause. Calls that read have lines if the endpoint asks for them (spec.observability.audit.reads).

With -f it goes on: through restarts of containers, and with new pods. Of a container that was restarted, the log of the one
before is read, too. With -o json each line is as the server wrote it, with the pod's name; lines in the format OCSF are read, too, and printed in the
form of the others.
Logs of pods that are gone are gone, and tail says so: for a record that stays, let the endpoint keep an audit table (spec.audit), and
its lines in files (spec.observability.audit.files). --journal-as reads the table beside the logs, through the endpoint, as the holder of
an MCPToken that may view it: a line for each call that changed something and that no log tells of.

With --file it reads a file in the place of a cluster: what "mcp-admin dev" printed, or logs that were kept. Of a folder it reads the
files whose names end in .jsonl. All else in a file is passed over. --file - reads standard input, line by line as they come.

Rights: get mcpendpoints, list pods, get pods/log; with --journal-as list mcpmodelexposures, get mcptokens and that MCPToken's
Secret, and create pods/portforward unless the endpoint is public; none with --file.`,
		Example: `  mcp-admin tail shop -n shop
  mcp-admin tail shop -n shop -f --since 10m
  mcp-admin tail shop -n shop --token agent --since 12h -o csv > agent.csv
  mcp-admin tail shop -n shop --since 720h --journal-as auditor
  mcp-admin tail --file /mnt/audit/shop --since 720h
  mcp-admin tail shop -n shop -f -o json | jq 'select(.outcome!="ok")'
  mcp-admin tail shop -n shop --since 24h -o json | jq 'select(.cause=="inactive" or .cause=="expired")'
  mcp-admin tail shop -n shop --since 12h --row customer/42
  mcp-admin dev --sqlite shop.sqlite --write | mcp-admin tail --file -`,
		Args:              o.arguments,
		ValidArgsFunction: o.CompleteEndpoint,
		RunE: func(command *cobra.Command, args []string) error {
			if err := usage.Apart(command.Flags(), "file", "a file is read to its end", "follow"); err != nil {
				return err
			}
			if err := usage.Apart(command.Flags(), "journal-as", "the journal is read once, beside the logs", "follow", "file"); err != nil {
				return err
			}
			var err error
			if o.filter.row, err = readRow(o.row); err != nil {
				return err
			}
			defer func() { o.filter.tell(command.ErrOrStderr()) }()
			if o.since < 0 {
				return fmt.Errorf("--since: %s is not a time that has passed", o.since)
			}
			if o.file != "" {
				return o.readFile(command.InOrStdin(), command.OutOrStdout())
			}
			k, err := o.Connect()
			if err != nil {
				return fmt.Errorf("%w; \"mcp-admin dev\" prints its audit lines itself, and --file reads them", err)
			}
			return o.run(command.Context(), k, args[0], command.OutOrStdout(), command.ErrOrStderr())
		},
	}
	o.AddTo(command)
	o.format.AddFlag(command, output.CSV)
	flags := command.Flags()
	flags.BoolVarP(&o.follow, "follow", "f", false, "go on with new lines until interrupted")
	flags.StringVar(&o.file, "file", "", "`FILE` or folder of files with lines to show; - is standard input")
	flags.StringVar(&o.filter.token, "token", "", "only lines of this `TOKEN`: NAME, in the endpoint's namespace, or NAMESPACE/NAME")
	flags.StringVar(&o.row, "row", "", "only lines that name this row, `MODEL/ID`: of calls that changed or showed it")
	flags.StringVar(&o.journalAs, "journal-as", "", "also read the endpoint's audit table, as the holder of this `TOKEN`, an MCPToken of its namespace that may view it")
	flags.DurationVar(&o.since, "since", 0, "only lines that are younger than this `TIME`, such as 10m; 0 is all")
	return command
}

// arguments checks that either an endpoint or a file is named.
func (o *options) arguments(_ *cobra.Command, args []string) error {
	switch {
	case o.file != "" && len(args) > 0:
		return fmt.Errorf("%q and --file: name an MCPEndpoint or a file, not both", args[0])
	case o.file == "" && len(args) != 1:
		return errors.New("name one MCPEndpoint, or a file with --file")
	}
	return nil
}

// from is the time of the oldest line that is shown; zero is any.
func (o *options) from() time.Time {
	if o.since == 0 {
		return time.Time{}
	}
	return time.Now().Add(-o.since)
}

// readFile prints the audit lines of a file, as they come, or of the files of a folder, in the order of their times.
func (o *options) readFile(in io.Reader, out io.Writer) error {
	show := o.filter.through(o.printer(out))
	if o.file == "-" {
		return o.readLines(in, "", show)
	}
	paths, whole := []string{o.file}, show
	var lines []line
	if info, err := os.Stat(o.file); err != nil {
		return fmt.Errorf("--file: %w", err)
	} else if info.IsDir() {
		if paths, err = filepath.Glob(filepath.Join(escapeGlob(o.file), "*.jsonl")); err != nil {
			return fmt.Errorf("--file: %w", err)
		}
		if len(paths) == 0 {
			return fmt.Errorf("--file: %s has no file whose name ends in .jsonl", o.file)
		}
		show = func(l line) error { lines = append(lines, l); return nil }
	}
	for _, path := range paths {
		if err := o.readPath(path, show); err != nil {
			return fmt.Errorf("--file: %w", err)
		}
	}
	sortByTime(lines)
	for _, l := range lines {
		if err := whole(l); err != nil {
			return err
		}
	}
	return nil
}

// escapeGlob has a path stand for itself in a pattern.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

func (o *options) readPath(path string, show func(line) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return o.readLines(file, podOf(filepath.Base(path)), show)
}

// podOf is the pod that wrote a file, by the file's name (server/audit); "" if that does not tell.
func podOf(name string) string {
	pod, ours := strings.CutPrefix(strings.TrimSuffix(name, ".jsonl"), "audit-")
	dash := strings.LastIndexByte(pod, '-')
	if !ours || dash < 0 {
		return ""
	}
	return pod[:dash]
}

func (o *options) readLines(in io.Reader, pod string, show func(line) error) error {
	from := o.from()
	return eachLine(in, func(text []byte) error {
		if l, audit := parse(pod, text, false); audit && !l.at.Before(from) {
			return show(l)
		}
		return nil
	})
}

func (o *options) run(ctx context.Context, k *cluster.Cluster, name string, out, errOut io.Writer) error {
	endpoint, err := k.Endpoint(ctx, types.NamespacedName{Namespace: k.Namespace, Name: name})
	if err != nil {
		return err
	}
	r := &reader{cluster: k, endpoint: cluster.Key(endpoint), from: o.from(), tell: func(news string) { fmt.Fprintln(errOut, "#", news) }}
	if o.journalAs != "" {
		if r.journal, err = openJournal(ctx, k, endpoint, o.journalAs, r.tell); err != nil {
			return err
		}
	}
	o.filter.namespace = endpoint.Namespace
	show := o.filter.through(o.printer(out))
	if o.follow {
		return r.follow(ctx, show)
	}
	return r.read(ctx, endpoint, show)
}
