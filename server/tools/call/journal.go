package call

import "encoding/json"

// FieldChange is the change of one field. A member is absent where there was no row.
type FieldChange struct {
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
	// Stored is Before as the database kept it (see database.ParseKept), if it would store something else for Before.
	Stored json.RawMessage `json:"stored,omitempty"`
}
