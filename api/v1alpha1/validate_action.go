package v1alpha1

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/mcp-admin/mcp-admin-operator/contract/confirmtext"
	"github.com/mcp-admin/mcp-admin-operator/contract/sqlscan"
)

var identifier = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// deleteSelected is the server's own action.
const deleteSelected = "delete_selected"

// formMembers are what the form of a confirmed action holds beside its parameters.
var formMembers = []string{"action", "apply", "confirm", "ids", "post"}

func (v *validator) actions(path *field.Path, actions []ActionSpec) {
	v.atMost(path, len(actions), 50)
	distinct(v, path, actions, func(a ActionSpec) string { return a.Name })
	for i := range actions {
		v.action(path.Index(i), &actions[i])
	}
}

func (v *validator) action(path *field.Path, a *ActionSpec) {
	v.required(path.Child("name"), a.Name, 40, identifier)
	if a.Name == deleteSelected {
		v.invalid(path.Child("name"), a.Name, "delete_selected is the server's own action")
	}
	v.optional(path.Child("description"), a.Description, 1000, nil)
	notEmpty(v, path.Child("requires"), a.Requires)
	oneOfEach(v, path.Child("requires"), a.Requires, "view", "add", "change", "delete")
	if a.Confirm != nil {
		at := path.Child("confirm", "message")
		v.optional(at, a.Confirm.Message, 1000, nil)
		if err := confirmtext.Check(a.Confirm.Message); err != nil {
			v.invalid(at, a.Confirm.Message, "must be a Go template of text, values, if and with: "+err.Error())
		}
		oneOf(v, path.Child("confirm", "token"), a.Confirm.Token, "", ConfirmationTokenRequired, ConfirmationTokenOptional)
	}
	parameters := v.parameters(path.Child("parameters"), a.Parameters)

	kinds := 0
	for _, is := range []bool{a.Update != nil, a.SQL != nil, a.Webhook != nil, a.Report != nil} {
		if is {
			kinds++
		}
	}
	if kinds != 1 {
		v.invalid(path, a.Name, "exactly one of update, sql, webhook and report must be given")
	}
	if a.Update != nil {
		v.update(path.Child("update"), a.Update, parameters)
	}
	if a.SQL != nil {
		v.sql(path.Child("sql"), a.SQL, parameters)
	}
	if a.Webhook != nil {
		v.webhook(path.Child("webhook"), a.Webhook)
	}
	if a.Report != nil {
		v.report(path, a, parameters)
	}
}

// parameters returns the names that are declared.
func (v *validator) parameters(path *field.Path, parameters []ParameterSpec) []string {
	v.atMost(path, len(parameters), 20)
	distinct(v, path, parameters, func(p ParameterSpec) string { return p.Name })
	var names []string
	for i, p := range parameters {
		at := path.Index(i)
		v.required(at.Child("name"), p.Name, 40, identifier)
		if slices.Contains(formMembers, p.Name) {
			v.invalid(at.Child("name"), p.Name, strings.Join(formMembers[:4], ", ")+" and "+formMembers[4]+" are the form's own")
		}
		oneOf(v, at.Child("type"), p.Type, "String", "Integer", "Decimal", "Boolean", "Date", "DateTime")
		oneOf(v, at.Child("presence"), p.Presence, "", ParameterRequired, ParameterOptional)
		v.optional(at.Child("description"), p.Description, 500, nil)
		v.choices(at.Child("choices"), p.Choices, 100)
		names = append(names, p.Name)
	}
	return names
}

func (v *validator) update(path *field.Path, u *UpdateActionSpec, parameters []string) {
	set := path.Child("set")
	if len(u.Set) == 0 {
		v.add(field.Required(set, "an update sets at least one field"))
	}
	v.atMost(set, len(u.Set), 50)
	distinct(v, set, u.Set, func(a FieldAssignment) string { return a.Field })
	for i, a := range u.Set {
		at := set.Index(i)
		v.required(at.Child("field"), a.Field, 128, nil)
		oneOf(v, at.Child("source"), a.Source, AssignValue, AssignNull, AssignNow, AssignParameter)
		if (a.Value != nil) != (a.Source == AssignValue) {
			v.invalid(at, a.Field, "value belongs to source Value, which needs it")
		}
		if a.Value != nil {
			v.text(at.Child("value"), *a.Value, 0, 1000, nil)
		}
		if (a.Parameter != "") != (a.Source == AssignParameter) {
			v.invalid(at, a.Field, "parameter belongs to source Parameter, which needs it")
		}
		v.optional(at.Child("parameter"), a.Parameter, 40, nil)
		if a.Parameter != "" && !slices.Contains(parameters, a.Parameter) {
			v.invalid(at.Child("parameter"), a.Parameter, "update sets a field to a parameter that parameters does not declare")
		}
	}
	v.rowFilters(path.Child("where"), u.Where)
	for i, f := range u.Where {
		if f.TokenAttribute != "" || slices.ContainsFunc(f.Any, func(one FieldFilter) bool { return one.TokenAttribute != "" }) {
			v.invalid(path.Child("where").Index(i), f.Field, "tokenAttribute belongs to row policies; the rows that a token sees are all that an action selects from")
		}
	}
}

func (v *validator) webhook(path *field.Path, w *WebhookActionSpec) {
	at := path.Child("url")
	v.text(at, w.URL, 8, 1024, nil)
	if !isWebhookURL(w.URL) {
		v.invalid(at, w.URL, "must be an http or https URL with a host, without user or fragment")
	}
	if w.HeadersSecretRef != nil {
		v.required(path.Child("headersSecretRef", "name"), w.HeadersSecretRef.Name, 253, nil)
	}
	if t := w.Timeout; t != nil && (t.Duration < 100*time.Millisecond || t.Duration > time.Minute) {
		v.invalid(path.Child("timeout"), t.Duration.String(), "must be between 100ms and 60s")
	}
}

func isWebhookURL(s string) bool {
	u, err := url.ParseRequestURI(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && !strings.ContainsAny(s, "#@")
}

func (v *validator) sql(path *field.Path, a *SQLActionSpec, parameters []string) {
	if (a.Statement != "") == (len(a.Statements) > 0) {
		v.invalid(path, field.OmitValueType{}, "exactly one of statement and statements must be given")
		return
	}
	v.atMost(path.Child("statements"), len(a.Statements), 20)
	at := func(i int) *field.Path {
		if a.Statement != "" {
			return path.Child("statement")
		}
		return path.Child("statements").Index(i)
	}
	for i, statement := range a.All() {
		v.required(at(i), statement, 10000, nil)
		if statement == "" {
			return
		}
	}
	if _, i, err := sqlscan.ScanAll(a.All(), parameters); err != nil {
		v.invalid(at(i), field.OmitValueType{}, err.Error())
	}
}
