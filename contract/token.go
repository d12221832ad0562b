package contract

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
)

// MinTokenLength is the shortest text that a bring-your-own token may have, in bytes.
const MinTokenLength = 32

// HashToken returns the form in which a token is kept: the hex SHA-256 of its whole text.
func HashToken(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

var generatedToken = regexp.MustCompile(`^(mcp_[A-Za-z0-9_-]{16})\.[A-Za-z0-9_-]{43}$`)

// PublicTokenID returns the part of a generated token that may be shown, or "" for any other text.
func PublicTokenID(text string) string {
	if m := generatedToken.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}
