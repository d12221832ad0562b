package claims

import (
	"strconv"
	"strings"
)

// Match reports whether claims say all that is wanted: each name's claim is the wanted text, or a list that has it. Booleans
// and numbers are the text that JSON writes for them.
func Match(claims map[string]any, wanted map[string]string) bool {
	for name, text := range wanted {
		claim, found := Find(claims, name)
		if !found || !says(claim, text) {
			return false
		}
	}
	return true
}

// isBrokenPointer reports whether a name begins with / like a JSON pointer, but is no valid one: ~ stands only in ~0 and
// ~1.
func isBrokenPointer(name string) bool {
	if !strings.HasPrefix(name, "/") {
		return false
	}
	for i := range len(name) {
		if name[i] == '~' && (i+1 == len(name) || name[i+1] != '0' && name[i+1] != '1') {
			return true
		}
	}
	return false
}

// Find returns a claim by its name; a name that begins with / is a JSON pointer (RFC 6901).
func Find(claims map[string]any, name string) (claim any, found bool) {
	if !strings.HasPrefix(name, "/") {
		claim, found = claims[name]
		return claim, found
	}
	if isBrokenPointer(name) {
		return nil, false
	}
	claim = claims
	for step := range strings.SplitSeq(name[1:], "/") {
		if claim, found = member(claim, unescape.Replace(step)); !found {
			return nil, false
		}
	}
	return claim, true
}

// unescape takes each pair of characters once, from left to right: ~01 is ~1.
var unescape = strings.NewReplacer("~0", "~", "~1", "/")

func member(of any, name string) (value any, found bool) {
	switch of := of.(type) {
	case map[string]any:
		value, found = of[name]
		return value, found
	case []any:
		if i, ok := index(name, len(of)); ok {
			return of[i], true
		}
	}
	return nil, false
}

// index reads an index as RFC 6901 writes it: digits without leading zeros.
func index(text string, length int) (int, bool) {
	i, err := strconv.ParseUint(text, 10, 31)
	if err != nil || i >= uint64(length) || strconv.FormatUint(i, 10) != text {
		return 0, false
	}
	return int(i), true
}

// says reports whether a claim is a text, or a list that has it.
func says(claim any, text string) bool {
	list, ok := claim.([]any)
	if !ok {
		return is(claim, text)
	}
	for _, element := range list {
		if is(element, text) {
			return true
		}
	}
	return false
}

// maxSafeInteger is the largest number below which no two integers are read as one.
const maxSafeInteger = 1<<53 - 1

func is(claim any, text string) bool {
	written, ok := textOf(claim)
	return ok && written == text
}

// textOf is the text that a claim is held against.
func textOf(claim any) (string, bool) {
	switch claim := claim.(type) {
	case string:
		return claim, true
	case bool:
		return strconv.FormatBool(claim), true
	case float64:
		// A larger number may have been another before it was read, so it is none that anybody can want.
		if claim >= -maxSafeInteger && claim <= maxSafeInteger {
			return strconv.FormatFloat(claim, 'f', -1, 64), true
		}
	}
	return "", false
}

// Values are the texts that Match finds in a claim: Match is true for these texts, and for no other.
func Values(claims map[string]any, name string) []string {
	claim, _ := Find(claims, name)
	list, ok := claim.([]any)
	if !ok {
		list = []any{claim}
	}
	var texts []string
	for _, element := range list {
		if text, ok := textOf(element); ok {
			texts = append(texts, text)
		}
	}
	return texts
}
