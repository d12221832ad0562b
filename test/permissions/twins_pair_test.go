package permissions

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// pair makes both databases hold the same rows, but for what the token may not see.
func (tw *twins) pair(fewer bool) {
	tw.Helper()
	tw.now = tw.store.read(tw.T)
	twin := data{}
	for table, rows := range tw.now {
		twin[table] = map[string]row{}
		for id, r := range rows {
			twin[table][id] = maps.Clone(r)
		}
	}
	if fewer {
		tw.removeUnseen(twin)
	}
	for _, table := range tableNames {
		for _, id := range slices.Sorted(maps.Keys(twin[table])) {
			tw.changeUnseen(table, id, twin)
		}
	}
	for _, r := range twin["guest"] {
		r["label"] = tw.canary()
	}
	// In the same order: rows of a table without a key come as they lie.
	tw.store.replace(tw.T, tw.now)
	tw.other.store.replace(tw.T, twin)
	if seen, alike := tw.visible(tw.now), tw.visible(tw.other.store.read(tw.T)); !maps.Equal(seen, alike) {
		tw.Fatalf("%s: the twins differ in what the token sees: %s", tw.where, differences(seen, alike))
	}
}

// changeUnseen gives a row other values where the token does not see them. A row out of sight refers to the same rows, as
// the database protects or changes those with it.
func (tw *twins) changeUnseen(table, id string, twin data) {
	m, r, token := tw.model(table), twin[table][id], tw.tokens[tw.by]
	seen := may(token, m, "view") && seesRow(token, m, tw.now[table][id], tw.now)
	if !seen {
		twinned.rows++
		tw.moveUnseen(table, r, twin)
	} else {
		tw.redirect(table, r, twin)
	}
	for _, c := range tables[table] {
		visible := seen && tw.shows(token, m, tw.now[table][id], c.name, tw.now)
		if visible || r[c.name] == "" || !c.canary && c.kind == aText {
			continue // a mask shows that there is nothing
		}
		if seen {
			twinned.values++
		}
		switch isMasked := seen && masked(m, c.name); {
		case isMasked && c.canary:
			r[c.name] = turned(r[c.name])
		case isMasked && c.kind.isTime(): // the mask shows the end
		case c.canary:
			r[c.name] = tw.canary()
		default:
			if text := c.kind.canonical(c.kind.random(tw.random)); text != "" {
				r[c.name] = text
			}
		}
	}
}

// moveUnseen moves a row to another region, if the token reaches the same rows then, and may refer to the same ones.
func (tw *twins) moveUnseen(table string, r row, twin data) {
	if m := tw.model(table); table == "owner" && (may(tw.tokens[tw.by], m, "add") || may(tw.tokens[tw.by], m, "change") || tw.mayReferTo(table)) {
		return // the region is a part of what must be unique, and of what a lease names, which a write tells
	}
	for _, leased := range twin["lease"] {
		if table == "owner" && leased["home_code"] == r["code"] {
			return // the region is a part of what the other row refers to
		}
	}
	if tw.writesBy(table) {
		return // a write that only the region allows or forbids tells it
	}
	reached, referable := tw.reached(twin), tw.referable(twin)
	from := r["region"]
	if r["region"] = pick(tw.random, regions...); !slices.Equal(reached, tw.reached(twin)) || !slices.Equal(referable, tw.referable(twin)) {
		r["region"] = from
	}
}

// redirect makes a row in sight refer to another row by a hidden foreign key. Not if the database lets no row go that others
// refer to by it, or if a policy goes by it: what these tell, nobody can keep from who may write.
func (tw *twins) redirect(table string, r row, twin data) {
	to := references[table][0]
	if len(to.columns) > 1 || table == "pledge" || !hidden(tw.model(table), to.columns[0]) || tw.policyFollows(table) {
		return
	}
	targets := sortedRows(twin[to.table])
	if target := targets[tw.random.IntN(len(targets))][to.to[0]]; target != "" && target != r[to.columns[0]] {
		r[to.columns[0]] = target
		twinned.redirected++
	}
}

// policyFollows reports whether a row policy may go by a table's foreign key, in either direction.
func (tw *twins) policyFollows(table string) bool {
	return slices.ContainsFunc(tw.models, func(m contract.Model) bool { return goesBy(m, parents[table]+"__", table+"_by_") })
}

// goesBy reports whether a row policy of a model has one of the parts of paths in a field.
func goesBy(m contract.Model, parts ...string) bool {
	has := func(f contract.Filter) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(f.Field, part) })
	}
	return slices.ContainsFunc(m.RowPolicies, func(p contract.RowPolicy) bool {
		return slices.ContainsFunc(p.Filters, func(f contract.Filter) bool { return has(f) || slices.ContainsFunc(f.Any, has) })
	})
}

// writesBy reports whether the token may write rows whose policies may go by the rows of a table.
func (tw *twins) writesBy(table string) bool {
	token := tw.tokens[tw.by]
	return slices.ContainsFunc(tw.models, func(m contract.Model) bool {
		writes := may(token, m, "add") || may(token, m, "change") || named(token, m, "link")
		return writes && goesBy(m, table+"__", table+"_by_")
	})
}

// reached are the rows that policies let the token see, or change without seeing them.
func (tw *twins) reached(all data) []place { return tw.underPolicy(all, tw.hasVerb) }

// referable are the rows that the token may name in a foreign key of another row. It needs no right on them, but the
// policies hold: the answer to the write shows whether they let the token see the row.
func (tw *twins) referable(all data) []place { return tw.underPolicy(all, tw.mayReferTo) }

// underPolicy returns the rows of some tables that policies let the token see.
func (tw *twins) underPolicy(all data, counts func(table string) bool) []place {
	var places []place
	for _, table := range tableNames {
		for _, id := range slices.Sorted(maps.Keys(all[table])) {
			if counts(table) && seesRow(tw.tokens[tw.by], tw.model(table), all[table][id], all) {
				places = append(places, place{table: table, id: id})
			}
		}
	}
	return places
}

func (tw *twins) reaches(table string, r row, all data) bool {
	return tw.hasVerb(table) && seesRow(tw.tokens[tw.by], tw.model(table), r, all)
}

func (tw *twins) hasVerb(table string) bool {
	m := tw.model(table)
	return slices.ContainsFunc([]string{"view", "add", "change", "delete"}, func(verb string) bool { return may(tw.tokens[tw.by], m, verb) })
}

// mayReferTo reports whether the token may write a foreign key to a table.
func (tw *twins) mayReferTo(table string) bool {
	token := tw.tokens[tw.by]
	for from, refs := range references {
		m := tw.model(from)
		if slices.ContainsFunc(refs, func(r reference) bool { return r.table == table }) &&
			(may(token, m, "add") || may(token, m, "change") || named(token, m, "link")) {
			return true
		}
	}
	return false
}

// removeUnseen takes rows away that the token does not reach, if no other row refers to them.
func (tw *twins) removeUnseen(twin data) {
	for _, table := range slices.Backward(byDependence) {
		for _, id := range slices.Sorted(maps.Keys(twin[table])) {
			r, before := twin[table][id], tw.reached(twin)
			if tw.reaches(table, r, twin) || tw.referred(table, id, twin) || chance(tw.random, 30) {
				continue
			}
			if delete(twin[table], id); !slices.Equal(before, tw.reached(twin)) {
				twin[table][id] = r
				continue
			}
			twinned.gone++
		}
	}
}

// referred reports whether some row refers to one.
func (tw *twins) referred(table, id string, all data) bool {
	for other, refs := range references {
		for _, to := range refs {
			for _, r := range all[other] {
				if at, _ := all.target(to, r); to.table == table && at == id {
					return true
				}
			}
		}
	}
	for _, r := range all["guest"] {
		if table == "item" && r["item_id"] == id {
			return true
		}
	}
	return false
}

// visible has the rows that the token sees: each row by its place, with the values that are shown. The place of a row without
// a key is what it shows, and how many such rows are before it.
func (tw *twins) visible(all data) map[string]string {
	seen, token := map[string]string{}, tw.tokens[tw.by]
	for _, table := range tableNames {
		m := tw.model(table)
		for id, r := range all[table] {
			if !may(token, m, "view") || !seesRow(token, m, r, all) {
				continue
			}
			text := "is there"
			for _, c := range tables[table] {
				if tw.shows(token, m, r, c.name, all) {
					text += " " + c.name + "=" + r[c.name]
				}
			}
			place := table + " " + id
			for n := 0; table == "tag" && (n == 0 || seen[place] != ""); n++ {
				place = fmt.Sprintf("tag %d %s", n, text)
			}
			seen[place] = text
		}
	}
	return seen
}

// differences are the places where two worlds show different rows.
func differences(a, b map[string]string) string {
	var all []string
	for _, place := range slices.Sorted(maps.Keys(a)) {
		if a[place] != b[place] {
			all = append(all, fmt.Sprintf("%s: %q, %q", place, a[place], b[place]))
		}
	}
	for _, place := range slices.Sorted(maps.Keys(b)) {
		if _, there := a[place]; !there {
			all = append(all, fmt.Sprintf("%s: only %q", place, b[place]))
		}
	}
	return strings.Join(all, "\n")
}

// turned is another text of the same length and the same end.
func turned(text string) string {
	const kept = 2
	head := []byte(strings.TrimPrefix(text, "canary-"))
	for i := range head[:len(head)-kept] {
		switch b := head[i]; {
		case b >= '0' && b <= '9':
			head[i] = '0' + (b-'0'+1)%10
		case b >= 'a' && b <= 'z':
			head[i] = 'a' + (b-'a'+1)%26
		}
	}
	return text[:len(text)-len(head)] + string(head)
}
