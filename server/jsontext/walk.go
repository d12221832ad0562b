package jsontext

import (
	"bytes"
	"iter"
)

// End returns where the value that begins at data[at] ends. data is JSON; of anything else some offset within it is returned.
func End(data []byte, at int) int {
	depth := 0
	for i := at; i < len(data); i++ {
		switch data[i] {
		case '"':
			if i = endOfString(data, i); depth == 0 {
				return i
			}
			i-- // the loop continues behind it
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return i
			} else if depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
		}
	}
	return len(data)
}

// endOfString returns where the string that begins at data[at] ends.
func endOfString(data []byte, at int) int {
	for end := at + 1; ; {
		length := bytes.IndexByte(data[end:], '"')
		if length < 0 {
			return len(data)
		}
		end += length
		escapes := end // where the backslashes before the quote begin
		for escapes-1 > at && data[escapes-1] == '\\' {
			escapes--
		}
		if end++; (end-escapes)%2 == 1 {
			return end
		}
	}
}

// SkipSpace returns the offset of the first byte from data[at] on that is no white space.
func SkipSpace(data []byte, at int) int {
	for at < len(data) && (data[at] == ' ' || data[at] == '\t' || data[at] == '\n' || data[at] == '\r') {
		at++
	}
	return at
}

// Inside yields what an object or an array holds, in order: the name of each member, as a JSON string, and its value. The
// elements of an array have no names. Both are parts of data, which is JSON; nothing is copied.
func Inside(data []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		at := SkipSpace(data, 0)
		if at >= len(data) || data[at] != '{' && data[at] != '[' {
			return
		}
		named := data[at] == '{'
		for at = SkipSpace(data, at+1); at < len(data) && data[at] != '}' && data[at] != ']'; {
			var name []byte
			if named {
				end := End(data, at)
				name = data[at:end]
				at = SkipSpace(data, SkipSpace(data, end)+1) // the colon
			}
			end := max(End(data, min(at, len(data))), at)
			if end == at || !yield(name, data[at:end]) {
				return
			}
			if at = SkipSpace(data, end); at < len(data) && data[at] == ',' {
				at = SkipSpace(data, at+1)
			}
		}
	}
}

// Member returns the value of the member of that name; false if data is no object, or has none.
func Member(data []byte, name string) ([]byte, bool) {
	for quoted, value := range Inside(data) {
		if isName(quoted, name) {
			return value, true
		}
	}
	return nil, false
}

// Element returns the element of that index; false if data is no array, or has none.
func Element(data []byte, index int) ([]byte, bool) {
	for name, value := range Inside(data) {
		if name != nil {
			break
		}
		if index == 0 {
			return value, true
		}
		index--
	}
	return nil, false
}

// isName reports whether a JSON string says the name.
func isName(quoted []byte, name string) bool {
	if len(quoted) < 2 || bytes.IndexByte(quoted, '\\') < 0 {
		return len(quoted) == len(name)+2 && string(quoted[1:len(quoted)-1]) == name
	}
	text, ok := ReadString(quoted)
	return ok && text == name
}
