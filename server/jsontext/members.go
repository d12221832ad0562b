package jsontext

// Members holds the names of an object's members as they stand in JSON, escaped once for all rows.
type Members struct {
	text []byte
	ends []int
}

// Reset forgets all names and keeps the memory.
func (m *Members) Reset() { m.text, m.ends = m.text[:0], m.ends[:0] }

// Size is how many bytes all names take in an object.
func (m *Members) Size() int { return len(m.text) }

// Add adds the next member's name.
func (m *Members) Add(name string) {
	if len(m.ends) > 0 {
		m.text = append(m.text, ',')
	}
	m.text = AppendString(m.text, name)
	m.text = append(m.text, ':')
	m.ends = append(m.ends, len(m.text))
}

// Append appends what stands before the value of the member at index i: a comma but for the first, its name, a colon.
func (m *Members) Append(dst []byte, i int) []byte {
	from := 0
	if i > 0 {
		from = m.ends[i-1]
	}
	return append(dst, m.text[from:m.ends[i]]...)
}
