package output

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// Style is how a piece of text looks, by its SGR code.
type Style string

// The styles.
const (
	Bold    Style = "1"
	Faint   Style = "2"
	Bad     Style = "31"
	Good    Style = "32"
	Warning Style = "33"
)

// Screen is where text for people is printed. What would change how other text is seen is printed as its escape, whoever wrote
// it: a caller, a database, a manifest.
type Screen struct {
	out    io.Writer
	colour bool
}

// NewScreen returns the screen of a writer. It has colour only if the writer is a terminal and the environment has no
// NO_COLOR (no-color.org).
func NewScreen(w io.Writer) *Screen {
	file, ok := w.(*os.File)
	return &Screen{w, ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(file.Fd()))}
}

// Styled returns the text in a style, or unchanged if the screen has no colour.
func (s *Screen) Styled(style Style, text string) string {
	if !s.colour || text == "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[0m"
}

// styles are the codes that Styled writes.
var styles = regexp.MustCompile("\x1b\\[(0|1|2|31|32|33)m")

// Write prints text: lines, with the codes of Styled. All else that is not seen it prints as escapes.
func (s *Screen) Write(text []byte) (int, error) {
	var b strings.Builder
	rest := string(text)
	for s.colour {
		place := styles.FindStringIndex(rest)
		if place == nil {
			break
		}
		b.WriteString(PrintableBut(rest[:place[0]], "\n\t") + rest[place[0]:place[1]])
		rest = rest[place[1]:]
	}
	b.WriteString(PrintableBut(rest, "\n\t"))
	if _, err := io.WriteString(s.out, b.String()); err != nil {
		return 0, err
	}
	return len(text), nil
}

// columnGap is the text between two columns of a table.
const columnGap = "   "

// Table prints rows in columns as wide as their widest cell, below a header if there is one. Cells may be styled.
func (s *Screen) Table(header []string, rows ...[]string) {
	if len(header) > 0 {
		styled := make([]string, len(header))
		for i, cell := range header {
			styled[i] = s.Styled(Bold, cell)
		}
		rows = append([][]string{styled}, rows...)
	}
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			row[i] = PrintableBut(cell, "\x1b") // a line break would look like another row
			cell = row[i]
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], width(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", widths[i]-width(cell)) + columnGap)
			}
		}
		fmt.Fprintln(s, strings.TrimRight(line.String(), " "))
	}
}

// width returns how many characters of a cell are visible: all except the styles'.
func width(cell string) int {
	n := utf8.RuneCountInString(cell)
	for rest := cell; ; {
		start := strings.Index(rest, "\x1b[")
		if start < 0 {
			return n
		}
		end := strings.IndexByte(rest[start:], 'm')
		if end < 0 {
			return n
		}
		n -= end + 1
		rest = rest[start+end+1:]
	}
}
