package admin

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// arguments are a tool call's arguments, taken one by one. A null counts as absent.
type arguments map[string]json.RawMessage

// parseArguments reads a JSON object whose members must all be among the tool's.
func parseArguments(raw []byte, known ...string) (arguments, error) {
	args := arguments{}
	if len(raw) == 0 {
		return args, nil
	}
	if err := json.Unmarshal(raw, &args); err != nil {
		return nil, invalid("arguments must be a JSON object")
	}
	for name, value := range args {
		if name == "idempotency_key" {
			return nil, invalid("idempotency_key is reserved and not supported; leave it out")
		}
		if !slices.Contains(known, name) {
			return nil, invalid("unknown argument %q; the arguments are %s", name, strings.Join(known, ", "))
		}
		if isNull(value) {
			delete(args, name)
		}
	}
	return args, nil
}

func isNull(raw json.RawMessage) bool { return bytes.Equal(raw, []byte("null")) }

// count takes a number of rows: an integer that is not negative.
func (a arguments) count(name string, absent int) (int, error) {
	raw, ok := a[name]
	if !ok {
		return absent, nil
	}
	n, err := strconv.Atoi(string(raw))
	if err != nil || n < 0 {
		return 0, invalid("%s must be an integer of at least 0, not %s", name, lookup.Excerpt(raw))
	}
	return n, nil
}

func (a arguments) text(name string) (string, error) {
	raw, ok := a[name]
	if !ok {
		return "", nil
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", invalid("%s must be a string, not %s", name, lookup.Excerpt(raw))
	}
	return s, nil
}

func (a arguments) texts(name string) ([]string, error) {
	raw, ok := a[name]
	if !ok {
		return nil, nil
	}
	var list []*string
	if err := json.Unmarshal(raw, &list); err != nil || slices.Contains(list, nil) {
		return nil, invalid("%s must be an array of strings, not %s", name, lookup.Excerpt(raw))
	}
	texts := make([]string, len(list))
	for i, s := range list {
		texts[i] = *s
	}
	return texts, nil
}

// flag takes a boolean; false where it is absent.
func (a arguments) flag(name string) (bool, error) {
	switch raw := string(a[name]); raw {
	case "", "false":
		return false, nil
	case "true":
		return true, nil
	default:
		return false, invalid("%s must be true or false, not %s", name, lookup.Excerpt(a[name]))
	}
}
