package compile

import (
	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// reportEntries are the entries of an exposure's reports.
func reportEntries(actions []v1alpha1.ActionSpec) []contract.Report {
	var all []contract.Report
	for i := range actions {
		a := &actions[i]
		if a.Report == nil {
			continue
		}
		all = append(all, contract.Report{
			Name: a.Name, Description: a.Description, Parameters: parameterEntries(a.Parameters), Statement: a.Report.Statement,
			IgnoresPolicies: a.Report.Policies == v1alpha1.ReportPoliciesIgnored,
		})
	}
	return all
}

func parameterEntries(parameters []v1alpha1.ParameterSpec) []contract.Parameter {
	var all []contract.Parameter
	for _, p := range parameters {
		all = append(all, contract.Parameter{
			Name: p.Name, Type: string(p.Type), Required: p.Presence == v1alpha1.ParameterRequired,
			Description: p.Description, Choices: choiceEntries(p.Choices),
		})
	}
	return all
}

// sessionSettings are the settings that each transaction of a caller makes in the database.
func sessionSettings(settings []v1alpha1.SessionSetting) []contract.SessionSetting {
	var all []contract.SessionSetting
	for _, s := range settings {
		all = append(all, contract.SessionSetting{Name: s.Name, Source: string(s.Source), Attribute: s.Attribute})
	}
	return all
}
