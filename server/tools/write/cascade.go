package write

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// The bounds of a deletion, or of a change that the database passes on: the rows that may go or change in all, the bytes of
// them that are read (each costs several while it is worked with), and the rows that one condition names.
const (
	maxDeletion      = 10_000
	maxDeletionBytes = 8 << 20
	deletionChunk    = 500
)

// cascade follows the foreign keys that lead to rows which are to go or to change, at every depth, as the database will when
// they do (docs/design/writes-and-deletes.md, "Deletes").
type cascade struct {
	req  *call.Request
	tx   database.Tx
	root *catalog.Model
	// does says in words what is to become of the rows.
	does cascadeVerb
	// tables are the tables that are concerned, order the same in the order in which they were met.
	tables map[*database.Table]*affected
	order  []*affected
	// total is the number of rows that go or change, bytes the size of the rows that were read.
	total, bytes int
	// obstacles say why the rows cannot go or change.
	obstacles []string
}

// cascadeVerb says what a call does to rows: "deleted" and "deleting".
type cascadeVerb struct{ done, doing string }

var (
	deletingRows = cascadeVerb{"deleted", "deleting"}
	changingRows = cascadeVerb{"changed", "changing"}
)

func newCascade(req *call.Request, tx database.Tx, root *catalog.Model, does cascadeVerb) *cascade {
	return &cascade{req: req, tx: tx, root: root, does: does, tables: map[*database.Table]*affected{}}
}

// wave is rows whose dependents are to be found: rows that go, or rows that change as their next values say.
type wave struct {
	table *database.Table
	rows  []foundRow
	gone  bool
}

// follow finds out what goes along, or changes, with rows of the root. Parents are met, and locked, before their children.
func (f *cascade) follow(rows []foundRow, gone bool) error {
	own := f.affected(f.root.Table, f.root)
	if gone {
		for _, row := range rows {
			own.gone[row.identity] = true
		}
	}
	if err := f.count(len(rows)); err != nil {
		return err
	}
	for queue := []wave{{f.root.Table, rows, gone}}; len(queue) > 0; queue = queue[1:] {
		for _, dependent := range f.req.Catalog.Dependents(queue[0].table) {
			for parents := range chunks(queue[0].rows) {
				next, err := f.meet(dependent, parents, queue[0].gone)
				if err != nil {
					return err
				}
				if len(next.rows) > 0 {
					queue = append(queue, next)
				}
			}
		}
	}
	for _, a := range f.order {
		f.judge(a)
	}
	if len(f.obstacles) > 0 {
		return f.obstructed()
	}
	return nil
}

// obstructed is the error about all obstacles, sorted, and the ones about rows out of sight last: the order in
// which they were met would tell the paths by which rows out of sight depend on the row.
func (f *cascade) obstructed() error {
	unnamed := func(obstacle string) int {
		if strings.HasPrefix(obstacle, otherRecords) {
			return 1
		}
		return 0
	}
	slices.SortFunc(f.obstacles, func(a, b string) int { return cmp.Or(unnamed(a)-unnamed(b), strings.Compare(a, b)) })
	return call.Failf(call.CodeProtected, "%s cannot be %s: %s", f.root.Name, f.does.done, strings.Join(f.obstacles, "; "))
}

// meet finds the rows whose foreign key leads to rows that go or change, and returns the ones that go or change with these
// and were not met before.
func (f *cascade) meet(dependent catalog.Dependent, parents []foundRow, gone bool) (wave, error) {
	key := dependent.Key
	action := key.OnDelete
	if !gone {
		action = key.OnUpdate
		parents = slices.DeleteFunc(slices.Clone(parents), func(row foundRow) bool { return !row.changes(key.ReferencedColumns) })
	}
	if len(parents) == 0 || action == database.Restrict && !gone {
		return wave{}, nil // what a change must not touch, the database itself refuses
	}
	if dependent.Unreadable || !readable(key.ReferencedColumns) || dependent.Hidden && action != database.Restrict {
		if action != database.Restrict { // whether rows depend on it is not known, or not the token's to know
			f.obstruct(otherRecords + " may depend on it")
		}
		return wave{}, nil
	}
	where := pointing(key, parents)
	if where == nil {
		return wave{}, nil
	}
	rows, err := f.find(f.req.Token.Unscoped(dependent.Table), dependent.Model, where)
	if err != nil || len(rows) == 0 {
		return wave{}, err
	}
	if dependent.Withheld {
		f.obstruct(otherRecords + " depend on it")
		return wave{}, nil
	}
	a := f.affected(dependent.Table, dependent.Model)
	if err := f.seeAll(a, where, len(rows)); err != nil {
		return wave{}, err
	}
	switch {
	case dependent.Hidden:
		a.hiding = append(a.hiding, rows...)
		return wave{}, nil
	case action == database.Restrict:
		a.restricting = append(a.restricting, rows...)
		return wave{}, nil
	case action == database.Cascade && gone:
		fresh := a.take(rows)
		return wave{dependent.Table, fresh, true}, f.count(len(fresh))
	}
	before := len(a.changed)
	fresh := a.change(rows, func(row foundRow) map[*database.Column]database.Value { return nextValues(key, action, row, parents) })
	return wave{dependent.Table, fresh, false}, f.count(len(a.changed) - before)
}

// unknownValue is a value that the database computes.
type unknownValue struct{}

// parentOf returns the row that a row's foreign key names; nil if the values alone do not tell.
func parentOf(key *database.ForeignKey, row foundRow, parents []foundRow) *foundRow {
	if len(parents) == 1 {
		return &parents[0]
	}
	for i := range parents {
		same := true
		for n, column := range key.Columns {
			same = same && !differs(column, row.values[column], parents[i].values[key.ReferencedColumns[n]])
		}
		if same {
			return &parents[i]
		}
	}
	return nil
}

// nextValues returns the values that a foreign key's columns get in a row when the parent that it names goes or changes.
func nextValues(key *database.ForeignKey, action database.ReferentialAction, row foundRow, parents []foundRow) map[*database.Column]database.Value {
	next := map[*database.Column]database.Value{}
	for i, column := range key.Columns {
		switch {
		case action == database.SetNull:
			next[column] = nil
		case action == database.Cascade:
			next[column] = unknownValue{}
			if parent := parentOf(key, row, parents); parent != nil {
				next[column] = parent.will(key.ReferencedColumns[i])
			}
		case column.Default != nil:
			next[column] = unknownValue{}
			if value, err := lookup.ParseStoredText(column, *column.Default); err == nil {
				next[column] = value
			}
		case column.HasDefault:
			next[column] = unknownValue{}
		default:
			next[column] = nil
		}
	}
	return next
}

// seeAll sees to it that the token's row policy hides none of the rows of a registered model that are concerned.
func (f *cascade) seeAll(a *affected, where database.Condition, all int) error {
	if a.model == nil || !a.scope.Limited() {
		return nil
	}
	visible, err := f.find(a.scope.Source(), a.model, where)
	if err == nil && len(visible) < all {
		a.unseen = true
		f.obstruct(otherRecords + " depend on it")
	}
	return err
}

// judge finds what the token may not do to the rows of a table, and what keeps the rows from going.
func (f *cascade) judge(a *affected) {
	if restricting := a.staying(a.restricting); len(restricting) > 0 {
		f.object(a, "it is referred to by %s; delete or change "+thatOrThose(len(restricting))+" first", len(restricting))
	}
	if len(a.staying(a.hiding)) > 0 {
		f.obstruct(otherRecords + " depend on it")
	}
	if a.model == nil {
		return
	}
	if len(a.along) > 0 && !a.scope.Has(access.Delete) {
		f.object(a, f.does.doing+" it would delete %s, which you may not", len(a.along))
	}
	if n := len(a.changedOnly()); n > 0 && !a.scope.Has(access.Change) {
		f.object(a, f.does.doing+" it would change %s, which you may not", n)
	}
}

// object adds an obstacle about rows of a table, which is named only where the token may view its model.
func (f *cascade) object(a *affected, format string, n int) {
	if f.nameable(a) {
		f.obstruct(fmt.Sprintf(format, Consequence{What: verboseName(a.model, n), Count: n}))
	} else {
		f.obstruct(otherRecords + " depend on it")
	}
}

func (f *cascade) obstruct(obstacle string) {
	if !slices.Contains(f.obstacles, obstacle) {
		f.obstacles = append(f.obstacles, obstacle)
	}
}

func (f *cascade) nameable(a *affected) bool {
	return a.model != nil && a.scope.Has(access.View) && !a.unseen
}

// consequences returns what goes along, model by model; rows that the token may not view are added up.
func (f *cascade) consequences() []Consequence {
	stays := LosesReference
	if f.does == changingRows {
		stays = FollowsChange
	}
	var named []Consequence
	others := [2]Consequence{{Fate: goesAlong}, {Fate: stays}}
	for _, a := range f.order {
		for i, n := range []int{len(a.along), len(a.changedOnly())} {
			switch {
			case n == 0:
			case f.nameable(a):
				named = append(named, Consequence{verboseName(a.model, n), n, others[i].Fate})
			default:
				others[i].Count += n
			}
		}
	}
	for _, c := range others {
		if c.What = otherRecords; c.Count == 1 {
			c.What = "other record"
		}
		if c.Count > 0 {
			named = append(named, c)
		}
	}
	return named
}

func thatOrThose(n int) string {
	if n == 1 {
		return "that"
	}
	return "those"
}

func verboseName(m *catalog.Model, n int) string {
	if n == 1 {
		return m.Declared.VerboseName
	}
	return m.Declared.VerboseNamePlural
}

// count bounds what one deletion does.
func (f *cascade) count(rows int) error {
	f.total += rows
	switch {
	case f.total <= maxDeletion:
		return nil
	case len(f.obstacles) > 0: // how many there are is not the token's to know
		return f.obstructed()
	}
	return call.Failf(call.CodeProtected, "%s cannot be %s: more than %d rows would go or change; delete or change what depends on it in smaller steps first", f.root.Name, f.does.done, maxDeletion)
}

// tooManyBytes is the error about rows that are larger than maxDeletionBytes.
func (f *cascade) tooManyBytes() error {
	if len(f.obstacles) > 0 { // how large they are is not the token's to know
		return f.obstructed()
	}
	return call.Failf(call.CodeProtected, "%s cannot be %s: the rows that would go or change are too large for one call; delete or change what depends on it in smaller steps first", f.root.Name, f.does.done)
}
