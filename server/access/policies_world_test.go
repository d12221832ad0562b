package access

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// row is a row in memory: int64, string or nil by the column's name.
type row map[string]database.Value

// world is a database in memory: items that persons own.
type world struct {
	schema       *database.Schema
	item, person *database.Table
	rows         map[*database.Table][]row
}

func newWorld(r *rand.Rand) *world {
	column := func(name string, kind database.Kind) *database.Column {
		return &database.Column{Name: name, Kind: kind, Nullable: name != "id"}
	}
	w := &world{rows: map[*database.Table][]row{}}
	w.person = &database.Table{Name: "person", Columns: []*database.Column{column("id", database.Integer), column("team", database.Text), column("age", database.Integer), column("boss_id", database.Integer)}}
	w.item = &database.Table{Name: "item", Columns: []*database.Column{column("id", database.Integer), column("region", database.Text), column("level", database.Integer), column("owner_id", database.Integer)}}
	w.person.PrimaryKey, w.item.PrimaryKey = w.person.Columns[:1], w.item.Columns[:1]
	w.person.ForeignKeys = []*database.ForeignKey{{Name: "boss", Columns: w.person.Columns[3:], References: w.person, ReferencedColumns: w.person.PrimaryKey}}
	w.item.ForeignKeys = []*database.ForeignKey{{Name: "owner", Columns: w.item.Columns[3:], References: w.person, ReferencedColumns: w.person.PrimaryKey}}
	w.schema = (&database.Schema{Database: "d", Tables: []*database.Table{w.item, w.person}}).GrantAll()
	some := func(values ...database.Value) database.Value { return values[r.IntN(len(values))] }
	for id := range int64(4) {
		w.rows[w.person] = append(w.rows[w.person], row{"id": id, "team": some(nil, "a", "b"), "age": some(nil, int64(1), int64(2)), "boss_id": some(nil, r.Int64N(id+1))})
	}
	for id := range int64(12) {
		w.rows[w.item] = append(w.rows[w.item], row{"id": id, "region": some(nil, "a", "b", "c"), "level": some(nil, int64(0), int64(1), int64(2)), "owner_id": some(nil, r.Int64N(4))})
	}
	return w
}

// meets evaluates a condition as the documentation of package database has it.
func (w *world) meets(c database.Condition, r row) bool {
	switch c := c.(type) {
	case nil:
		return true
	case database.And:
		return !slices.ContainsFunc(c, func(c database.Condition) bool { return !w.meets(c, r) })
	case database.Or:
		return slices.ContainsFunc(c, func(c database.Condition) bool { return w.meets(c, r) })
	case database.Not:
		return !w.meets(c.Condition, r)
	case database.IsNull:
		return r[c.Column.Name] == nil
	case database.Compare:
		value := r[c.Column.Name]
		if value == nil || c.Value == nil {
			return false
		}
		sign := order(value, c.Value)
		return map[database.CompareOp]bool{database.Equal: sign == 0, database.Less: sign < 0, database.LessOrEqual: sign <= 0, database.Greater: sign > 0, database.GreaterOrEqual: sign >= 0}[c.Op]
	case database.In:
		return r[c.Column.Name] != nil && slices.Contains(c.Values, r[c.Column.Name])
	case database.Exists:
		return slices.ContainsFunc(w.rows[c.From.Table()], func(other row) bool {
			for i := range c.Ours {
				if ours := r[c.Ours[i].Name]; ours == nil || ours != other[c.Theirs[i].Name] {
					return false
				}
			}
			return w.meets(c.From.Policy(), other) && w.meets(c.Where, other)
		})
	}
	panic(fmt.Sprintf("no such condition: %T", c))
}

func order(a, b database.Value) int {
	if text, ok := a.(string); ok {
		return strings.Compare(text, b.(string))
	}
	return int(a.(int64) - b.(int64))
}

// visible says in the words of docs/design/rights.md, "Row policies" whether a token sees an item.
func (w *world) visible(policies []contract.RowPolicy, token *contract.Token, item row) bool {
	matching := slices.DeleteFunc(slices.Clone(policies), func(p contract.RowPolicy) bool {
		return !p.Everyone && !slices.ContainsFunc(p.Groups, func(g string) bool { return slices.Contains(token.Groups, g) })
	})
	return len(policies) == 0 || slices.ContainsFunc(matching, func(p contract.RowPolicy) bool {
		return p.AllRows || !slices.ContainsFunc(p.Filters, func(f contract.Filter) bool { return !w.passes(f, token, item) })
	})
}

// passes is the oracle of one filter. It compares texts, and knows nothing of conditions.
func (w *world) passes(f contract.Filter, token *contract.Token, item row) bool {
	if f.Any != nil {
		return slices.ContainsFunc(f.Any, func(one contract.Filter) bool { return w.passes(one, token, item) })
	}
	rows, field := w.follow([]row{item}, f.Field)
	return slices.ContainsFunc(rows, func(r row) bool { return compares(f, field, token, r) })
}

// follow returns the rows to which a field's relations lead, and the field's own name.
func (w *world) follow(from []row, field string) (to []row, name string) {
	relation, rest, through := strings.Cut(field, "__")
	if !through {
		return from, field
	}
	steps := map[string]struct {
		table        *database.Table
		ours, theirs string
	}{"owner": {w.person, "owner_id", "id"}, "boss": {w.person, "boss_id", "id"}, "item_by_owner": {w.item, "id", "owner_id"}, "person_by_boss": {w.person, "id", "boss_id"}}
	step := steps[relation]
	for _, r := range from {
		for _, other := range w.rows[step.table] {
			if r[step.ours] != nil && r[step.ours] == other[step.theirs] {
				to = append(to, other)
			}
		}
	}
	return w.follow(to, rest)
}

// compares is the oracle of one comparison of a row's field.
func compares(f contract.Filter, field string, token *contract.Token, r row) bool {
	text := f.Value
	if f.TokenAttribute != "" {
		attribute, there := token.Attributes[f.TokenAttribute]
		if !there {
			return false
		}
		text = attribute
	}
	number := strings.HasSuffix(field, "level") || strings.HasSuffix(field, "age") || strings.HasSuffix(field, "id")
	if _, err := strconv.ParseInt(text, 10, 64); err != nil && number && f.Lookup != "in" && f.Lookup != "isnull" {
		return false
	}
	value := r[field]
	if f.Lookup == "isnull" {
		return (value == nil) == (text == "true")
	}
	shown := fmt.Sprint(value)
	if value == nil {
		return f.Lookup == "ne"
	}
	switch f.Lookup {
	case "ne":
		return shown != text
	case "in":
		return slices.Contains(f.Values, shown)
	case "gte":
		return shown >= text // of one letter or digit each
	}
	return shown == text
}

func randomPolicies(r *rand.Rand) []contract.RowPolicy {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	var policies []contract.RowPolicy
	for i := range r.IntN(4) {
		p := contract.RowPolicy{Name: strconv.Itoa(i), AllRows: r.IntN(8) == 0}
		if p.Everyone = r.IntN(4) == 0; !p.Everyone {
			p.Groups = []string{pick("g", "h"), pick("h", "i")}
		}
		plain := func() contract.Filter {
			f := contract.Filter{Field: pick("region", "level", "owner_id", "owner__team", "owner__age", "owner__boss__team", "owner__boss__age",
				"owner__item_by_owner__region", "owner__person_by_boss__age"), Lookup: pick("", "exact", "ne", "in", "gte", "isnull")}
			number := !strings.HasSuffix(f.Field, "region") && !strings.HasSuffix(f.Field, "team")
			switch {
			case f.Lookup == "in" && number:
				f.Values = []string{pick("0", "1"), pick("1", "2")}
			case f.Lookup == "in":
				f.Values = []string{pick("a", "b"), pick("b", "c")}
			case f.Lookup == "isnull":
				f.Value = pick("true", "false")
			case r.IntN(2) == 0:
				f.TokenAttribute = pick("x", "y", "z")
			case number:
				f.Value = pick("0", "1", "2")
			default:
				f.Value = pick("a", "b", "c")
			}
			return f
		}
		for range 1 + r.IntN(2) {
			f := plain()
			if r.IntN(4) == 0 {
				f = contract.Filter{Any: []contract.Filter{plain(), plain()}}
			}
			if !p.AllRows {
				p.Filters = append(p.Filters, f)
			}
		}
		policies = append(policies, p)
	}
	return policies
}

func randomToken(r *rand.Rand, name string) contract.Token {
	token := contract.Token{Namespace: "ns", Name: name, Hashes: []string{contract.HashToken(text + name)}, Attributes: map[string]string{},
		Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"*"}}}}
	for _, g := range []string{"g", "h", "i"} {
		if r.IntN(2) == 0 {
			token.Groups = append(token.Groups, g)
		}
	}
	for _, a := range []string{"x", "y"} {
		if r.IntN(3) > 0 {
			token.Attributes[a] = []string{"a", "b", "1", "2", "", "99999999999999999999"}[r.IntN(6)]
		}
	}
	return token
}
