package permissions

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The calls that are made up.

// id is a row's that is there, most of the time.
func (g *game) id() int { return 1 + g.random.IntN(7) }

// idIn is a row's of a table, in the form in which calls give it.
func (g *game) idIn(table string) any {
	if table != "seat" {
		return g.id()
	}
	ids := slices.Sorted(maps.Keys(g.now[table]))
	return pick(g.random, append(ids, "3,3")...)
}

// code is an owner's, or none's.
func (g *game) code() string { return fmt.Sprint("k", 1+g.random.IntN(9)) }

// field is a column's name, hidden or not.
func (g *game) field(table string) string {
	all := tables[table]
	return all[g.random.IntN(len(all))].name
}

// values returns what a call gives to a row's fields.
func (g *game) values(table string, some bool) map[string]any {
	values := map[string]any{}
	for _, c := range tables[table] {
		if some && chance(g.random, 60) {
			continue
		}
		switch {
		case c.key && some && chance(g.random, 90):
		case c.key && c.refers == "":
			values[c.name] = pick(g.random, g.id(), 10+g.random.IntN(1000)) // of a row that is gone, perhaps
		case c.refers != "" || c.name == "item_id" || c.name == "number":
			values[c.name] = g.id()
		case strings.HasSuffix(c.name, "region"):
			values[c.name] = pick(g.random, regions...)
			if chance(g.random, 5) {
				values[c.name] = "nowhere"
			}
		case strings.Contains(c.name, "code"):
			values[c.name] = g.code()
		case c.canary && (table == "tag" || chance(g.random, 70)): // by its texts alone a row without a key is known
			values[c.name] = g.canary()
		}
	}
	return values
}

// linkTo returns the value that the action link sets.
func (g *game) linkTo(table string) any {
	switch linked[table] {
	case "number":
		return g.id()
	case "home_region":
		return pick(g.random, regions...)
	}
	return g.code()
}

// request makes up a call; method is "write" where it may change something.
func (g *game) request(by int) (method, body string) {
	table := pick(g.random, tableNames...)
	relation := pick(g.random, "item", "owner", "boss", "part_by_item", "seat_by_item", "item_by_owner", "owner_by_boss",
		"code", "seat", "badge_by_code", "ticket_by_code", "pledge_by_code", "lease_by_owner", "booking_by_seat", "vault_by_pledge", "tag_by_item")
	arguments := map[string]any{}
	g.asked = offer{by: by}
	method = "read"
	tool := pick(g.random, "list", "list", "list", "get", "get", "related", "autocomplete", "describe", "actions", "history",
		"history", "create", "update", "update", "delete", "bulk", "action", "action", "action", "resource", "prompt", "follow", "confirm", "report", "undo", "undo")
	switch tool {
	case "follow", "confirm":
		kept := g.page
		if tool == "confirm" {
			kept, method = g.question, "write"
		}
		if kept.given == "" {
			kept.tool, kept.arguments = "list_"+table, arguments
		}
		arguments = maps.Clone(kept.arguments)
		tool, table, _ = strings.Cut(kept.tool, "_")
		switch {
		case method == "write" && kept.given != "":
			arguments["confirm"], arguments["confirmation_token"] = true, kept.given
		case kept.given != "":
			arguments["cursor"] = kept.given
		}
	case "list":
		if chance(g.random, 40) {
			key := g.field(table)
			if chance(g.random, 40) {
				key = relation + "__" + g.field(pick(g.random, tableNames...))
			}
			arguments["filters"] = map[string]any{key + pick(g.random, "", "__isnull", "__ne"): pick[any](g.random, true, "north", 1, "x")}
		}
		if chance(g.random, 30) {
			arguments["order_by"] = []string{pick(g.random, "", "-") + g.field(table)}
		}
		if chance(g.random, 20) {
			arguments["search"] = pick(g.random, "canary", "north")
		}
		if chance(g.random, 30) {
			arguments["limit"] = g.random.IntN(4)
		}
	case "get":
		arguments["id"] = g.idIn(table)
		if chance(g.random, 50) {
			arguments["include_related"] = true
		}
		if table == "item" && chance(g.random, 50) {
			arguments["include_inlines"] = true
		}
	case "related":
		arguments["id"], arguments["relation"] = g.idIn(table), relation
	case "autocomplete":
		arguments["term"] = pick(g.random, "canary", "c", "", "1")
	case "history":
		arguments["id"] = g.idIn(table)
		if g.updated.table != "" && chance(g.random, 60) { // a row that was changed has more to tell
			table, arguments["id"] = g.updated.table, g.updated.id
		}
	case "create":
		method = "write"
		arguments["data"] = g.values(table, false)
		if table == "item" && chance(g.random, 30) {
			inline := g.values("part", false)
			delete(inline, "item_id")
			arguments["inlines"] = map[string]any{"part": []any{map[string]any{"data": inline}}}
		}
	case "update":
		method = "write"
		arguments["id"], arguments["data"] = g.idIn(table), g.values(table, true)
		g.updated.table, g.updated.id = table, arguments["id"]
		if table == "item" && chance(g.random, 40) {
			arguments["inlines"] = map[string]any{"part": []any{pick[any](g.random,
				map[string]any{"id": g.id(), "data": g.values("part", true)}, map[string]any{"id": g.id(), "_delete": true})}}
		}
	case "delete":
		method = "write"
		arguments["id"] = g.idIn(table)
	case "bulk":
		method = "write"
		operation := pick(g.random, "create", "update", "delete")
		arguments["operation"], arguments["atomic"] = operation, chance(g.random, 30)
		var items []any
		for range 1 + g.random.IntN(3) {
			switch operation {
			case "create":
				items = append(items, map[string]any{"data": g.values(table, false)})
			case "update":
				items = append(items, map[string]any{"id": g.idIn(table), "data": g.values(table, true)})
			default:
				items = append(items, g.idIn(table))
			}
		}
		arguments["items"] = items
	case "action":
		method = "write"
		arguments["action"] = pick(g.random, "stamp", "wipe", "link", "delete_selected")
		if arguments["action"] == "link" {
			arguments["confirmation_data"] = map[string]any{"to": g.linkTo(table)}
		}
		arguments["ids"], arguments["confirm"] = []any{g.idIn(table), g.idIn(table)}, chance(g.random, 60)
	case "report":
		arguments["report"] = "peek"
	case "undo":
		return "write", g.takeBack(by)
	case "resource":
		uri := pick(g.random, "data://"+table+"/", fmt.Sprintf("data://%s/%v", table, g.idIn(table)), "models://"+table+"/schema")
		return method, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":%q}}`, uri)
	case "prompt":
		return method, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":%q,"arguments":{"model_name":%q}}}`, pick(g.random, "explore_models", "understand_model", "crud_guide"), table)
	}
	if chance(g.random, 10) && (tool == "create" || tool == "update" || tool == "delete") {
		arguments["dry_run"] = true
	}
	g.asked = offer{by: by, tool: tool + "_" + table, arguments: arguments}
	name := tool + "_" + table
	if chance(g.random, 35) { // the same call under the name of the generic tool
		name, arguments = tool, maps.Clone(arguments)
		arguments["model"] = table
	}
	return method, g.body(name, arguments)
}

// query is the query of the URL, which changes nothing for calls.
func (g *game) query() string {
	return pick(g.random, "", "", "?tools=generic", "?tools=per-model", "?models="+pick(g.random, tableNames...), "?models=nowhere,"+pick(g.random, tableNames...)+"&tools=generic")
}

// takeBack is a call that undoes one that was made before, by the same token most of the time.
func (g *game) takeBack(by int) string {
	made := offer{by: by, given: "nothing"}
	if len(g.made) > 0 {
		made = pick(g.random, g.made...)
	}
	for _, one := range g.made {
		if one.by == by && made.by != by && chance(g.random, 90) {
			made = one
		}
	}
	arguments := map[string]any{"call": made.given}
	if chance(g.random, 10) {
		arguments["dry_run"] = true
	}
	g.asked = offer{by: by, tool: "undo_", arguments: arguments}
	g.undoes = made
	return g.body("undo", arguments)
}
