package share

// Waiting is how many uses wait.
func (p *Pool) Waiting() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range p.waiting {
		n += len(h.queue)
	}
	return n
}

// Known is how many names the pool remembers.
func (p *Pool) Known() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.holders)
}
