package tools

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/approval"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/steps"
)

// mostNames is how many models the instructions name: a client puts them before every conversation.
const mostNames = 20

func (set *Set) instructions(endpoint string, token access.Token, view View) string {
	var names, unseen []string // unseen are those whose rows may be changed, but not viewed
	var listed call.OperationSet
	changes, masks := false, false
	for _, m := range set.catalog.Models() {
		if !set.lists(view, m) {
			continue
		}
		scope := token.Reach(m)
		writes := false
		for _, op := range call.Operations {
			if op.IsOfferedTo(set.catalog, scope) {
				listed |= op.Bit
				writes = writes || op.Writes()
			}
		}
		changes = changes || writes
		switch {
		case scope.Has(access.View):
			names = append(names, m.Name)
			masks = masks || slices.ContainsFunc(scope.Fields(), func(f *catalog.Field) bool { return f.Masked })
		case writes:
			unseen = append(unseen, m.Name)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s gives you the models (tables) of a database as tools.", endpoint)
	if why := set.Unready(); why != "" {
		fmt.Fprintf(&b, " But %s.", why)
	} else if len(names) == 0 {
		b.WriteString(" There is no model that you may view now.")
	}
	b.WriteString(someNames("view", names))
	b.WriteString(someNames("change, but not view", unseen))
	b.WriteString(set.unknownOf(token, view))
	set.howToRead(&b, call.Naming{Generic: set.isGeneric(token, view)}, listed)
	switch {
	case changes:
		set.howToChange(&b, token, view)
	case listed != 0:
		b.WriteString("\nYou may only read.")
	}
	b.WriteString("\n" + dataNotInstructions)
	if masks {
		b.WriteString(" **** is a value that is masked for you.")
	}
	return b.String()
}

// unknownOf names the models of a URL that the token's list does not have; it is empty if there are none.
func (set *Set) unknownOf(token access.Token, view View) string {
	var unknown []string
	for name := range view.Models {
		if m := set.catalog.Model(name); m == nil || !set.lists(view, m) || !call.MayReadOrWrite(token.Reach(m)) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return ""
	}
	slices.Sort(unknown)
	return fmt.Sprintf(" The parameter models of the URL names %s, of which there are no tools for you.", lookup.Excerpt([]byte(strings.Join(unknown, ", "))))
}

// howToRead says how to find models and to ask of their rows, with the tools that are listed.
func (set *Set) howToRead(b *strings.Builder, n call.Naming, listed call.OperationSet) {
	if listed == 0 {
		return
	}
	b.WriteString("\n")
	if n.Generic {
		b.WriteString("The tools take the model's name as their argument model. ")
	}
	b.WriteString("Start with " + call.FindModels)
	if listed.Has("describe") {
		fmt.Fprintf(b, ", then %s for fields and relationships", n.Any("describe"))
	}
	b.WriteString(".")
	if listed.Has("list") {
		fmt.Fprintf(b, ` %s filters with {"field__lookup": value}, such as {"name__icontains": "text"}, and pages with next_cursor; ask only for the fields that you need.`, n.Any("list"))
	}
	if listed.Has("list", "aggregate") {
		b.WriteString(" A field may be a path, relation__field (to many rows, in filters; relation__count and relation__sum__field anywhere); _any, _all and _not join conditions, and relation__any, relation__none and relation__count ask of related rows.")
	}
	if listed.Has("aggregate") {
		fmt.Fprintf(b, " Compute with %s (count, sum, avg, min, max, by group), not from lists.", n.Any("aggregate"))
	}
}

// howToChange says how to change rows with care.
func (set *Set) howToChange(b *strings.Builder, token access.Token, view View) {
	b.WriteString("\nBefore you change anything, look at the rows, and try it with dry_run where a tool has it; ask your user before you delete. An answer with requires_confirmation has changed nothing: ask your user first.")
	if set.listsGlobal(token, view, steps.TransactOperation) {
		fmt.Fprintf(b, " What belongs together, do in one call of %s: all of its steps happen, or none.", steps.TransactName)
	}
	if set.listsGlobal(token, view, approval.Operation) {
		fmt.Fprintf(b, " An answer with approval_required has changed nothing: other people must allow the call. Tell your user, and do not look for another way; call again with the same arguments once it is allowed, which %s tells.", approval.ToolName)
	}
	if set.listsGlobal(token, view, steps.UndoOperation) {
		fmt.Fprintf(b, " %s takes back what you changed.", steps.UndoOperation.Name)
	}
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
