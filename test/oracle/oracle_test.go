// Package oracle holds what tools answer and do against plain SQL, which runs beside the server on the same database:
// aggregates, lists, transacts and undos on random schemas, with keys of several columns, sums beyond 64 bits, zones, odd
// decimals and texts that hold numbers. Page sizes are the product's own. What a token may not see is for
// test/permissions and test/twins.
//
//	make test-permissions
//	make test-duckdb
package oracle

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// calls is how many calls the whole test makes; MCP_TEST_CALLS makes so many.
const calls = 10_000

// The size of a world: a world of reads has tables of more rows than a page, a world of writes few.
const (
	questionsInWorld = 220
	changesInWorld   = 60
)

// done counts what was held against SQL, so that a test in which nothing happens is seen.
var done struct {
	calls, lists, aggregates, longLists, longAggregates, transacts, refused, undos, computed, tooWide int
}

func TestAnswersEqualPlainSQL(t *testing.T) {
	seed := harness.Seed(t)
	all := harness.Part(calls)
	if n, err := strconv.Atoi(os.Getenv("MCP_TEST_CALLS")); err == nil {
		all = n
	}
	on := engines()
	for n, engine := range on {
		t.Run(engine.Title, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, uint64(n)))
			for i := 0; done.calls < all*(n+1)/len(on) && !t.Failed(); i++ {
				before := done.calls
				where := fmt.Sprintf("MCP_TEST_SEED=%d, %s, world %d", seed, engine.Title, i)
				t.Run(fmt.Sprint("world ", i), func(t *testing.T) { play(t, engine, random, where, i%3 == 2 && !engine.OnlyReads) })
				if done.calls == before {
					return // the engine is not there
				}
			}
		})
	}
	fmt.Printf("oracle: on %d engines, %d calls were as plain SQL has it: %d lists (%d of several pages), %d aggregates (%d of more groups than a page), %d of computed values, %d transacts, %d refused as SQL does, %d undos, %d refused as they need more digits than the engine has (seed %d)\n",
		len(on), done.calls, done.lists, done.longLists, done.aggregates, done.longAggregates, done.computed, done.transacts, done.refused, done.undos, done.tooWide, seed)
	tooFewReads := done.longLists < 50 || done.longAggregates < 20 || done.computed < 200 || done.tooWide > done.calls/10
	tooFewWrites := !on[0].OnlyReads && (done.transacts < 50 || done.refused < 5 || done.undos < 50)
	if harness.Whole() && done.calls > 2000 && (tooFewReads || tooFewWrites) {
		t.Error("too little happened for the test to mean anything")
	}
}

// engines are the engines of every suite, and MySQL if it is there.
func engines() []harness.Engine {
	all := harness.Engines
	for _, e := range harness.FurtherEngines() {
		if e.Product == harness.MySQL {
			all = append(all[:len(all):len(all)], e)
		}
	}
	return all
}

// play makes a world, and asks it or changes it.
func play(t *testing.T, engine harness.Engine, random *rand.Rand, where string, writes bool) {
	w := newWorld(engine, random, writes)
	database, plain := engine.Open(t, w.script())
	models := make([]contract.Model, len(w.tables))
	for i, table := range w.tables {
		models[i] = contract.Model{Name: table.name, Table: table.name, Expose: true, Overrides: table.readings(), Relations: table.declaredRelations()}
	}
	everything := contract.Token{Namespace: "test", Name: "root", Hashes: []string{contract.HashToken(root)},
		Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"*"}}}}
	endpoint := harness.Serve(t, database, models, []contract.Token{everything}, func(c *contract.Config) {
		if !engine.OnlyReads {
			c.Endpoint.Audit = &contract.AuditTable{Name: "mcp_admin_log"}
		}
	})
	g := &game{T: t, world: w, endpoint: endpoint, plain: connect(t, engine, plain), where: where}
	if writes {
		for i := 0; i < changesInWorld && g.wrong < enough; i++ {
			g.change()
		}
		return
	}
	for i := 0; i < questionsInWorld && g.wrong < enough; i++ {
		switch n := random.IntN(100); {
		case n < 40:
			g.list()
		case n < 75:
			g.aggregate()
		default:
			g.computed()
		}
	}
}

// enough differences end a world.
const enough = 5

const root = "mcp_oracleoracleorac.0000000000000000000000000000000000000000000"

func chance(r *rand.Rand, percent int) bool { return r.IntN(100) < percent }

func pick[T any](r *rand.Rand, some ...T) T { return some[r.IntN(len(some))] }

// differs fails the test: a call, what SQL says to it, and how its answer is another.
func (g *game) differs(call, statement, format string, arguments ...any) {
	g.Helper()
	g.wrong++
	g.Errorf("%s\n%s\n%s\n%s\n%s", g.where, call, statement, fmt.Sprintf(format, arguments...), strings.Join(g.describe(), "\n"))
}
