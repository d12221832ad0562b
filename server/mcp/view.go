package mcp

import (
	"net/url"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/excerpt"
	"github.com/mcp-admin/mcp-admin-operator/server/tools"
)

// The parameters of the endpoint's URL. Others mean nothing here, and are ignored.
const (
	styleParameter  = "tools"
	modelsParameter = "models"
)

// styles are the values of the parameter tools.
var styles = map[string]string{"per-model": contract.StylePerModel, "generic": contract.StyleGeneric}

// viewOf reads what a URL's query asks the lists to show. A problem refuses the request; "" is none.
func viewOf(query string) (view tools.View, problem string) {
	if query == "" {
		return view, ""
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return view, "The URL's query cannot be read: percent-encode what is not a letter or a digit"
	}
	if given, ok := values[styleParameter]; ok {
		if view.Style = styles[given[0]]; view.Style == "" || len(given) > 1 {
			return view, "tools in the URL must be per-model or generic, not " + excerpt.Of(strings.Join(given, ", "), 100)
		}
	}
	if given, ok := values[modelsParameter]; ok {
		view.Models = map[string]bool{}
		for name := range strings.SplitSeq(strings.Join(given, ","), ",") {
			if name = strings.TrimSpace(name); name != "" {
				view.Models[name] = true
			}
		}
		if len(view.Models) == 0 {
			return view, "models in the URL names no model: name some, as in models=book,author, or leave it out"
		}
	}
	return view, ""
}
