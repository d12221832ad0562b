package engines

// The reasons why cases and groups of them differ if the rows lie on two shards of a Vitess (docs/engines.md, "Vitess").
const (
	betweenShards = "no foreign key leads from one shard to another: nothing is checked, protected or taken along by it"
	onEachShard   = "a key is unique on each shard alone"
	noViews       = "the gateway knows no views"
	lessDigits    = "the gateway's own quotients have 9 digits"
	movesRows     = "its plain SQL changes the column by which rows lie on shards"
	ownArithmetic = "the gateway adds limit and offset, and they are beyond its numbers"
	byItsBytes    = "a row is looked for on the shard of its key's own bytes"
	breaksOff     = "the gateway breaks the connection off"
)

// overShards are those cases and groups, by their names.
var overShards = map[string]string{
	"columns hold what objects hold":     noViews,
	"a view with a declared key is read": noViews,
	"computed columns":                   noViews,
	"resources":                          noViews,
	"describe":                           onEachShard,
	"a dry run leaves nothing":           onEachShard,
	"a key in another case is that of the row, with its history, or of none": byItsBytes,
	"a row that is not there is refused":                                     betweenShards,
	"a row and what hangs on it":                                             betweenShards,
	"what others need":                                                       betweenShards,
	"what points there is set to null":                                       betweenShards,
	"a tree of its own kind":                                                 betweenShards,
	"a dry run leaves all":                                                   betweenShards,
	"a deletion does not take along what is out of sight":                    betweenShards,
	"policies of related rows":                                               betweenShards,
	"what is out of sight looks like what is not there":                      betweenShards,
	"what protects a row is not counted where some of it is out of sight":    betweenShards,
	"what a call made and deleted needs no undoing":                          betweenShards,
	"the page of a deletion says whether undo brings it back":                betweenShards,
	"a foreign key that leads nowhere says how to find an id, and how to name a row of an earlier step": betweenShards,
	"clerk author":                            breaksOff,
	"filters of measures":                     lessDigits,
	"a ratio with an average is rounded once": lessDigits,
	"a long name is cut":                      movesRows,
	"a page beyond all pages is empty":        ownArithmetic,
}
