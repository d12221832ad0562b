package call

import (
	"bytes"
	"container/list"
	"math"
	"runtime/debug"
	"sync"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

// A Shelf keeps texts about models that are the same for all tokens with the same rights, so that each is made once: tools/list of
// two hundred models has a megabyte. It belongs to one catalog and its settings, and goes with them.
//
// A text may depend on these, on what its ShelfKey says, and on nothing else. It is made with a token that has nothing but its
// rights (access.Token.Anyone): so neither groups and attributes, on which row policies depend, nor a name or a session can be in
// it. A token that was revoked is refused before anything is looked up, and one whose rights have changed has another key.
//
// The texts that were not asked for longest make room for others. Safe for concurrent use.
type Shelf struct {
	mu   sync.Mutex
	kept map[ShelfKey]*list.Element
	// order has the texts, the one that was asked for last first.
	order list.List
	// bytes is what is kept, most the most that may be.
	bytes, most int
}

// A ShelfKey says what a text is about.
type ShelfKey struct {
	// What is the kind of text, About what else it depends on: the model, what the URL asks for.
	What, About string
	// Rights are of the token.
	Rights access.RightsKey
}

// A Kept is a text on a shelf.
type Kept interface {
	// Size is how many bytes it takes.
	Size() int
}

// A Text is a Kept that is nothing else. Nobody may change it.
type Text []byte

// Size implements Kept.
func (t Text) Size() int { return len(t) }

// A KeptAnswer is an answer on a shelf: as JSON, and as a JSON string of it, so that it need not be escaped for each call.
type KeptAnswer struct{ text, quoted []byte }

// AnswerToKeep is an answer, to be kept.
func AnswerToKeep(text []byte) *KeptAnswer {
	return &KeptAnswer{bytes.Clone(text), bytes.Clone(jsontext.AppendDocument(nil, text))} // without the room that they have grown
}

// Size implements Kept.
func (a *KeptAnswer) Size() int { return len(a.text) + len(a.quoted) }

// AnswerKept answers with what was kept, as it is.
func (c *Call) AnswerKept(answer *KeptAnswer) []byte {
	c.kept = answer
	return answer.text
}

type shelved struct {
	key  ShelfKey
	text Kept
	size int
}

// shelvedOverhead is about what a text takes beside its own bytes and the bytes of its key.
const shelvedOverhead = 300

// A shelf may take a sixteenth of the memory that a process may use, or shelfSize if nothing bounds that.
const (
	shelfPart = 16
	shelfSize = 8 << 20
)

// NewShelf returns an empty shelf.
func NewShelf() *Shelf {
	most := shelfSize
	if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 { // a negative limit sets nothing and returns the limit in force
		most = int(limit / shelfPart)
	}
	return &Shelf{kept: map[ShelfKey]*list.Element{}, most: most}
}

// Take returns the text of a key. If it is not on the shelf, it is written, and kept if it takes no more than half of the shelf.
// A nil shelf keeps nothing.
func Take[T Kept](s *Shelf, key ShelfKey, write func() T) T {
	if s == nil {
		return write()
	}
	if known := s.find(key); known != nil {
		return known.(T)
	}
	text := write()
	s.put(key, text)
	return text
}

func (s *Shelf) find(key ShelfKey) Kept {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.kept[key]
	if at == nil {
		return nil
	}
	s.order.MoveToFront(at)
	return at.Value.(*shelved).text
}

func (s *Shelf) put(key ShelfKey, text Kept) {
	size := text.Size() + len(key.About) + shelvedOverhead
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept[key] != nil || size > s.most/2 {
		return // another request has made it meanwhile, or it would drive out too many
	}
	s.kept[key] = s.order.PushFront(&shelved{key, text, size})
	for s.bytes += size; s.bytes > s.most; {
		last := s.order.Remove(s.order.Back()).(*shelved)
		delete(s.kept, last.key)
		s.bytes -= last.size
	}
}
