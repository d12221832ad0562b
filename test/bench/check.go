package main

import (
	"cmp"
	"fmt"
	"regexp"
)

// compare asks each server for the same, so that nobody measures how fast a server fails, or answers something else.
func (b *bench) compare(ops []operation) error {
	for _, op := range ops {
		var first string
		for i, p := range b.of(op) {
			answer, err := b.ask(op, p)
			switch {
			case err != nil && !b.show:
				return fmt.Errorf("%s, %s by %s: %w", b.engine.name, op.name, p.side, err)
			case b.show:
				fmt.Printf("%s %s by %s:\n%s\n", b.engine.name, op.name, p.side, cmp.Or(answer, fmt.Sprint(err)))
			case i == 0:
				first = answer
			case answer != first:
				at := differAt(first, answer)
				return fmt.Errorf("%s, %s: the answers differ:\n… %.200s\n… %.200s", b.engine.name, op.name, first[at:], answer[at:])
			}
		}
	}
	return nil
}

// ask asks a server once.
func (b *bench) ask(op operation, p *program) (string, error) {
	answer, err := b.askRaw(op, p)
	if err != nil || b.show {
		return string(answer), err
	}
	return inCommon(string(answer), op.writes), nil
}

// askRaw asks a server once, and returns the bytes of its answer.
func (b *bench) askRaw(op operation, p *program) ([]byte, error) {
	c, err := dial(p.address)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	l := b.load(op, p)
	return c.ask(headOf(p.address, tokenOf(0), l.header), []byte(l.sample()))
}

var (
	// further is what only the server says: where the next page begins, and that there is one.
	further = regexp.MustCompile(`,\\"(next_cursor|next_offset|notice)\\":(\d+|\\".*?\\")`)
	// own is what each write has its own of.
	own = regexp.MustCompile(`\\"(id|call|created_at)\\":(\d+|\\".*?\\")`)
)

// inCommon is what both servers must answer alike.
func inCommon(answer string, writes bool) string {
	answer = further.ReplaceAllString(answer, "")
	if writes {
		answer = own.ReplaceAllString(answer, "")
	}
	return answer
}

// differAt is a little before the place from which two texts are different.
func differAt(a, b string) int {
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	return max(0, at-40)
}
