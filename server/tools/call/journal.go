package call

import (
	"encoding/json"

	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

// FieldChange is the change of one field. A member is absent where there was no row.
type FieldChange struct {
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
	// Stored is Before as the database kept it (see database.ParseKept), if it would store something else for Before.
	Stored json.RawMessage `json:"stored,omitempty"`
	// Aside is set if the call itself did not set the field: the database or the server did, and does so again with each change.
	Aside bool `json:"aside,omitempty"`
}

// AppendTo appends the change as encoding/json writes it.
func (c *FieldChange) AppendTo(out []byte) []byte {
	begin := len(out)
	for _, member := range [...]struct {
		name  string
		value json.RawMessage
	}{{`"before":`, c.Before}, {`"after":`, c.After}, {`"stored":`, c.Stored}} {
		if len(member.value) == 0 {
			continue
		}
		if len(out) == begin {
			out = append(out, '{')
		} else {
			out = append(out, ',')
		}
		out = jsontext.AppendMarshaled(append(out, member.name...), member.value)
	}
	if len(out) == begin {
		out = append(out, '{')
	}
	if c.Aside {
		if out[len(out)-1] != '{' {
			out = append(out, ',')
		}
		out = append(out, `"aside":true`...)
	}
	return append(out, '}')
}
