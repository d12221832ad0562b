package read

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// The bounds of get_ with include_related (docs/design/tools.md, "Related rows").
const (
	mostRelations   = 10
	mostRelatedRows = 10
)

// relatedReader reads one row together with rows that are related to it. Each model's rows are read through its own scope: its row
// policy, its hidden and masked fields.
type relatedReader struct {
	call   *call.Call
	parent access.Scope
	// plan reads the parent.
	plan *database.Select
	// columns are the parent's columns by which others are related to it, values what its row has in them.
	columns []*database.Column
	values  []database.Value
	groups  []relatedGroup
	// more are the relations and inlines with more rows than were shown, and where the rest is.
	more []string
	// shortened is set if a value of a related row was cut.
	shortened bool
	// end is the size of the answer at which related rows end.
	end int
}

// relatedGroup is a member of get_'s answer with related rows: _inlines or _related.
type relatedGroup struct {
	member string
	parts  []relatedPart
}

// relatedPart is the rows of one relation.
type relatedPart struct {
	name     string
	relation *catalog.Relation
	target   access.Scope
	most     int
	order    []database.Order
}

// rest names the part and says where related_ continues after the shown rows. Inlines are in another order than its.
func (p *relatedPart) rest(shown int) string {
	if p.name != p.relation.Name {
		return fmt.Sprintf("%s (relation %s)", p.name, p.relation.Name)
	}
	return fmt.Sprintf("%s (offset %d)", p.name, shown)
}

// addInlines adds the inline models whose rows the token may see, their rows in the order of their keys.
func (k *relatedReader) addInlines() {
	group := relatedGroup{member: "_inlines"}
	for _, in := range k.parent.Model().Inlines {
		if target, ok := k.call.Token.Rows(in.Model); ok {
			group.parts = append(group.parts, relatedPart{in.Model.Name, in.Relation, target, in.Max, call.KeyOrder(in.Model)})
		}
	}
	k.add(group)
}

// addRelations adds the first relations by name.
func (k *relatedReader) addRelations() {
	group := relatedGroup{member: "_related"}
	for i, r := range k.parent.Relations() {
		if i == mostRelations {
			k.more = append(k.more, r.Name)
			break
		}
		if _, target, ok := k.parent.Follow(r.Name); ok {
			order := planOrder(target)
			group.parts = append(group.parts, relatedPart{r.Name, r, target, mostRelatedRows, order})
		}
	}
	k.add(group)
}

func (k *relatedReader) add(group relatedGroup) {
	k.groups = append(k.groups, group)
	for _, part := range group.parts {
		k.addColumns(part.relation)
	}
}

// addColumns adds what must be read of the parent to find a relation's rows.
func (k *relatedReader) addColumns(r *catalog.Relation) {
	for _, column := range r.Ours {
		if !slices.Contains(k.columns, column) {
			k.columns = append(k.columns, column)
		}
	}
}

// answer returns the parent's row with the groups behind its own members.
func (k *relatedReader) answer() ([]byte, error) {
	k.plan.Cursor = database.Refs(k.columns...)
	out, page, err := k.call.ReadOne(k.call.DB, k.parent, k.plan, nil)
	if err != nil {
		return nil, err
	}
	most := k.call.Settings.MaxResultBytes
	if len(out) > most {
		return nil, tooLarge(&k.call.Request, k.parent.Model())
	}
	k.values, k.end = page.Last, min(len(out)+RowBytes(most), most)
	out = out[:len(out)-1] // the closing brace
	for _, group := range k.groups {
		out = append(append(append(out, `,"`...), group.member...), `":{`...)
		for i, part := range group.parts {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(append(call.AppendJSON(out, part.name), ':'), '[')
			if out, err = k.appendRows(out, part); err != nil {
				return nil, err
			}
			out = append(out, ']')
		}
		out = append(out, '}')
	}
	if notice := k.notice(page.Shortened); notice != "" {
		out = call.AppendJSON(append(out, `,"_notice":`...), notice)
	}
	return append(out, '}'), nil
}

// notice says what is not shown, and how to get it; cut is set if a value of the parent is not whole.
func (k *relatedReader) notice(cut bool) string {
	m := k.parent.Model()
	var notices []string
	if cut {
		notices = append(notices, cutNotice(&k.call.Request, m))
	}
	if len(k.more) > 0 {
		notices = append(notices, "there is more than is shown of "+strings.Join(k.more, ", ")+"; "+k.call.ToolFor("related", m)+" goes on with the rows of a relation")
	}
	if k.shortened {
		notices = append(notices, fmt.Sprintf("values of more than %d bytes in related rows are cut; a related row that is read by itself shows up to %d", call.MaxListValue, call.MaxOneValue))
	}
	return strings.Join(notices, ". ")
}

func (k *relatedReader) appendRows(out []byte, part relatedPart) ([]byte, error) {
	where, any := k.related(part.relation)
	if !any {
		return out, nil
	}
	if len(out) >= k.end { // a Select writes one row at least
		k.more = append(k.more, part.rest(0))
		return out, nil
	}
	plan := &database.Select{From: part.target.Source(), Output: PlanOutput(part.target), Where: where, Order: part.order, Limit: part.most, More: true,
		MaxBytes: k.end, MaxValue: call.MaxListValue}
	out, page, err := k.call.DB.Select(k.call.Ctx, plan, out)
	k.shortened = k.shortened || page.Shortened
	if page.More {
		k.more = append(k.more, part.rest(page.Count))
	}
	return out, err
}

// related is the condition that a row of the relation's target is related to the parent whose values were read; false
// where none can be.
func (k *relatedReader) related(r *catalog.Relation) (database.Condition, bool) {
	var all database.And
	for i, ours := range r.Ours {
		value := k.values[slices.Index(k.columns, ours)]
		if value == nil {
			return nil, false
		}
		if r.Theirs[i].Kind != ours.Kind { // a value of one is none of the other: the database compares the columns
			return database.Exists{From: k.parent.Source(), Ours: r.Theirs, Theirs: r.Ours, Where: k.plan.Where}, true
		}
		all = append(all, database.Compare{Column: r.Theirs[i], Op: database.Equal, Value: value})
	}
	return all, true
}
