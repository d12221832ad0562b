package admin

import (
	"fmt"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
)

// The definitions of the tools that run actions. They name no action: which ones there are depends on the token.

func defineActions(m *catalog.Model) definition {
	return definition{
		Name:        "actions_" + m.Name,
		Description: fmt.Sprintf("The actions that you may run on %s, and the parameters of each.", m.VerboseNamePlural),
		InputSchema: closed(map[string]schema{}),
		Annotations: reads,
	}
}

func defineAction(m *catalog.Model) definition {
	id := idSchema(m)
	return definition{
		Name: "action_" + m.Name,
		Description: fmt.Sprintf("Run one of the actions of actions_%s on some %s. One that needs confirmation answers requires_confirmation and a page, and changes nothing; call again with confirm: true.",
			m.Name, m.VerboseNamePlural),
		InputSchema: closed(map[string]schema{
			"action":             {Type: "string", Description: "its name"},
			"ids":                {Type: "array", Items: &id, Description: fmt.Sprintf("ids of the rows, at most %d, each once", m.MaxBulkItems)},
			"confirm":            {Type: "boolean", Description: "run it though it asks first"},
			"confirmation_data":  {Type: "object", Description: "the action's parameters, by name"},
			"confirmation_token": {Type: "string", Description: "that of the page, so that only what it showed is done"},
		}, "action", "ids"),
		Annotations: destroys,
	}
}
