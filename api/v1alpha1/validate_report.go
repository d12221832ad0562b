package v1alpha1

import (
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/mcp-admin/mcp-admin-operator/contract/sqlscan"
)

var settingName = regexp.MustCompile(`^[a-z_][a-z0-9_]*[.][a-z_][a-z0-9_]*$`)

// report checks an action that answers a question.
func (v *validator) report(path *field.Path, a *ActionSpec, parameters []string) {
	if len(a.Requires) > 0 || a.Confirm != nil {
		v.invalid(path, a.Name, "a report has neither requires nor confirm: it changes nothing, and runs only if a rule names it")
	}
	if slices.ContainsFunc(parameters, sqlscan.IsCaller) {
		v.invalid(path.Child("parameters"), a.Name, "in a report, token, groups and names that begin with attribute_ stand for the caller")
	}
	at := path.Child("report", "statement")
	v.required(at, a.Report.Statement, 10000, nil)
	if a.Report.Statement != "" {
		if _, err := sqlscan.ScanQuery(a.Report.Statement, parameters); err != nil {
			v.invalid(at, field.OmitValueType{}, err.Error())
		}
	}
	oneOf(v, path.Child("report", "policies"), a.Report.Policies, "", ReportPoliciesIgnored)
}

// reportPolicies refuses a report that does not say that it passes by the exposure's row policies.
func (v *validator) reportPolicies(path *field.Path, spec *MCPModelExposureSpec) {
	if len(spec.RowPolicies) == 0 {
		return
	}
	for i := range spec.Actions {
		if r := spec.Actions[i].Report; r != nil && r.Policies == "" {
			v.add(field.Required(path.Index(i).Child("report", "policies"), "no row policy stands in a report: where the exposure has rowPolicies, the report must say policies: Ignored"))
		}
	}
}

// sessionSettings checks those of a database.
func (v *validator) sessionSettings(path *field.Path, d *DatabaseSpec) {
	at := path.Child("sessionSettings")
	if len(d.SessionSettings) > 0 && (d.SQLite != nil || d.Engine == EngineMySQL) {
		v.invalid(at, "", "sessionSettings belong to PostgreSQL")
	}
	v.atMost(at, len(d.SessionSettings), 20)
	distinct(v, at, d.SessionSettings, func(s SessionSetting) string { return s.Name })
	for i, s := range d.SessionSettings {
		v.text(at.Index(i).Child("name"), s.Name, 3, 63, settingName)
		oneOf(v, at.Index(i).Child("source"), s.Source, SessionToken, SessionGroups, SessionAttribute)
		v.optional(at.Index(i).Child("attribute"), s.Attribute, 63, nil)
		if (s.Attribute != "") != (s.Source == SessionAttribute) {
			v.invalid(at.Index(i), s.Name, "attribute belongs to source Attribute, which needs it")
		}
	}
}
