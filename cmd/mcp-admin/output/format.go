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
	// CSV is for commands that print lines.
	CSV Format = "csv"
)

// AddFlag gives a command the flag -o, --output, which sets the format. more are formats that the command has beside text, json and yaml.
func (f *Format) AddFlag(command *cobra.Command, more ...Format) {
	*f = Text
	choice := &choice{to: f}
	for _, format := range append([]Format{Text, JSON, YAML}, more...) {
		choice.among = append(choice.among, string(format))
	}
	last := len(choice.among) - 1
	command.Flags().VarP(choice, "output", "o", "how to print: "+strings.Join(choice.among[:last], ", ")+" or "+choice.among[last])
	_ = command.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(choice.among, cobra.ShellCompDirectiveNoFileComp)) // fails only for a flag that does not exist
}

// choice is the flag that sets a format.
type choice struct {
	to    *Format
	among []string
}

// String implements pflag.Value.
func (c *choice) String() string {
	if c.to == nil {
		return ""
	}
	return string(*c.to)
}

// Type implements pflag.Value.
func (c *choice) Type() string { return "format" }

// Set implements pflag.Value.
func (c *choice) Set(text string) error {
	if !slices.Contains(c.among, text) {
		return fmt.Errorf("must be one of %s", strings.Join(c.among, ", "))
	}
	*c.to = Format(text)
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
