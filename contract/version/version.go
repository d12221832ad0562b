// Package version tells which version of the project a program is. It imports nothing of the project.
package version

import "runtime/debug"

// version is set by the build: -ldflags "-X github.com/mcp-admin/mcp-admin-operator/contract/version.version=v1.2.3".
var version string

// unknown is the version of a program that was built without one, such as a test.
const unknown = "unknown"

// String is the version that the build set, else the module's as Go recorded it, else "unknown".
func String() string {
	recorded := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		recorded = info.Main.Version
	}
	return first(version, recorded)
}

// first is the first that says something; "(devel)" is Go's word for nothing.
func first(versions ...string) string {
	for _, v := range versions {
		if v != "" && v != "(devel)" {
			return v
		}
	}
	return unknown
}
