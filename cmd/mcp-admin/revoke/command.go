// Package revoke is the command "mcp-admin revoke": it makes tokens inactive, and returns when every pod refuses them.
package revoke

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/acts"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/spf13/cobra"
)

// lookEvery is how often the statuses are read.
const lookEvery = 200 * time.Millisecond

// options are the command's flags.
type options struct {
	cluster.Flags
	group string
	wait  time.Duration
}

// Command returns the command.
func Command() *cobra.Command {
	var o options
	command := &cobra.Command{
		Use:   "revoke TOKEN… | revoke --group GROUP",
		Short: "Make tokens inactive, and wait until every pod refuses them",
		Long: `revoke sets spec.active to false: of the named MCPTokens, or of all in the namespace that have the group. It returns
when every server pod refuses them, and fails if that is not so in time, or if no manager runs that would tell the pods.

It sets the objects in the cluster. If a GitOps tool owns them, set "active: false" there too, or it brings them back.

Rights: get (or list) and patch mcptokens; get leases (there and in kube-system).`,
		Example: `  mcp-admin revoke agent -n shop
  mcp-admin revoke --group support -n shop`,
		ValidArgsFunction: o.CompleteToken,
		RunE: func(command *cobra.Command, args []string) error {
			if (len(args) == 0) == (o.group == "") {
				return errors.New("name MCPTokens, or a group with --group")
			}
			k, err := o.Connect()
			if err != nil {
				return err
			}
			return o.run(command.Context(), k, args, command.OutOrStdout())
		},
	}
	o.AddTo(command)
	command.Flags().StringVar(&o.group, "group", "", "revoke all tokens of the namespace that have this `GROUP`")
	command.Flags().DurationVar(&o.wait, "wait", time.Minute, "how long to wait for the pods")
	return command
}

func (o *options) run(ctx context.Context, k *cluster.Cluster, names []string, out io.Writer) error {
	tokens, err := acts.TokensOf(ctx, k, names, o.group)
	if err != nil {
		return err
	}
	for i := range tokens {
		if err := acts.Revoke(ctx, k, &tokens[i]); err != nil {
			return err
		}
	}
	managed, err := k.Managed(ctx, k.Namespace)
	if err != nil {
		return fmt.Errorf("whether a manager runs is not known: %w; \"kubectl get mcptokens -n %s\" tells when the tokens are refused", cluster.Explain(err), k.Namespace)
	}
	if !managed {
		return fmt.Errorf("no manager looks after namespace %s, so the pods still let the tokens in: start it, or delete the pods (kubectl delete pods -n %s "+
			"-l mcpadmin.dev/component=server), which do not come back without it if their Deployments are scaled to zero", k.Namespace, k.Namespace)
	}
	ctx, stop := context.WithTimeout(ctx, o.wait)
	defer stop()
	for i := range tokens {
		if err := refused(ctx, k, &tokens[i]); err != nil {
			return err
		}
		fmt.Fprintf(out, "MCPToken %s: every pod refuses it\n", cluster.Key(&tokens[i]))
	}
	return nil
}

// refused waits until the token's status says that every pod refuses it.
func refused(ctx context.Context, k *cluster.Cluster, t *v1alpha1.MCPToken) error {
	for {
		if err := k.Get(ctx, cluster.Key(t), t); err == nil && acts.Applied(t) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("MCPToken %s is not refused by every pod yet; \"mcp-admin doctor -n %s\" says what holds it up", cluster.Key(t), t.Namespace)
		case <-time.After(lookEvery):
		}
	}
}
