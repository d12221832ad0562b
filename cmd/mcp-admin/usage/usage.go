// Package usage says in words what is wrong with a command line. All commands may use it.
package usage

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Named demands a first argument, such as "the MCPToken", and takes no more than most arguments; 0 is any number.
func Named(what string, most int) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return errors.New("name " + what + ": " + command.UseLine())
		case most > 0 && len(args) > most:
			return fmt.Errorf("%q is one argument too many: %s", args[most], command.UseLine())
		}
		return nil
	}
}

// Apart refuses flags that are given together with another one, and says why they do not go together.
func Apart(flags *pflag.FlagSet, flag, why string, others ...string) error {
	if !flags.Changed(flag) {
		return nil
	}
	for _, other := range others {
		if flags.Changed(other) {
			return fmt.Errorf("--%s and --%s do not go together: %s", flag, other, why)
		}
	}
	return nil
}
