package jsontext

// Names holds the names of an object's members as they stand in JSON, escaped once for all rows.
type Names struct {
	text []byte
	ends []int
}

// Reset forgets all names and keeps the memory.
func (n *Names) Reset() { n.text, n.ends = n.text[:0], n.ends[:0] }

// Size is how many bytes all names take in an object.
func (n *Names) Size() int { return len(n.text) }

// Add adds the next member's name.
func (n *Names) Add(name string) {
	if len(n.ends) > 0 {
		n.text = append(n.text, ',')
	}
	n.text = AppendString(n.text, name)
	n.text = append(n.text, ':')
	n.ends = append(n.ends, len(n.text))
}

// Append appends what stands before the value of the member at index i: a comma but for the first, its name, a colon.
func (n *Names) Append(dst []byte, i int) []byte {
	from := 0
	if i > 0 {
		from = n.ends[i-1]
	}
	return append(dst, n.text[from:n.ends[i]]...)
}
