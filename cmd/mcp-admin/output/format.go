// Package output is how the commands of mcp-admin print: as text for people, with tables and colour if a terminal shows
// it, or as JSON or YAML for programs. It knows no command.
package output

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// Format is how a command prints what it found; the zero value is text.
type Format string

// The formats.
const (
	Text Format = "text"
	JSON Format = "json"
	YAML Format = "yaml"
)

var formats = []string{string(Text), string(JSON), string(YAML)}

// AddFlag gives a command the flag -o, --output, which sets the format.
func (f *Format) AddFlag(command *cobra.Command) {
	*f = Text
	command.Flags().VarP(f, "output", "o", "how to print: text, json or yaml")
	_ = command.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)) // fails only for a flag that does not exist
}

// String implements pflag.Value.
func (f *Format) String() string { return string(*f) }

// Type implements pflag.Value.
func (f *Format) Type() string { return "format" }

// Set implements pflag.Value.
func (f *Format) Set(text string) error {
	if !slices.Contains(formats, text) {
		return fmt.Errorf("must be one of %s", strings.Join(formats, ", "))
	}
	*f = Format(text)
	return nil
}

// Print prints a value: as JSON or YAML with the names of its json tags, or by the function as text.
func (f Format) Print(to io.Writer, value any, text func(*Screen)) error {
	switch f {
	case JSON:
		encoder := json.NewEncoder(to)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(value)
	case YAML:
		document, err := yaml.Marshal(value)
		if err != nil {
			return err
		}
		_, err = to.Write(document)
		return err
	}
	text(NewScreen(to))
	return nil
}
