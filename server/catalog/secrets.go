package catalog

import (
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// LooksSecret reports whether a column is named like a credential. Such a column is hidden unless the exposure includes
// it.
//
// Only what gives access counts: passwords, tokens, keys, digests of them, sessions. Data about people (cards, national
// numbers) is personal, not secret: an exposure can mask it. The column's type counts too: a flag or a moment is never
// a secret, and a number is one only if the name alone says so ("pin", not "token_count").
func LooksSecret(c *database.Column) bool {
	parts := Words(c.Name)
	if len(parts) == 0 {
		return false
	}
	for len(parts) > 1 && slices.Contains(qualifiers, parts[len(parts)-1]) {
		parts = parts[:len(parts)-1]
	}
	last := strings.TrimRight(parts[len(parts)-1], "0123456789")
	switch c.Kind {
	case database.Boolean, database.Enum, database.Date, database.Time, database.Timestamp, database.TimestampTZ, database.Interval:
		return false
	case database.Integer, database.Decimal, database.Float:
		return slices.Contains(secretNumbers, last)
	}
	return anyOf(parts, secretWords) || anyOf(parts, secretNumbers) || containsAny(strings.Join(parts, ""), secretPieces) ||
		containsSuffix(last, secretEndings) || last == "key" && anyOf(parts, keyKinds)
}

var (
	// secretNumbers are words that mean a secret even for numbers.
	secretNumbers = []string{"pin", "cvv", "cvc", "otp", "passcode"}
	// secretWords make a name secret as whole words. secretPieces do so as any part of the name.
	secretWords  = []string{"salt", "pwd", "pass", "totp", "ha1", "ha1b", "credential", "credentials", "bearer", "jwt"}
	secretPieces = []string{"password", "passwd", "passphrase", "passwort", "secret", "apikey", "privatekey", "recoverycode", "backupcode"}
	// secretEndings make a name secret if its last word ends so: "token" holds a token, but "token_id" only names one.
	secretEndings = []string{"token", "tokens", "hash", "session", "cookie", "nonce"}
	// keyKinds are words that make a key secret: "auth_key", but not "sort_key".
	keyKinds = []string{"auth", "access", "signing", "encryption", "session", "license", "licence", "activation", "reset", "master", "ssh", "shared"}
	// qualifiers may follow the decisive word.
	qualifiers = []string{"old", "new", "current", "previous", "value", "text", "raw", "encrypted", "enc", "crypt", "digest", "string"}
)

func anyOf(parts, wanted []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return slices.Contains(wanted, part) })
}

func containsAny(text string, pieces []string) bool {
	return slices.ContainsFunc(pieces, func(piece string) bool { return strings.Contains(text, piece) })
}

func containsSuffix(text string, endings []string) bool {
	return slices.ContainsFunc(endings, func(ending string) bool { return strings.HasSuffix(text, ending) })
}
