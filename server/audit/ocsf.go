package audit

import (
	"cmp"
	"strings"
	"time"
)

// ocsfVersion is the version of the schema that events follow (schema.ocsf.io): its class Datastore Activity, with the profile for AI
// operations, and its class Authentication.
const ocsfVersion = "1.8.0"

// head has the members that events of both classes have.
type head struct {
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

	Source   ocsfPeer       `json:"src_endpoint"`
	Server   ocsfPeer       `json:"dst_endpoint"`
	Metadata ocsfMetadata   `json:"metadata"`
	Unmapped map[string]any `json:"unmapped"`
}

// event is an event of the class Datastore Activity. The members are those of the schema, in its order of groups; what it has no
// place for is in Unmapped, under the names that our own lines have.
type event struct {
	head

	Actor    ocsfActor    `json:"actor"`
	Database ocsfDatabase `json:"database"`
	Table    *ocsfEntity  `json:"table,omitempty"`
	TypeID   int          `json:"type_id"`
	Type     string       `json:"type"`
	Query    *ocsfQuery   `json:"query_info,omitempty"`

	Context ocsfContext `json:"message_context"`
}

// authentication is an event of the class Authentication: of a caller that was not let in.
type authentication struct {
	head

	// Detail is the reason in the MCPToken's condition.
	Detail  string     `json:"status_detail,omitempty"`
	Actor   *ocsfActor `json:"actor,omitempty"`
	User    ocsfUser   `json:"user"`
	Service ocsfEntity `json:"service"`
}

// The objects of an event.
type (
	ocsfActor struct {
		User *ocsfUser `json:"user,omitempty"`
		App  string    `json:"app_name,omitempty"`
	}
	ocsfUser struct {
		// Name is who called: the subject of what an issuer issued, else the token's name; UID is the token's name.
		Name   string `json:"name"`
		UID    string `json:"uid"`
		TypeID int    `json:"type_id"`
		Type   string `json:"type"`
		// Credential is the public id of a token that was refused.
		Credential string `json:"credential_uid,omitempty"`
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
		Bytes int    `json:"bytes,omitempty"`
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
		Profiles []string    `json:"profiles,omitempty"`
		// Code is the tool, Correlation the id that all lines of a call have.
		Code        string `json:"event_code,omitempty"`
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

	ocsfIdentityAndAccess = 3
	ocsfAuthentication    = 3002
	ocsfLogon             = 1

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

// activityOf is the activity of an operation. An action or several steps may change anything, and are a Write; find_models and approvals touch
// no table, and are something else.
func activityOf(operation string) string {
	operation = strings.TrimPrefix(operation, "export:")
	operation, _, _ = strings.Cut(operation, ":") // action:refund, bulk:update
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
	return "Other"
}

// A moment is when and where a line is written, and about whom; from is nil if nobody knows where the caller is.
type moment struct {
	at       time.Time
	log      *Log
	settings *Settings
	from     *Caller
}

// head is the part of an event that does not depend on what it tells.
func (m *moment) head() head {
	h := head{
		Time: m.at.UnixMilli(), Source: ocsfPeer{Name: "unknown"}, Server: ocsfPeer{Name: m.log.Pod, Service: m.settings.Endpoint},
		Metadata: ocsfMetadata{Version: ocsfVersion, Product: ocsfProduct{Name: "mcp-admin-server", Vendor: "mcp-admin", Version: m.log.Version}, LogName: "audit"},
		Unmapped: map[string]any{},
	}
	if m.from != nil && m.from.Address != "" {
		h.Source = ocsfPeer{IP: cut(m.from.Address)}
	}
	return h
}

// datastoreActivity is an event without what its line tells.
func (m *moment) datastoreActivity() *event {
	e := &event{
		head: m.head(), TypeID: ocsfTable, Type: "Table",
		Database: ocsfDatabase{Name: m.settings.Endpoint, TypeID: ocsfRelational, Type: "Relational"},
		Context:  ocsfContext{Role: ocsfToolRole, RoleName: "Tool", Service: ocsfEntity{Name: m.settings.Endpoint, Version: m.log.Version}},
	}
	e.CategoryUID, e.CategoryName = ocsfApplicationActivity, "Application Activity"
	e.ClassUID, e.ClassName = ocsfDatastoreActivity, "Datastore Activity"
	e.Metadata.Profiles = []string{"ai_operation"}
	if from := m.from; from != nil {
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
	e.Actor.User = new(serviceUser(subject, token))
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
		if denied(outcome) {
			e.SeverityID, e.Severity = ocsfMedium, "Medium"
		}
	}
	e.Message = cut(tool) + ": " + outcome
}

// serviceUser is who called: the subject of what an issuer issued, or the token.
func serviceUser(subject, token string) ocsfUser {
	return ocsfUser{Name: cut(cmp.Or(subject, token, "unknown")), UID: cut(cmp.Or(token, "unknown")), TypeID: ocsfServiceUser, Type: "Service"}
}

// event implements entry.
func (r *Record) event(m *moment) any {
	e := m.datastoreActivity()
	e.called(r.Token, r.Subject, r.Tool, r.Model, r.Operation, r.Call, r.Outcome)
	e.Unmapped["ids"], e.Unmapped["fields"], e.Unmapped["changed"], e.Unmapped["dry_run"] = cutAll(r.IDs), cutAll(r.Fields), r.Changed, r.DryRun
	if r.Undoes != "" {
		e.Unmapped["undoes"] = cut(r.Undoes)
	}
	if r.Approval != "" {
		e.Unmapped["approval"], e.Unmapped["allowed_by"] = r.Approval, cutAll(r.AllowedBy)
	}
	if r.Rows != nil {
		e.Unmapped["rows"] = *r.Rows
	}
	if r.Of != "" {
		e.Unmapped["rows_of"] = cut(r.Of)
	}
	if r.Question != "" {
		e.Query = &ocsfQuery{Name: cut(r.Tool), Query: r.Question}
	}
	return e
}

// event implements entry.
func (r *Read) event(m *moment) any {
	e := m.datastoreActivity()
	e.called(r.Token, r.Subject, r.Tool, r.Model, r.Operation, r.Call, r.Outcome)
	e.Query = &ocsfQuery{Name: cut(r.Tool), Query: r.Question, Bytes: r.Bytes}
	e.Unmapped["fields"], e.Unmapped["rows"], e.Unmapped["seconds"] = cutAll(r.Fields), r.Rows, r.Took.Seconds()
	if r.IDs != nil {
		e.Unmapped["ids"] = cutAll(r.IDs)
	}
	if r.Of != "" {
		e.Unmapped["rows_of"] = cut(r.Of)
	}
	return e
}

// event implements entry.
func (r *Refused) event(m *moment) any {
	e := &authentication{head: m.head(), Detail: r.Condition, User: serviceUser(r.Subject, r.Token), Service: ocsfEntity{Name: m.settings.Endpoint, Version: m.log.Version}}
	e.CategoryUID, e.CategoryName = ocsfIdentityAndAccess, "Identity & Access Management"
	e.ClassUID, e.ClassName = ocsfAuthentication, "Authentication"
	e.ActivityID, e.ActivityName, e.TypeUID = ocsfLogon, "Logon", ocsfAuthentication*100+ocsfLogon
	e.SeverityID, e.Severity = ocsfMedium, "Medium"
	e.StatusID, e.Status, e.StatusCode = ocsfFailure, "Failure", r.Cause
	e.Message = "refused: " + r.Cause
	e.User.Credential = cut(r.PublicID)
	if m.from != nil && m.from.Client != "" {
		e.Actor = &ocsfActor{App: cut(m.from.Client)}
	}
	e.Unmapped["operation"] = OperationAuthenticate
	if r.Issuer != "" {
		e.Unmapped["issuer"] = cut(r.Issuer)
	}
	if r.More > 0 {
		e.Unmapped["more_refused"] = r.More
	}
	return e
}
