package action

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

var _ = call.WithArguments("actions", call.Operation{
	Many: true,
	Description: func(m *catalog.Model) string {
		return fmt.Sprintf("Actions on %s.", call.PluralOf(m))
	},
	OutputSchema: func(*catalog.Model) call.Schema { return call.PayloadSchema[ActionList]() },
	Advice:       "the actions and reports that you may run, and what each needs",
}, actions)

// ActionList is actions_'s payload.
type ActionList struct {
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
	Choices     []Choice `json:"choices,omitempty"`
}

// actions answers which actions the token may run on the model.
func actions(c *call.Call, _ *call.NoArguments) ([]byte, error) {
	list := ActionList{Model: c.Scope.Model().Name, Actions: []actionInfo{}}
	for _, a := range call.ActionsOf(c.Catalog, c.Scope) {
		list.Actions = append(list.Actions, describeAction(a))
	}
	for _, r := range c.Scope.Reports() {
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
			about.Choices = append(about.Choices, Choice{Value: c.Value, Label: label})
		}
		all = append(all, about)
	}
	return all
}

// Choice is one of a field's or a parameter's choices.
type Choice struct {
	Value string `json:"value"`
	Label string `json:"label"`
}
