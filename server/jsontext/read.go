package jsontext

import (
	"bytes"
	"encoding/json"
	"strings"
)

// The functions below read JSON as encoding/json reads it into a map, a slice or a string, but copy nothing: values are
// parts of data. They take a value within JSON that was read before, and do not check it again.

// ReadObject returns the members of an object. null has none, and they are nil. It returns false for anything else.
func ReadObject(data []byte) (Members, bool) {
	at := SkipSpace(data, 0)
	switch {
	case at == len(data):
		return nil, false
	case data[at] == '{':
		return MembersOf(data), true
	}
	return nil, data[at] == 'n'
}

// Object is a JSON object as its members: smaller than a map, and made for names that are asked for in their order. It is used by
// one goroutine at a time.
type Object struct {
	members []objectMember
	// next is the member behind the one that was asked for last.
	next int
}

type objectMember struct{ name, value []byte }

// ObjectOf reads an object that is known to be one, of about so many members. Values are parts of it; nothing is copied.
func ObjectOf(object []byte, about int) *Object {
	o := &Object{members: make([]objectMember, 0, about)}
	for quoted, value := range Inside(object) {
		name := quoted[1 : len(quoted)-1]
		if bytes.IndexByte(name, '\\') >= 0 {
			text, _ := ReadString(quoted) // a member's name: it cannot fail
			name = []byte(text)
		}
		o.members = append(o.members, objectMember{name, value})
	}
	return o
}

// Value returns the value of the member of that name; nil if there is none.
func (o *Object) Value(name string) json.RawMessage {
	at := o.next
	for range o.members {
		if at == len(o.members) {
			at = 0
		}
		m := &o.members[at]
		at++
		if string(m.name) == name {
			o.next = at
			return m.value
		}
	}
	return nil
}

// ReadStrings returns the elements of an array of strings; false for anything else.
func ReadStrings(data []byte) ([]string, bool) {
	if at := SkipSpace(data, 0); at == len(data) || data[at] != '[' {
		return nil, false
	}
	var list []string
	for _, value := range Inside(data) {
		text, ok := ReadString(value)
		if !ok {
			return nil, false
		}
		list = append(list, text)
	}
	return list, true
}

// AppendMarshaled appends JSON as encoding/json writes it where it is part of something else: without the spaces between its
// parts, and with escapes for what would mean something in HTML or JavaScript.
func AppendMarshaled(dst, data []byte) []byte {
	begin, inString := 0, false
	for i := 0; i < len(data); i++ {
		c := data[i]
		if unmarked[c] {
			continue
		}
		end := i
		switch c {
		case '"':
			inString = !inString
			continue
		case '\\':
			i++ // what is escaped ends no string
			continue
		case ' ', '\t', '\n', '\r':
			if inString {
				continue
			}
			dst = append(dst, data[begin:end]...)
		case 0xe2: // the lines of JavaScript also end at U+2028 and U+2029
			if i+2 >= len(data) || data[i+1] != 0x80 || data[i+2]&^1 != 0xa8 {
				continue
			}
			dst = append(append(dst, data[begin:end]...), `\u202`...)
			dst = append(dst, hexDigits[data[i+2]&15])
			i += 2
		default: // <, > and &
			dst = append(append(dst, data[begin:end]...), `\u00`...)
			dst = append(dst, hexDigits[c>>4], hexDigits[c&15])
		}
		begin = i + 1
	}
	return append(dst, data[begin:]...)
}

// unmarked are the bytes of JSON that AppendMarshaled need not look at.
var unmarked = func() (bytes [256]bool) {
	for c := range bytes {
		bytes[c] = !strings.ContainsRune("\"\\ \t\n\r<>&", rune(c)) && c != 0xe2
	}
	return bytes
}()

// AppendCompact appends JSON without the spaces between its parts.
func AppendCompact(dst, data []byte) []byte {
	for at := SkipSpace(data, 0); at < len(data); at = SkipSpace(data, at) {
		end := at + 1
		if data[at] == '"' {
			end = endOfString(data, at)
		}
		dst = append(dst, data[at:end]...)
		at = end
	}
	return dst
}
