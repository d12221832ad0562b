// Package program is the whole of mcp-admin-server. The commands of that name import it: the usual one, and the one with DuckDB.
package program

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

// Main runs the program with its arguments, and exits.
func Main() {
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
