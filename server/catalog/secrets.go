package catalog

import (
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// LooksSecret reports whether a column is named like a credential. Such a column is hidden unless the exposure includes
// it.
//
// Only what gives access counts: passwords, keys, tokens, sessions, one-time codes, what is encrypted, and digests of
// these. Data about people (cards, national numbers) is personal, not secret: an exposure can mask it. The table's name
// counts too: "key" is a secret in api_keys, and none in settings. So does the type: a flag or a moment is never a
// secret, and a number is one only if the name alone says so ("pin", not "token_count"). A foreign key is a secret if
// what it refers to is one.
func LooksSecret(t *database.Table, c *database.Column) bool {
	t, c = origin(t, c)
	name := nameOf(c.Name)
	switch {
	case len(name.parts) == 0:
		return false
	case neverSecret(c.Kind):
		return false
	case c.Kind == database.Integer, c.Kind == database.Decimal, c.Kind == database.Float, c.MaxLength > 0 && c.MaxLength <= longestFlag:
		return slices.Contains(secretNumbers, name.last)
	case name.isSessionID():
		return sessionIDIsSecret(t, c, name)
	}
	table := nameOf(t.Name)
	if name.joined == "hash" && containsSuffix(strings.TrimSuffix(table.last, "s"), contents) {
		return false
	}
	return name.isSecret() || isSecretIn(table, name) || isSessionData(t, c)
}

// longestFlag is the most characters of a text that is too short to be a secret, unless it is a number like a PIN.
const longestFlag = 3

// origin follows a column along foreign keys to the column that its values come from.
func origin(t *database.Table, c *database.Column) (*database.Table, *database.Column) {
	const longestWay = 8 // the keys may lead round in a circle
	for range longestWay {
		next, referenced := referencedBy(t, c)
		if next == nil {
			break
		}
		t, c = next, referenced
	}
	return t, c
}

func referencedBy(t *database.Table, c *database.Column) (*database.Table, *database.Column) {
	for _, fk := range t.ForeignKeys {
		if i := slices.Index(fk.Columns, c); i >= 0 && fk.References != nil && i < len(fk.ReferencedColumns) {
			return fk.References, fk.ReferencedColumns[i]
		}
	}
	return nil, nil
}

func neverSecret(kind database.Kind) bool {
	switch kind {
	case database.Boolean, database.Enum, database.Date, database.Time, database.Timestamp, database.TimestampTZ, database.Interval:
		return true
	}
	return false
}

// name is a column's or table's name in words, without the qualifiers at its end. last is the last word without digits
// at its end, joined all of them in one, whole the same with the qualifiers.
type name struct {
	parts               []string
	last, joined, whole string
}

func nameOf(text string) name {
	parts := Words(text)
	if len(parts) == 0 {
		return name{}
	}
	whole := strings.Join(parts, "")
	for len(parts) > 1 && slices.Contains(qualifiers, parts[len(parts)-1]) {
		parts = parts[:len(parts)-1]
	}
	last := strings.TrimRight(parts[len(parts)-1], "0123456789")
	return name{parts, last, strings.TrimRight(strings.Join(parts, ""), "0123456789"), whole}
}

// has reports whether one of the words is in wanted.
func (n name) has(wanted []string) bool {
	return slices.ContainsFunc(n.parts, func(part string) bool { return slices.Contains(wanted, part) })
}

// isSecret reports whether the name alone means a secret.
func (n name) isSecret() bool {
	switch {
	case containsAny(n.whole, encryptedPieces):
		return !slices.Contains(aspects, n.last)
	case containsSuffix(n.joined, secretEnds):
		return true
	case slices.Contains(aspects, n.last), slices.Contains(labels, n.last):
		return false
	case n.has(secretWords), containsAny(strings.ReplaceAll(n.whole, "secretar", ""), secretPieces):
		return !n.isPublicKey()
	case slices.Contains(secretNumbers, n.last):
		return true
	}
	return n.isToken() || n.isHash() || n.isPass() || n.isKey() || n.isCode() || n.isSignature() ||
		n.last == "community" && n.has([]string{"snmp"})
}

func (n name) isPublicKey() bool {
	return strings.HasPrefix(n.last, "key") && n.has([]string{"public", "pub", "publishable"})
}

func (n name) isToken() bool {
	ending := containsSuffix(n.last, secretEndings)
	if strings.HasPrefix(n.last, "session") {
		return ending && !n.isOtherSession()
	}
	return ending
}

// isHash reports whether the name means a digest of anything but of contents.
func (n name) isHash() bool {
	stem, ok := strings.CutSuffix(n.joined, "hash")
	return ok && !containsSuffix(stem, contents)
}

func (n name) isPass() bool {
	return strings.HasSuffix(n.last, "pass") && !containsSuffix(n.joined, otherPasses)
}

func (n name) isKey() bool {
	stem, ok := strings.CutSuffix(strings.TrimSuffix(n.joined, "s"), "key")
	if !ok || n.isPublicKey() {
		return false
	}
	return containsSuffix(stem, keyKinds) || n.has(keyKinds)
}

func (n name) isCode() bool {
	stem, ok := strings.CutSuffix(strings.TrimSuffix(n.joined, "s"), "code")
	return ok && containsSuffix(stem, codeKinds)
}

func (n name) isSignature() bool {
	stem, ok := strings.CutSuffix(n.joined, "signature")
	return ok && containsSuffix(stem, signed)
}

// isSecretIn reports whether a column with a plain name holds the secrets that its table is named for: the key of
// api_keys, the code of email_verifications, the signature of inbound_webhooks.
func isSecretIn(table, column name) bool {
	if len(table.parts) == 0 {
		return false
	}
	plain := column.joined
	if len(column.parts) == 2 && slices.Contains(column.parts[:1], strings.TrimSuffix(table.last, "s")) {
		plain = column.last // token_key of tokens
	}
	switch plain {
	case "key", "keys", "value", "values", "digest", "hash", "plain", "cipher":
		if table.isSecret() && !table.isPublicKey() && !containsSuffix(table.last, sessionTables) {
			return true
		}
	}
	switch plain {
	case "key", "code":
		return containsSuffix(strings.TrimSuffix(table.last, "s"), proofs) || table.isSecret() && !containsSuffix(table.last, sessionTables)
	case "value":
		return strings.HasPrefix(table.last, "var") && table.has([]string{"env", "environment", "ci", "build", "pipeline", "job", "deploy", "deployment"}) ||
			containsSuffix(table.joined, credentialStores)
	case "signature":
		return containsAny(table.joined, signed)
	case "community":
		return table.has([]string{"snmp", "nas"})
	case "auth", "keyauth":
		return table.has([]string{"push"})
	}
	return false
}

// isSessionID reports whether the name means the id of a session.
func (n name) isSessionID() bool {
	return containsSuffix(n.joined, sessionIDs) || n.joined == "sid"
}

// sessionIDIsSecret reports whether the id of a session lets its bearer in. A text does, unless it is of another kind
// of session, of a payment, say, or a course. A UUID is mostly the id of a row: it is a secret only if rows of sessions
// have it beside their key.
func sessionIDIsSecret(t *database.Table, c *database.Column, n name) bool {
	table := nameOf(t.Name)
	inSessions := containsSuffix(table.last, sessionTables)
	switch {
	case n.isOtherSession(), table.isOtherSession():
		return false
	case n.joined == "sid" && !inSessions:
		return false
	case c.Kind == database.UUID || c.MaxLength == lengthOfUUID:
		return inSessions && !slices.Contains(t.PrimaryKey, c)
	}
	return true
}

const lengthOfUUID = 36

// isOtherSession reports whether the name is about sessions that nobody logs in to.
func (n name) isOtherSession() bool {
	return n.has(otherSessions) || slices.ContainsFunc(otherSessions, func(word string) bool { return len(word) >= 4 && strings.HasPrefix(n.joined, word) })
}

// isSessionData reports whether a column holds a program's data for a session that somebody logged in to, or its id if the
// bearer shows that id.
func isSessionData(t *database.Table, c *database.Column) bool {
	table := nameOf(t.Name)
	if !containsSuffix(table.last, sessionTables) || table.isOtherSession() {
		return false
	}
	kept := func(c *database.Column) bool {
		return slices.Contains(sessionData, strings.Join(Words(c.Name), "")) && !neverSecret(c.Kind)
	}
	if kept(c) {
		return true
	}
	return strings.EqualFold(c.Name, "id") && c.Kind == database.Text && c.MaxLength != lengthOfUUID && slices.ContainsFunc(t.Columns, kept)
}

func containsAny(text string, pieces []string) bool {
	return slices.ContainsFunc(pieces, func(piece string) bool { return strings.Contains(text, piece) })
}

func containsSuffix(text string, endings []string) bool {
	return slices.ContainsFunc(endings, func(ending string) bool { return strings.HasSuffix(text, ending) })
}
