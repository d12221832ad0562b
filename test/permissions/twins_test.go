package permissions

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// Twin worlds: two databases that differ only in what a token may not see. The same random calls are made of both, and
// the answers compared byte for byte: so nothing that is out of sight shows in a total, an order, an error or anything
// else.

// The size of the whole test: pairs of worlds on SQLite, and a quarter of them on each other engine; calls in each.
const (
	twinWorlds = 60
	twinCalls  = 60
)

// twinned counts calls made of both worlds, and what was other in the second one when they were made.
var twinned struct{ calls, answered, changed, rows, values, redirected, gone int }

// twins are a game, whose world is the first, and the second world.
type twins struct {
	*game
	by    int
	other struct {
		store    *store
		endpoint *harness.Endpoint
	}
	// named are the first world's ids of calls, cursors and confirmations, with the second's.
	named map[string]string
}

func TestTwinWorldsAnswerAlike(t *testing.T) {
	seed := harness.Seed(t)
	for n, engine := range harness.Engines {
		t.Run(engine.Name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, uint64(n)))
			pairs := harness.Part(twinWorlds)
			if engine.Name != contract.EngineSQLite {
				pairs /= 4
			}
			first, second := open(t, engine), open(t, engine)
			issuer := harness.NewIssuer(t)
			serve := func(s *store) *harness.Endpoint {
				return harness.Serve(t, s.Database, nil, nil, func(c *contract.Config) {
					c.Endpoint.Audit = &contract.AuditTable{Name: journal}
					c.Endpoint.Authentication.Issuers = []contract.Issuer{issuer.Settings(corp)}
				})
			}
			tw := twins{game: &game{endpoint: serve(first), store: first, nullsLast: engine.Name == contract.EnginePostgreSQL}}
			tw.other.store, tw.other.endpoint = second, serve(second)
			for i := 0; i < pairs && !t.Failed(); i++ {
				w := newWorld(random, first.users)
				var catalogue contract.Catalogue // which is made up
				tw.endpoint.Apply(func(c *contract.Config) {
					w.configure(c, first.outside)
					catalogue = c.Endpoint.Catalogue
				})
				tw.other.endpoint.Apply(func(c *contract.Config) {
					w.configure(c, second.outside)
					c.Endpoint.Catalogue = catalogue
				})
				tw.game = &game{T: t, world: w, endpoint: tw.endpoint, shown: w.shownTo(issuer), store: first, nullsLast: tw.nullsLast, where: fmt.Sprintf("MCP_TEST_SEED=%d, twins %d", seed, i)}
				tw.play(i%3 == 0)
			}
		})
	}
	fmt.Printf("twins: on %d engines, %d calls were answered byte for byte alike (%d of them no errors, %d changed rows) by two databases of which one had other values in %d rows and %d more fields that were out of sight, %d hidden foreign keys to other rows, and %d rows fewer (seed %d)\n",
		len(harness.Engines), twinned.calls, twinned.answered, twinned.changed, twinned.rows, twinned.values, twinned.redirected, twinned.gone, seed)
	if harness.Whole() && twinned.calls > 0 && (twinned.answered < twinned.calls/5 || twinned.changed < twinned.calls/200 || twinned.rows == 0 || twinned.values == 0 || twinned.redirected == 0 || twinned.gone == 0) {
		t.Error("too little happened for the test to mean anything")
	}
}

// play makes calls of a pair of worlds: only reads if rows are missing from the second, as each key can be added once.
func (tw *twins) play(fewer bool) {
	tw.Helper()
	tw.fill()
	if _, err := tw.other.store.Exec("delete from " + journal); err != nil {
		tw.Fatal(err)
	}
	tw.named = map[string]string{}
	for range 10 { // mostly a token that may view something
		if tw.by = tw.random.IntN(len(tw.tokens)); !tw.seesNothing() {
			break
		}
	}
	tw.pair(fewer)
	for i := 0; i < twinCalls && !tw.Failed(); i++ {
		method, body := tw.newCall()
		if strings.Contains(body, `"report"`) || method == "write" && strings.Contains(body, `"steps"`) && stepsOnIDs.MatchString(body) || fewer && method == "write" {
			continue // a report passes policies by, and what steps refer to or expect of an id is another each time
		}
		tw.ask(method, tw.query(), body)
	}
}

// newCall makes up a call of the token: any tool, a question, steps, or a list.
func (tw *twins) newCall() (method, body string) {
	switch n := tw.random.IntN(100); {
	case n < 35:
		for {
			if q := tw.newQuestion(tw.by); q.by == tw.by {
				tw.asked = offer{by: tw.by, tool: q.tool + "_" + q.table, arguments: q.arguments}
				return "read", q.body(tw.game)
			}
			if tw.seesNothing() {
				return tw.request(tw.by)
			}
		}
	case n < 42:
		tw.asked = offer{by: tw.by, arguments: map[string]any{}}
		return "read", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q}`, pick(tw.random, "tools/list", "resources/list", "resources/templates/list", "prompts/list", "initialize"))
	case n < 50 && !tw.seesNothing():
		arguments := map[string]any{"steps": sentSteps(tw.newSteps(tw.by)), "dry_run": chance(tw.random, 25)}
		tw.asked = offer{by: tw.by, tool: "transact_", arguments: arguments}
		return "write", tw.body("transact", arguments)
	}
	return tw.request(tw.by)
}

// seesNothing reports whether the token may view no model.
func (tw *twins) seesNothing() bool {
	return !slices.ContainsFunc(tw.models, func(m contract.Model) bool { return may(tw.tokens[tw.by], m, "view") })
}

// What differs between two runs of the same call: the ids of calls, cursors and confirmations, moments in the journal, and
// requests.
var (
	idText      = regexp.MustCompile(`(next_cursor|call|confirmation_token|request)\\?":\\?"([\w-]+)`)
	stepsOnIDs  = regexp.MustCompile(`next_cursor|confirmation_token|[".]call"`)
	callInText  = regexp.MustCompile(`call [A-Z0-9]{16}`)
	requestText = regexp.MustCompile(`request [0-9A-Za-z-]{8,}`)
	journalTime = regexp.MustCompile(`(timestamp|time|at)\\?":\\?"[0-9]{4}-[^"\\]*`)
)

// comparable is an answer without what is another each time.
func comparable(answer string) string {
	answer = callInText.ReplaceAllString(idText.ReplaceAllString(answer, `$1":"ID`), "call ID")
	return journalTime.ReplaceAllString(requestText.ReplaceAllString(answer, "request ID"), `$1":"TIME`)
}

// ask makes a call of both worlds, and compares the answers and what became of the rows.
func (tw *twins) ask(method, query, body string) {
	tw.Helper()
	status, answer := tw.endpoint.PostTo(query, tw.shown[tw.by], body)
	otherStatus, otherAnswer := tw.other.endpoint.PostTo(query, tw.shown[tw.by], tw.renamed(body))
	twinned.calls++
	if status != otherStatus || comparable(answer) != comparable(otherAnswer) {
		tw.Errorf("%s: token %+v\nmodels %+v\n%s\nis answered %d %s\nand by the twin %d %s", tw.where, tw.tokens[tw.by], tw.models, body, status, answer, otherStatus, otherAnswer)
		return
	}
	if !strings.Contains(answer, `"isError":true`) && !strings.Contains(answer, `"error"`) {
		twinned.answered++
	}
	others := idText.FindAllStringSubmatch(otherAnswer, -1)
	for i, found := range idText.FindAllStringSubmatch(answer, -1) {
		tw.named[found[2]] = others[i][2]
	}
	tw.keep(answer)
	if method == "write" {
		tw.follow(body)
	}
}

// renamed is a body with the second world's ids.
func (tw *twins) renamed(body string) string {
	var pairs []string
	for name, other := range tw.named {
		pairs = append(pairs, strconv.Quote(name), strconv.Quote(other))
	}
	return strings.NewReplacer(pairs...).Replace(body)
}

// follow reads what a call left. Rows that came into sight, as policies go by what it changed, are made alike again.
func (tw *twins) follow(body string) {
	tw.Helper()
	before := tw.visible(tw.now)
	tw.now = tw.store.read(tw.T)
	seen, alike := tw.visible(tw.now), tw.visible(tw.other.store.read(tw.T))
	if !reflect.DeepEqual(before, seen) {
		twinned.changed++
	}
	if maps.Equal(seen, alike) {
		return
	}
	for place, values := range seen {
		if alike[place] != values && before[place] != "" {
			text, _ := json.Marshal(tw.models)
			tw.Errorf("%s: token %+v\nmodels %s\n%s\nmakes %s %q, and in the twin %q", tw.where, tw.tokens[tw.by], text, body, place, values, alike[place])
			return
		}
	}
	tw.pair(false)
}
