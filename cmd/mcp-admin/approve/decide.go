// Package approve has the commands "mcp-admin approvals", "approve" and "deny": what agents want to do that people must allow first.
package approve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/acts"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
)

// lookEvery is how often the status is read.
const lookEvery = 200 * time.Millisecond

// decision is a command that decides.
type decision struct {
	cluster.Flags
	verdict  v1alpha1.ApprovalVerdict
	comment  string
	override bool
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

Rights: get (or list) and update mcpapprovals; the verb approve on the MCPEndpoint, or override.`,
		Example: `  mcp-admin approve shop-nq3w5kd2m7xh4tzab6cy -n shop --comment "talked to the customer"
  mcp-admin approve nq3w5kd2m7xh4tzab6cy -n shop
  mcp-admin approve nq3w5kd2m7xh4tzab6cy -n shop --override --comment "outage 4711"`,
	})
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

Rights: get (or list) and update mcpapprovals; the verb approve on the MCPEndpoint.`,
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
		k, err := d.Connect()
		if err != nil {
			return err
		}
		return d.run(command.Context(), k, args[0], command.OutOrStdout())
	}
	d.AddTo(command)
	command.Flags().StringVarP(&d.comment, "comment", "m", "", "`TEXT` that the agent, the journal and the audit lines get")
	command.Flags().DurationVar(&d.wait, "wait", 10*time.Second, "how long to wait for the manager")
	return command
}

func (d *decision) run(ctx context.Context, k *cluster.Cluster, name string, out io.Writer) error {
	a, err := k.Approval(ctx, name)
	if err != nil {
		return err
	}
	verdict := d.verdict
	if d.override {
		verdict = v1alpha1.VerdictOverride
	}
	if err := acts.Decide(ctx, k, a, verdict, d.comment, time.Now()); err != nil {
		return err
	}
	return d.tell(ctx, k, a, out)
}

// tell waits until the manager has seen the decision, and prints what it makes of it.
func (d *decision) tell(ctx context.Context, k *cluster.Cluster, a *v1alpha1.MCPApproval, out io.Writer) error {
	ctx, stop := context.WithTimeout(ctx, d.wait)
	defer stop()
	decided := a.Generation
	for a.Status.ObservedGeneration < decided {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the decision about %s is written, and the manager has not looked at it yet; \"kubectl get mcpapproval %s -n %s\" tells what it makes of it", a.Name, a.Name, a.Namespace)
		case <-time.After(lookEvery):
		}
		if err := k.Get(ctx, cluster.Key(a), a); err != nil && ctx.Err() == nil {
			return cluster.Explain(err)
		}
	}
	told := meta.FindStatusCondition(a.Status.Conditions, v1alpha1.ConditionApproved)
	if told == nil {
		fmt.Fprintf(out, "%s: %s\n", a.Name, a.EffectiveState())
		return nil
	}
	fmt.Fprintf(out, "%s: %s, %s\n", a.Name, a.EffectiveState(), output.Printable(told.Message))
	return nil
}
