package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// difference says how rows differ from the right answer; "" if they do not.
func (j *job) difference(rows [][]any) string {
	if j.RowCount != nil {
		return j.differenceOfMany(rows)
	}
	if len(rows) != len(j.Rows) {
		return fmt.Sprintf("%d rows, want %d", len(rows), len(j.Rows))
	}
	sure := len(rows)
	if j.Cut != nil {
		sure = j.Cut.Sure
		if !contains(j.Cut.Candidates, rows[sure:]) {
			return fmt.Sprintf("%v are not all among the candidates", rows[sure:])
		}
	}
	if !j.Ordered {
		return differenceOfSets(j.Rows[:sure], rows[:sure])
	}
	for i := 0; i < sure; {
		end := i + 1
		for _, tie := range j.Ties {
			if tie[0] == i {
				end = min(tie[1], sure)
			}
		}
		if d := differenceOfSets(j.Rows[i:end], rows[i:end]); d != "" {
			return fmt.Sprintf("from row %d: %s", i, d)
		}
		i = end
	}
	return ""
}

// differenceOfSets compares rows whose order does not matter.
func differenceOfSets(want, got [][]any) string {
	want, got = sorted(want), sorted(got)
	for i := range want {
		if !equalRows(want[i], got[i]) {
			return fmt.Sprintf("%v, want %v", got[i], want[i])
		}
	}
	return ""
}

// contains reports whether all rows are among the candidates, each no more often than it stands there.
func contains(candidates, rows [][]any) bool {
	left := slices.Clone(candidates)
	for _, r := range rows {
		i := slices.IndexFunc(left, func(c []any) bool { return equalRows(c, r) })
		if i < 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
	}
	return true
}

func sorted(rows [][]any) [][]any {
	keys := make(map[*any]string, len(rows))
	all := slices.DeleteFunc(slices.Clone(rows), func(r []any) bool { return len(r) == 0 })
	for _, r := range all {
		keys[&r[0]] = sortKey(r)
	}
	slices.SortStableFunc(all, func(a, b []any) int { return cmp.Compare(keys[&a[0]], keys[&b[0]]) })
	return all
}

func sortKey(row []any) string {
	var b strings.Builder
	for _, v := range row {
		if f, ok := number(v); ok {
			fmt.Fprintf(&b, "%.9e", f)
			if r := exact(v); r.IsInt() { // which are compared to the last digit
				b.WriteString(r.RatString())
			}
			b.WriteByte(0)
		} else {
			b.WriteString(plain(v) + "\x00")
		}
	}
	return b.String()
}

func equalRows(want, got []any) bool {
	return slices.EqualFunc(want, got, equalValues)
}

// equalValues compares values as the questions' README says: a number and its decimal string are equal, integers to the last
// digit and floats to ten significant ones, 0 and 1 are booleans, a timestamp is its text without T, zone and zero fraction, texts are exact.
func equalValues(want, got any) bool {
	if want == nil || got == nil {
		return want == nil && got == nil
	}
	_, wantText := want.(string)
	_, gotText := got.(string)
	if !wantText || !gotText {
		a, isNumber := number(want)
		b, isToo := number(got)
		if isNumber && isToo && exact(want).IsInt() && exact(got).IsInt() {
			return exact(want).Cmp(exact(got)) == 0
		}
		if isNumber && isToo {
			return a == b || math.Abs(a-b) <= 5e-10*max(math.Abs(a), math.Abs(b))
		}
	}
	return plain(want) == plain(got)
}

var decimal = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// number returns a number, a boolean or a decimal string as a number.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	case string:
		if decimal.MatchString(v) {
			f, err := strconv.ParseFloat(v, 64)
			return f, err == nil
		}
	}
	return 0, false
}

// exact is a value that is a number, to its last digit.
func exact(v any) *big.Rat {
	if truth, ok := v.(bool); ok {
		v = map[bool]string{true: "1", false: "0"}[truth]
	}
	r, _ := new(big.Rat).SetString(fmt.Sprint(v))
	return r
}

var timestamp = regexp.MustCompile(`^([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]*[1-9])?(?:\.?0*)(?:Z|[+-]00:00)?$`)

// plain is a value as text.
func plain(v any) string {
	text, ok := v.(string)
	if !ok {
		return fmt.Sprint(v)
	}
	if parts := timestamp.FindStringSubmatch(text); parts != nil {
		return parts[1] + " " + parts[2] + parts[3]
	}
	return text
}

// differenceOfMany compares by the sum of all rows.
func (j *job) differenceOfMany(rows [][]any) string {
	if len(rows) != *j.RowCount {
		return fmt.Sprintf("%d rows, want %d", len(rows), *j.RowCount)
	}
	lines := make([]string, len(rows))
	for i, r := range rows {
		var b strings.Builder
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(r); err != nil {
			return err.Error()
		}
		lines[i] = b.String()
	}
	slices.Sort(lines)
	if sum := sha256.Sum256([]byte(strings.Join(lines, ""))); hex.EncodeToString(sum[:]) != j.RowsSHA256 {
		return "other rows"
	}
	return ""
}
