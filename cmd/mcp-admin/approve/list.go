package approve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/laptop"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
)

// listing is the command that lists.
type listing struct {
	cluster.Flags
	state           laptop.Flag
	all, everywhere bool
	values          bool
	format          output.Format
}

// ListCommand returns the command that lists the calls that wait, or shows one.
func ListCommand() *cobra.Command {
	var l listing
	command := &cobra.Command{
		Use:   "approvals [NAME]",
		Short: "List the calls of agents that wait for people, or show one",
		Long: `approvals lists the MCPApprovals that wait, the oldest first: whose calls they are, what they would do, and until when they can be
allowed. With a name it shows one: the MCPApproval, or the 20 characters that the agent was told.

With --values it also shows the values before and after that the policies' show keeps out of the MCPApproval, but for hidden, masked and
secret fields. They come from the pod that holds the call, and are stored nowhere.

Rights: list mcpapprovals; get, for one; with --values also list pods, and create pods/portforward.

With --state it shows the calls of "mcp-admin dev" on this machine. That needs no cluster.`,
		Example: `  mcp-admin approvals -n shop
  mcp-admin approvals --all -n shop
  mcp-admin approvals nq3w5kd2m7xh4tzab6cy -n shop
  mcp-admin approvals nq3w5kd2m7xh4tzab6cy -n shop --values
  mcp-admin approvals --state .mcp-admin-dev`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: l.CompleteApproval,
		RunE: func(command *cobra.Command, args []string) error {
			name := ""
			if len(args) == 1 {
				name = args[0]
			}
			if l.values && name == "" {
				return errors.New("--values is about one call: name it")
			}
			if l.values && l.state.Folder != "" {
				return errValuesHere
			}
			if l.state.Folder != "" {
				return l.runHere(name, command.OutOrStdout())
			}
			k, err := l.Connect()
			if err != nil {
				return laptop.Hint(err)
			}
			if name != "" {
				return l.show(command.Context(), k, name, command.OutOrStdout())
			}
			return l.list(command.Context(), k, command.OutOrStdout())
		},
	}
	l.AddTo(command)
	l.state.AddTo(command.Flags())
	command.Flags().BoolVar(&l.all, "all", false, "those that have ended, too")
	command.Flags().BoolVarP(&l.everywhere, "all-namespaces", "A", false, "those of all namespaces")
	command.Flags().BoolVar(&l.values, "values", false, "with a name: the values before and after, from the pod that holds the call")
	l.format.AddFlag(command)
	return command
}

// errValuesHere is why nothing is fetched of dev.
var errValuesHere = errors.New("--values is for a cluster; with --state, show: Values of the policy has them shown")

func (l *listing) list(ctx context.Context, k *cluster.Cluster, out io.Writer) error {
	var found v1alpha1.MCPApprovalList
	namespace := k.Namespace
	if l.everywhere {
		namespace = ""
	}
	if err := k.List(ctx, &found, client.InNamespace(namespace)); err != nil {
		return cluster.Explain(err)
	}
	return l.print(out, found.Items)
}

// runHere lists or shows the approvals of what "mcp-admin dev" serves.
func (l *listing) runHere(name string, out io.Writer) error {
	if name != "" {
		a, err := l.state.Approval(name)
		if err != nil {
			return err
		}
		return l.format.Print(out, a, func(s *output.Screen) { describe(s, a) })
	}
	all, err := l.state.Approvals()
	if err != nil {
		return err
	}
	return l.print(out, all)
}

// print prints those that are asked for, the oldest first.
func (l *listing) print(out io.Writer, all []v1alpha1.MCPApproval) error {
	approvals := slices.DeleteFunc(all, func(a v1alpha1.MCPApproval) bool { return a.Ended() && !l.all })
	slices.SortFunc(approvals, func(a, b v1alpha1.MCPApproval) int {
		return cmp.Or(a.Spec.Request.AskTime.Compare(b.Spec.Request.AskTime.Time), strings.Compare(a.Name, b.Name))
	})
	return l.format.Print(out, approvals, func(s *output.Screen) {
		if len(approvals) == 0 {
			fmt.Fprintln(s, "No call waits for an approval.")
			return
		}
		header := []string{"NAME", "STATE", "TOKEN", "OPERATION", "MODEL", "ROWS", "ASKED", "EXPIRES"}
		if l.everywhere {
			header = append([]string{"NAMESPACE"}, header...)
		}
		var rows [][]string
		for i := range approvals {
			row := lineOf(&approvals[i], time.Now())
			if l.everywhere {
				row = append([]string{approvals[i].Namespace}, row...)
			}
			rows = append(rows, row)
		}
		s.Table(header, rows...)
	})
}

// lineOf is an approval in one line.
func lineOf(a *v1alpha1.MCPApproval, now time.Time) []string {
	r := &a.Spec.Request
	expires := "-"
	if !a.Ended() {
		expires = "in " + duration.HumanDuration(max(r.ExpiryTime.Sub(now), 0))
	}
	return []string{a.Name, string(a.EffectiveState()), tokenOf(a), r.Operation, cmp.Or(r.Model, "-"), rowsOf(r), duration.HumanDuration(max(now.Sub(r.AskTime.Time), 0)) + " ago", expires}
}

// tokenOf is the token whose call it is, with its namespace if that is another one.
func tokenOf(a *v1alpha1.MCPApproval) string {
	ref := a.Spec.Request.TokenRef
	if ref.Namespace == a.Namespace {
		return ref.Name
	}
	return ref.Namespace + "/" + ref.Name
}

func rowsOf(r *v1alpha1.ApprovalRequest) string {
	if r.Rows == nil {
		return "-"
	}
	return strconv.FormatInt(*r.Rows, 10)
}

func (l *listing) show(ctx context.Context, k *cluster.Cluster, name string, out io.Writer) error {
	a, err := k.Approval(ctx, name)
	if err != nil {
		return err
	}
	if l.values {
		if err := k.ShowValues(ctx, a); err != nil {
			return err
		}
	}
	return l.format.Print(out, a, func(s *output.Screen) { describe(s, a) })
}

// describe prints all that somebody who decides has to know.
func describe(s *output.Screen, a *v1alpha1.MCPApproval) {
	r := &a.Spec.Request
	rows := [][]string{
		{"Approval:", a.Name}, {"State:", string(a.EffectiveState())}, {"Token:", tokenOf(a)},
	}
	if r.Subject != "" {
		rows = append(rows, []string{"Subject:", r.Subject})
	}
	rows = append(rows, []string{"Tool:", r.Tool}, []string{"Rows:", rowsOf(r)}, []string{"Asked:", r.AskTime.UTC().Format(time.RFC3339)},
		[]string{"Expires:", r.ExpiryTime.UTC().Format(time.RFC3339)})
	if a.Status.Reason != "" {
		rows = append(rows, []string{"Reason:", a.Status.Reason})
	}
	for i := range r.Policies {
		p := &r.Policies[i]
		text := fmt.Sprintf("%s (%s", p.Name, output.Numbered(int(p.MinApprovals), "approval"))
		if len(p.ApproverGroups) > 0 {
			text += " of people in " + strings.Join(p.ApproverGroups, " or ")
		}
		if p.FourEyes == v1alpha1.FourEyesStrict {
			if len(p.ApproverGroups) == 0 {
				text += " of people"
			}
			text += " who cannot read the token's Secret"
		}
		text += ")"
		if p.Description != "" {
			text += ": " + p.Description
		}
		rows = append(rows, []string{"Policy:", text})
	}
	for _, d := range a.Spec.Decisions {
		text := string(d.Decision) + " by " + d.DecidedBy
		if d.Comment != "" {
			text += ": " + d.Comment
		}
		rows = append(rows, []string{"Decision:", text})
	}
	for _, c := range a.Status.Conditions {
		rows = append(rows, []string{c.Type + ":", fmt.Sprintf("%s, %s", c.Status, c.Message)})
	}
	for _, row := range rows {
		row[1] = output.Printable(row[1]) // a line break in a comment must not look like another line
	}
	s.Table(nil, rows...)
	if len(r.Changes) > 0 {
		fmt.Fprintln(s, "\nWhat it would do:")
	}
	for i := range r.Changes {
		describeChange(s, &r.Changes[i])
	}
	if r.Notice != "" {
		fmt.Fprintln(s, r.Notice)
	}
}

// describeChange prints what would become of some rows.
func describeChange(s *output.Screen, c *v1alpha1.ApprovalChange) {
	what := cmp.Or(c.Model, "rows of tables that are no model")
	if c.ID != "" {
		what += " " + c.ID
	} else {
		what += ": " + output.Numbered(int(c.Rows), "row")
	}
	fmt.Fprintf(s, "  %s %s\n", strings.ToLower(string(c.Change)), output.Printable(what))
	for _, f := range c.Fields {
		switch {
		case f.Before == "" && f.After == "":
			fmt.Fprintf(s, "    %s\n", output.Printable(f.Name))
		case c.Change == v1alpha1.ApprovalDeletes:
			fmt.Fprintf(s, "    %s: %s\n", output.Printable(f.Name), output.Printable(f.Before))
		case f.Before == f.After:
			fmt.Fprintf(s, "    %s: stays %s\n", output.Printable(f.Name), output.Printable(f.Before))
		default:
			fmt.Fprintf(s, "    %s: %s -> %s\n", output.Printable(f.Name), output.Printable(cmp.Or(f.Before, "nothing")), output.Printable(cmp.Or(f.After, "not known yet")))
		}
	}
}
