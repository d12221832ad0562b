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

// The size of the test: worlds, and calls in each. With MCP_TEST_CALLS there are so many calls in all instead, as many on
// each engine, and the test says how far it is.
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
		rounds := worlds
		if engine.Name != contract.EngineSQLite {
			rounds /= 6 // the rules are the same; the statements are not
		}
		enough := func(world int) bool { return world == rounds }
		if wanted > 0 {
			enough = func(int) bool { return did.calls+asked.calls+did.probes >= wanted*(n+1)/len(harness.Engines) }
		}
		t.Run(engine.Name, func(t *testing.T) {
			s := open(t, engine)
			random := rand.New(rand.NewPCG(seed, 1))
			issuer := harness.NewIssuer(t)
			endpoint := harness.Serve(t, s.Database, nil, nil, func(c *contract.Config) {
				c.Endpoint.Audit = &contract.AuditTable{Name: journal}
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
	if did.calls > 0 && !stepped.enough() {
		t.Error("too few calls of transact went each way for the test to mean anything")
	}
	if did.calls > 0 && (did.answered < did.calls/5 || did.showed < did.calls/20 || did.changed < did.calls/100 || did.recalled == 0 || did.followed == 0 || did.confirmed == 0 || did.undone == 0 || did.reported == 0) {
		t.Error("too little happened for the test to mean anything")
	}
	if asked.calls > 0 && (asked.answered < asked.calls/3 || asked.rows < asked.calls/5 || asked.refused < asked.calls/20 || asked.repeated == 0 || asked.twins == 0 || asked.measured < asked.calls/50) {
		t.Error("too few questions had answers, or too few were refused, for the test to mean anything")
	}
}

// told says what happened.
func told() string {
	return fmt.Sprintf("%d calls and probes: %d calls, of which %d succeeded, %d showed values (%d of them past ones), %d changed rows, %d followed a cursor, %d confirmed, %d undid and %d asked for a report; "+
		"%d questions, of which %d had the answer of the oracle (%d of them with rows, %d compared with a measure) and %d were refused as it refuses; "+
		"%d probes for what is forbidden told nothing, %d of them by names and %d by questions",
		did.calls+asked.calls+did.probes, did.calls, did.answered, did.showed, did.recalled, did.changed, did.followed, did.confirmed, did.undone, did.reported,
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
	// shown is what each token's caller shows.
	shown []string
	store *store
	// now is what the tables hold, past where each text stands or once stood.
	now  data
	past map[string][]place
	// page and question are the newest answers that gave something to bring back, asked the call at hand.
	page, question, asked offer
	// made are the calls that changed something, undoes the one that the call at hand undoes.
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

// play makes one call and looks at what came of it.
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
	method, body := g.request(i)
	g.perform(i, method, body)
}

// perform makes the call that was asked last, and looks at what came of it.
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
	shown := g.canaries(token, before)
	g.keep(answer)
	if method == "write" {
		g.now = g.store.read(g.T)
		g.judge(i, body, before)
		g.remember()
		for text, may := range g.canaries(token, g.now) { // what was written may be shown
			shown[text] = shown[text] || may
		}
	}
	if g.asked.tool == "undo_" && g.asked.arguments["dry_run"] == true && !strings.Contains(answer, `"isError":true`) {
		g.undoInEarnest(i, answer)
		for text, may := range g.canaries(token, g.now) { // a dry run tells of rows that would be there again
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
