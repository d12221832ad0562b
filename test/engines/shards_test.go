package engines

import (
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// The reasons why cases and groups of them differ if the rows lie on two shards of a Vitess (docs/vitess.md).
const (
	betweenShards = "no foreign key leads from one shard to another: nothing is checked, protected or taken along by it"
	onEachShard   = "a key is unique on each shard alone"
	noViews       = "the gateway knows no views"
	noTriggers    = "the gateway makes no triggers"
	otherDigits   = "the gateway's own quotients have 9 digits, and its zeros other ones"
	itsPlainSQL   = "the gateway does not take its plain SQL"
)

// skipOverShards ends a test whose tables cannot lie on several shards.
func skipOverShards(t *testing.T, engine harness.Engine, reason string) {
	t.Helper()
	if engine.Shards {
		t.Skip(reason)
	}
}

// onShards runs a test on each engine whose rows lie on several shards, beside others.
func onShards(t *testing.T, test func(t *testing.T, engine harness.Engine)) {
	t.Helper()
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			if !engine.Shards {
				t.Skip("its rows lie on one server")
			}
			t.Parallel()
			test(t, engine)
		})
	}
}

// skipGateway ends a test whose database a gateway does not make, over one shard either.
func skipGateway(t *testing.T, engine harness.Engine, reason string) {
	t.Helper()
	if engine.Gateway {
		t.Skip(reason)
	}
}

// overShards are those cases and groups, by their names.
var overShards = map[string]string{
	"columns hold what objects hold":                      noViews,
	"a view with a declared key is read":                  noViews,
	"computed columns":                                    noViews,
	"resources":                                           noViews,
	"a slow query ends in time, and stops no other":       noViews,
	"fields of the one row that a key names":              noViews,
	"filters, orders and groups":                          noViews,
	"describe":                                            onEachShard,
	"a dry run leaves nothing":                            onEachShard,
	"a row that is not there is refused":                  betweenShards,
	"a row and what hangs on it":                          betweenShards,
	"what others need":                                    betweenShards,
	"what points there is set to null":                    betweenShards,
	"a tree of its own kind":                              betweenShards,
	"a dry run leaves all":                                betweenShards,
	"a deletion does not take along what is out of sight": betweenShards,
	"policies of related rows":                            betweenShards,
	"what is out of sight looks like what is not there":   betweenShards,
	"what protects a row is not counted where some of it is out of sight":                               betweenShards,
	"what a call made and deleted needs no undoing":                                                     betweenShards,
	"the page of a deletion says whether undo brings it back":                                           betweenShards,
	"a foreign key that leads nowhere says how to find an id, and how to name a row of an earlier step": betweenShards,
	"of a row that went or changed along, as bookish":                                                   betweenShards,
	"without a policy only a missing row is refused":                                                    betweenShards,
	"what their models offer goes on":                                                                   betweenShards,
	"with a policy a hidden row looks missing":                                                          betweenShards,
	"filters of measures":                     otherDigits,
	"a ratio with an average is rounded once": otherDigits,
	"arithmetic":                              otherDigits,
	"multiples below":                         otherDigits,
	"arithmetic of measures":                  otherDigits,
	"a sum of products":                       otherDigits,
}
