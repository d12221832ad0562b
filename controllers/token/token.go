// Package token is the policy of generated tokens: when one is to be issued, and what its Secret holds. It is pure: no
// client, no clock, no randomness.
//
// The controllers import it; it imports the contract, and nothing else of the project.
package token

// The keys of a generated token's Secret.
const (
	// KeyToken holds the text itself.
	KeyToken = "token"
	// KeyURL holds the endpoint's URL.
	KeyURL = "url"
	// KeyClientConfiguration holds a client configuration that an agent can use as it is.
	KeyClientConfiguration = "mcp.json"
)

// HashAnnotation on a generated token's Secret is the hex SHA-256 of the issued text. A text with another hash was put
// there by somebody else.
const HashAnnotation = "mcpadmin.dev/token-hash"
