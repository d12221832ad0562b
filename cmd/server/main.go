// Command mcp-admin-server answers agents: it serves the MCP endpoint over one database, as its Config says.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mcp-admin/mcp-admin-operator/contract/memlimit"
	"github.com/mcp-admin/mcp-admin-operator/contract/version"
)

func main() {
	memlimit.Set(os.Getenv)
	memlimit.PreferSpeed(os.Getenv)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if err := newCommand().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "mcp-admin-server:", err)
		os.Exit(1)
	}
}

func newCommand() *cobra.Command {
	command := &cobra.Command{
		Use:           "mcp-admin-server",
		Short:         "Give AI agents a safe, permissioned admin endpoint over a database",
		Version:       version.String(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	command.AddCommand(newServeCommand())
	return command
}
