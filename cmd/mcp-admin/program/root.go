package program

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/approve"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/call"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/can"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/connect"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/dev"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/doctor"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/generate"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/lint"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/pageserver"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/report"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/revoke"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/rights"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/status"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/tail"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/ui"
	"github.com/mcp-admin/mcp-admin-operator/contract/version"
)

// The files by which kubectl finds a plugin "mcp-admin", and its completion.
const (
	pluginFile     = "kubectl-mcp_admin"
	completionFile = "kubectl_complete-mcp_admin"
)

// group is a heading of the help, with the commands below it.
type group struct {
	id, title string
	commands  []*cobra.Command
}

// groups are the program's commands, in the order in which somebody needs them.
func groups() []group {
	return []group{
		{"start", "Start here:", []*cobra.Command{dev.Command(), generate.Command()}},
		{"both", "In a cluster, or on this machine (--state, -f):", []*cobra.Command{
			connect.Command(), can.Command(), rights.MatrixCommand(), rights.WhoCommand(), call.Command(), approve.ListCommand(), approve.Command(), approve.DenyCommand(),
			tail.Command(), doctor.Command(),
		}},
		{"cluster", "In a cluster:", []*cobra.Command{
			revoke.Command(), ui.Command(), status.Command(), report.Command(), pageserver.Command(),
		}},
		{"ci", "For CI:", []*cobra.Command{lint.Command()}},
	}
}

// New is the whole program, under the name by which it was called.
func New(name string) *cobra.Command {
	root := &cobra.Command{
		Use:   "mcp-admin",
		Short: "Give AI agents a safe, permissioned admin endpoint over a database",
		Long: `mcp-admin gives AI agents a safe, permissioned admin endpoint over a database: PostgreSQL, MySQL, MariaDB or SQLite.
It serves one on this machine, writes the manifests for a cluster, and tells what those in a cluster do.`,
		Version:       version.String(),
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: name},
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	for _, g := range groups() {
		if len(g.commands) == 0 {
			continue // its heading alone would say nothing
		}
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, command := range g.commands {
			command.GroupID = g.id
			root.AddCommand(command)
		}
	}
	root.AddCommand(newVersionCommand())
	return root
}

// displayName is the name that people type to call the program.
func displayName(path string) string {
	switch programFile(path) {
	case pluginFile, completionFile:
		return "kubectl mcp-admin"
	}
	return "mcp-admin"
}

// arguments are the program's. kubectl asks for completions by a file of another name, with the words alone.
func arguments(args []string) []string {
	if programFile(args[0]) == completionFile {
		return append([]string{cobra.ShellCompRequestCmd}, args[1:]...)
	}
	return args[1:]
}

func programFile(path string) string {
	return strings.TrimSuffix(filepath.Base(path), ".exe")
}
