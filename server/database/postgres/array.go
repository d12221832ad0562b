package postgres

import (
	"bytes"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

// appendArray appends an array in PostgreSQL's text format ({1,NULL,"a \"b\"",{…}}) as a JSON array, each element in
// the JSON form of its kind. It leaves out bounds before the array ([0:2]=…). A text that is not an array becomes a
// string.
func appendArray(dst []byte, element database.Kind, value []byte) []byte {
	text := value
	if len(text) > 0 && text[0] == '[' {
		if equals := bytes.IndexByte(text, '='); equals > 0 {
			text = text[equals+1:]
		}
	}
	from := len(dst)
	p := arrayParser{text: text, element: element}
	dst, ok := p.array(dst, 0)
	if !ok || p.next != len(text) {
		return jsontext.AppendString(dst[:from], value)
	}
	return dst
}

// maxDimensions is PostgreSQL's own bound.
const maxDimensions = 6

type arrayParser struct {
	text    []byte
	next    int
	element database.Kind
	// unquoted is the memory for elements that have escapes.
	unquoted []byte
}

func (p *arrayParser) peek() byte {
	if p.next < len(p.text) {
		return p.text[p.next]
	}
	return 0
}

func (p *arrayParser) array(dst []byte, depth int) ([]byte, bool) {
	if p.peek() != '{' || depth >= maxDimensions {
		return dst, false
	}
	p.next++
	dst = append(dst, '[')
	if p.peek() == '}' {
		p.next++
		return append(dst, ']'), true
	}
	for {
		var ok bool
		switch p.peek() {
		case '{':
			dst, ok = p.array(dst, depth+1)
		case '"':
			dst, ok = p.quoted(dst)
		default:
			dst, ok = p.plain(dst)
		}
		if !ok {
			return dst, false
		}
		switch p.peek() {
		case ',':
			p.next++
			dst = append(dst, ',')
		case '}':
			p.next++
			return append(dst, ']'), true
		default:
			return dst, false
		}
	}
}

func (p *arrayParser) plain(dst []byte) ([]byte, bool) {
	length := bytes.IndexAny(p.text[p.next:], `,{}"\`)
	if length <= 0 {
		return dst, false
	}
	element := p.text[p.next : p.next+length]
	p.next += length
	if string(element) == "NULL" {
		return append(dst, "null"...), true
	}
	return p.scalar(dst, element), true
}

func (p *arrayParser) quoted(dst []byte) ([]byte, bool) {
	p.unquoted = p.unquoted[:0]
	for i := p.next + 1; i < len(p.text); i++ {
		switch c := p.text[i]; c {
		case '"':
			p.next = i + 1
			return p.scalar(dst, p.unquoted), true
		case '\\':
			i++
			if i < len(p.text) {
				p.unquoted = append(p.unquoted, p.text[i])
			}
		default:
			p.unquoted = append(p.unquoted, c)
		}
	}
	return dst, false
}

func (p *arrayParser) scalar(dst, element []byte) []byte {
	return appendScalar(dst, p.element, element)
}
