package tools

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
)

var _ = withArguments("actions", operation{
	many: true,
	description: func(m *catalog.Model) string {
		return fmt.Sprintf("Actions on %s.", many(m))
	},
	outputSchema: func(*catalog.Model) schema { return payloadSchema[actionList]() },
	advice:       "the actions and reports that you may run, and what each needs",
}, (*call).actions)

// actionList is actions_'s payload.
type actionList struct {
	Model   string       `json:"model"`
	Count   int          `json:"count"`
	Actions []actionInfo `json:"actions"`
}

// actionInfo describes an action.
type actionInfo struct {
	Name                 string          `json:"name"`
	Description          string          `json:"description"`
	RequiresConfirmation bool            `json:"requires_confirmation"`
	Parameters           []parameterInfo `json:"parameters"`
	// Report is set for a report, which the tool report runs.
	Report bool `json:"report,omitempty"`
}

// parameterInfo describes what an action wants in confirmation_data.
type parameterInfo struct {
	Name        string   `json:"name"`
	Type        string   `json:"type"`
	Required    bool     `json:"required"`
	Description string   `json:"description,omitempty"`
	Choices     []choice `json:"choices,omitempty"`
}

// actions answers which actions the token may run on the model.
func (c *call) actions(*noArguments) ([]byte, error) {
	list := actionList{Model: c.scope.Model().Name, Actions: []actionInfo{}}
	for _, a := range actionsOf(c.catalog, c.scope) {
		list.Actions = append(list.Actions, describeAction(a))
	}
	for _, r := range c.scope.Reports() {
		list.Actions = append(list.Actions, actionInfo{Name: r.Name, Description: r.Description, Parameters: describeParameters(r.Parameters), Report: true})
	}
	list.Count = len(list.Actions)
	return json.Marshal(list)
}

// describeAction describes an action. One of a webhook without a declared confirmation may ask all the same, by its answer.
func describeAction(a *catalog.Action) actionInfo {
	return actionInfo{Name: a.Name, Description: a.Description, RequiresConfirmation: a.Confirm != nil, Parameters: describeParameters(a.Parameters)}
}

func describeParameters(parameters []contract.Parameter) []parameterInfo {
	all := []parameterInfo{}
	for _, p := range parameters {
		about := parameterInfo{Name: p.Name, Type: strings.ToLower(p.Type), Required: p.Required, Description: p.Description}
		for _, c := range p.Choices {
			label := c.Label
			if label == "" {
				label = c.Value
			}
			about.Choices = append(about.Choices, choice{Value: c.Value, Label: label})
		}
		all = append(all, about)
	}
	return all
}

// hasActionsOrReports reports whether the model has anything that the tool actions can tell of.
func hasActionsOrReports(c *catalog.Catalog, m *catalog.Model) bool {
	return hasActions(c, m) || hasReports(c, m)
}
