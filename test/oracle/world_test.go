package oracle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// world is a random schema with its rows, which stay as they were made.
type world struct {
	engine harness.Engine
	random *rand.Rand
	tables []*table
	// writes reports whether the rows are changed.
	writes bool
}

type table struct {
	name    string
	columns []*column
	// key are the first columns of the table.
	key  []*column
	refs []*ref
	rows [][]value
}

type column struct {
	name string
	kind kind
	// digits and scale are a decimal's.
	digits, scale int
	required      bool
	// of says more of what the column holds: the size of integers, the style of texts, the zone of moments.
	of string
	// read reports whether the values are kept as texts, which the exposure reads as what they hold.
	read bool
}

// ref is a foreign key, which refers to the other table's key; the relation has that table's name. If it is declared, no foreign key
// is there, but the exposure says where the columns lead, and some rows lead nowhere.
type ref struct {
	from, to *table
	columns  []*column
	onDelete string
	declared bool
}

// reverse is the relation to many rows that the foreign key is seen from its other end.
func (r *ref) reverse() string { return r.from.name + "_by_" + r.to.name }

// newWorld makes up four tables. Each but the first refers to some of those before it.
func newWorld(engine harness.Engine, random *rand.Rand, writes bool) *world {
	w := &world{engine: engine, random: random, writes: writes}
	for i, name := range []string{"alpha", "beta", "gamma", "delta"} {
		t := &table{name: name}
		w.addKey(t)
		for j := range 3 + random.IntN(4) {
			t.columns = append(t.columns, w.newColumn(fmt.Sprintf("c%d", j)))
		}
		for _, to := range w.tables {
			if i == 3 || chance(random, 60) {
				w.refer(t, to)
			}
		}
		w.tables = append(w.tables, t)
		size := pick(random, 30, 150, 420)
		if i == 3 && chance(random, 50) {
			size = 1100 // more than the largest page
		}
		if writes {
			size = 6 + random.IntN(14)
		}
		w.fill(t, size)
	}
	return w
}

// addKey makes up a key: of one column or of several, one of them perhaps called id; of numbers or of texts.
func (w *world) addKey(t *table) {
	switch w.random.IntN(5) {
	case 0, 1:
		t.columns = []*column{{name: "id", kind: anInteger, of: "serial"}}
	case 2:
		t.columns = []*column{{name: "id", kind: anInteger, of: "serial"}, {name: "made", kind: aDate}}
	case 3:
		t.columns = []*column{{name: "place", kind: aText, of: "numbers"}, {name: "id", kind: anInteger, of: "serial"}}
	default:
		t.columns = []*column{{name: "code", kind: aText, of: "serial"}}
	}
	t.key = slices.Clone(t.columns)
	for _, c := range t.key {
		c.required = true
	}
}

func (w *world) newColumn(name string) *column {
	c := &column{name: name, required: chance(w.random, 30)}
	switch c.kind = pick(w.random, anInteger, anInteger, aDecimal, aDecimal, aFloat, aText, aText, aDate, aMoment, aMoment, aTruth); c.kind {
	case anInteger:
		c.of = pick(w.random, "few", "few", "some", "huge")
	case aDecimal:
		size := pick(w.random, [2]int{9, 0}, [2]int{12, 2}, [2]int{20, 10}, [2]int{30, 6}, [2]int{11, 7})
		c.digits, c.scale = size[0], size[1]
	case aText:
		c.of = pick(w.random, "words", "numbers")
	case aMoment:
		c.of = pick(w.random, "zone", "none")
		if w.engine.Product == harness.SQLite {
			c.of = pick(w.random, "Z", "+00:00", "", " ")
		}
	}
	exact := c.digits <= 15 || w.engine.Product != harness.SQLite && c.digits-c.scale <= 20 // its own decimals are floats
	c.read = !w.writes && readsAs[c.kind] != "" && c.of != "huge" && exact && chance(w.random, 30)
	if c.read && c.kind == aMoment {
		c.of = map[bool]string{true: " ", false: "none"}[w.engine.Product == harness.SQLite]
	}
	return c
}

func (w *world) refer(t, to *table) {
	r := &ref{from: t, to: to, onDelete: pick(w.random, "cascade", "cascade", "set null", "no action"), declared: !w.writes && chance(w.random, 40)}
	for _, k := range to.key {
		name := to.name + "_id"
		if len(to.key) > 1 {
			name = to.name + "_" + k.name[:1]
		}
		c := &column{name: name, kind: k.kind, of: k.of}
		r.columns, t.columns = append(r.columns, c), append(t.columns, c)
	}
	t.refs = append(t.refs, r)
}

// fill makes up a table's rows.
func (w *world) fill(t *table, size int) {
	for i := range size {
		t.rows = append(t.rows, w.newRow(t, i+1))
	}
}

// newRow makes up a row; n makes its key differ from every other row's.
func (w *world) newRow(t *table, n int) []value {
	row := make([]value, len(t.columns))
	for i, c := range t.columns {
		switch {
		case c.of == "serial" && c.kind == aText:
			row[i] = value{text: fmt.Sprint("k", n*7)}
		case c.of == "serial":
			row[i] = value{text: fmt.Sprint(n)}
		default:
			row[i] = c.random(w.random)
		}
	}
	for _, r := range t.refs {
		to := pick(w.random, r.to.rows...)
		for i, c := range r.columns {
			row[slices.Index(t.columns, c)] = to[i]
		}
		if chance(w.random, 15) {
			for _, c := range r.columns {
				row[slices.Index(t.columns, c)] = value{null: true}
			}
		} else if r.declared && chance(w.random, 10) {
			c := pick(w.random, r.columns...)
			row[slices.Index(t.columns, c)] = nowhere[c.kind]
		}
	}
	return row
}

// nowhere are values that hardly a key has, by the kinds of keys.
var nowhere = map[kind]value{anInteger: {text: "7000001"}, aText: {text: "77777.5"}, aDate: {text: "2025-02-03"}}

// script makes the tables and their rows, and, of a world that is only read, each table again with the values that texts hold.
func (w *world) script() string {
	var b strings.Builder
	for _, t := range w.tables {
		w.make(&b, t, t.name, w.keptType, w.kept)
		if !w.writes {
			w.make(&b, t, t.name+meantSuffix, w.typeOf, w.literal)
		}
	}
	return b.String()
}

// make makes a table with its rows.
func (w *world) make(b *strings.Builder, t *table, name string, typeOf func(*column) string, literal func(*column, value) string) {
	var parts []string
	for _, c := range t.columns {
		part := c.name + " " + typeOf(c)
		if c.required {
			part += " not null"
		} else if w.isMySQL() {
			part += " null" // or else a timestamp is not
		}
		parts = append(parts, part)
	}
	parts = append(parts, "primary key ("+names(t.key)+")")
	for _, r := range t.refs {
		if r.declared {
			continue
		}
		parts = append(parts, fmt.Sprintf("foreign key (%s) references %s (%s) on delete %s", names(r.columns), r.to.name, names(r.to.key), r.onDelete))
	}
	fmt.Fprintf(b, "create table %s (%s);\n", name, strings.Join(parts, ", "))
	for rows := range slices.Chunk(t.rows, 100) {
		var tuples []string
		for _, row := range rows {
			all := make([]string, len(row))
			for i, c := range t.columns {
				all[i] = literal(c, row[i])
			}
			tuples = append(tuples, "("+strings.Join(all, ", ")+")")
		}
		fmt.Fprintf(b, "insert into %s values %s;\n", name, strings.Join(tuples, ",\n"))
	}
}

func names(columns []*column) string {
	all := make([]string, len(columns))
	for i, c := range columns {
		all[i] = c.name
	}
	return strings.Join(all, ", ")
}

// describe is the schema, for messages.
func (w *world) describe() []string {
	var lines []string
	for line := range strings.Lines(w.script()) {
		if strings.HasPrefix(line, "create") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// declaredRelations are the relations of a table that its exposure declares.
func (t *table) declaredRelations() []contract.Relation {
	var all []contract.Relation
	for _, r := range t.refs {
		if !r.declared {
			continue
		}
		relation := contract.Relation{Name: r.to.name, Model: r.to.name}
		for i, c := range r.columns {
			relation.Columns, relation.References = append(relation.Columns, c.name), append(relation.References, r.to.key[i].name)
		}
		all = append(all, relation)
	}
	return all
}

// referring are the foreign keys and declared relations that lead to a table.
func (w *world) referring(to *table) []*ref {
	var all []*ref
	for _, t := range w.tables {
		for _, r := range t.refs {
			if r.to == to {
				all = append(all, r)
			}
		}
	}
	return all
}
