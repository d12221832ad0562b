package mcp

import (
	"net/http"
	"slices"
	"strings"
)

// The versions of the initialize era, oldest first; decisions section 3.
const (
	version20241105 = "2024-11-05"
	version20250326 = "2025-03-26"
	version20250618 = "2025-06-18"
	version20251125 = "2025-11-25"
)

var supportedVersions = []string{version20241105, version20250326, version20250618, version20251125}

const versionHeader = "Mcp-Protocol-Version"

// A protocol is what the rules of a JSON-RPC request depend on.
type protocol struct {
	// supported is false where the request names a version that is none of ours.
	supported bool
	// batches is whether the body may be an array of messages.
	batches bool
}

// protocolOf decides by which version's rules a JSON-RPC request is read. It is the only place that does.
func protocolOf(header http.Header) protocol {
	// More than one value names no version, whatever each of them says.
	switch version := strings.Join(header[versionHeader], ", "); version {
	case "", version20250326:
		return protocol{supported: true, batches: true}
	default:
		return protocol{supported: slices.Contains(supportedVersions, version)}
	}
}

// negotiate returns the version that initialize answers with: the client's where it is known, else the newest.
func negotiate(requested string) string {
	if slices.Contains(supportedVersions, requested) {
		return requested
	}
	return version20251125
}
