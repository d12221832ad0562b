package main

import (
	"cmp"
	"fmt"
	"html"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// frame is a function in a flame graph, below the function that calls it, with all that it and what it calls took.
type frame struct {
	value float64
	calls map[string]*frame
}

func (f *frame) add(stack []string, value float64) {
	f.value += value
	if len(stack) == 0 {
		return
	}
	if f.calls == nil {
		f.calls = map[string]*frame{}
	}
	callee := f.calls[stack[0]]
	if callee == nil {
		callee = &frame{}
		f.calls[stack[0]] = callee
	}
	callee.add(stack[1:], value)
}

// readTraces reads what "go tool pprof -traces" prints with one unit, ms or B: stacks, the innermost function and its value
// first, with lines between them.
func readTraces(text string) *frame {
	root := &frame{}
	var stack []string
	var value float64
	end := func() {
		slices.Reverse(stack)
		root.add(stack, value)
		stack, value = nil, 0
	}
	stacks := false
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "-----"):
			end()
			stacks = true
		case !stacks || len(words) == 0 || strings.HasSuffix(words[0], ":"): // the head, and labels
		case len(stack) == 0 && len(words) > 1:
			value, _ = strconv.ParseFloat(strings.TrimRight(words[0], "msB"), 64)
			stack = append(stack, strings.Join(words[1:], " "))
		default:
			stack = append(stack, strings.Join(words, " "))
		}
	}
	end()
	return root
}

// The measures of a flame graph, in pixels. Narrower frames are left out.
const (
	flameWidth, frameHeight, narrowest = 1400.0, 17, 0.5
	letterWidth                        = 6.6
)

// flameGraph draws frames as an SVG: each above what it calls, as wide as what it took. Its parts tell their names and shares.
func flameGraph(title string, root *frame) string {
	var b strings.Builder
	deepest := 0
	var draw func(name string, f *frame, x float64, depth int)
	draw = func(name string, f *frame, x float64, depth int) {
		width := flameWidth * f.value / root.value
		if width < narrowest {
			return
		}
		deepest = max(deepest, depth)
		label := name[strings.LastIndexByte(name, '/')+1:]
		if fits := int((width - 4) / letterWidth); len(label) > fits {
			label = label[:max(0, fits)]
		}
		fmt.Fprintf(&b, `<g><title>%s: %.1f%%</title><rect x="%.1f" y="%d" width="%.1f" height="%d" fill="hsl(%d,75%%,70%%)" stroke="#fff"/><text x="%.1f" y="%d">%s</text></g>`+"\n",
			html.EscapeString(name), 100*f.value/root.value, x, depth*frameHeight+24, width, frameHeight, len(name)*7%50+10, x+2, depth*frameHeight+36, html.EscapeString(label))
		for _, callee := range slices.SortedFunc(maps.Keys(f.calls), func(a, b string) int {
			return cmp.Or(cmp.Compare(f.calls[b].value, f.calls[a].value), cmp.Compare(a, b))
		}) {
			draw(callee, f.calls[callee], x, depth+1)
			x += flameWidth * f.calls[callee].value / root.value
		}
	}
	if root.value > 0 {
		draw("all", root, 0, 0)
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" font-family="monospace" font-size="11"><text x="2" y="16">%s</text>`+"\n",
		flameWidth, (deepest+1)*frameHeight+30, html.EscapeString(title)) + b.String() + "</svg>\n"
}
