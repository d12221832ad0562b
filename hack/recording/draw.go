package main

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf8"
)

// The measures of the picture, in pixels.
const (
	fontSize   = 13
	charWidth  = 7.8 // of a monospaced font of that size
	lineHeight = 19
	margin     = 18
	barHeight  = 34
)

// The picture says it once; then all of it stays. Each step is shown this much later than the one before, in seconds.
const pause = 1.6

const style = `
text { font: %dpx ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; fill: #c9d1d9; white-space: pre; }
.prompt { fill: #7ee787; } .command { fill: #ffffff; font-weight: 600; } .bad { fill: #ffa657; } .faint { fill: #8b949e; }
@media (prefers-reduced-motion: no-preference) { .step { animation: show 0.3s backwards; } }
@keyframes show { from { opacity: 0; } }
`

// draw is the picture of a terminal in which the steps were done.
func draw(steps []step) string {
	columns, rows := size(steps)
	width, height := int(float64(columns)*charWidth)+2*margin, barHeight+rows*lineHeight+margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" aria-labelledby="title">`+"\n", width, height)
	b.WriteString(`<title id="title">mcp-admin serves a SQLite file, and an agent's calls are answered by their rights</title>` + "\n")
	b.WriteString("<!-- Written by make recording. -->\n")
	fmt.Fprintf(&b, "<style>"+style+"</style>\n", fontSize)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="8" fill="#0d1117"/>`+"\n", width, height)
	for i, colour := range []string{"#ff5f56", "#ffbd2e", "#27c93f"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="17" r="6" fill="%s"/>`+"\n", margin+6+20*i, colour)
	}
	row := 0
	for i, s := range steps {
		fmt.Fprintf(&b, `<g class="step" style="animation-delay: %.1fs">`+"\n", float64(i)*pause)
		writeLine(&b, row, `<tspan class="prompt">$ </tspan><tspan class="command">`+html.EscapeString(s.command)+`</tspan>`)
		rows := rowsOf(s)
		for j, line := range rows {
			writeLine(&b, row+1+j, line)
		}
		row += len(rows) + 2
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// terminalWidth is after how many columns a line goes on in the next row.
const terminalWidth = 110

// size is how many columns and rows the steps take. A row is empty between two steps.
func size(steps []step) (columns, rows int) {
	for _, s := range steps {
		columns = max(columns, utf8.RuneCountInString(s.command)+2)
		for _, line := range s.lines {
			columns = max(columns, min(utf8.RuneCountInString(line), terminalWidth))
		}
		rows += len(rowsOf(s)) + 2
	}
	return columns, rows - 1
}

// rowsOf are the rows of a step's output; what is refused and what stands for more stand out.
func rowsOf(s step) []string {
	var rows []string
	for _, line := range s.lines {
		class := ""
		switch {
		case strings.HasPrefix(line, "permission_denied"):
			class = "bad"
		case line == shownInstead:
			class = "faint"
		}
		rest := []rune(line)
		for first := true; first || len(rest) > 0; first = false {
			n := min(len(rest), terminalWidth)
			text := html.EscapeString(string(rest[:n]))
			if class != "" {
				text = `<tspan class="` + class + `">` + text + `</tspan>`
			}
			rows, rest = append(rows, text), rest[n:]
		}
	}
	return rows
}

func writeLine(b *strings.Builder, row int, text string) {
	fmt.Fprintf(b, `<text x="%d" y="%d" xml:space="preserve">%s</text>`+"\n", margin, barHeight+row*lineHeight+fontSize, text)
}
