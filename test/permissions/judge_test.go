package permissions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// judgeReport makes sure that a report answers those whose rule names it, and nobody else.
func (g *game) judgeReport(token contract.Token, body, answer string) {
	g.Helper()
	_, table, _ := strings.Cut(g.asked.tool, "_")
	m := g.model(table)
	unreadable := g.users && slices.ContainsFunc(tables[m.Table], func(c column) bool { return c.unreadable }) // the report reads all columns
	allowed := may(token, m, "view") && named(token, m, "peek") && offers(m, "report") && !unreadable
	if answered := !strings.Contains(answer, `"isError":true`); answered != allowed || !allowed && canaryText.MatchString(answer) {
		g.Errorf("%s: token %+v\nmodels %+v\n%s\nmay run the report is %v:\n%s", g.where, token, g.models, body, allowed, answer)
	}
	did.reported++
}

// judge compares the tables before and after a call with what the token may change.
func (g *game) judge(by int, body string, before data) {
	g.Helper()
	token, changed := g.tokens[by], false
	tool, target, _ := strings.Cut(g.asked.tool, "_")
	wrong := func(format string, args ...any) {
		g.Helper()
		g.Errorf("%s: token %+v\nmodels %+v\n%s\n%s", g.where, token, g.models, body, fmt.Sprintf(format, args...))
	}
	// One call may write many rows, and what another of them became may be what takes a row out of sight.
	sees := func(m contract.Model, r row) bool { return seesRow(token, m, r, g.now) || seesRow(token, m, r, before) }
	pointsBeyond := func(table, column string, r row) bool {
		return slices.ContainsFunc(references[table], func(to reference) bool {
			_, target := g.now.target(to, r)
			return (column == "" || slices.Contains(to.columns, column)) && target != nil && !sees(g.model(to.table), target)
		})
	}
	for id := range before["guest"] {
		if g.now["guest"][id] == nil && g.refusesGuest {
			wrong("guest %s is gone", id)
		}
	}
	for _, table := range tableNames {
		m := g.model(table)
		for id, old := range before[table] {
			now, there := g.now[table][id]
			if !there {
				changed = true
				direct := table == target || tool == "update" || tool == "undo" // what goes along is the database's doing
				if !may(token, m, "delete") || !seesRow(token, m, old, before) || direct && !offers(m, "delete") || table == "vault" && tool == "delete" && target != "vault" && g.users {
					wrong("%s %s is gone", table, id)
				}
				continue
			}
			for _, c := range tables[table] {
				if now[c.name] == old[c.name] {
					continue
				}
				changed = true
				byAction := c.name == "note" && (now["note"] == "stamped" && (may(token, m, "change") || named(token, m, "stamp")) && may(token, m, "view") ||
					now["note"] == "wiped" && named(token, m, "wipe") && may(token, m, "view"))
				byLink := tool == "action" && table == target && c.name == linked[table] && (may(token, m, "change") || named(token, m, "link")) && may(token, m, "view")
				switch {
				case !seesRow(token, m, old, before):
					wrong("%s %s, which is out of sight, has another %s", table, id, c.name)
				case byAction:
				case byLink:
					if pointsBeyond(table, c.name, now) {
						wrong("%s %s was linked to a row that is out of sight", table, id)
					}
				case !may(token, m, "change"):
					wrong("%s %s has another %s", table, id, c.name)
				case g.followed(table, c.name, old, now, before): // as the database does by itself
				case !offers(m, "update"):
					wrong("%s %s has another %s, and update is not offered", table, id, c.name)
				case readOnly(m, c.name):
					wrong("%s %s has another %s, which nobody may write", table, id, c.name)
				case !sees(m, now):
					wrong("%s %s was moved out of sight", table, id)
				case pointsBeyond(table, c.name, now):
					wrong("%s %s now points at a row that is out of sight", table, id)
				}
			}
		}
		for id, now := range g.now[table] {
			if before[table][id] != nil {
				continue
			}
			changed = true
			g.forget(table, id)
			if !may(token, m, "add") || !sees(m, now) || !offers(m, "create") {
				wrong("%s %s was made", table, id)
			}
			if pointsBeyond(table, "", now) {
				wrong("%s %s was made to point at a row that is out of sight", table, id)
			}
		}
	}
	if !changed {
		return
	}
	did.changed++
	arguments := g.asked.arguments
	switch action := arguments["action"]; {
	case arguments["dry_run"] == true:
		wrong("a dry run changed something")
	case tool == "undo" && g.undoes.by != by:
		wrong("it undid what another token did")
	case tool == "undo":
		did.undone++
	case tool != "action":
	case arguments["confirm"] != true && (action == "delete_selected" || action == "stamp" && asksFirst(g.model(target))):
		wrong("%s was run before it was confirmed", action)
	case arguments["confirmation_token"] != nil && by != g.question.by:
		wrong("%s was run with another token's confirmation_token", action)
	case arguments["confirmation_token"] != nil:
		did.confirmed++
	}
}

// followed is whether a column of a foreign key changed with the row that it led to: that row is gone, or has other values.
func (g *game) followed(table, column string, old, now row, before data) bool {
	return slices.ContainsFunc(references[table], func(to reference) bool {
		id, was := before.target(to, old)
		if !slices.Contains(to.columns, column) || was == nil {
			return false
		}
		is := g.now[to.table][id]
		return now[column] == "" && !slices.Equal(is.at(to.to), was.at(to.to)) || is != nil && now[column] == is[to.to[slices.Index(to.columns, column)]]
	})
}
