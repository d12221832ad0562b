package version

import "runtime/debug"

// Revision is the commit of the source as Go recorded it in the program; "unknown" if it did not, as in a build of a checkout with
// changes.
func Revision() string {
	recorded := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				recorded = setting.Value
			}
		}
	}
	return first(recorded)
}
