package mcp

import (
	"bytes"

	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

// isString, isObject and isInteger report the type of a raw value that was scanned.
func isString(raw []byte) bool { return len(raw) > 0 && raw[0] == '"' }
func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }

func isInteger(raw []byte) bool {
	raw = bytes.TrimPrefix(raw, []byte("-"))
	for _, c := range raw {
		if !isDigit(c) {
			return false
		}
	}
	return len(raw) > 0
}

// stringValue returns the text of a raw string that was scanned.
func stringValue(raw []byte) string {
	text, _ := jsontext.ReadString(raw) // the scanner took it: it cannot fail
	return text
}

func isHigh(r rune) bool { return 0xD800 <= r && r < 0xDC00 }
func isLow(r rune) bool  { return 0xDC00 <= r && r < 0xE000 }
