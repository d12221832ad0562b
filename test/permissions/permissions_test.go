package permissions

import (
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

// The size of the whole test: worlds, and calls in each. With MCP_TEST_CALLS there are so many calls in all instead, as many
// on each engine, and the test says how far it is.
const (
	worlds       = 90
	callsInWorld = 190
	callsSetting = "MCP_TEST_CALLS"
)

// did counts what calls did, so that a test in which nothing happens is seen.
var did struct{ calls, answered, showed, changed, probes, recalled, followed, confirmed, undone, reported int }

// journal is the audit table, from which history_ tells.
const journal = "mcp_admin_log"

func TestNoCallShowsOrChangesWhatTheOracleForbids(t *testing.T) {
	seed := harness.Seed(t)
	wanted, _ := strconv.Atoi(os.Getenv(callsSetting)) // 0 if it is no number
	for n, engine := range harness.Engines {
		rounds := harness.Part(worlds)
		if engine.Name != contract.EngineSQLite {
			rounds /= 6 // the rules are the same; the statements are not
		}
		enough := func(world int) bool { return world == rounds }
		if wanted > 0 {
			enough = func(int) bool {
				return did.calls+asked.calls+exported.calls+did.probes >= wanted*(n+1)/len(harness.Engines)
			}
		}
		t.Run(engine.Name, func(t *testing.T) {
			s := open(t, engine)
			random := rand.New(rand.NewPCG(seed, 1))
			issuer := harness.NewIssuer(t)
			endpoint := harness.Serve(t, s.Database, nil, nil, func(c *contract.Config) {
				c.Endpoint.Audit = &contract.AuditTable{Name: journal}
				c.Endpoint.Limits.MaxExportRows = mostExported
				c.Endpoint.Authentication.Issuers = []contract.Issuer{issuer.Settings(corp)}
			})
			for i := 0; !enough(i); i++ {
				w := newWorld(random, s.users)
				endpoint.Apply(func(c *contract.Config) { w.configure(c, s.outside) })
				g := &game{T: t, world: w, endpoint: endpoint, shown: w.shownTo(issuer), store: s, nullsLast: engine.Name == contract.EnginePostgreSQL, where: fmt.Sprintf("MCP_TEST_SEED=%d, world %d", seed, i)}
				g.fill()
				g.compareStatus()
				for range callsInWorld {
					g.play()
				}
				if t.Failed() {
					return
				}
				if wanted > 0 && i%20 == 0 {
					fmt.Printf("%s, world %d: %s\n", engine.Title, i, told())
				}
			}
		})
	}
	fmt.Printf("permissions: on %d engines, %s (seed %d)\n", len(harness.Engines), told(), seed)
	fmt.Printf("permissions: %s\n", stepped.told())
	if harness.Whole() && did.calls > 0 && !stepped.enough() {
		t.Error("too few calls of transact went each way for the test to mean anything")
	}
	if harness.Whole() && did.calls > 0 && (did.answered < did.calls/5 || did.showed < did.calls/20 || did.changed < did.calls/100 || did.recalled == 0 || did.followed == 0 || did.confirmed == 0 || did.undone == 0 || did.reported == 0) {
		t.Error("too little happened for the test to mean anything")
	}
	if harness.Whole() && asked.calls > 0 && (asked.answered < asked.calls/3 || asked.rows < asked.calls/5 || asked.refused < asked.calls/20 || asked.repeated == 0 || asked.twins == 0 || asked.measured < asked.calls/50) {
		t.Error("too few questions had answers, or too few were refused, for the test to mean anything")
	}
	if harness.Whole() && exported.calls > 0 && (exported.files < exported.calls/8 || exported.rows < exported.calls/12 || exported.refused < exported.calls/10 || exported.withdrawn == 0) {
		t.Error("too few exports had files, or too few were refused, for the test to mean anything")
	}
}

// told says what happened.
func told() string {
	return fmt.Sprintf("%d calls and probes: %d calls, of which %d succeeded, %d showed values (%d of them past ones), %d changed rows, %d followed a cursor, %d confirmed, %d undid and %d asked for a report; "+
		"%d exports, of which %d had the file of the oracle (%d of them with rows), %d were refused as it refuses and %d before they were fetched; "+
		"%d questions, of which %d had the answer of the oracle (%d of them with rows, %d compared with a measure) and %d were refused as it refuses; "+
		"%d probes for what is forbidden told nothing, %d of them by names and %d by questions",
		did.calls+asked.calls+exported.calls+did.probes, did.calls, did.answered, did.showed, did.recalled, did.changed, did.followed, did.confirmed, did.undone, did.reported,
		exported.calls, exported.files, exported.rows, exported.refused, exported.withdrawn,
		asked.calls, asked.answered, asked.rows, asked.measured, asked.refused, did.probes, asked.twins, asked.repeated)
}

// game is calls at random in one world.
type game struct {
	// updated is the row that a call asked to change last.
	updated struct {
		table string
		id    any
	}
	*testing.T
	*world
	endpoint *harness.Endpoint
	// shown has the token that each caller shows.
	shown []string
	store *store
	// now has the rows of the tables; past says where each text stands or once stood.
	now  data
	past map[string][]place
	// page and question are the newest answers that gave something to bring back, asked the call at hand.
	page, question, asked offer
	// made are the calls that changed something; undoes is the call that the present one undoes.
	made   []offer
	undoes offer
	count  int
	where  string
	// nullsLast says that NULLs come last in ascending orders.
	nullsLast bool
}

// place is where a text stands, or stood.
type place struct{ table, id, column string }

// offer is a call, who made it, and the cursor or confirmation_token that came of it.
type offer struct {
	by        int
	tool      string
	arguments map[string]any
	given     string
}

// canary is a text that stands nowhere else.
func (g *game) canary() string {
	g.count++
	return fmt.Sprintf("canary-%05d-%s", g.count, strconv.FormatUint(g.random.Uint64(), 36))
}

// fill makes the tables anew.
func (g *game) fill() {
	g.Helper()
	all := data{}
	for _, table := range byDependence {
		all[table] = map[string]row{}
		for id := 1; id <= 6; id++ {
			all[table][fmt.Sprint(id)] = g.newRow(table, id, all)
		}
	}
	if g.store.outside != "" {
		all["guest"] = map[string]row{}
		for _, id := range []string{"1", "2", "3"} {
			all["guest"][id] = row{"id": id, "label": g.canary(), "item_id": fmt.Sprint(1 + g.random.IntN(6))}
		}
	}
	g.change("delete from " + journal)
	g.store.replace(g.T, all)
	g.now, g.past = g.store.read(g.T), map[string][]place{}
	g.remember()
}

// newRow makes up a row; its foreign keys lead to rows that are there.
func (g *game) newRow(table string, id int, all data) row {
	r := row{}
	for _, c := range tables[table] {
		switch {
		case c.key && c.refers == "":
			r[c.name] = fmt.Sprint(id)
		case c.canary:
			r[c.name] = g.canary()
		case c.name == "region":
			r[c.name] = pick(g.random, regions...)
		case c.name == "code":
			r[c.name] = fmt.Sprint("k", id)
		case c.kind != aText:
			r[c.name] = c.kind.random(g.random)
		}
	}
	for _, to := range references[table] {
		target := all[to.table][fmt.Sprint(1+g.random.IntN(6))]
		if table == "pledge" {
			target = all[to.table]["6"] // what restricts leaves the others free
		}
		for i, name := range to.columns {
			r[name] = target[to.to[i]]
		}
		if len(to.columns) > 1 && chance(g.random, 30) {
			r[pick(g.random, to.columns...)] = "" // a key that is given in part leads nowhere
		}
	}
	return r
}

// compareStatus sees to it that the oracle and the server withhold the same models.
func (g *game) compareStatus() {
	g.Helper()
	for _, m := range g.endpoint.Status().Models {
		if m.Served() == withheld(g.model(m.Name)) {
			g.Errorf("%s: %s: served is %v: %s %s", g.where, m.Name, m.Served(), m.Reason, m.Message)
		}
	}
}

// remember notes where each text stands.
func (g *game) remember() {
	for table, rows := range g.now {
		for id, r := range rows {
			for _, c := range tables[table] {
				if at := (place{table, id, c.name}); c.canary && !slices.Contains(g.past[r[c.name]], at) {
					g.past[r[c.name]] = append(g.past[r[c.name]], at)
				}
			}
		}
	}
}

// mayRecall reports whether a token may be told of a text that stood somewhere: in a row that it sees now, or would see if it
// were there, in a field that it sees.
func (g *game) mayRecall(t contract.Token, text string, all data) bool {
	return slices.ContainsFunc(g.past[text], func(at place) bool {
		if at.table == "guest" {
			return false
		}
		m, r := g.model(at.table), all[at.table][at.id]
		if r == nil { // the history of a row that is gone is for who sees all rows
			return seesAll(t, m) && g.shows(t, m, row{}, at.column, all)
		}
		return g.shows(t, m, r, at.column, all)
	})
}

// forget takes a row's past away, as another has its key now.
func (g *game) forget(table, id string) {
	for text, places := range g.past {
		g.past[text] = slices.DeleteFunc(places, func(at place) bool { return at.table == table && at.id == id })
	}
}

var (
	canaryText   = regexp.MustCompile(`canary-[0-9]{5}-[0-9a-z]+`)
	cursorText   = regexp.MustCompile(`next_cursor\\":\\"([\w-]+)`)
	callText     = regexp.MustCompile(`\\"call\\":\\"([A-Z0-9]{16})\\"`)
	questionText = regexp.MustCompile(`confirmation_token\\":\\"([\w-]+)`)
)

// play makes one call and checks its answer and its effects.
func (g *game) play() {
	g.Helper()
	i := g.random.IntN(len(g.tokens))
	if chance(g.random, 10) {
		g.probe(i)
		return
	}
	if chance(g.random, 40) {
		g.ask(i)
		return
	}
	if chance(g.random, 8) {
		g.transact(i)
		return
	}
	if chance(g.random, 12) {
		g.export(i)
		return
	}
	method, body := g.request(i)
	g.perform(i, method, body)
}

// perform makes the call that was asked last, and checks its effects.
func (g *game) perform(i int, method, body string) (answer string) {
	g.Helper()
	token := g.tokens[i]
	status, answer := g.endpoint.PostTo(g.query(), g.shown[i], body)
	did.calls++
	if g.asked.arguments["cursor"] != nil {
		did.followed++
	}
	if status != 200 {
		g.Fatalf("%s: %s: %d %s", g.where, body, status, answer)
	}
	if !strings.Contains(answer, `"isError":true`) && !strings.Contains(answer, `"error"`) {
		did.answered++
	} else if strings.Contains(answer, `"internal`) || strings.Contains(answer, `\"internal`) {
		g.Errorf("%s: %s: %s", g.where, body, answer)
	}
	before := g.now
	_, table, _ := strings.Cut(g.asked.tool, "_")
	shown := g.canaries(token, table, before)
	g.keep(answer)
	if method == "write" {
		g.now = g.store.read(g.T)
		g.judge(i, body, before)
		g.remember()
		for text, may := range g.canaries(token, table, g.now) { // what was written may be shown
			shown[text] = shown[text] || may
		}
	}
	if g.asked.tool == "undo_" && g.asked.arguments["dry_run"] == true && !strings.Contains(answer, `"isError":true`) {
		g.undoInEarnest(i, answer)
		for text, may := range g.canaries(token, table, g.now) { // a dry run counts rows that would be there again
			shown[text] = shown[text] || may
		}
	}
	if method == "read" && strings.HasPrefix(g.asked.tool, "report_") {
		g.judgeReport(token, body, answer)
		return answer
	}
	showed := false
	for _, text := range canaryText.FindAllString(answer, -1) {
		may, stands := shown[text]
		_, stood := g.past[text]
		if !may && stood { // history may tell of it, wherever else the same text stands
			may = g.mayRecall(token, text, g.now) || g.mayRecall(token, text, before)
			if !stands {
				did.recalled++
			}
		}
		if (stands || stood) && !may && !strings.Contains(body, text) {
			g.Errorf("%s: token %+v\nmodels %+v\n%s\nshows %s, which it must not:\n%s", g.where, token, g.models, body, text, answer)
		}
		showed = true
	}
	if showed {
		did.showed++
	}
	return answer
}

// undoInEarnest makes the call of a dry run that was answered: it must be answered as well.
func (g *game) undoInEarnest(by int, tried string) {
	g.Helper()
	g.asked.arguments = map[string]any{"call": g.asked.arguments["call"]}
	if answer := g.perform(by, "write", g.body("undo", g.asked.arguments)); strings.Contains(answer, `"isError":true`) {
		g.Errorf("%s: the dry run of an undo is answered with\n%s\nand the undo with\n%s", g.where, tried, answer)
	}
}

// keep notes what an answer gives to bring back.
func (g *game) keep(answer string) {
	if found := cursorText.FindStringSubmatch(answer); found != nil {
		g.page, g.page.given = g.asked, found[1]
	}
	if found := callText.FindStringSubmatch(answer); found != nil {
		made := g.asked
		made.given = found[1]
		g.made = append(g.made, made)
	}
	if found := questionText.FindStringSubmatch(answer); found != nil {
		g.question, g.question.given = g.asked, found[1]
	}
}
