package read

import (
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/zoneinfo"
)

// zoneArgument is the zone whose days, weeks and months a call means: an argument of operations that filter or group.
type zoneArgument struct{ timeZone string }

// withZone adds the argument to an operation's; of returns where it is stored.
func withZone[A any](of func(*A) *zoneArgument, list []call.Argument[A]) []call.Argument[A] {
	return append(list, call.Argument[A]{Name: "time_zone", Into: func(a *A) any { return &of(a).timeZone },
		Unlisted: true, Help: "such as Europe/Berlin"})
}

// calendar is by what a call reads moments.
func (z zoneArgument) calendar(c *call.Call) (lookup.Calendar, error) {
	cal := lookup.Calendar{Now: c.Now}
	if z.timeZone == "" || z.timeZone == "UTC" {
		return cal, nil
	}
	zone, ok := zoneinfo.Load(z.timeZone)
	if !ok {
		return cal, call.Invalid("time_zone must be the IANA name of a zone, such as Europe/Berlin, or UTC, not %q", z.timeZone)
	}
	cal.Zone = zone
	return cal, nil
}
