package mysql

import (
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// MariaDB's Spider asks the servers behind a table in the table's character set: what that lacks comes back as "?", and is not found.
// And it reads long texts of other character sets into one place for all partitions (10.11).

// elsewhereSets are the character sets of a table whose rows lie elsewhere, or of all such tables that a view shows.
type elsewhereSets struct {
	all []string
	// partitioned are the sets of the tables that have partitions.
	partitioned []string
}

// addSets gives a view the sets of a table that it shows.
func (i *introspection) addSets(view, source *database.Table) {
	from := i.sets[source]
	if from == nil {
		return
	}
	to := i.sets[view]
	if to == nil {
		to = &elsewhereSets{}
		i.sets[view] = to
	}
	to.all, to.partitioned = united(to.all, from.all), united(to.partitioned, from.partitioned)
}

func united(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// readElsewhere notes the character set of a table whose rows lie elsewhere.
func (i *introspection) readElsewhere(t *database.Table, collation, options string) {
	sets := &elsewhereSets{all: []string{characterSet(collation)}}
	if strings.Contains(options, "partitioned") {
		sets.partitioned = sets.all
	}
	i.sets[t] = sets
}

// leavesOut reports whether a text column's values cannot be relied on, and notes why.
func (i *introspection) leavesOut(t *database.Table, column, dataType, collation string) bool {
	sets, set := i.sets[t], characterSet(collation)
	if sets == nil || set == "" {
		return false
	}
	why := ""
	switch other := func(own string) bool { return own != set }; {
	case strings.HasSuffix(dataType, "text") && slices.ContainsFunc(sets.partitioned, other):
		why = "as the database may give a row the text of another one: its character set is not that of its table, whose rows lie on several servers"
	case slices.ContainsFunc(sets.all, func(own string) bool { return !holds(own, set) }):
		why = "as some of its characters would be answered as ?, and not found: its character set is not that of its table, in which the servers that have the rows are asked; give the table utf8mb4"
	}
	if why != "" {
		i.unserved = append(i.unserved, database.Unserved{Note: "the column " + t.String() + "." + column + " is left out, " + why, Why: "a column is left out, " + why})
	}
	return why != ""
}

// characterSet is the character set of a collation.
func characterSet(collation string) string {
	set, _, _ := strings.Cut(collation, "_")
	return set
}

// beyondThreeBytes are the character sets whose characters utf8mb3 does not have all of.
var beyondThreeBytes = []string{"utf8mb4", "utf16", "utf16le", "utf32"}

// holds reports whether a character set has all characters of another one.
func holds(own, set string) bool {
	if own == "utf8mb3" || own == "utf8" {
		return !slices.Contains(beyondThreeBytes, set)
	}
	return own == set || own == "utf8mb4" || set == "ascii"
}
