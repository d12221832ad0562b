package mcp

import (
	"bytes"
	"unicode/utf8"

	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

// The lexer's part of the scanner: strings, numbers and literals.

// text reads a string and returns the offsets of the text between its quotes.
func (s *scanner) text() (start, end int, err error) {
	s.pos++ // "
	start = s.pos
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; {
		case c == '"':
			end = s.pos
			s.pos++
			return start, end, nil
		case c == '\\':
			if err := s.escape(); err != nil {
				return 0, 0, err
			}
		case c < ' ':
			return 0, 0, s.fail("a control character in a string")
		case c < utf8.RuneSelf:
			s.pos = jsontext.PlainEnd(s.data, s.pos+1)
		default:
			r, size := utf8.DecodeRune(s.data[s.pos:])
			if r == utf8.RuneError && size == 1 {
				return 0, 0, s.fail("bad UTF-8")
			}
			s.pos += size
		}
	}
	return 0, 0, s.fail("unexpected end")
}

// escape reads an escape sequence.
func (s *scanner) escape() error {
	s.pos++
	switch s.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos++
		return nil
	case 'u':
		s.pos--
		r, ok := jsontext.HexEscape(s.data[s.pos:])
		switch {
		case !ok:
			return s.fail("a bad escape in a string")
		case isLow(r):
			return s.fail("half a surrogate pair in a string")
		case isHigh(r):
			low, ok := jsontext.HexEscape(s.data[s.pos+6:])
			if !ok || !isLow(low) {
				return s.fail("half a surrogate pair in a string")
			}
			s.pos += 6
		}
		s.pos += 6
		return nil
	}
	return s.fail("a bad escape in a string")
}

func (s *scanner) literal(word string) error {
	if !bytes.HasPrefix(s.data[s.pos:], []byte(word)) {
		return s.fail("expected a value")
	}
	s.pos += len(word)
	return nil
}

func (s *scanner) number() error {
	if s.peek() == '-' {
		s.pos++
	}
	if s.peek() == '0' {
		s.pos++
	} else if !s.digits() {
		return s.fail("a bad number")
	}
	if s.peek() == '.' {
		s.pos++
		if !s.digits() {
			return s.fail("a bad number")
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		if !s.digits() {
			return s.fail("a bad number")
		}
	}
	return nil
}

// digits skips digits, and reports whether there was one.
func (s *scanner) digits() bool {
	from := s.pos
	for isDigit(s.peek()) {
		s.pos++
	}
	return s.pos > from
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
