package mcp

import (
	"bytes"
	"fmt"
	"hash/maphash"

	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

// The bounds of a body; docs/design/http.md, "Bodies".
const (
	maxDepth = 64
	maxBatch = 50
)

// A body is the result of one pass over a request's bytes. Its values are raw JSON: slices of those bytes.
type body struct {
	// kind is the first byte of the value: '{', '[', or any other byte.
	kind byte
	// messages are the one object, or the elements of the array. Of an array longer than maxBatch only the beginning is
	// kept.
	messages []message
	// elements is how many elements the array has.
	elements int
}

// A message holds the members of one object that a request may have. An absent member is nil.
type message struct {
	// object is false for an element of an array that is not an object.
	object                                       bool
	jsonrpc, id, method, params, name, arguments []byte
	inside                                       parameters
}

// parameters are the members of an object "params".
type parameters struct {
	name, arguments, uri, protocolVersion []byte
	// inputResponses and requestState come with a call that is made again (MCP 2026-07-28, Multi Round-Trip Requests).
	inputResponses, requestState []byte
	// taskID is that of the extension tasks.
	taskID []byte
	meta   metadata
}

// metadata are the members of an object "_meta" (MCP 2026-07-28, Overview, "_meta").
type metadata struct {
	protocolVersion, clientCapabilities, clientInfo []byte
	// traceparent and tracestate are of W3C Trace Context.
	traceparent, tracestate []byte
}

const (
	protocolVersionKey    = "io.modelcontextprotocol/protocolVersion"
	clientCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities"
	clientInfoKey         = "io.modelcontextprotocol/clientInfo"
	traceparentKey        = tracing.Traceparent
	tracestateKey         = tracing.Tracestate
)

// A keeper keeps some members of an object.
type keeper interface {
	// member says what to do with the value of the member of that exact name. It returns where to keep the value, or
	// nil to drop it; and the keeper of the value's own members if it is an object, or nil to drop them.
	member(name []byte) (value *[]byte, inside keeper)
}

// A syntaxError says where a body is not strict JSON. It quotes nothing of the body.
type syntaxError struct {
	offset int
	what   string
}

func (e *syntaxError) Error() string { return fmt.Sprintf("%s at byte %d", e.what, e.offset) }

// A scanner reads strict JSON in one pass: RFC 8259 as in encoding/json, but without bad UTF-8, lone surrogates,
// repeated members of an object, or nesting deeper than maxDepth. The zero scanner is ready; it may be used again.
type scanner struct {
	data []byte
	pos  int
	// members are those read so far of the open objects, innermost last.
	members []member
	// a and b are room for names with escapes.
	a, b []byte
}

type member struct {
	hash       uint64
	start, end int // of the name between its quotes
}

var nameSeed = maphash.MakeSeed()

// scan reads data into into, whose messages it uses again. Any error is a *syntaxError.
func (s *scanner) scan(data []byte, into *body) error {
	s.data, s.pos, s.members = data, 0, s.members[:0]
	into.messages, into.elements = into.messages[:0], 0
	s.space()
	into.kind = s.peek()
	var err error
	switch into.kind {
	case '{':
		into.messages = append(into.messages, message{object: true})
		err = s.object(1, &into.messages[0])
	case '[':
		err = s.batch(into)
	default:
		err = s.value(1, nil)
	}
	if err != nil {
		return err
	}
	s.space()
	if s.pos < len(data) {
		return s.fail("unexpected text after the value")
	}
	return nil
}

func (s *scanner) fail(what string) error { return &syntaxError{s.pos, what} }

// peek returns the next byte, or 0 at the end. No token starts with 0, so the two need not be told apart.
func (s *scanner) peek() byte {
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// batch reads the array that is the whole body.
func (s *scanner) batch(into *body) error {
	return s.elements(func() error {
		into.elements++
		if into.elements > maxBatch {
			return s.value(2, nil)
		}
		into.messages = append(into.messages, message{})
		m := &into.messages[len(into.messages)-1]
		if s.peek() != '{' {
			return s.value(2, nil)
		}
		m.object = true
		return s.object(2, m)
	})
}

// elements reads an array, calling read at the start of each element.
func (s *scanner) elements(read func() error) error {
	s.pos++ // [
	s.space()
	if s.peek() == ']' {
		s.pos++
		return nil
	}
	for {
		s.space()
		if err := read(); err != nil {
			return err
		}
		s.space()
		switch s.peek() {
		case ',':
			s.pos++
		case ']':
			s.pos++
			return nil
		default:
			return s.fail("expected , or ] in an array")
		}
	}
}

// value reads the value that starts here. depth is its depth if it is an object or array. The members of an object go
// to into, if that is not nil.
func (s *scanner) value(depth int, into keeper) error {
	switch c := s.peek(); c {
	case '{':
		return s.object(depth, into)
	case '[':
		if depth > maxDepth {
			return s.fail("nested too deeply")
		}
		return s.elements(func() error { return s.value(depth+1, nil) })
	case '"':
		_, _, err := s.text()
		return err
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	default:
		if c == '-' || isDigit(c) {
			return s.number()
		}
		if s.pos >= len(s.data) {
			return s.fail("unexpected end")
		}
		return s.fail("expected a value")
	}
}

// object reads an object. Its members go to into, if that is not nil.
func (s *scanner) object(depth int, into keeper) error {
	if depth > maxDepth {
		return s.fail("nested too deeply")
	}
	s.pos++ // {
	s.space()
	if s.peek() == '}' {
		s.pos++
		return nil
	}
	names := nameSet{scanner: s, first: len(s.members)}
	for {
		s.space()
		if s.peek() != '"' {
			return s.fail("expected the name of a member")
		}
		start, end, err := s.text()
		if err != nil {
			return err
		}
		name := s.name(start, end, &s.a)
		if !names.add(name, start, end) {
			s.pos = start
			return s.fail("a member stands twice in one object")
		}
		var member *[]byte
		var inside keeper
		if into != nil {
			member, inside = into.member(name)
		}
		s.space()
		if s.peek() != ':' {
			return s.fail("expected : after the name of a member")
		}
		s.pos++
		s.space()
		from := s.pos
		if err := s.value(depth+1, inside); err != nil {
			return err
		}
		if member != nil {
			*member = s.data[from:s.pos:s.pos]
		}
		s.space()
		switch s.peek() {
		case ',':
			s.pos++
		case '}':
			s.pos++
			s.members = s.members[:names.first]
			return nil
		default:
			return s.fail("expected , or } in an object")
		}
	}
}

func (m *message) member(name []byte) (value *[]byte, inside keeper) {
	switch string(name) {
	case "jsonrpc":
		return &m.jsonrpc, nil
	case "id":
		return &m.id, nil
	case "method":
		return &m.method, nil
	case "params":
		return &m.params, &m.inside
	case "name":
		return &m.name, nil
	case "arguments":
		return &m.arguments, nil
	}
	return nil, nil
}

func (p *parameters) member(name []byte) (value *[]byte, inside keeper) {
	switch string(name) {
	case "name":
		return &p.name, nil
	case "arguments":
		return &p.arguments, nil
	case "uri":
		return &p.uri, nil
	case "protocolVersion":
		return &p.protocolVersion, nil
	case "taskId":
		return &p.taskID, nil
	case "inputResponses":
		return &p.inputResponses, nil
	case "requestState":
		return &p.requestState, nil
	case "_meta":
		return nil, &p.meta
	}
	return nil, nil
}

func (m *metadata) member(name []byte) (value *[]byte, inside keeper) {
	switch string(name) {
	case protocolVersionKey:
		return &m.protocolVersion, nil
	case clientCapabilitiesKey:
		return &m.clientCapabilities, nil
	case clientInfoKey:
		return &m.clientInfo, nil
	case traceparentKey:
		return &m.traceparent, nil
	case tracestateKey:
		return &m.tracestate, nil
	}
	return nil, nil
}

// A nameSet holds the names of one open object. Few are compared one by one, many through a map: otherwise an object of
// a hundred thousand members would take quadratic time.
type nameSet struct {
	*scanner
	first int
	many  map[uint64]struct{}
}

const fewNames = 24

// add adds a name, and reports whether it was new.
func (n *nameSet) add(name []byte, start, end int) bool {
	s := n.scanner
	hash := maphash.Bytes(nameSeed, name)
	open := s.members[n.first:]
	seen := false
	if n.many != nil {
		_, seen = n.many[hash]
	} else {
		for i := range open {
			if open[i].hash == hash {
				seen = true
				break
			}
		}
	}
	if seen { // The same hash nearly always means the same name, but not always.
		for _, other := range open {
			if other.hash == hash && bytes.Equal(s.name(other.start, other.end, &s.b), name) {
				return false
			}
		}
	}
	s.members = append(s.members, member{hash, start, end})
	switch {
	case n.many != nil:
		n.many[hash] = struct{}{}
	case len(open) >= fewNames:
		n.many = make(map[uint64]struct{}, 4*fewNames)
		for _, other := range s.members[n.first:] {
			n.many[other.hash] = struct{}{}
		}
	}
	return true
}

// name returns the text between two offsets, with its escapes resolved in *room if it has any.
func (s *scanner) name(start, end int, room *[]byte) []byte {
	raw := s.data[start:end]
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	*room, _ = jsontext.AppendUnescaped((*room)[:0], raw) // it was read: it cannot fail
	return *room
}
