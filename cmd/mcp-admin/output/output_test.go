package output

import (
	"bytes"
	"fmt"
	"testing"
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
		if err := f.Set(text); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		err := f.Print(&b, value, func(s *Screen) { fmt.Fprintf(s, "It is %s.\n", value.Name) })
		if err != nil || b.String() != want {
			t.Errorf("%s: printed %q, %v, want %q", text, b.String(), err, want)
		}
	}
	if err := new(Format).Set("wide"); err == nil {
		t.Error("a format that does not exist is taken")
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
