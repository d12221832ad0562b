// Package excerpt shortens texts of others for messages, logs and statuses. Every package may import it.
package excerpt

import "strings"

// mark ends a text that was cut.
const mark = "…"

// Of returns a text of at most most bytes unchanged, and of a longer one the beginning and a mark, together at most that
// long. It cuts between characters. The least most is the mark's three bytes.
func Of[T string | []byte](text T, most int) string {
	if len(text) <= most {
		return string(text)
	}
	return strings.ToValidUTF8(string(text[:most-len(mark)]), "") + mark
}
