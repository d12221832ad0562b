package audit

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"
)

// ocsfVersion is the version of the schema that events follow (schema.ocsf.io): its class Datastore Activity, with the profile for AI
// operations.
const ocsfVersion = "1.8.0"

// event is an event of the class Datastore Activity. The members are those of the schema, in its order of groups; what it has no
// place for is in Unmapped, under the names that our own lines have.
type event struct {
	ActivityID   int    `json:"activity_id"`
	ActivityName string `json:"activity_name"`
	CategoryUID  int    `json:"category_uid"`
	CategoryName string `json:"category_name"`
	ClassUID     int    `json:"class_uid"`
	ClassName    string `json:"class_name"`
	TypeUID      int    `json:"type_uid"`
	SeverityID   int    `json:"severity_id"`
	Severity     string `json:"severity"`
	// Time is in milliseconds since 1970.
	Time       int64  `json:"time"`
	Message    string `json:"message"`
	StatusID   int    `json:"status_id"`
	Status     string `json:"status"`
	StatusCode string `json:"status_code"`

	Actor    ocsfActor    `json:"actor"`
	Source   ocsfPeer     `json:"src_endpoint"`
	Server   ocsfPeer     `json:"dst_endpoint"`
	Database ocsfDatabase `json:"database"`
	Table    *ocsfEntity  `json:"table,omitempty"`
	TypeID   int          `json:"type_id"`
	Type     string       `json:"type"`
	Query    *ocsfQuery   `json:"query_info,omitempty"`

	Context  ocsfContext    `json:"message_context"`
	Metadata ocsfMetadata   `json:"metadata"`
	Unmapped map[string]any `json:"unmapped"`
}

// The objects of an event.
type (
	ocsfActor struct {
		User ocsfUser `json:"user"`
		App  string   `json:"app_name,omitempty"`
	}
	ocsfUser struct {
		// Name is who called: the subject of what an issuer issued, else the token's name; UID is the token's name.
		Name   string `json:"name"`
		UID    string `json:"uid"`
		TypeID int    `json:"type_id"`
		Type   string `json:"type"`
	}
	ocsfPeer struct {
		Name    string `json:"name,omitempty"`
		IP      string `json:"ip,omitempty"`
		Service string `json:"svc_name,omitempty"`
	}
	ocsfDatabase struct {
		Name   string `json:"name"`
		TypeID int    `json:"type_id"`
		Type   string `json:"type"`
	}
	ocsfEntity struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	}
	ocsfQuery struct {
		Name  string `json:"name"`
		Query string `json:"query_string"`
		Bytes int    `json:"bytes"`
	}
	ocsfContext struct {
		Role        int         `json:"ai_role_id"`
		RoleName    string      `json:"ai_role"`
		UID         string      `json:"uid,omitempty"`
		Name        string      `json:"name,omitempty"`
		Application *ocsfEntity `json:"application,omitempty"`
		Service     ocsfEntity  `json:"service"`
	}
	ocsfMetadata struct {
		Version  string      `json:"version"`
		Product  ocsfProduct `json:"product"`
		Profiles []string    `json:"profiles"`
		// Code is the tool, Correlation the id that all lines of a call have.
		Code        string `json:"event_code"`
		Correlation string `json:"correlation_uid,omitempty"`
		LogName     string `json:"log_name"`
	}
	ocsfProduct struct {
		Name    string `json:"name"`
		Vendor  string `json:"vendor_name"`
		Version string `json:"version,omitempty"`
	}
)

// The numbers of the schema.
const (
	ocsfApplicationActivity = 6
	ocsfDatastoreActivity   = 6005

	ocsfInformational = 1
	ocsfMedium        = 3

	ocsfSuccess = 1
	ocsfFailure = 2
	ocsfOther   = 99

	ocsfServiceUser = 4
	ocsfRelational  = 1
	ocsfTable       = 3
	ocsfToolRole    = 3
)

// ocsfActivities are the activities of the class: what operations do to a datastore, in the schema's terms.
var ocsfActivities = map[string]int{"Read": 1, "Update": 2, "Query": 4, "Write": 5, "Create": 6, "Delete": 7, "Other": ocsfOther}

// activityOf is the activity of an operation. An action or several steps may change anything, and are a Write; find_models touches no
// table, and is something else.
func activityOf(operation string) string {
	operation = strings.TrimPrefix(operation, "export:")
	switch operation {
	case "get", "related", "history", "describe":
		return "Read"
	case "list", "aggregate", "autocomplete", "report":
		return "Query"
	case "create":
		return "Create"
	case "update":
		return "Update"
	case "delete":
		return "Delete"
	case "bulk", "transact", "undo", "action":
		return "Write"
	}
	if strings.HasPrefix(operation, "action:") {
		return "Write"
	}
	return "Other"
}

// newEvent is an event without what its line tells. Of a caller nobody knows where it is if from is nil.
func newEvent(at time.Time, l *Log, settings *Settings, from *Caller) *event {
	e := &event{
		CategoryUID: ocsfApplicationActivity, CategoryName: "Application Activity", ClassUID: ocsfDatastoreActivity, ClassName: "Datastore Activity",
		Time: at.UnixMilli(), TypeID: ocsfTable, Type: "Table",
		Source:   ocsfPeer{Name: "unknown"},
		Server:   ocsfPeer{Name: l.Pod, Service: settings.Endpoint},
		Database: ocsfDatabase{Name: settings.Endpoint, TypeID: ocsfRelational, Type: "Relational"},
		Context:  ocsfContext{Role: ocsfToolRole, RoleName: "Tool", Service: ocsfEntity{Name: settings.Endpoint, Version: l.Version}},
		Metadata: ocsfMetadata{
			Version: ocsfVersion, Product: ocsfProduct{Name: "mcp-admin-server", Vendor: "mcp-admin", Version: l.Version},
			Profiles: []string{"ai_operation"}, LogName: "audit",
		},
		Unmapped: map[string]any{},
	}
	if from != nil {
		if from.Address != "" {
			e.Source = ocsfPeer{IP: cut(from.Address)}
		}
		e.Actor.App, e.Context.Name, e.Context.UID = cut(from.Client), cut(from.Request), from.Trace
		if from.Client != "" {
			e.Context.Application = &ocsfEntity{Name: cut(from.Client)}
		}
	}
	return e
}

// called fills in what all lines tell of a call.
func (e *event) called(token, subject, tool, model, operation, call, outcome string) {
	e.ActivityName = activityOf(operation)
	e.ActivityID = ocsfActivities[e.ActivityName]
	e.TypeUID = ocsfDatastoreActivity*100 + e.ActivityID
	e.Actor.User = ocsfUser{Name: cut(cmp.Or(subject, token, "unknown")), UID: cmp.Or(token, "unknown"), TypeID: ocsfServiceUser, Type: "Service"}
	if model != "" {
		e.Table = &ocsfEntity{Name: cut(model)}
	}
	e.Metadata.Code, e.Metadata.Correlation, e.StatusCode = cut(tool), call, outcome
	e.Unmapped["operation"] = cut(operation)
	e.SeverityID, e.Severity = ocsfInformational, "Informational"
	switch outcome {
	case "ok":
		e.StatusID, e.Status = ocsfSuccess, "Success"
	case "intent": // nobody knows yet
		e.StatusID, e.Status = ocsfOther, "Intent"
	default:
		e.StatusID, e.Status = ocsfFailure, "Failure"
		if outcome == "permission_denied" || outcome == "token_refused" {
			e.SeverityID, e.Severity = ocsfMedium, "Medium"
		}
	}
	e.Message = cut(tool) + ": " + outcome
}

// describe implements entry.
func (r *Record) describe(e *event) {
	e.called(r.Token, r.Subject, r.Tool, r.Model, r.Operation, r.Call, r.Outcome)
	e.Unmapped["ids"], e.Unmapped["fields"], e.Unmapped["changed"], e.Unmapped["dry_run"] = cutAll(r.IDs), cutAll(r.Fields), r.Changed, r.DryRun
	if r.Rows != nil {
		e.Unmapped["rows"] = *r.Rows
	}
}

// describe implements entry.
func (r *Read) describe(e *event) {
	e.called(r.Token, r.Subject, r.Tool, r.Model, r.Operation, r.Call, r.Outcome)
	e.Query = &ocsfQuery{Name: cut(r.Tool), Query: r.Question, Bytes: r.Bytes}
	e.Unmapped["fields"], e.Unmapped["rows"], e.Unmapped["seconds"] = cutAll(r.Fields), r.Rows, r.Took.Seconds()
	if r.IDs != nil {
		e.Unmapped["ids"] = cutAll(r.IDs)
	}
}

// writeEvent writes an event as one line.
func (l *Log) writeEvent(e *event, told entry) error {
	told.describe(e)
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	_, err = l.to.Write(append(line, '\n'))
	return err
}
