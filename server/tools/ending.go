package tools

import (
	"fmt"
	"strings"
)

// ending are the members of an answer that ended before its rows did, for whatever reason (docs/design/tools.md, "Answers
// that end early"). Every operation that answers several of something has them from pageEnd.
type ending struct {
	// NextCursor or NextOffset is where the rest begins.
	NextCursor string `json:"next_cursor,omitempty"`
	NextOffset int    `json:"next_offset,omitempty"`
	// Notice says in words what is not there, and what to do.
	Notice string `json:"notice,omitempty"`
}

// note adds a sentence to the notice; an empty one adds nothing.
func (e *ending) note(text string) {
	if e.Notice != "" && text != "" {
		e.Notice += ". "
	}
	e.Notice += text
}

// appendTo appends the members to a JSON object's members.
func (e *ending) appendTo(out []byte) []byte {
	if e.NextCursor != "" {
		out = appendJSON(append(out, `,"next_cursor":`...), e.NextCursor)
	}
	if e.NextOffset > 0 {
		out = fmt.Appendf(out, `,"next_offset":%d`, e.NextOffset)
	}
	if e.Notice != "" {
		out = appendJSON(append(out, `,"notice":`...), e.Notice)
	}
	return out
}

// pageEnd is where an answer of several things ended.
type pageEnd struct {
	// things names what the answer has: rows, groups.
	things string
	// offset is how many the call passed over, count how many the answer has.
	offset, count int
	// more is set if there are more; cut if it was the size of the answer, bytes, that ended it.
	more, cut bool
	bytes     int
	// limit is how many the answer may have, usualLimit how many if a call does not say, mostLimit how many a call may ask for;
	// 0 if no call can.
	limit, usualLimit, mostLimit int
	// mostBytes is the most that a call may ask for with max_bytes; 0 if the operation has no such argument. less names
	// what to ask for fewer of.
	mostBytes int
	less      string
	// cursor leads to the rest. If there is none, an offset does, unless fixed is set: the call has no offset to go by.
	cursor string
	fixed  bool
	// narrow is how a call asks for fewer things.
	narrow string
}

// ending says how an answer ended; nothing if everything is there.
func (p *pageEnd) ending() ending {
	var e ending
	if !p.more || p.asksNone() {
		return e
	}
	goOn := p.narrow
	switch {
	case p.cursor != "":
		e.NextCursor, goOn = p.cursor, "next_cursor leads to the rest"
	case !p.fixed:
		e.NextOffset = p.offset + p.count
		goOn = fmt.Sprintf("offset %d leads to the rest", e.NextOffset)
	}
	if p.cut {
		e.Notice = p.cutNotice(goOn)
		return e
	}
	switch {
	case p.mostLimit > 0 && p.limit >= p.mostLimit:
		e.Notice = fmt.Sprintf("there are more %s than one answer has (%d): %s", p.things, p.mostLimit, goOn)
	case p.limit == p.usualLimit && p.mostLimit > 0:
		e.Notice = fmt.Sprintf("there are more %s: %s, or ask for more with limit (at most %d)", p.things, goOn, p.mostLimit)
	default:
		e.Notice = fmt.Sprintf("there are more %s: %s", p.things, goOn)
	}
	return e
}

// asksNone reports whether the call asked for nothing but the counts: limit is 0.
func (p *pageEnd) asksNone() bool { return p.count == 0 }

// cutNotice says that the size of the answer ended it, and what to do.
func (p *pageEnd) cutNotice(goOn string) string {
	ways := []string{goOn}
	if p.less != "" {
		ways = append(ways, "ask for fewer "+p.less)
	}
	notice := fmt.Sprintf("the %s were cut off after %d bytes: %s", p.things, p.bytes, strings.Join(ways, ", or "))
	if p.bytes < p.mostBytes {
		notice += fmt.Sprintf(" or more bytes (max_bytes, at most %d)", p.mostBytes)
	}
	return notice
}
