package access

import "time"

// Credential is what a caller has shown, in a form that can be kept for some minutes: it shows again that the caller may come in,
// and is itself no text that lets anybody in.
type Credential struct {
	// Sum is the hash of a token's text; empty if somebody else issued what was shown.
	Sum []byte `json:"s,omitempty"`
	// Claims are what the token of somebody else says, and Expiry is when it ends.
	Claims map[string]any `json:"c,omitempty"`
	Expiry time.Time      `json:"e,omitzero"`
}

// Credential returns what the caller has shown.
func (t Token) Credential() Credential {
	switch {
	case t.caller != nil:
		return Credential{Claims: t.caller.Claims, Expiry: t.caller.Expiry}
	case t.sum != nil:
		c := Credential{Sum: append([]byte{}, t.sum[:]...)}
		if t.holder.expiry != nil {
			c.Expiry = *t.holder.expiry
		}
		return c
	}
	return Credential{}
}

// Recognise returns the token in force whose text has the hash of a credential, or nobody.
func (t *Tokens) Recognise(c Credential, now time.Time) Token {
	var sum hash
	if len(c.Sum) != len(sum) {
		return Token{}
	}
	copy(sum[:], c.Sum)
	return t.byHash(sum, now)
}
