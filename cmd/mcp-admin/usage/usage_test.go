package usage

import (
	"testing"

	"github.com/spf13/cobra"
)

func TestAWrongCommandLineIsToldInWords(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want string
	}{
		{nil, "name the MCPToken: can TOKEN [MODEL] [flags]"},
		{[]string{"a"}, ""},
		{[]string{"a", "b", "c"}, `"c" is one argument too many: can TOKEN [MODEL] [flags]`},
		{[]string{"a", "--url", "x", "--forward", "y"}, "--url and --forward do not go together: one of them says where to call"},
	} {
		var err error
		command := &cobra.Command{Use: "can TOKEN [MODEL]", Args: Named("the MCPToken", 2), SilenceErrors: true, SilenceUsage: true}
		command.RunE = func(command *cobra.Command, _ []string) error {
			return Apart(command.Flags(), "url", "one of them says where to call", "forward")
		}
		command.Flags().String("url", "", "")
		command.Flags().String("forward", "", "")
		command.SetArgs(append([]string{}, tc.args...))
		if err = command.Execute(); (err == nil) != (tc.want == "") || err != nil && err.Error() != tc.want {
			t.Errorf("%q: got the error %v, want %q", tc.args, err, tc.want)
		}
	}
}
