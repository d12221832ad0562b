package audit

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

// members are the members of a JSON object that is being written, in the form that log/slog gives its lines.
type members struct{ json []byte }

// Write appends bytes as they are. It implements io.Writer.
func (m *members) Write(p []byte) (int, error) {
	m.json = append(m.json, p...)
	return len(p), nil
}

// begin begins the object of a line, with the time.
func (m *members) begin(at time.Time) {
	m.json = append(at.AppendFormat(append(m.json, `{"time":"`...), time.RFC3339Nano), `","level":"INFO","msg":"audit"`...)
}

// end ends the object, and the line.
func (m *members) end() { m.json = append(m.json, "}\n"...) }

// name appends the name of the next member, which is never the first, and needs no escapes.
func (m *members) name(name string) {
	m.json = append(append(append(m.json, `,"`...), name...), `":`...)
}

// text adds a text as it is.
func (m *members) text(name, text string) {
	m.name(name)
	m.json = appendString(m.json, text)
}

// given adds a text that a caller chose, unless it is empty.
func (m *members) given(name, text string) {
	if text != "" {
		m.text(name, cut(text))
	}
}

// texts adds a list of texts, each cut.
func (m *members) texts(name string, texts []string) {
	m.name(name)
	m.json = append(m.json, '[')
	for i, text := range texts[:min(len(texts), MaxIDs)] {
		if i > 0 {
			m.json = append(m.json, ',')
		}
		m.json = appendString(m.json, cut(text))
	}
	m.json = append(m.json, ']')
}

func (m *members) number(name string, n int) {
	m.name(name)
	m.json = strconv.AppendInt(m.json, int64(n), 10)
}

func (m *members) flag(name string, set bool) {
	m.name(name)
	m.json = strconv.AppendBool(m.json, set)
}

func (m *members) seconds(name string, took time.Duration) {
	m.name(name)
	number, _ := json.Marshal(took.Seconds()) // it is finite: it cannot fail
	m.json = append(m.json, number...)
}

// appendString appends a JSON string. Some readers of lines take U+2028 and U+2029 for their ends, so these are escaped.
func appendString(dst []byte, text string) []byte {
	begin := len(dst)
	dst = jsontext.AppendString(dst, text)
	if strings.IndexByte(text, "\u2028"[0]) < 0 {
		return dst
	}
	escaped := bytes.ReplaceAll(dst[begin:], []byte("\u2028"), []byte(`\u2028`))
	return append(dst[:begin], bytes.ReplaceAll(escaped, []byte("\u2029"), []byte(`\u2029`))...)
}
