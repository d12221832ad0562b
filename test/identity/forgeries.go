package main

import (
	"crypto/ecdsa"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"maps"
	"strings"
	"time"
)

// A forgery is a token that must be refused, and why.
type forgery struct{ what, token string }

// A mint makes forgeries from these: an issuer's key, and the claims of a token of its that is let in.
type mint struct {
	*signer
	claims map[string]any
	// other is an audience that is not the endpoint's; skew is how far clocks may differ; trap is a URL that nobody may
	// call.
	other string
	skew  time.Duration
	trap  string
}

// mintOf is the mint of a token that is let in.
func mintOf(s *signer, token, other, trap string) (*mint, error) {
	claims, err := decode(token, 1)
	return &mint{signer: s, claims: claims, other: other, skew: 30 * time.Second, trap: trap}, err
}

// with are the claims with changes; a nil removes a claim.
func (m *mint) with(changes map[string]any) map[string]any {
	claims := maps.Clone(m.claims)
	maps.Copy(claims, changes)
	maps.DeleteFunc(claims, func(_ string, value any) bool { return value == nil })
	return claims
}

type object = map[string]any

func seconds(fromNow time.Duration) int64 { return time.Now().Add(fromNow).Unix() }

// forgeries are all that differ from a good token in one thing.
func (m *mint) forgeries() []forgery {
	all := append(m.unsigned(), m.signedOtherwise()...)
	return append(append(all, m.ofOthers()...), m.misshapen()...)
}

func (m *mint) unsigned() []forgery {
	good := m.sign(m.claims)
	parts := strings.Split(good, ".")
	bare := func(algorithm string) string {
		return encodeSegment(encodeJSON(object{"alg": algorithm, "typ": "JWT"})) + "." + parts[1] + "."
	}
	return []forgery{
		{"no signature", parts[0] + "." + parts[1] + "."},
		{"no signature, nor a place for one", parts[0] + "." + parts[1]},
		{"alg none", bare("none")},
		{"alg None, with the signature of another token", bare("None") + parts[2]},
		{"alg is empty", bare("") + parts[2]},
	}
}

func (m *mint) signedOtherwise() []forgery {
	another, err := newSigner(m.algorithm, m.id)
	must(err)
	good := m.sign(m.claims)
	der, err := x509.MarshalPKIXPublicKey(m.key.Public())
	must(err)
	public, err := m.publicJWK("sig")
	must(err)
	anothers, err := another.publicJWK("sig")
	must(err)
	all := []forgery{
		{"HMAC with the public key, as PEM", m.hmac([]byte(encodePEM("PUBLIC KEY", der)))},
		{"HMAC with the public key, as DER", m.hmac(der)},
		{"HMAC with the public key, as JWK", m.hmac(public)},
		{"HMAC with an empty key", m.hmac(nil)},
		{"another key, under the right key id", another.sign(m.claims)},
		{"another key, which the token brings along (jwk)", another.signWith(object{"jwk": rawJSON(anothers)}, m.claims)},
		{"another key, at an address that the token names (jku)", another.signWith(object{"jku": m.trap + "/jwks"}, m.claims)},
		{"another key, in a certificate at an address that the token names (x5u)", another.signWith(object{"x5u": m.trap + "/certificate"}, m.claims)},
		{"another key, without a key id", another.compact(object{"alg": m.algorithm}, encodeJSON(m.claims))},
		{"a key id that does not exist", another.signWith(object{"kid": "nobody-has-it"}, m.claims)},
		{"a key id that is a path", another.signWith(object{"kid": "../../dev/null"}, m.claims)},
		{"one bit of the signature changed", flipSignature(good)},
		{"claims changed after it was signed", replacePart(good, 1, encodeSegment(encodeJSON(m.with(object{"changed": true}))))},
		{"an extension that must be understood (crit)", m.signWith(object{"crit": []string{"other"}, "other": 1}, m.claims)},
	}
	if key, ok := m.key.(*rsa.PrivateKey); ok {
		all = append(all, forgery{"the right key with an algorithm that is not declared (PS256)", m.pss(key)})
	}
	if _, ok := m.key.(*ecdsa.PrivateKey); ok {
		zero := strings.Repeat("\x00", 64)
		all = append(all, forgery{"a signature of zeros", replacePart(good, 2, encodeSegment([]byte(zero)))})
	}
	return all
}

// ofOthers are rightly signed, but not for this endpoint, not by this issuer, or not now.
func (m *mint) ofOthers() []forgery {
	audience := func(a any) string { return m.sign(m.with(object{"aud": a})) }
	issuer := func(i any) string { return m.sign(m.with(object{"iss": i})) }
	at := func(exp, nbf any) string { return m.sign(m.with(object{"exp": exp, "nbf": nbf})) }
	url := m.claims["iss"].(string)
	late, early := m.skew+5*time.Second, m.skew+time.Minute
	return []forgery{
		{"another issuer", issuer("https://issuer.example")},
		{"another issuer: the right one and a slash", issuer(url + "/")},
		{"no issuer", issuer(nil)},
		{"a list of issuers", issuer([]string{url})},
		{"audience of another endpoint", audience(m.other)},
		{"audiences, none of them this endpoint", audience([]string{m.other, "mcp"})},
		{"no audience", audience(nil)},
		{"an audience that begins like this endpoint's", audience(longer(m.claims["aud"]))},
		{"expired long ago", at(seconds(-time.Hour), nil)},
		{"expired, beyond the skew", at(seconds(-late), nil)},
		{"without an end", at(nil, nil)},
		{"an end that is a text", at("tomorrow", nil)},
		{"an end that is no moment", m.compact(object{"alg": m.algorithm, "kid": m.id}, m.endless())},
		{"not yet valid", at(seconds(2*time.Hour), seconds(time.Hour))},
		{"not yet valid, beyond the skew", at(seconds(time.Hour), seconds(early))},
		{"no subject", m.sign(m.with(object{"sub": nil}))},
		{"an empty subject", m.sign(m.with(object{"sub": ""}))},
		{"a subject that is a number", m.sign(m.with(object{"sub": 1}))},
	}
}

func (m *mint) misshapen() []forgery {
	good := m.sign(m.claims)
	parts := strings.Split(good, ".")
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	return []forgery{
		{"huge: 20 KiB, rightly signed", m.sign(m.with(object{"more": strings.Repeat("x", 15<<10)}))},
		{"deep: 5,000 lists in one another, signed by another key", m.deep(deep)},
		{"deep: a header of 3,000 lists in one another", encodeSegment([]byte(`{"alg":"`+m.algorithm+`","x":`+deep[2000:8000]+`}`)) + "." + parts[1] + "." + parts[2]},
		{"five parts, as an encrypted token has", good + "." + parts[0] + "." + parts[1]},
		{"four parts", good + "."},
		{"claims that are a list", m.compact(object{"alg": m.algorithm, "kid": m.id}, []byte(`["sub"]`))},
		{"claims that are no JSON", m.compact(object{"alg": m.algorithm, "kid": m.id}, []byte(`{"sub":`))},
		{"a header that is no JSON", encodeSegment([]byte("{")) + "." + parts[1] + "." + parts[2]},
		{"filled up with =", parts[0] + "=." + parts[1] + "==." + parts[2] + "="},
		{"not base64", strings.Repeat("ä", 40) + "." + parts[1] + "." + parts[2]},
		{"dots alone", ".."},
	}
}

func (m *mint) hmac(key []byte) string {
	input := encodeSegment(encodeJSON(object{"alg": "HS256", "kid": m.id, "typ": "JWT"})) + "." + encodeSegment(encodeJSON(m.claims))
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(input))
	return input + "." + encodeSegment(mac.Sum(nil))
}

func (m *mint) pss(key *rsa.PrivateKey) string {
	input := encodeSegment(encodeJSON(object{"alg": "PS256", "kid": m.id})) + "." + encodeSegment(encodeJSON(m.claims))
	sum := sha256.Sum256([]byte(input))
	signature, err := rsa.SignPSS(rand.Reader, key, 5, sum[:], &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: 5})
	must(err)
	return input + "." + encodeSegment(signature)
}

// endless are the claims with an end beyond all numbers.
func (m *mint) endless() []byte {
	text := encodeJSON(m.with(object{"exp": "END"}))
	return []byte(strings.Replace(string(text), `"END"`, "1e400", 1))
}

func (m *mint) deep(lists string) string {
	another, err := newSigner(m.algorithm, m.id)
	must(err)
	text := encodeJSON(m.with(object{"deep": "DEEP"}))
	return another.compact(object{"alg": m.algorithm, "kid": m.id}, []byte(strings.Replace(string(text), `"DEEP"`, lists, 1)))
}

func flipSignature(token string) string {
	at := strings.LastIndexByte(token, '.') + 1
	signature, err := base64.RawURLEncoding.DecodeString(token[at:])
	must(err)
	signature[len(signature)/2] ^= 1
	return token[:at] + encodeSegment(signature)
}

func replacePart(token string, part int, by string) string {
	parts := strings.Split(token, ".")
	parts[part] = by
	return strings.Join(parts, ".")
}

// longer is an audience with something after it.
func longer(audience any) string {
	if list, ok := audience.([]any); ok {
		audience = list[0]
	}
	return fmt.Sprint(audience) + "more"
}

type rawJSON []byte

// MarshalJSON implements json.Marshaler.
func (r rawJSON) MarshalJSON() ([]byte, error) { return r, nil }
