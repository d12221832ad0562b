package tools

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
)

// mostNames is how many models the instructions name: a client puts them before every conversation.
const mostNames = 20

// Instructions tell an agent in a few lines how the endpoint of that name works, what of it the token may see, and which
// tools its list has.
func (set *Set) Instructions(endpoint string, token access.Token, view View) string {
	var names, unseen []string // unseen are those whose rows may be changed, but not viewed
	changes := false
	for _, m := range set.catalog.Models() {
		scope := token.Reach(m)
		if !m.Served() || !mayReadOrWrite(scope) {
			continue
		}
		writes := slices.ContainsFunc(operations, func(op *operation) bool {
			return op.Writes() && op.offeredFor(set.catalog, m) && op.usable(set.catalog, scope)
		})
		changes = changes || writes
		switch {
		case scope.Has(access.View):
			names = append(names, m.Name)
		case writes:
			unseen = append(unseen, m.Name)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s gives you the models (tables) of a database as tools.", endpoint)
	if len(names) == 0 {
		b.WriteString(" There is no model that you may view now; find_models tells when that changes.")
	}
	b.WriteString(someNames("view", names))
	b.WriteString(someNames("change, but not view", unseen))
	list, aggregate := "list_<model>", "aggregate_<model>"
	if set.isGeneric(token, view) {
		list, aggregate = "list", "aggregate"
		b.WriteString("\nThe tools take the model's name as their argument model. Start with find_models, then describe for fields, relationships and what create and update take.")
	} else {
		b.WriteString("\nStart with find_models, then describe_<model> for fields and relationships. Every tool can also be called without the model in its name, and the model as its argument: list {\"model\": …}.")
	}
	fmt.Fprintf(&b, ` %s filters with {"field__lookup": value}, such as {"name__icontains": "text"}, and pages with next_cursor; ask only for the fields that you need.`, list)
	b.WriteString(" A field may be a path, relation__field; _any, _all and _not join conditions, and relation__any, relation__none and relation__count ask of related rows.")
	fmt.Fprintf(&b, " Compute with %s (count, sum, avg, min, max, by group), not from lists.", aggregate)
	if changes {
		b.WriteString("\nBefore you change anything, look at the rows, and try it with dry_run where a tool has it; crud_guide and bulk_operations_guide say how. An answer with requires_confirmation has changed nothing: ask your user first.")
		b.WriteString(" What belongs together, do in one call of transact: all of its steps happen, or none.")
	} else {
		b.WriteString("\nYou may only read.")
	}
	b.WriteString("\n" + dataNotInstructions)
	return b.String()
}

// someNames says which models the token may use in some way; it is empty if there are none.
func someNames(how string, names []string) string {
	switch {
	case len(names) == 0:
		return ""
	case len(names) <= mostNames:
		return fmt.Sprintf(" You may %s: %s.", how, strings.Join(names, ", "))
	}
	return fmt.Sprintf(" You may %s %d models, among them %s.", how, len(names), strings.Join(names[:mostNames], ", "))
}
