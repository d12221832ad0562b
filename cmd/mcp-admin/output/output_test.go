package output

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestATableIsAsWideAsItsVisibleText(t *testing.T) {
	var b bytes.Buffer
	s := &Screen{out: &b, colour: true}
	s.Table(nil, []string{s.Styled(Good, "yes"), "1"}, []string{"größe", "2"}, []string{"", ""})
	if got, want := b.String(), "\x1b[32myes\x1b[0m     1\ngröße   2\n\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}

func TestOnlyATerminalGetsColour(t *testing.T) {
	var b bytes.Buffer
	NewScreen(&b).Table([]string{"NAME", "AGE"}, []string{"shop", "1d"})
	if got, want := b.String(), "NAME   AGE\nshop   1d\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}

func TestTheSameValueIsPrintedInEachFormat(t *testing.T) {
	value := struct {
		Name string `json:"name"`
	}{"a & b"}
	for text, want := range map[string]string{"text": "It is a & b.\n", "json": "{\n  \"name\": \"a & b\"\n}\n", "yaml": "name: a & b\n"} {
		var f Format
		command := &cobra.Command{}
		f.AddFlag(command)
		if err := command.Flags().Set("output", text); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		err := f.Print(&b, value, func(s *Screen) { fmt.Fprintf(s, "It is %s.\n", value.Name) })
		if err != nil || b.String() != want {
			t.Errorf("%s: printed %q, %v, want %q", text, b.String(), err, want)
		}
	}
	var f Format
	command, lines := &cobra.Command{}, &cobra.Command{}
	f.AddFlag(command)
	f.AddFlag(lines, CSV)
	if err := command.Flags().Set("output", "csv"); err == nil || !strings.Contains(err.Error(), "must be one of text, json, yaml") {
		t.Errorf("a format that the command does not have: %v", err)
	}
	if err := lines.Flags().Set("output", "csv"); err != nil || f != CSV {
		t.Errorf("a format that one command has: %q, %v", f, err)
	}
}

// A name, an id or a message of a database may hold the codes of terminals.
func TestControlCharactersArePrintedAsEscapes(t *testing.T) {
	for _, colour := range []bool{false, true} {
		var out bytes.Buffer
		screen := &Screen{out: &out, colour: colour}
		fmt.Fprintf(screen, "%s of a\x1b[2Kb\rc\u202ed\n", screen.Styled(Bad, "failed"))
		screen.Table(nil, []string{screen.Styled(Good, "a\nb"), "\x1b]0;x\x07"})
		want := "failed of a\\x1b[2Kb\\rc\\u202ed\na\\nb   \\x1b]0;x\\a\n"
		if colour {
			want = "\x1b[31mfailed\x1b[0m of a\\x1b[2Kb\\rc\\u202ed\n\x1b[32ma\\nb\x1b[0m   \\x1b]0;x\\a\n"
		}
		if got := out.String(); got != want {
			t.Errorf("with colour %t: got %q, want %q", colour, got, want)
		}
	}
}
