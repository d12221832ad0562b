package connpool

import "github.com/mcp-admin/mcp-admin-operator/server/database"

// Resize changes how many connections the pool may hold, up to what it was made for, and at least one. Connections that are too many
// then are closed: at once if they are idle, else when they are given back.
func (p *Pool[C]) Resize(size int) {
	size = min(max(size, 1), cap(p.slots))
	p.mu.Lock()
	if p.ending || p.retired {
		p.mu.Unlock()
		return
	}
	p.use.Size(size - p.size)
	p.size = size
	p.hold(cap(p.slots) - size)
	var tooMany []C
	for len(p.idle) > 0 && p.live-len(tooMany) > size {
		tooMany = append(tooMany, p.take(0).conn)
	}
	p.mu.Unlock()
	for _, c := range tooMany {
		p.forget(c, database.CloseIdle)
	}
}

// Retire closes the connections that are idle, and from now on each that is given back: another pool takes the place of this one, and
// the database may not have room for both. Callers who are still there make new ones.
func (p *Pool[C]) Retire() {
	p.mu.Lock()
	if p.ending || p.retired {
		p.mu.Unlock()
		return
	}
	p.retired = true
	p.use.Size(-p.size)
	p.mu.Unlock()
	p.drain(database.CloseIdle)
}

// hold keeps so many slots free of connections, as far as they are free. The caller holds the lock.
func (p *Pool[C]) hold(wanted int) {
	for p.held+p.owed < wanted {
		select {
		case p.slots <- struct{}{}:
			p.held++
		default:
			p.owed++
		}
	}
	p.owed = min(p.owed, max(wanted-p.held, 0))
	for ; p.held+p.owed > wanted; p.held-- {
		<-p.slots
	}
}

// leave gives a slot back.
func (p *Pool[C]) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.owed > 0 {
		p.owed--
		p.held++
		return
	}
	<-p.slots
}

// tooMany reports whether there are more connections than there may be.
func (p *Pool[C]) tooMany() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.live > p.size
}
