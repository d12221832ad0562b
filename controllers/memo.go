package controllers

import "sync"

// memo remembers one value for each key. Its zero value is empty; it is safe for concurrent use.
type memo[K comparable, V any] struct {
	mu sync.Mutex
	of map[K]V
}

// get returns what is remembered, and whether anything is.
func (m *memo[K, V]) get(key K) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, known := m.of[key]
	return value, known
}

// set remembers.
func (m *memo[K, V]) set(key K, value V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of == nil {
		m.of = map[K]V{}
	}
	m.of[key] = value
}

// forget drops what is remembered.
func (m *memo[K, V]) forget(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.of, key)
}

// len is for how many keys something is remembered.
func (m *memo[K, V]) len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.of)
}
