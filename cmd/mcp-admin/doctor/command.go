// Package doctor is the command "mcp-admin doctor": it says what is wrong with endpoints in a cluster, and what to do.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/laptop"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
)

// options are the command's flags.
type options struct {
	cluster.Flags
	state  laptop.Flag
	format output.Format
	all    bool
	engine engineFlags
}

// Command returns the command.
func Command() *cobra.Command {
	var o options
	command := &cobra.Command{
		Use:   "doctor [ENDPOINT]",
		Short: "Say what is wrong with an endpoint, and what to do",
		Long: `doctor looks at an MCPEndpoint, or at all of the namespace, or with -A at all namespaces: the installed kinds, the manager, the
endpoint with its database and its audit table, its pods, its MCPModelExposures and MCPTokens. For each cause it says one sentence,
one command, and what follows from it. Tokens that expire soon, have expired or are not active are noted, and audit lines that pods have
lost since they started, which may be over. The exit code is 1 if something is wrong.

It first asks the API server what you may do, and says what it could not look at. With --state it looks at what "mcp-admin dev" serves
on this machine, and needs no cluster.

With --engine it needs no cluster either: it tries out on a database whether its engine has what a server needs, and says what differs
and what that means for agents. It runs the server's own statements, as an endpoint would. Without --schema nothing is written, and one
row of one table is read. With --schema it makes six tables in that schema, whose names begin with mcp_admin_selftest_, writes to these
alone, and drops them in the end, also after Ctrl-C. No other table is touched. What it prints names no host, user, database, table or
value: it can be shared as it is. The exit code is 1 if something fails that a server needs.

Rights: list mcpendpoints, mcpmodelexposures, mcptokens and pods; create pods/portforward, to read the pods' metrics; get leases (there
and in kube-system), to see whether a manager runs. With -A these are needed in all namespaces. It reads no Secret.`,
		Example: `  mcp-admin doctor -n shop
  mcp-admin doctor shop -n shop
  mcp-admin doctor -A
  mcp-admin doctor --state .mcp-admin-dev
  mcp-admin doctor -n shop -o json
  MCP_ADMIN_DSN=postgres://… mcp-admin doctor --engine
  MCP_ADMIN_DSN=postgres://… mcp-admin doctor --engine --schema scratch -o json`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: o.CompleteEndpoint,
		RunE: func(command *cobra.Command, args []string) error {
			if o.engine.wanted || o.engine.given(command) {
				return o.tryEngine(command, args)
			}
			d, err := o.diagnose(command.Context(), append(args, "")[0])
			if err != nil {
				return err
			}
			if err := o.format.Print(command.OutOrStdout(), d, d.show); err != nil {
				return err
			}
			if n := len(d.Problems); n > 0 {
				return errors.New(counted(n))
			}
			return nil
		},
	}
	o.AddTo(command)
	o.state.AddTo(command.Flags())
	o.format.AddFlag(command)
	o.engine.addTo(command.Flags())
	command.Flags().BoolVarP(&o.all, "all-namespaces", "A", false, "look at all namespaces")
	return command
}

// diagnose looks at what the flags and the name say.
func (o *options) diagnose(ctx context.Context, name string) (*Diagnosis, error) {
	switch {
	case o.state.Folder != "" && (name != "" || o.all):
		return nil, errors.New("--state looks at the one endpoint that is served: leave out the ENDPOINT and -A")
	case o.state.Folder != "":
		served, err := o.state.Read()
		if err != nil {
			return nil, err
		}
		return examineServed(ctx, served), nil
	case o.all && name != "":
		return nil, errors.New("-A looks at all endpoints: leave out the ENDPOINT, or -A")
	}
	k, err := o.Connect()
	if err != nil {
		return nil, laptop.Hint(err)
	}
	if o.all {
		k.Namespace = metav1.NamespaceAll
	}
	x, err := examine(ctx, k, name)
	if err != nil {
		return nil, err
	}
	return x.found, x.lost(ctx)
}

func counted(n int) string {
	if n == 1 {
		return "1 thing is wrong"
	}
	return fmt.Sprintf("%d things are wrong", n)
}

// Diagnosis is the command's output.
type Diagnosis struct {
	Looked   []string  `json:"lookedAt"`
	Problems []Problem `json:"problems"`
	Notes    []Problem `json:"notes,omitempty"`
	// Unseen says what could not be looked at, and why.
	Unseen []string `json:"notLookedAt,omitempty"`
}

// Problem is one thing that is wrong.
type Problem struct {
	// Object is the kind, namespace and name; Reason is the reason of its condition, if it has one.
	Object  string `json:"object"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message"`
	// Command helps to find out more, or mends it.
	Command string `json:"command,omitempty"`
	// Effects are the conditions that follow from it.
	Effects []string `json:"effects,omitempty"`
}

func (d *Diagnosis) show(screen *output.Screen) {
	for _, p := range d.Problems {
		fmt.Fprintf(screen, "%s %s: %s\n", screen.Styled(output.Bad, "✗"), screen.Styled(output.Bold, p.Object), p.Message)
		if p.Command != "" {
			fmt.Fprintf(screen, "    %s\n", p.Command)
		}
		if len(p.Effects) > 0 {
			fmt.Fprintf(screen, "    %s\n", screen.Styled(output.Faint, "from this follows: "+strings.Join(p.Effects, ", ")))
		}
	}
	but := "" // a note with a command may be about what is wrong now
	for _, p := range d.Notes {
		fmt.Fprintf(screen, "%s %s: %s\n", screen.Styled(output.Warning, "!"), p.Object, p.Message)
		if p.Command != "" {
			fmt.Fprintf(screen, "    %s\n", p.Command)
			but = "else "
		}
	}
	for _, unseen := range d.Unseen {
		fmt.Fprintf(screen, "%s not looked at: %s\n", screen.Styled(output.Warning, "?"), unseen)
	}
	if len(d.Problems) == 0 {
		where := ""
		if len(d.Unseen) > 0 {
			where = " with what could be looked at"
		}
		fmt.Fprintf(screen, "%s nothing %sis wrong%s\n", screen.Styled(output.Good, "✓"), but, where)
	}
}

// Examine looks at everything, from the kinds to the tokens, but not into pods. name is the endpoint's; "" is all of the namespace.
func Examine(ctx context.Context, k *cluster.Cluster, name string) (*Diagnosis, error) {
	x, err := examine(ctx, k, name)
	if err != nil {
		return nil, err
	}
	return x.found, nil
}

func examine(ctx context.Context, k *cluster.Cluster, name string) (*examination, error) {
	x := &examination{Cluster: k, name: name, ailing: map[types.NamespacedName][]string{}, waiting: map[types.NamespacedName]int{},
		found: &Diagnosis{Looked: []string{}, Problems: []Problem{}}}
	if !x.kinds() {
		return x, nil
	}
	for _, look := range []func(context.Context) error{x.rights, x.findEndpoints, x.manager, x.lookAtEndpoints, x.exposures, x.tokens} {
		if err := look(ctx); err != nil {
			return nil, err
		}
	}
	for i := range x.endpoints {
		if n := x.waiting[cluster.Key(&x.endpoints[i])]; n > 0 {
			x.found.Notes = append(x.found.Notes, Problem{Object: "MCPEndpoint " + cluster.Key(&x.endpoints[i]).String(),
				Message: fmt.Sprintf("%d of its MCPModelExposures and MCPTokens %s for it", n, map[bool]string{true: "waits", false: "wait"}[n == 1])})
		}
	}
	return x, nil
}
