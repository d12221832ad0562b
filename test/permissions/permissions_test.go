package permissions

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// The size of the test: worlds, and calls in each.
const (
	worlds       = 150
	callsInWorld = 150
)

// did counts what calls did, so that a test in which nothing happens is seen.
var did struct{ calls, answered, showed, changed, probes int }

func TestNoCallShowsOrChangesWhatTheOracleForbids(t *testing.T) {
	seed := rand.Uint64()
	if text := os.Getenv("MCP_TEST_SEED"); text != "" {
		seed, _ = strconv.ParseUint(text, 10, 64) // 0 where it is no number
	}
	for _, engine := range harness.Engines {
		rounds := worlds
		if engine.Name != contract.EngineSQLite {
			rounds /= 6 // the rules are the same; the statements are not
		}
		t.Run(engine.Name, func(t *testing.T) {
			database, plain := engine.Open(t, script)
			random := rand.New(rand.NewPCG(seed, 1))
			first := newWorld(random)
			endpoint := harness.Serve(t, database, slices.Clone(first.models), first.tokens)
			for i := range rounds {
				w := newWorld(random)
				endpoint.Apply(func(c *contract.Config) { c.Models, c.Tokens = slices.Clone(w.models), w.tokens })
				g := &game{T: t, world: w, endpoint: endpoint, plain: plain, where: fmt.Sprintf("MCP_TEST_SEED=%d, world %d", seed, i)}
				g.fill()
				for range callsInWorld {
					g.play()
				}
				if t.Failed() {
					return
				}
			}
		})
	}
	fmt.Printf("permissions: %d calls in %d worlds an engine, of which %d succeeded, %d showed values and %d changed rows; %d probes for what is forbidden told nothing (seed %d)\n",
		did.calls, worlds, did.answered, did.showed, did.changed, did.probes, seed)
	if did.calls > 0 && (did.answered < did.calls/5 || did.showed < did.calls/20 || did.changed < did.calls/100) {
		t.Error("too little happened for the test to mean anything")
	}
}

// game is calls at random in one world.
type game struct {
	*testing.T
	*world
	endpoint *harness.Endpoint
	plain    *sql.DB
	// now is what the tables hold.
	now   data
	count int
	where string
}

func (g *game) exec(query string) {
	g.Helper()
	if _, err := g.plain.ExecContext(context.Background(), query); err != nil {
		g.Fatalf("%s: %v", query, err)
	}
}

// canary is a text that stands nowhere else.
func (g *game) canary() string {
	g.count++
	return fmt.Sprintf("canary-%05d-%s", g.count, strconv.FormatUint(g.random.Uint64(), 36))
}

// fill makes the tables anew.
func (g *game) fill() {
	g.Helper()
	for _, table := range []string{"part", "item", "owner"} {
		g.exec("delete from " + table)
	}
	for _, table := range []string{"owner", "item", "part"} {
		for id := 1; id <= 6; id++ {
			reference := fmt.Sprint(1 + g.random.IntN(6))
			if table == "owner" && id == 1 {
				reference = "null"
			} else if table == "owner" {
				reference = fmt.Sprint(1 + g.random.IntN(id))
			}
			if reference == fmt.Sprint(id) && table == "owner" {
				reference = "1"
			}
			g.exec(fmt.Sprintf("insert into %s values (%d, '%s', '%s', '%s', %s)", table, id, g.canary(), pick(g.random, regions...), g.canary(), reference))
		}
	}
	g.now = read(g.T, g.plain)
}

var canaryText = regexp.MustCompile(`canary-[0-9]{5}-[0-9a-z]+`)

// play makes one call and looks at what came of it.
func (g *game) play() {
	g.Helper()
	i := g.random.IntN(len(g.tokens))
	token := g.tokens[i]
	if chance(g.random, 10) {
		g.probe(i)
		return
	}
	method, body := g.request(token)
	status, answer := g.endpoint.Post(secret(i), body)
	did.calls++
	if status != 200 {
		g.Fatalf("%s: %s: %d %s", g.where, body, status, answer)
	}
	if !strings.Contains(answer, `"isError":true`) && !strings.Contains(answer, `"error"`) {
		did.answered++
	} else if strings.Contains(answer, `"internal`) || strings.Contains(answer, `\"internal`) {
		g.Errorf("%s: %s: %s", g.where, body, answer)
	}
	before := g.now
	shown := g.canaries(token, before)
	if method == "write" {
		g.now = read(g.T, g.plain)
		g.judge(token, body, before)
		for text, may := range g.canaries(token, g.now) { // what was written may be shown
			shown[text] = shown[text] || may
		}
	}
	showed := false
	for _, text := range canaryText.FindAllString(answer, -1) {
		if may, known := shown[text]; known && !may && !strings.Contains(body, text) {
			g.Errorf("%s: token %+v\nmodels %+v\n%s\nshows %s, which it must not:\n%s", g.where, token, g.models, body, text, answer)
		}
		showed = true
	}
	if showed {
		did.showed++
	}
}

// judge compares the tables before and after a call with what the token may change.
func (g *game) judge(token contract.Token, body string, before data) {
	g.Helper()
	changed := false
	wrong := func(format string, args ...any) {
		g.Helper()
		g.Errorf("%s: token %+v\nmodels %+v\n%s\n%s", g.where, token, g.models, body, fmt.Sprintf(format, args...))
	}
	for _, table := range tableNames {
		m := g.model(table)
		for id, old := range before[table] {
			now, there := g.now[table][id]
			if !there {
				changed = true
				if !may(token, m, "delete") || !seesRow(token, m, old) {
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
				setNull := c.refers != "" && now[c.name] == "" && g.now[c.refers][old[c.name]] == nil
				switch {
				case !seesRow(token, m, old):
					wrong("%s %s, which is out of sight, has another %s", table, id, c.name)
				case byAction:
				case !may(token, m, "change"):
					wrong("%s %s has another %s", table, id, c.name)
				case readOnly(m, c.name) && !setNull:
					wrong("%s %s has another %s, which nobody may write", table, id, c.name)
				case !seesRow(token, m, now):
					wrong("%s %s was moved out of sight", table, id)
				case c.refers != "" && now[c.name] != "" && !seesRow(token, g.model(c.refers), g.now[c.refers][now[c.name]]):
					wrong("%s %s now points at a row that is out of sight", table, id)
				}
			}
		}
		for id, now := range g.now[table] {
			if before[table][id] != nil {
				continue
			}
			changed = true
			if !may(token, m, "add") || !seesRow(token, m, now) {
				wrong("%s %s was made", table, id)
			}
			for _, c := range tables[table] {
				if c.refers != "" && now[c.name] != "" && !seesRow(token, g.model(c.refers), g.now[c.refers][now[c.name]]) {
					wrong("%s %s was made to point at a row that is out of sight", table, id)
				}
			}
		}
	}
	if changed {
		did.changed++
	}
}

// probe asks for a value that the token must not know, and for one that is nowhere: the answers must be the same.
func (g *game) probe(i int) {
	g.Helper()
	token := g.tokens[i]
	table := pick(g.random, tableNames...)
	m := g.model(table)
	for _, r := range g.now[table] {
		for _, c := range tables[table] {
			value := r[c.name]
			if !c.canary || !strings.HasPrefix(value, "canary") || may(token, m, "view") && seesRow(token, m, r) && !hidden(m, c.name) && !masked(m, c.name) {
				continue
			}
			other := value[:len(value)-1] + "~"
			form := pick(g.random, `{"method":"tools/call","name":"list_TABLE","arguments":{"filters":{"COLUMN":"VALUE"}}}`,
				`{"method":"tools/call","name":"list_TABLE","arguments":{"filters":{"COLUMN__startswith":"VALUE"},"total":"exact"}}`,
				`{"method":"tools/call","name":"list_TABLE","arguments":{"search":"VALUE"}}`,
				`{"method":"tools/call","name":"autocomplete_TABLE","arguments":{"term":"VALUE"}}`,
				`{"method":"tools/call","name":"list_part","arguments":{"filters":{"item__COLUMN":"VALUE"}}}`,
				`{"method":"tools/call","name":"list_item","arguments":{"filters":{"part_by_item__COLUMN__contains":"VALUE"}}}`,
				`{"method":"tools/call","name":"list_owner","arguments":{"filters":{"item_by_owner__COLUMN__icontains":"VALUE"}}}`,
				`{"method":"tools/call","name":"list_item","arguments":{"filters":{"owner__COLUMN__in":["VALUE"]}}}`,
				`{"method":"tools/call","name":"list_owner","arguments":{"filters":{"boss__COLUMN":"VALUE"}}}`,
				`{"method":"tools/call","name":"find_models","arguments":{"query":"VALUE"}}`)
			ask := func(text string) string {
				body := strings.NewReplacer("TABLE", table, "COLUMN", c.name, "VALUE", text).Replace(form)
				_, answer := g.endpoint.Post(secret(i), body)
				return strings.ReplaceAll(answer, text, "VALUE")
			}
			did.probes++
			if real, none := ask(value), ask(other); real != none {
				g.Errorf("%s: token %+v\nmodels %+v\n%s of %s %s: %s tells:\n%s\n%s", g.where, token, g.models, c.name, table, r["id"], form, real, none)
			}
			return
		}
	}
}

// id is a row's that is there, most of the time.
func (g *game) id() int { return 1 + g.random.IntN(7) }

// field is a column's name, hidden or not.
func (g *game) field(table string) string {
	all := tables[table]
	return all[g.random.IntN(len(all))].name
}

// values are what a call gives a row's fields.
func (g *game) values(table string, some bool) map[string]any {
	values := map[string]any{}
	for _, c := range tables[table] {
		if some && chance(g.random, 60) {
			continue
		}
		switch {
		case c.name == "id":
			if !some {
				values["id"] = 100 + g.random.IntN(100_000)
			}
		case c.refers != "":
			values[c.name] = g.id()
		case c.name == "region":
			values["region"] = pick(g.random, regions...)
		case chance(g.random, 70):
			values[c.name] = g.canary()
		}
	}
	return values
}

// request makes up a call; method is "write" where it may change something.
func (g *game) request(token contract.Token) (method, body string) {
	table := pick(g.random, tableNames...)
	relation := pick(g.random, "item", "owner", "boss", "part_by_item", "item_by_owner", "owner_by_boss")
	arguments := map[string]any{}
	method = "read"
	tool := pick(g.random, "list", "list", "list", "get", "get", "related", "autocomplete", "describe", "actions", "history",
		"create", "update", "update", "delete", "bulk", "action", "action", "resource", "prompt")
	switch tool {
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
		arguments["id"] = g.id()
		arguments["include_related"], arguments["include_inlines"] = chance(g.random, 50), chance(g.random, 50)
	case "related":
		arguments["id"], arguments["relation"] = g.id(), relation
	case "autocomplete":
		arguments["term"] = pick(g.random, "canary", "c", "", "1")
	case "history":
		arguments["id"] = g.id()
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
		arguments["id"], arguments["data"] = g.id(), g.values(table, true)
		if table == "item" && chance(g.random, 40) {
			arguments["inlines"] = map[string]any{"part": []any{pick[any](g.random,
				map[string]any{"id": g.id(), "data": g.values("part", true)}, map[string]any{"id": g.id(), "_delete": true})}}
		}
	case "delete":
		method = "write"
		arguments["id"] = g.id()
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
				items = append(items, map[string]any{"id": g.id(), "data": g.values(table, true)})
			default:
				items = append(items, g.id())
			}
		}
		arguments["items"] = items
	case "action":
		method = "write"
		arguments["action"] = pick(g.random, "stamp", "wipe", "delete_selected")
		arguments["ids"], arguments["confirm"] = []int{g.id(), g.id()}, chance(g.random, 60)
	case "resource":
		uri := pick(g.random, "data://"+table+"/", fmt.Sprintf("data://%s/%d", table, g.id()), "models://"+table+"/schema")
		return method, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":%q}}`, uri)
	case "prompt":
		return method, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":%q,"arguments":{"model_name":%q}}}`, pick(g.random, "explore_models", "understand_model", "crud_guide"), table)
	}
	if chance(g.random, 10) && (tool == "create" || tool == "update" || tool == "delete") {
		arguments["dry_run"] = true
	}
	text, err := json.Marshal(map[string]any{"method": "tools/call", "name": tool + "_" + table, "arguments": arguments})
	if err != nil {
		g.Fatal(err)
	}
	return method, string(text)
}
