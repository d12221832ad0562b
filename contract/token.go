package contract

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"strings"
)

// MinTokenLength is the shortest text that a bring-your-own token may have, in bytes.
const MinTokenLength = 32

// HashToken returns the form in which a token is kept: the hex SHA-256 of its whole text.
func HashToken(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// RefusedSum returns the form in which the hash of a refused token is kept: the hex SHA-256 of the hash, which is in hex; "" for what is no
// hash. Nobody has a text with that hash, so that a sum lets nobody in even if it is taken for a hash.
func RefusedSum(hash string) string {
	raw, err := hex.DecodeString(hash)
	if err != nil || len(raw) != sha256.Size {
		return ""
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

var generatedToken = regexp.MustCompile(`^(mcp_[A-Za-z0-9_-]{16})\.[A-Za-z0-9_-]{43}$`)

// PublicTokenID returns the part of a generated token that may be shown, or "" for any other text. It is a text of its own:
// to keep it does not keep the secret part in memory.
func PublicTokenID(text string) string {
	if m := generatedToken.FindStringSubmatch(text); m != nil {
		return strings.Clone(m[1])
	}
	return ""
}

// NewToken returns the text of a new token: mcp_ and 16 URL-safe characters, which may be shown, then a dot and 43
// more, which hold 256 random bits (docs/design/rights.md, "Tokens").
func NewToken() string {
	var random [12 + 32]byte
	rand.Read(random[:]) // never fails: the program ends if the system has no randomness
	encode := base64.RawURLEncoding.EncodeToString
	return "mcp_" + encode(random[:12]) + "." + encode(random[12:])
}
