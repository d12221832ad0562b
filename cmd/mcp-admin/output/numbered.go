package output

import "fmt"

// Numbered is a number of things in words: "1 row", "2 rows". what is one of them, and its plural has an s at the end.
func Numbered(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
