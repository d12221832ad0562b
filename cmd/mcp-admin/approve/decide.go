// Package approve has the commands "mcp-admin approvals", "approve" and "deny": what agents want to do that people must allow first.
package approve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/acts"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/laptop"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
)

// lookEvery is how often the status is read.
const lookEvery = 200 * time.Millisecond

// decision is a command that decides.
type decision struct {
	cluster.Flags
	state    laptop.Flag
	verdict  v1alpha1.ApprovalVerdict
	comment  string
	override bool
	values   bool
	wait     time.Duration
}

// Command returns the command that allows a call.
func Command() *cobra.Command {
	d := decision{verdict: v1alpha1.VerdictApprove}
	command := d.command(&cobra.Command{
		Use:   "approve NAME",
		Short: "Allow a call of an agent that waits",
		Long: `approve allows a call that waits for people: the MCPApproval, or the 20 characters that the agent was told. It prints what is
still missing, if the policies ask for more people. Look at the call first: "mcp-admin approvals NAME".

A decision cannot be changed. Nobody decides on a call of their own.

With --override the call is allowed by you alone, whatever the policies ask. This is for emergencies: it needs a right of its own, and
is told by a Warning and an alert.

With --values it first shows the call with its values before and after, and allows it if you answer yes.

Rights: get (or list) and update mcpapprovals; the verb approve on the MCPEndpoint, or override; with --values also list pods, and create
pods/portforward.

With --state it decides about calls of "mcp-admin dev" on this machine, as you or as the person of --as. Each policy takes that person.`,
		Example: `  mcp-admin approve shop-nq3w5kd2m7xh4tzab6cy -n shop --comment "talked to the customer"
  mcp-admin approve nq3w5kd2m7xh4tzab6cy -n shop
  mcp-admin approve nq3w5kd2m7xh4tzab6cy -n shop --override --comment "outage 4711"
  mcp-admin approve nq3w5kd2m7xh4tzab6cy --state .mcp-admin-dev --as ana`,
	})
	command.Flags().BoolVar(&d.values, "values", false, "first show the call with its values, as the pod tells them that holds it, and ask")
	command.Flags().BoolVar(&d.override, "override", false, "allow it alone, against the policies; needs --comment")
	return command
}

// DenyCommand returns the command that refuses a call.
func DenyCommand() *cobra.Command {
	d := decision{verdict: v1alpha1.VerdictDeny}
	return d.command(&cobra.Command{
		Use:   "deny NAME",
		Short: "Refuse a call of an agent that waits",
		Long: `deny refuses a call that waits for people: the MCPApproval, or the 20 characters that the agent was told. One person is enough.
The agent sees the comment. A decision cannot be changed; what was allowed before and has not run yet is allowed no more.

Rights: get (or list) and update mcpapprovals; the verb approve on the MCPEndpoint. With --state it decides about calls that
"mcp-admin dev" serves here.`,
		Example: `  mcp-admin deny nq3w5kd2m7xh4tzab6cy -n shop --comment "refund the shipping only"`,
	})
}

func (d *decision) command(command *cobra.Command) *cobra.Command {
	command.Args = cobra.ExactArgs(1)
	command.ValidArgsFunction = d.CompleteApproval
	command.RunE = func(command *cobra.Command, args []string) error {
		if d.override && d.comment == "" {
			return errors.New("--override needs --comment: say why")
		}
		if d.values && d.state.Folder != "" {
			return errValuesHere
		}
		if d.state.Folder != "" {
			return d.runHere(command.Context(), args[0], command.OutOrStdout())
		}
		k, err := d.Connect()
		if err != nil {
			return laptop.Hint(err)
		}
		return d.run(command.Context(), k, args[0], command.InOrStdin(), command.OutOrStdout())
	}
	d.AddTo(command)
	d.state.AddTo(command.Flags())
	command.Flags().StringVarP(&d.comment, "comment", "m", "", "`TEXT` that the agent, the journal and the audit lines get")
	command.Flags().DurationVar(&d.wait, "wait", 10*time.Second, "how long to wait for the manager")
	return command
}

func (d *decision) run(ctx context.Context, k *cluster.Cluster, name string, in io.Reader, out io.Writer) error {
	a, err := k.Approval(ctx, name)
	if err != nil {
		return err
	}
	if d.values {
		if err := d.askAbout(ctx, k, a, in, out); err != nil {
			return err
		}
	}
	if err := acts.Decide(ctx, k, a, d.given(), d.comment, time.Now()); err != nil {
		return err
	}
	decided := a.Generation
	a, err = d.until(ctx, a, func(ctx context.Context) (*v1alpha1.MCPApproval, error) {
		return a, cluster.Explain(k.Get(ctx, cluster.Key(a), a))
	}, func(a *v1alpha1.MCPApproval) bool { return a.Status.ObservedGeneration >= decided })
	if err != nil {
		return fmt.Errorf("%w; \"kubectl get mcpapproval %s -n %s\" tells what the manager makes of it", err, a.Name, a.Namespace)
	}
	return d.tell(a, out)
}

// askAbout shows a call with its values, and is an error if the person does not say yes. The approval stays what it is: what is shown
// must not be written.
func (d *decision) askAbout(ctx context.Context, k *cluster.Cluster, a *v1alpha1.MCPApproval, in io.Reader, out io.Writer) error {
	shown := a.DeepCopy()
	if err := k.ShowValues(ctx, shown); err != nil {
		return err
	}
	screen := output.NewScreen(out)
	describe(screen, shown)
	fmt.Fprint(screen, "\nAllow it? Write yes: ")
	answer, _ := bufio.NewReader(in).ReadString('\n') // the end of the input is no yes
	if !strings.EqualFold(strings.TrimSpace(answer), "yes") {
		return errors.New("nothing was decided")
	}
	return nil
}

// given is the decision that the flags say.
func (d *decision) given() v1alpha1.ApprovalVerdict {
	if d.override {
		return v1alpha1.VerdictOverride
	}
	return d.verdict
}

// runHere decides about a call of what "mcp-admin dev" serves.
func (d *decision) runHere(ctx context.Context, name string, out io.Writer) error {
	a, err := d.state.Approval(name)
	if err != nil {
		return err
	}
	by := d.As()
	if by == "" {
		by = laptop.Person()
	}
	if err := acts.Undecided(a, by, time.Now()); err != nil {
		return err
	}
	if err := d.state.Decide(a.Name, &v1alpha1.ApprovalDecision{DecidedBy: by, Decision: d.given(), Comment: d.comment}); err != nil {
		return err
	}
	seen := func(a *v1alpha1.MCPApproval) bool {
		return slices.ContainsFunc(a.Status.Decisions, func(s v1alpha1.ApprovalDecisionStatus) bool { return s.DecidedBy == by })
	}
	a, err = d.until(ctx, a, func(context.Context) (*v1alpha1.MCPApproval, error) { return d.state.Approval(a.Name) }, seen)
	if err != nil {
		return fmt.Errorf("%w; see whether \"mcp-admin dev\" still runs", err)
	}
	return d.tell(a, out)
}

// until reads an approval again until a decision is seen, or --wait is over.
func (d *decision) until(ctx context.Context, a *v1alpha1.MCPApproval, read func(context.Context) (*v1alpha1.MCPApproval, error), seen func(*v1alpha1.MCPApproval) bool) (*v1alpha1.MCPApproval, error) {
	ctx, stop := context.WithTimeout(ctx, d.wait)
	defer stop()
	for !seen(a) {
		select {
		case <-ctx.Done():
			return a, fmt.Errorf("the decision about %s is written, and nobody has looked at it yet", a.Name)
		case <-time.After(lookEvery):
		}
		next, err := read(ctx)
		switch {
		case err == nil:
			a = next
		case ctx.Err() == nil:
			return a, err
		}
	}
	return a, nil
}

// tell prints what the decision makes of an approval.
func (d *decision) tell(a *v1alpha1.MCPApproval, out io.Writer) error {
	told := meta.FindStatusCondition(a.Status.Conditions, v1alpha1.ConditionApproved)
	if told == nil {
		fmt.Fprintf(out, "%s: %s\n", a.Name, a.EffectiveState())
		return nil
	}
	fmt.Fprintf(out, "%s: %s, %s\n", a.Name, a.EffectiveState(), output.Printable(told.Message))
	return nil
}
