package identity

// Remembered returns how many tokens a Verifier remembers, and how many bytes their texts have.
func Remembered(v *Verifier) (entries, bytes int) {
	v.cache.mutex.RLock()
	defer v.cache.mutex.RUnlock()
	for _, e := range v.cache.entries {
		bytes += e.size
	}
	return len(v.cache.entries), bytes
}
