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
	Detail     string `json:"status_detail"`
	Actor      struct {
		User ocsfUser
		App  string `json:"app_name"`
	}
	// User is the one of an event about a caller that was not let in.
	User   ocsfUser
	Source struct{ IP string } `json:"src_endpoint"`
	Table  struct{ Name string }
	Query  struct {
		Text  string `json:"query_string"`
		Bytes int
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
		DryRun    bool   `json:"dry_run"`
		RowsOf    string `json:"rows_of"`
		Issuer    string
		More      int `json:"more_refused"`
		Seconds   *float64
	}
}

type ocsfUser struct {
	Name, UID  string
	Credential string `json:"credential_uid"`
}

// The classes of the server's events.
const (
	ocsfAuthentication    = 3002
	ocsfDatastoreActivity = 6005

	// ocsfUnknown is the id of a caller of whom no MCPToken is known.
	ocsfUnknown = "unknown"
)

// readEvent reads a line in the format of OCSF; false if it is none of the server's.
func (r *record) readEvent(text []byte) bool {
	var e ocsfEvent
	if json.Unmarshal(text, &e) != nil || e.Metadata.Product.Name != "mcp-admin-server" {
		return false
	}
	var user ocsfUser
	switch e.Class {
	case ocsfDatastoreActivity:
		user = e.Actor.User
	case ocsfAuthentication:
		user = e.User
	default:
		return false
	}
	*r = record{
		Time: time.UnixMilli(e.Time).UTC(), Token: user.UID, Tool: e.Metadata.Tool, Model: e.Table.Name, Operation: e.Unmapped.Operation,
		IDs: e.Unmapped.IDs, Fields: e.Unmapped.Fields, RowsOf: e.Unmapped.RowsOf, Rows: e.Unmapped.Rows, Changed: e.Unmapped.Changed, DryRun: e.Unmapped.DryRun,
		Outcome: e.StatusCode, Call: e.Metadata.Call, Asked: e.Query.Text, Bytes: e.Query.Bytes, Seconds: e.Unmapped.Seconds, Address: e.Source.IP, Client: e.Actor.App, Request: e.Context.Name, Trace: e.Context.UID,
	}
	if user.Name != user.UID {
		r.Subject = user.Name
	}
	if e.Class == ocsfAuthentication {
		r.Outcome, r.Cause, r.Condition = outcomeRefused, e.StatusCode, e.Detail
		r.TokenID, r.Issuer, r.More = user.Credential, e.Unmapped.Issuer, e.Unmapped.More
		if r.Token == ocsfUnknown {
			r.Token = ""
		}
	}
	return true
}
