package main

import (
	"fmt"
	"strings"
)

// The picture's measures, in pixels: one is the width of what the limit takes; the bars of more than three are cut.
const (
	pictureWidth, barHeight, rowHeight, named, one = 760, 14, 20, 170, 170
)

const pictureStyle = `<style>
text { font: 12px -apple-system, "Segoe UI", Roboto, sans-serif; fill: #24292f; }
.name { text-anchor: end; } .bar { fill: #2da44e; } .one { stroke: #cf222e; stroke-dasharray: 4; }
</style>
`

// bars draws how many times the limit's CPU time each main operation takes.
func bars(all []measured) string {
	var rows strings.Builder
	y := 10
	for _, m := range all {
		limit := m.limit()
		if limit == nil || !m.op.main {
			continue
		}
		ratio := m.ratio(limit)
		width := min(ratio*one, pictureWidth-named-60)
		fmt.Fprintf(&rows, `<text class="name" x="%d" y="%d">%s %s</text><rect class="bar" x="%d" y="%d" width="%.0f" height="%d"/><text x="%.0f" y="%d">%.2f</text>`+"\n",
			named-8, y+11, m.engine, m.op.name, named, y, width, barHeight, named+width+6, y+11, ratio)
		y += rowHeight
	}
	height := y + 26
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" aria-labelledby="title">
<title id="title">Server CPU time of each operation, as so many times a bare Go server's</title>
<!-- Written by make bench. -->
`, pictureWidth, height) + pictureStyle + fmt.Sprintf(`<rect width="%d" height="%d" rx="8" fill="#ffffff" stroke="#d0d7de"/>
`, pictureWidth, height) + rows.String() + fmt.Sprintf(`<line class="one" x1="%d" x2="%[1]d" y1="4" y2="%d"/><text x="%d" y="%d">1: a bare Go server that sends the same SQL</text>
</svg>
`, named+one, y+4, named+one-40, y+18)
}
