// Package pages reads the documents' blocks, and runs them as a reader would. The tests of the documents and the program
// that times the quick starts import it.
package pages

import (
	"fmt"
	"strings"
)

// Block is a fenced block of a page. What a fence can say is in docs/testing/documents.md.
type Block struct {
	// Info is all that stands behind the fence, Line the fence's line.
	Info  string
	Line  int
	Lines []string

	// Language is the first word of Info; "" is a block of calls.
	Language string
	// NotRun says why the block is not run; "" if it is.
	NotRun string
	// Until is a text: once the output of a block that keeps running in a terminal has it, the next block may run.
	Until string
	// Needs names a thing without which the block cannot run, such as a cluster.
	Needs string
	// File is the name under which the block is saved.
	File string
	// InCheckout reports whether it is run in the project's folder, Given whether its variables are the reader's own,
	// Served whether it calls the page's server, and Beside whether it asks in SQL what the call above it asks.
	InCheckout, Given, Served, Beside bool
}

// Text is the block's content.
func (b *Block) Text() string { return strings.Join(b.Lines, "\n") + "\n" }

// Code is the number of the block's lines that somebody types or pastes: neither blank nor a comment.
func (b *Block) Code() int {
	count := 0
	for _, line := range b.Lines {
		if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "#") {
			count++
		}
	}
	return count
}

// Commands is the number of commands of a block for a shell: a line that ends in a backslash continues in the next.
func (b *Block) Commands() int {
	count, continued := 0, false
	for _, line := range b.Lines {
		text := strings.TrimSpace(line)
		if text != "" && !strings.HasPrefix(text, "#") && !continued {
			count++
		}
		continued = strings.HasSuffix(text, "\\")
	}
	return count
}

// Blocks are the blocks of a page. An info string that says what nobody knows is an error.
func Blocks(page string) ([]Block, error) {
	var blocks []Block
	inside := false
	for i, line := range strings.Split(page, "\n") {
		info, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && inside:
			inside = false
		case fence:
			inside = true
			b := Block{Info: info, Line: i + 1}
			if err := b.read(); err != nil {
				return nil, fmt.Errorf("line %d: %w", b.Line, err)
			}
			blocks = append(blocks, b)
		case inside:
			last := &blocks[len(blocks)-1]
			last.Lines = append(last.Lines, line)
		}
	}
	if inside {
		return nil, fmt.Errorf("line %d: the block does not end", blocks[len(blocks)-1].Line)
	}
	return blocks, nil
}

// read takes the info string apart.
func (b *Block) read() error {
	info, notRun, _ := strings.Cut(b.Info, "norun: ")
	info, until, _ := strings.Cut(info, "terminal: ")
	info, needs, _ := strings.Cut(info, "needs: ")
	b.NotRun, b.Until, b.Needs = strings.TrimSpace(notRun), strings.TrimSpace(until), strings.TrimSpace(needs)
	words := strings.Fields(info)
	if len(words) == 0 {
		return nil
	}
	b.Language = words[0]
	for _, word := range words[1:] {
		switch {
		case word == "checkout":
			b.InCheckout = true
		case word == "yours":
			b.Given = true
		case word == "served":
			b.Served = true
		case word == "beside":
			b.Beside = true
		case strings.Contains(word, "."):
			b.File = word
		default:
			return fmt.Errorf("%q is nothing that a fence says; docs/testing/documents.md lists what it can", word)
		}
	}
	return nil
}
