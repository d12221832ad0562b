package page

import (
	"cmp"
	"fmt"
	"slices"
)

// diagram is models and their relations as a drawing. Lengths are those of its own coordinates.
type diagram struct {
	Width, Height int
	// Shown is the width at which it is shown, in pixels; 0 fits it to the screen.
	Shown int
	Nodes []node
	Edges []edge
}

// Tall is the height at which it is shown.
func (d *diagram) Tall() int { return d.Shown * d.Height / d.Width }

// node is a model. Its class says who views it.
type node struct {
	Name, Label, Note, Class string
	X, Y                     int
	level                    int
}

// edge is a relation from a model to another.
type edge struct {
	From, To, Label, Class string
	Path                   string
}

const (
	nodeWide, nodeHigh = 168, 46
	gapWide, gapHigh   = 76, 18
	margin             = 16
	// nodeChars is how much of a name a node has room for.
	nodeChars = 19
	// mostLevels is how many columns a diagram has; tallest is how many nodes one column has.
	mostLevels, tallest = 6, 14
)

// draw lays models out from left to right: a model stands to the right of those that it leads to.
func draw(nodes []node, edges []edge) *diagram {
	at := map[string]*node{}
	for i := range nodes {
		at[nodes[i].Name] = &nodes[i]
	}
	edges = slices.DeleteFunc(edges, func(e edge) bool { return at[e.From] == nil || at[e.To] == nil })
	for range mostLevels - 1 { // longer chains and circles end there
		for _, e := range edges {
			if from, to := at[e.From], at[e.To]; from != to && from.level <= to.level && to.level < mostLevels-1 {
				from.level = to.level + 1
			}
		}
	}
	columns := map[int][]*node{}
	for i := range nodes {
		columns[nodes[i].level] = append(columns[nodes[i].level], &nodes[i])
	}
	d := &diagram{}
	x := margin
	for level := range mostLevels {
		column := columns[level]
		if len(column) == 0 {
			continue
		}
		order(column, edges, at)
		for len(column) > 0 {
			part := column[:min(len(column), tallest)]
			column = column[len(part):]
			for i, n := range part {
				n.X, n.Y = x, margin+i*(nodeHigh+gapHigh)
				d.Height = max(d.Height, n.Y+nodeHigh+margin)
			}
			x += nodeWide + gapWide
		}
	}
	d.Width = max(x-gapWide+margin, 2*margin+nodeWide)
	for i := range edges {
		edges[i].Path = between(at[edges[i].From], at[edges[i].To])
	}
	d.Nodes, d.Edges = nodes, edges
	return d
}

// order puts the nodes of a column near those on the left that they lead to.
func order(column []*node, edges []edge, at map[string]*node) {
	middle := map[*node]int{}
	for _, n := range column {
		sum, count := 0, 0
		for _, e := range edges {
			if to := at[e.To]; e.From == n.Name && to.level < n.level {
				sum, count = sum+to.Y, count+1
			}
		}
		if count > 0 {
			middle[n] = sum / count
		}
	}
	slices.SortStableFunc(column, func(a, b *node) int { return cmp.Or(middle[a]-middle[b], cmp.Compare(a.Name, b.Name)) })
}

// between is the line from a model to another, as a path.
func between(from, to *node) string {
	y1, y2 := from.Y+nodeHigh/2, to.Y+nodeHigh/2
	switch {
	case from == to:
		x := from.X + nodeWide
		return fmt.Sprintf("M%d %dc34 -6 34 26 0 20", x, y1-7)
	case from.X > to.X:
		x1, x2 := from.X, to.X+nodeWide
		bend := min((x1-x2)/2, 60)
		return fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, y1, x1-bend, y1, x2+bend, y2, x2, y2)
	case from.X < to.X:
		x1, x2 := from.X+nodeWide, to.X
		bend := min((x2-x1)/2, 60)
		return fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, y1, x1+bend, y1, x2-bend, y2, x2, y2)
	}
	x := from.X + nodeWide
	return fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x, y1, x+50, y1, x+50, y2, x, y2)
}

// Middle and Under are where the texts of a node stand, End where the line ends, which has a dot there.
func (n node) TextX() int { return n.X + 12 }
func (n node) NameY() int { return n.Y + 20 }
func (n node) NoteY() int { return n.Y + 37 }
func (n node) Wide() int  { return nodeWide }
func (n node) High() int  { return nodeHigh }
