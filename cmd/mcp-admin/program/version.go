package program

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
	"github.com/mcp-admin/mcp-admin-operator/contract/version"
)

// programVersion is the output of the version command.
type programVersion struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func newVersionCommand() *cobra.Command {
	var format output.Format
	command := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			v := programVersion{version.String(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			return format.Print(command.OutOrStdout(), v, func(screen *output.Screen) {
				fmt.Fprintf(screen, "mcp-admin %s (%s, %s)\n", v.Version, v.Go, v.Platform)
			})
		},
	}
	format.AddFlag(command)
	return command
}
