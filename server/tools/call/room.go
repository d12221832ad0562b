package call

import "github.com/mcp-admin/mcp-admin-operator/server/objpool"

// maxRoom is the largest memory of an answer, in bytes, that is kept for another call: some pages of the usual size.
const maxRoom = 256 << 10

// Room is memory in which a call writes its answer, kept for other calls once the answer was sent.
type Room struct{ text []byte }

var rooms objpool.Pool[Room]

// Room returns the memory for the call's answer. The answer of a part goes into that of the whole call, so a part's is its
// own, and is never used again.
func (c *Call) Room() *Room {
	if c.IsPart || c.room != nil {
		return &Room{}
	}
	c.room = rooms.Get()
	return c.room
}

// Begin returns the first n bytes of the memory, which hold nothing yet, to append to.
func (r *Room) Begin(n int) []byte {
	if cap(r.text) < n {
		r.text = make([]byte, 0, max(n, 4096))
	}
	return r.text[:n]
}

// Holds notes the text that has been written, whose memory may be another by now, and returns it.
func (r *Room) Holds(text []byte) []byte {
	r.text = text
	return text
}

// Release gives back the memory of an answer that was sent. Nothing may keep a part of Text. What was written is
// overwritten at once: no other call ever sees it, and whoever keeps a part after all sees that, too.
func (r *Result) Release() {
	room := r.room
	if room == nil {
		return
	}
	r.Text, r.room = nil, nil
	if cap(room.text) > maxRoom {
		return
	}
	clear(room.text)
	room.text = room.text[:0]
	rooms.Put(room)
}
