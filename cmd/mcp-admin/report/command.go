// Package report is the command "mcp-admin report": an archive with all that somebody needs to look into a problem with an endpoint,
// and with no secret in it.
package report

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/laptop"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/usage"
)

// Command returns the command.
func Command() *cobra.Command {
	var flags cluster.Flags
	var file string
	command := &cobra.Command{
		Use:   "report ENDPOINT",
		Short: "Write all that a bug report needs into an archive, without secrets",
		Long: `report writes an archive about one MCPEndpoint: its status as "mcp-admin status" prints it, the specs and statuses of the endpoint, its
MCPModelExposures and MCPTokens, its Deployment and pods, events, the last lines of the pods' logs, their metrics, the shape of its Config,
and versions. It prints what the archive contains and what was left out.

No secret is in it. Of Secrets it has names alone. It leaves out annotations, labels that are not the operator's, podTemplate, env, SQL, URLs,
filters and texts that people wrote. In messages and logs it blots out what looks like a password, a token, a key or a URL's login. Names of
models, tables, columns, tokens and groups stay, and so do the audit lines of the logs, which name rows by their ids if the endpoint's
audit records reads: look through the archive before you pass it on.

Rights: those of "mcp-admin status"; get deployments and pods/log; list events; get secrets, for the Config's shape alone. The report
names what it could not read.`,
		Example: `  mcp-admin report shop -n shop
  mcp-admin report shop -n shop -o shop.tar.gz
  tar -tzf shop.tar.gz`,
		Args:              usage.Named("the MCPEndpoint", 1),
		ValidArgsFunction: flags.CompleteEndpoint,
		RunE: func(command *cobra.Command, args []string) error {
			k, err := flags.Connect()
			if err != nil {
				return laptop.Hint(err)
			}
			now := time.Now().UTC()
			r, err := gather(command.Context(), k, types.NamespacedName{Namespace: k.Namespace, Name: args[0]}, now)
			if err != nil {
				return err
			}
			if file == "" {
				file = fmt.Sprintf("mcp-admin-%s-%s-%s.tar.gz", k.Namespace, args[0], now.Format("20060102-150405"))
			}
			to, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			if errors.Is(err, os.ErrExist) {
				return fmt.Errorf("%s exists; name another file with -o", file)
			} else if err != nil {
				return err
			}
			if err := errors.Join(r.pack(to, now), to.Close()); err != nil {
				return err
			}
			r.show(output.NewScreen(command.OutOrStdout()), file)
			return nil
		},
	}
	flags.AddTo(command)
	command.Flags().StringVarP(&file, "output", "o", "", "`FILE` to write; else mcp-admin-NAMESPACE-ENDPOINT-TIME.tar.gz. It must not exist")
	return command
}
