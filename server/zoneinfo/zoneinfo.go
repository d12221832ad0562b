// Package zoneinfo knows time zones by their IANA names, and when their clocks change. The program holds its own copy of the
// time zone database, so that an image or an engine needs none.
//
// Packages lookup, sqltext and sqlite import it.
package zoneinfo

import (
	"sort"
	"sync"
	"time"
	_ "time/tzdata" // an image has no time zones
)

// loaded are the zones that were asked for, by their names: no more than the database has.
var loaded sync.Map

// Load returns the zone of a name, such as Europe/Berlin; false if there is none.
func Load(name string) (*time.Location, bool) {
	if zone, ok := loaded.Load(name); ok {
		return zone.(*time.Location), true
	}
	if name == "" || name == "Local" { // which time takes for UTC, and for the machine's own
		return nil, false
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, false
	}
	loaded.Store(name, zone)
	return zone, true
}

// Change is when the clocks of a zone change, and how many seconds they are ahead of UTC from then on.
type Change struct {
	At     time.Time
	Offset int
}

// The years whose changes are known. Before and behind them the clocks stay as they are at that end.
const (
	FirstYear = 1900
	LastYear  = 2100
)

// MostChanges is the most changes that a zone has in these years.
const MostChanges = 450

var changes sync.Map

// Changes returns the changes of a zone, in their order. The first of them is its offset at the beginning.
func Changes(zone *time.Location) []Change {
	if known, ok := changes.Load(zone); ok {
		return known.([]Change)
	}
	offsetAt := func(second int64) int {
		_, offset := time.Unix(second, 0).In(zone).Zone()
		return offset
	}
	const day = 24 * 60 * 60
	first := time.Date(FirstYear, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	last := time.Date(LastYear+1, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	offset := offsetAt(first)
	all := []Change{{time.Unix(first, 0).UTC(), offset}}
	for from := first; from < last; from += day { // not by ZoneBounds, which may return the same end again
		next := offsetAt(from + day)
		if next == offset {
			continue
		}
		seconds := sort.Search(day, func(n int) bool { return offsetAt(from+int64(n)) == next })
		offset = next
		all = append(all, Change{time.Unix(from+int64(seconds), 0).UTC(), offset})
	}
	changes.Store(zone, all)
	return all
}
