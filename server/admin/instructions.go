package admin

import (
	"fmt"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
)

// mostNames is how many models the instructions name: a client puts them before every conversation.
const mostNames = 20

// Instructions tell an agent in a few lines how the endpoint of that name works, and what of it the token may see.
func (a *Admin) Instructions(endpoint string, token *access.Token) string {
	var names []string
	changes := false
	seen := map[*operation]bool{} // what an operation may do is the same for every model, and its definition is costly
	for _, scope := range a.viewable(token) {
		m := scope.Model()
		names = append(names, m.Name)
		for _, op := range offered(token, m) {
			if !seen[op] {
				seen[op] = true
				changes = changes || !op.define(m).Annotations.ReadOnlyHint
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s gives you the models (tables) of a database as tools.", endpoint)
	switch {
	case len(names) == 0:
		b.WriteString(" There is no model that you may view now; find_models tells when that changes.")
	case len(names) <= mostNames:
		fmt.Fprintf(&b, " You may view: %s.", strings.Join(names, ", "))
	default:
		fmt.Fprintf(&b, " You may view %d models, among them %s.", len(names), strings.Join(names[:mostNames], ", "))
	}
	b.WriteString("\nStart with find_models, then describe_<model> for fields and relationships.")
	b.WriteString(` list_<model> filters with {"field__lookup": value}, such as {"name__icontains": "text"}, and pages with limit and offset; ask only for the fields that you need.`)
	if !changes {
		b.WriteString("\nYou may only read.")
	}
	b.WriteString("\n" + dataNotInstructions)
	return b.String()
}
