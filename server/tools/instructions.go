package tools

import (
	"fmt"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
)

// mostNames is how many models the instructions name: a client puts them before every conversation.
const mostNames = 20

// Instructions tell an agent in a few lines how the endpoint of that name works, and what of it the token may see.
func (set *Set) Instructions(endpoint string, token *access.Token) string {
	var names []string
	changes := false
	for _, scope := range set.viewable(token) {
		m := scope.Model()
		names = append(names, m.Name)
		for _, op := range offeredTo(set.catalog, token, m) {
			changes = changes || op.writes()
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
	b.WriteString(` list_<model> filters with {"field__lookup": value}, such as {"name__icontains": "text"}, and pages with next_cursor; ask only for the fields that you need.`)
	if changes {
		b.WriteString("\nBefore you change anything, look at the rows, and try it with dry_run where a tool has it; crud_guide and bulk_operations_guide say how. An answer with requires_confirmation has changed nothing: ask your user first.")
	} else {
		b.WriteString("\nYou may only read.")
	}
	b.WriteString("\n" + dataNotInstructions)
	return b.String()
}
