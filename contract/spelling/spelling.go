// Package spelling finds what somebody meant who misspelled a name. It imports nothing of the project.
package spelling

import "strings"

// Nearest returns the index of the candidate that is most like the name, or -1 if none is near enough to be meant.
func Nearest(name string, candidates []string) int {
	best, bestDistance := -1, max(2, len(name)/3)+1
	for i, candidate := range candidates {
		d := editDistance(strings.ToLower(name), strings.ToLower(candidate))
		if d < bestDistance {
			best, bestDistance = i, d
		}
	}
	return best
}

// editDistance is the number of single-letter changes between two names.
func editDistance(a, b string) int {
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, s := range to {
			change := diagonal
			if r != s {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}
