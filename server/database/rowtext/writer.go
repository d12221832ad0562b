package rowtext

import (
	"strconv"
	"unicode/utf8"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

// maxScratch is the most bytes of scratch memory that a Writer keeps for later.
const maxScratch = 64 << 10

// Writer writes the rows of one plan after the other. Its zero value is ready for Prepare; one goroutine uses it at a
// time. Once it has seen a plan's names and longest values, it allocates nothing but dst's growth.
type Writer[V any] struct {
	engine    Engine[V]
	outputs   []database.Output
	maxValue  int
	form      database.RowForm
	members   jsontext.Names
	shortened bool
	// scratch is the memory for the text of one value.
	scratch []byte
}

// Prepare makes the writer ready for the rows of a plan, which it writes in a form. Of a value of more than maxValue
// bytes it shows only the beginning; 0 is no bound. It reads outputs until Reset.
func (w *Writer[V]) Prepare(e Engine[V], outputs []database.Output, maxValue int, form database.RowForm) {
	w.engine, w.outputs, w.maxValue, w.form, w.shortened = e, outputs, maxValue, form, false
	w.members.Reset()
	if form == database.RowObjects {
		for i := range outputs {
			w.members.Add(outputs[i].Name)
		}
	}
}

// Reset forgets the plan. A Writer that is kept for later then holds none of a request's values.
func (w *Writer[V]) Reset() {
	w.engine, w.outputs, w.shortened = nil, nil, false
	if cap(w.scratch) > maxScratch {
		w.scratch = nil
	}
	clear(w.scratch[:cap(w.scratch)])
}

// Shortened reports whether a value was cut since Prepare.
func (w *Writer[V]) Shortened() bool { return w.shortened }

// usualValue is how many bytes most values take at most.
const usualValue = 32

// Append appends one row. The values belong to the outputs' columns, one after the other. It ignores any values after them.
func (w *Writer[V]) Append(dst []byte, values []V) []byte {
	if w.form == database.RowArrays {
		return w.appendArray(dst, values)
	}
	if dst == nil {
		dst = make([]byte, 0, w.members.Size()+usualValue*len(w.outputs)) // rather than grow step by step
	}
	dst = append(dst, '{')
	for i := range w.outputs {
		dst = w.members.Append(dst, i)
		dst, values = w.appendOutput(dst, &w.outputs[i], values)
	}
	return append(dst, '}')
}

func (w *Writer[V]) appendArray(dst []byte, values []V) []byte {
	dst = append(dst, '[')
	for i := range w.outputs {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst, values = w.appendOutput(dst, &w.outputs[i], values)
	}
	return append(dst, ']')
}

// appendOutput appends the value of one output, which the first of the values are about, and returns the other values.
func (w *Writer[V]) appendOutput(dst []byte, output *database.Output, values []V) ([]byte, []V) {
	own := values[:len(output.Columns)]
	switch {
	case isWhole(output):
		dst = w.appendWhole(dst, output.Columns[0], own[0])
	case w.anyNull(own):
		dst = append(dst, "null"...)
	case output.Kept:
		dst = w.appendKept(dst, output.Columns[0], own[0])
	case output.Mask:
		dst = w.appendMasked(dst, output, own)
	case output.Slice != nil:
		dst = append(dst, '"')
		dst = append(jsontext.AppendEscaped(dst, w.plain(output.Columns[0], own[0])), '"')
	default:
		dst = w.appendComposite(dst, output.Columns, own)
	}
	return dst, values[len(own):]
}

// isWhole reports whether an output is the value of one column, and no part of it, as most are.
func isWhole(o *database.Output) bool {
	return !o.Kept && !o.Mask && o.Slice == nil && !o.Composite
}

// appendWhole appends a value, or its beginning if it is too long.
func (w *Writer[V]) appendWhole(dst []byte, c *database.Column, value V) []byte {
	switch {
	case w.engine.IsNull(value):
		return append(dst, "null"...)
	case w.maxValue > 0 && w.engine.Size(c, value) > w.maxValue:
		return w.appendCut(dst, c, value)
	}
	dst = w.engine.AppendJSON(dst, c, value)
	if c.Computed == database.Quotient {
		return trimQuotient(dst)
	}
	return dst
}

// Values returns the values of columns in a form that can be bound again, for Page.Last. They do not refer to the
// driver's memory.
func (w *Writer[V]) Values(columns []database.Ref, values []V) []database.Value {
	bound := make([]database.Value, len(columns))
	for i := range columns {
		if !w.engine.IsNull(values[i]) {
			bound[i] = w.engine.Value(columns[i].Column, values[i])
		}
	}
	return bound
}

// anyNull reports whether the output is null: a key is null if any part of it is.
func (w *Writer[V]) anyNull(values []V) bool {
	for _, value := range values {
		if w.engine.IsNull(value) {
			return true
		}
	}
	return false
}

// appendComposite appends a key of several columns (docs/design/values.md, "Ids"). A key is never cut, because a part
// of it would name no row.
func (w *Writer[V]) appendComposite(dst []byte, columns []*database.Column, values []V) []byte {
	dst = append(dst, '"')
	for i, value := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsontext.AppendPercentEncoded(dst, w.plain(columns[i], value))
	}
	return append(dst, '"')
}

// appendKept appends a value as the engine keeps it. A value that is too long is cut in the row, so nothing is asked of it.
func (w *Writer[V]) appendKept(dst []byte, c *database.Column, value V) []byte {
	keeper, keeps := w.engine.(Keeper[V])
	if !keeps || w.maxValue > 0 && w.engine.Size(c, value) > w.maxValue {
		return append(dst, "null"...)
	}
	return keeper.AppendKept(dst, c, value)
}

// appendMasked appends what a mask leaves of a value (docs/design/values.md, "Masks"), always as a string.
func (w *Writer[V]) appendMasked(dst []byte, output *database.Output, values []V) []byte {
	dst = append(dst, `"****`...)
	if output.KeepLast > 0 && len(values) == 1 {
		plain := w.plain(output.Columns[0], values[0])
		if utf8.RuneCount(plain)-4 >= 2*output.KeepLast {
			dst = jsontext.AppendEscaped(dst, lastRunes(plain, output.KeepLast))
		}
	}
	return append(dst, '"')
}

func lastRunes(text []byte, n int) []byte {
	at := len(text)
	for ; n > 0; n-- {
		_, size := utf8.DecodeLastRune(text[:at])
		at -= size
	}
	return text[at:]
}

// appendCut appends the beginning of a value that is too long, and says how much there is. It is always a string,
// because half a JSON document is not JSON.
func (w *Writer[V]) appendCut(dst []byte, c *database.Column, value V) []byte {
	size := w.engine.Size(c, value)
	plain := w.plain(c, value)
	if len(plain) <= w.maxValue {
		return w.engine.AppendJSON(dst, c, value) // the size was a guess
	}
	w.shortened = true
	end := w.maxValue
	if c.Kind == database.Bytes {
		end -= end % 4 // so that the base64 can be decoded
	}
	for back := 0; back < utf8.UTFMax-1 && end > 0 && !utf8.RuneStart(plain[end]); back++ {
		end--
	}
	dst = append(dst, '"')
	dst = jsontext.AppendEscaped(dst, plain[:end])
	dst = append(dst, "...[cut: "...)
	dst = appendGrouped(dst, size)
	return append(dst, ` bytes in all]"`...)
}

// shownDigits are the digits behind the point that a quotient has at least.
const shownDigits = 6

// trimQuotient removes zeros at the end of a number in quotes, which ends dst.
func trimQuotient(dst []byte) []byte {
	end := len(dst) - 1
	point := end - 1
	for point >= 0 && dst[point] >= '0' && dst[point] <= '9' {
		point--
	}
	if point < 0 || dst[point] != '.' {
		return dst
	}
	for end-point-1 > shownDigits && dst[end-1] == '0' {
		end--
	}
	return append(dst[:end], '"')
}

// plain returns the text of a value; it is good until the next call.
func (w *Writer[V]) plain(c *database.Column, value V) []byte {
	w.scratch = w.engine.AppendPlain(w.scratch[:0], c, value)
	return w.scratch
}

// appendGrouped appends a number that is not negative, its digits in groups of three.
func appendGrouped(dst []byte, n int) []byte {
	from := len(dst)
	dst = strconv.AppendInt(dst, int64(n), 10)
	for at := len(dst) - 3; at > from; at -= 3 {
		dst = append(dst, 0)
		copy(dst[at+1:], dst[at:])
		dst[at] = ','
	}
	return dst
}
