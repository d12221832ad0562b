package cluster

import "sync"

// Memo remembers one value for each key. Its zero value is empty; it is safe for concurrent use.
type Memo[K comparable, V any] struct {
	mu sync.Mutex
	Of map[K]V
}

// Get returns what is remembered, and whether anything is.
func (m *Memo[K, V]) Get(key K) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, known := m.Of[key]
	return value, known
}

// Set remembers.
func (m *Memo[K, V]) Set(key K, value V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.Of == nil {
		m.Of = map[K]V{}
	}
	m.Of[key] = value
}

// Forget drops what is remembered.
func (m *Memo[K, V]) Forget(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.Of, key)
}

// len is for how many keys something is remembered.
func (m *Memo[K, V]) len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.Of)
}
