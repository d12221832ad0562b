package mcp

import (
	"net/http"
	"slices"
	"strings"
)

// The published versions of MCP (docs/design/protocol.md, "Versions"). All except the newest are of the initialize era.
const (
	version20241105 = "2024-11-05"
	version20250326 = "2025-03-26"
	version20250618 = "2025-06-18"
	version20251125 = "2025-11-25"
	version20260728 = "2026-07-28"
)

var (
	legacyVersions    = []string{version20251125, version20250618, version20250326, version20241105}
	supportedVersions = append([]string{version20260728}, legacyVersions...)
)

const versionHeader = "Mcp-Protocol-Version"

// A protocol holds what the rules of a JSON-RPC message depend on.
type protocol struct {
	// refused is the code of the error that refuses every message of this version; 0 is none.
	refused int
	// requested is the version that the request names; "" if it names none.
	requested string
	// modern reports whether the version has no initialize and carries its metadata with every request.
	modern bool
	// batches reports whether the body may be an array of messages.
	batches bool
}

// protocolOf decides which version's rules a JSON-RPC message follows; nothing else does. A header names the version,
// and from 2026-07-28 on the message's own metadata does too; meta is nil for a whole batch. MCP 2026-07-28, Streamable
// HTTP, "Protocol Version Header".
func protocolOf(header http.Header, meta *metadata) protocol {
	// More than one value names no version, whatever the values say.
	inHeader, inBody := strings.Join(header[versionHeader], ", "), ""
	if meta != nil && isString(meta.protocolVersion) {
		inBody = stringValue(meta.protocolVersion)
	}
	p := protocol{requested: inHeader}
	if inHeader == "" {
		p.requested = inBody
	}
	switch {
	case inHeader != "" && inBody != "" && inHeader != inBody && (!isLegacy(inHeader) || !isLegacy(inBody)):
		p.refused = codeHeaderMismatch
	case p.requested == version20260728:
		p.modern = true
	case p.requested != "" && !isLegacy(p.requested):
		p.refused = codeUnsupportedVersion
	default:
		p.batches = inHeader == "" || inHeader == version20250326
	}
	return p
}

// hasLinks reports whether the version has links among the content of an answer: those since 2025-06-18. A client of these names its
// version in each request.
func (p protocol) hasLinks() bool {
	return p.modern || p.requested == version20250618 || p.requested == version20251125
}

func isLegacy(version string) bool { return slices.Contains(legacyVersions, version) }

// negotiate returns the version that initialize answers with: the client's if it is of that era, else the newest.
func negotiate(requested string) string {
	if isLegacy(requested) {
		return requested
	}
	return version20251125
}
