package write

import (
	"encoding/json"

	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// text is the answer as encoding/json writes it, in the room.
func (a *created) text(room *call.Room) ([]byte, error) {
	out := append(room.Begin(0), `{"success":true,"id":`...)
	if a.ID == nil {
		out = append(out, null...)
	} else {
		out = jsontext.AppendMarshaled(out, a.ID)
	}
	out = appendObject(out, a.Object)
	if a.Inlines != nil {
		inlines, err := json.Marshal(a.Inlines)
		if err != nil {
			return nil, err
		}
		out = append(append(out, `,"inlines":`...), inlines...)
	}
	return room.Holds(appendEnd(out, a.DryRun, a.Call, a.Notice)), nil
}

// text is the answer as encoding/json writes it, in the room.
func (a *updated) text(room *call.Room) ([]byte, error) {
	out := appendObject(append(room.Begin(0), `{"success":true`...), a.Object)
	inlines := []byte(null)
	if a.Inlines != nil {
		var err error
		if inlines, err = json.Marshal(a.Inlines); err != nil {
			return nil, err
		}
	}
	out = append(append(out, `,"inlines":`...), inlines...)
	return room.Holds(appendEnd(out, a.DryRun, a.Call, a.Notice)), nil
}

func appendObject(out []byte, object json.RawMessage) []byte {
	if len(object) == 0 {
		return out
	}
	return jsontext.AppendMarshaled(append(out, `,"object":`...), object)
}

// appendEnd appends the members that end each answer.
func appendEnd(out []byte, dryRun bool, id, notice string) []byte {
	if dryRun {
		out = append(out, `,"dry_run":true`...)
	}
	if id != "" {
		out = call.AppendJSON(append(out, `,"call":`...), id)
	}
	if notice != "" {
		out = call.AppendJSON(append(out, `,"notice":`...), notice)
	}
	return append(out, '}')
}
