package main

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"os/exec"
	"strings"
)

// The picture of rights is made from the output of matrixCommand.
var matrixCommand = []string{"matrix", "-f", "config/samples", "-o", "json"}

// matrix is the part of the command's output that the picture shows.
type matrix struct {
	Models  []struct{ Name string }
	Callers []struct {
		Tokens, Groups []string
		Access         []cell
	}
}

// cell has a token's rights on a model.
type cell struct {
	Verbs, Actions []struct {
		Name    string
		Granted bool
	}
	Rows struct {
		All      bool
		Policies []string
	}
}

func readMatrix(ctx context.Context, program, checkout string) (*matrix, error) {
	command := exec.CommandContext(ctx, program, matrixCommand...)
	command.Dir = checkout
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("mcp-admin %s: %w", strings.Join(matrixCommand, " "), err)
	}
	var m matrix
	return &m, json.Unmarshal(output, &m)
}

// The measures of the picture of rights, in pixels.
const (
	nameWidth, cellWidth  = 150, 150
	headHeight, rowHeight = 40, 78
	square                = 24
)

// The colours of a right that is granted, and of one that is not, can be read on a light and on a dark page.
const rightsStyle = `
text { font: 13px -apple-system, "Segoe UI", Roboto, sans-serif; fill: #24292f; }
.name { font-weight: 600; } .small { font-size: 11px; fill: #57606a; } .letter { text-anchor: middle; font-weight: 600; }
.yes { fill: #2da44e; } .no { fill: #eaeef2; } .yes + text { fill: #ffffff; } .no + text { fill: #8c959f; }
`

// drawRights is the matrix as a picture: a row for each token, a column for each model.
func drawRights(m *matrix) string {
	width, height := nameWidth+cellWidth*len(m.Models)+3*margin, headHeight+rowHeight*len(m.Callers)+margin+14
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" aria-labelledby="title">`+"\n", width, height)
	b.WriteString("<title id=\"title\">What each token of the bookshop may do to each model</title>\n<!-- Written by make recording. -->\n")
	fmt.Fprintf(&b, "<style>%s</style>\n<rect width=\"%d\" height=\"%d\" rx=\"8\" fill=\"#ffffff\" stroke=\"#d0d7de\"/>\n", rightsStyle, width, height)
	for i, model := range m.Models {
		text(&b, nameWidth+i*cellWidth, 28, "name", model.Name)
	}
	for i, caller := range m.Callers {
		y := headHeight + i*rowHeight
		fmt.Fprintf(&b, `<path d="M%d %d H%d" stroke="#d0d7de"/>`+"\n", margin, y, width-margin)
		text(&b, margin, y+25, "name", strings.Join(caller.Tokens, ", "))
		text(&b, margin, y+45, "small", strings.Join(caller.Groups, ", "))
		for j := range caller.Access {
			drawCell(&b, nameWidth+j*cellWidth, y+10, &caller.Access[j])
		}
	}
	text(&b, margin, height-14, "small", "V view · A add · C change · D delete; below them the actions, and the policy that narrows the rows")
	b.WriteString("</svg>\n")
	return b.String()
}

func drawCell(b *strings.Builder, x, y int, c *cell) {
	for i, verb := range c.Verbs {
		class := "no"
		if verb.Granted {
			class = "yes"
		}
		left := x + i*(square+3)
		fmt.Fprintf(b, `<rect class="%s" x="%d" y="%d" width="%d" height="%[4]d" rx="4"/>`, class, left, y, square)
		text(b, left+square/2, y+17, "letter", strings.ToUpper(verb.Name[:1]))
	}
	var actions []string
	for _, action := range c.Actions {
		if action.Granted {
			actions = append(actions, action.Name)
		}
	}
	text(b, x, y+square+16, "small", strings.Join(actions, ", "))
	if !c.Rows.All {
		text(b, x, y+square+31, "small", strings.Join(c.Rows.Policies, ", "))
	}
}

// text writes a text if there is one.
func text(b *strings.Builder, x, y int, class, content string) {
	if content != "" {
		fmt.Fprintf(b, `<text class="%s" x="%d" y="%d">%s</text>`+"\n", class, x, y, html.EscapeString(content))
	}
}
