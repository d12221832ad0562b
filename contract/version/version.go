// Package version tells which version of the project a program is. It imports nothing of the project.
package version

import (
	"cmp"
	"runtime/debug"
)

// version is set by the build: -ldflags "-X github.com/mcp-admin/mcp-admin-operator/contract/version.version=1.2.3".
var version string

// String is the version that the build set, else the module's as Go recorded it, else "(devel)".
func String() string {
	recorded := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		recorded = info.Main.Version
	}
	return cmp.Or(version, recorded, "(devel)")
}
