package tail

import (
	"encoding/json"
	"time"
)

// ocsfEvent holds the members of an event of OCSF that a record has, too (server/audit).
type ocsfEvent struct {
	Class      int    `json:"class_uid"`
	Time       int64  `json:"time"`
	StatusCode string `json:"status_code"`
	Actor      struct {
		User struct{ Name, UID string }
		App  string `json:"app_name"`
	}
	Source struct{ IP string } `json:"src_endpoint"`
	Table  struct{ Name string }
	Query  struct {
		Text string `json:"query_string"`
	} `json:"query_info"`
	Context struct {
		Name, UID string
	} `json:"message_context"`
	Metadata struct {
		Product struct{ Name string }
		Tool    string `json:"event_code"`
		Call    string `json:"correlation_uid"`
	}
	Unmapped struct {
		Operation string
		IDs       []string
		Fields    []string
		Rows      *int
		Changed   int
		DryRun    bool `json:"dry_run"`
	}
}

// ocsfDatastoreActivity is the class of the server's events.
const ocsfDatastoreActivity = 6005

// readEvent reads a line in the format of OCSF; false if it is none of the server's.
func (r *record) readEvent(text []byte) bool {
	var e ocsfEvent
	if json.Unmarshal(text, &e) != nil || e.Class != ocsfDatastoreActivity || e.Metadata.Product.Name != "mcp-admin-server" {
		return false
	}
	*r = record{
		Time: time.UnixMilli(e.Time), Token: e.Actor.User.UID, Tool: e.Metadata.Tool, Model: e.Table.Name, Operation: e.Unmapped.Operation,
		IDs: e.Unmapped.IDs, Fields: e.Unmapped.Fields, Rows: e.Unmapped.Rows, Changed: e.Unmapped.Changed, DryRun: e.Unmapped.DryRun,
		Outcome: e.StatusCode, Call: e.Metadata.Call, Asked: e.Query.Text, Address: e.Source.IP, Client: e.Actor.App, Request: e.Context.Name, Trace: e.Context.UID,
	}
	if e.Actor.User.Name != e.Actor.User.UID {
		r.Subject = e.Actor.User.Name
	}
	return true
}
