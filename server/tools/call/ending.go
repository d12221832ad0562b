package call

import (
	"fmt"
	"strings"
)

// Ending are the members of an answer that ended before its rows did, for whatever reason (docs/design/tools.md, "Answers
// that end early"). Every operation that answers several of something has them from PageEnd.
type Ending struct {
	// NextCursor or NextOffset is where the rest begins.
	NextCursor string `json:"next_cursor,omitempty"`
	NextOffset int    `json:"next_offset,omitempty"`
	// Notice says in words what is not there, and what to do.
	Notice string `json:"notice,omitempty"`
}

// Note adds a sentence to the notice; an empty one adds nothing.
func (e *Ending) Note(text string) {
	if e.Notice != "" && text != "" {
		e.Notice += ". "
	}
	e.Notice += text
}

// AppendTo appends the members to a JSON object's members.
func (e *Ending) AppendTo(out []byte) []byte {
	if e.NextCursor != "" {
		out = AppendJSON(append(out, `,"next_cursor":`...), e.NextCursor)
	}
	if e.NextOffset > 0 {
		out = fmt.Appendf(out, `,"next_offset":%d`, e.NextOffset)
	}
	if e.Notice != "" {
		out = AppendJSON(append(out, `,"notice":`...), e.Notice)
	}
	return out
}

// PageEnd is where an answer of several things ended.
type PageEnd struct {
	// Things names what the answer has: rows, groups.
	Things string
	// Offset is how many the call passed over, count how many the answer has.
	Offset, Count int
	// More is set if there are more; cut if it was the size of the answer, bytes, that ended it.
	More, Cut bool
	Bytes     int
	// Limit is how many the answer may have, UsualLimit how many if a call does not say, MostLimit how many a call may ask for;
	// 0 if no call can.
	Limit, UsualLimit, MostLimit int
	// MostBytes is the most that a call may ask for with max_bytes; 0 if the operation has no such argument. Less names
	// what to ask for fewer of.
	MostBytes int
	Less      string
	// Cursor leads to the rest. If there is none, an offset does, unless fixed is set: the call has no offset to go by.
	Cursor string
	Fixed  bool
	// Narrow is how a call asks for fewer things.
	Narrow string
}

// Ending says how an answer ended; nothing if everything is there.
func (p *PageEnd) Ending() Ending {
	var e Ending
	if !p.More || p.asksNone() {
		return e
	}
	goOn, next := p.Narrow, ""
	switch {
	case p.Cursor != "":
		e.NextCursor, next = p.Cursor, "next_cursor"
	case !p.Fixed:
		e.NextOffset = p.Offset + p.Count
		next = fmt.Sprintf("offset %d", e.NextOffset)
	}
	if next != "" {
		goOn = next + " leads to the rest"
	}
	if p.Cut {
		e.Notice = p.cutNotice(goOn)
		return e
	}
	switch {
	case p.MostLimit > 0 && p.Limit >= p.MostLimit:
		e.Notice = fmt.Sprintf("there are more %s than one answer has (%d): %s", p.Things, p.MostLimit, goOn)
	case p.Limit == p.UsualLimit && p.MostLimit > 0:
		e.Notice = fmt.Sprintf("there are more %s: %s, or ask for more with limit (at most %d)", p.Things, goOn, p.MostLimit)
	case next != "": // the call asked for so many
		e.Notice = fmt.Sprintf("more %s: %s", p.Things, next)
	default:
		e.Notice = fmt.Sprintf("there are more %s: %s", p.Things, goOn)
	}
	return e
}

// asksNone reports whether the call asked for nothing but the counts: limit is 0.
func (p *PageEnd) asksNone() bool { return p.Count == 0 }

// cutNotice says that the size of the answer ended it, and what to do.
func (p *PageEnd) cutNotice(goOn string) string {
	ways := []string{goOn}
	if p.Less != "" {
		ways = append(ways, "ask for fewer "+p.Less)
	}
	notice := fmt.Sprintf("the %s were cut off after %d bytes: %s", p.Things, p.Bytes, strings.Join(ways, ", or "))
	if p.Bytes < p.MostBytes {
		notice += fmt.Sprintf(" or more bytes (max_bytes, at most %d)", p.MostBytes)
	}
	return notice
}
