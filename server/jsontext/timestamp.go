package jsontext

// AppendTimestamp appends the content of a timestamp's JSON string, without its quotes, from the text
// "2006-01-02 15:04:05[.fraction][±hh[:mm[:ss]]]" that engines write: a T between date and time, a Z for the offset
// zero, and seconds if there are none. Any other text (infinity, years before Christ or beyond 9999) is appended as
// JSON escapes it.
func AppendTimestamp[T Text](dst []byte, s T) []byte {
	if extended, ok := appendTimestamp(dst, s); ok {
		return extended
	}
	return AppendEscaped(dst, s)
}

// AppendTimestampText is AppendTimestamp if the text has to change for JSON: any other text is appended unchanged.
func AppendTimestampText[T Text](dst []byte, s T) []byte {
	if extended, ok := appendTimestamp(dst, s); ok {
		return extended
	}
	return append(dst, s...)
}

// AppendInstant is AppendTimestamp for an instant: a text that names no zone is in UTC.
func AppendInstant[T Text](dst []byte, s T) []byte {
	if extended, ok := appendTimestamp(dst, s); ok {
		return appendUTC(extended)
	}
	return AppendEscaped(dst, s)
}

// AppendInstantText is AppendTimestampText for an instant: a text that names no zone is in UTC.
func AppendInstantText[T Text](dst []byte, s T) []byte {
	if extended, ok := appendTimestamp(dst, s); ok {
		return appendUTC(extended)
	}
	return append(dst, s...)
}

// appendUTC appends a Z to a timestamp that was appended without a zone.
func appendUTC(dst []byte) []byte {
	zone := dst[len(dst)-len("+00:00"):]
	if zone[0] == '+' || zone[0] == '-' || zone[5] == 'Z' {
		return dst
	}
	return append(dst, 'Z')
}

// appendTimestamp reports whether the text has the form; what lies behind dst's end means nothing if it has not.
func appendTimestamp[T Text](dst []byte, s T) ([]byte, bool) {
	clock := clockEnd(s)
	if clock == 0 {
		return dst, false
	}
	from := len(dst)
	dst = append(dst, s[:clock]...)
	dst[from+10] = 'T'
	if clock == len("2006-01-02 15:04") {
		dst = append(dst, ":00"...)
	}
	rest := s[clock:]
	if len(rest) > 0 && rest[0] == '.' {
		i := 1
		for i < len(rest) && isDigit(rest[i]) {
			i++
		}
		if i == 1 {
			return dst, false
		}
		dst = append(dst, rest[:i]...)
		rest = rest[i:]
	}
	switch {
	case len(rest) == 0:
		return dst, true
	case string(rest) == "Z", string(rest) == "+00", string(rest) == "+00:00":
		return append(dst, 'Z'), true
	case rest[0] != '+' && rest[0] != '-':
	case fits(rest[1:], "00"):
		dst = append(dst, rest...)
		return append(dst, ":00"...), true
	case fits(rest[1:], "00:00"):
		return append(dst, rest...), true
	}
	return dst, false
}

// clockEnd returns where the date and the time of day end, before a fraction; 0 if s does not start with them.
func clockEnd[T Text](s T) int {
	const minutes, seconds = len("0000-00-00 00:00"), len("0000-00-00 00:00:00")
	if len(s) < minutes || !yearAndMonth.fits(word(s, 0)) {
		return 0
	}
	if rest := word(s, 8); !dayAndClock.fits(rest) && !dayThenClock.fits(rest) {
		return 0
	}
	switch {
	case len(s) == minutes:
		return minutes
	case len(s) >= seconds && fits(s[minutes:seconds], ":00"):
		return seconds
	}
	return 0
}

// A wordForm is a pattern of eight characters, as fits has them, that is held against a word at once: text is the pattern, and room what
// can be added to each byte's difference from it before its highest bit is set.
type wordForm struct{ text, room uint64 }

var yearAndMonth, dayAndClock, dayThenClock = formOf("0000-00-"), formOf("00 00:00"), formOf("00T00:00")

func formOf(pattern string) wordForm {
	form := wordForm{text: word(pattern, 0)}
	for i := range len(pattern) {
		room := uint64(0x7f)
		if pattern[i] == '0' {
			room -= 9
		}
		form.room |= room << (8 * i)
	}
	return form
}

func (f wordForm) fits(x uint64) bool {
	difference := x ^ f.text
	return (difference|(difference+f.room))&highs == 0
}

// fits reports whether s has a digit wherever the pattern has a 0, and the pattern's own character elsewhere.
func fits[T Text](s T, pattern string) bool {
	if len(s) != len(pattern) {
		return false
	}
	for i := 0; i < len(pattern); i++ {
		if pattern[i] == '0' {
			if !isDigit(s[i]) {
				return false
			}
		} else if s[i] != pattern[i] {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
