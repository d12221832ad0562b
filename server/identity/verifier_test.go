package identity_test

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/identity"
)

func TestCallers(t *testing.T) {
	t.Parallel()
	key := newSigner(t, "k1", "RS256")
	p := newProvider(t, key)
	now := time.Now()
	byEmail := newProvider(t, key)
	v := start(t, identity.Options{}, settings(p.issuer(), byEmail.issuer(func(i *contract.Issuer) {
		i.Name, i.SubjectClaim, i.Audiences = "mail", "email", []string{"a", "b"}
	})), false)

	caller := mustAccept(t, v, key.sign(t, p.claims(now, nil), nil), now)
	if caller.Issuer != p.issuer().URL || caller.Subject != "ann" || caller.ServiceAccount != "" {
		t.Errorf("%+v", caller)
	}
	if want := time.Unix(now.Add(time.Hour).Unix(), 0).Add(30 * time.Second); !caller.Expiry.Equal(want) {
		t.Errorf("refused from %v on, want %v", caller.Expiry, want)
	}
	if groups, ok := caller.Claims["groups"].([]any); !ok || len(groups) != 1 || groups[0] != "staff" {
		t.Errorf("claims %v", caller.Claims)
	}

	caller = mustAccept(t, v, key.sign(t, byEmail.claims(now, map[string]any{"email": "ann@example.com", "aud": []string{"x", "b"}}), nil), now)
	if caller.Issuer != byEmail.issuer().URL || caller.Subject != "ann@example.com" {
		t.Errorf("%+v", caller)
	}
	for _, kind := range []string{"at+jwt", "application/at+jwt", "jwt", "JOSE"} {
		mustAccept(t, v, key.sign(t, p.claims(now, nil), map[jose.HeaderKey]any{"typ": kind}), now)
	}
	mustAccept(t, v, key.sign(t, p.claims(now, map[string]any{"nbf": nil, "iat": nil, "exp": float64(now.Unix()) + 100.5}), nil), now)
}

func TestAlgorithms(t *testing.T) {
	t.Parallel()
	now := time.Now()
	var keys []*signer
	for _, algorithm := range contract.Algorithms {
		keys = append(keys, newSigner(t, algorithm, algorithm))
	}
	p := newProvider(t, keys...)
	v := start(t, identity.Options{}, settings(p.issuer(func(i *contract.Issuer) { i.Algorithms = contract.Algorithms })), false)
	few := start(t, identity.Options{}, settings(p.issuer()), false)
	for _, key := range keys {
		text := key.sign(t, p.claims(now, nil), nil)
		mustAccept(t, v, text, now)
		if key.algorithm != "RS256" && key.algorithm != "ES256" {
			mustRefuse(t, few, text, now, identity.Algorithm)
		}
	}
}

// An issuer that gives its keys no ids is understood, but not every signature is worth trying every key.
func TestKeysWithoutIDs(t *testing.T) {
	t.Parallel()
	now := time.Now()
	var keys []*signer
	for range 5 {
		keys = append(keys, newSigner(t, "", "ES256"))
	}
	p := newProvider(t, append([]*signer{newSigner(t, "", "RS256")}, keys...)...)
	v := start(t, identity.Options{}, settings(p.issuer()), false)
	for i, key := range keys {
		want := identity.Accepted
		if i == 4 {
			want = identity.Signature
		}
		mustRefuse(t, v, key.sign(t, p.claims(now, nil), nil), now, want)
	}
}

func part(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

func withHMAC(header, payload string, secret []byte) string {
	text := part(header) + "." + part(payload)
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	now := time.Now()
	key, ec, other := newSigner(t, "k1", "RS256"), newSigner(t, "k2", "ES256"), newSigner(t, "k1", "RS256")
	forEncryption, forPS := newSigner(t, "enc", "RS256"), newSigner(t, "ps", "RS256")
	forEncryption.use, forPS.declared = "enc", "PS256"
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	short := &signer{id: "short", algorithm: "RS256", private: weak}
	p := newProvider(t, key, ec, forEncryption, forPS, short)
	elsewhere := newProvider(t, key)
	v := start(t, identity.Options{}, settings(p.issuer()), false)

	claims := func(changes map[string]any) map[string]any { return p.claims(now, changes) }
	good := key.sign(t, claims(nil), nil)
	parts := strings.Split(good, ".")
	payload, _ := json.Marshal(claims(nil))
	public, _ := x509.MarshalPKIXPublicKey(key.private.Public())
	publicPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
	publicJWK, _ := json.Marshal(key.published())
	in := func(d time.Duration) int64 { return now.Add(d).Unix() }
	mustAccept(t, v, good, now)

	for name, test := range map[string]struct {
		text string
		want identity.Refusal
	}{
		"nothing":                      {"", identity.Malformed},
		"no JWT":                       {"mcp_abcdefghijklmnop.0123456789012345678901234567890123456789012", identity.Malformed},
		"two dots":                     {"..", identity.Malformed},
		"two parts":                    {parts[0] + "." + parts[1], identity.Malformed},
		"four parts":                   {good + ".x", identity.Malformed},
		"five parts (encrypted)":       {"ey.a.b.c.d", identity.Malformed},
		"a header that is no JSON":     {"eyJ." + parts[1] + "." + parts[2], identity.Malformed},
		"a payload that is no JSON":    {key.sign(t, "hello", nil), identity.Malformed},
		"a payload that is a list":     {key.sign(t, "[]", nil), identity.Malformed},
		"a line end in the signature":  {good[:len(good)-4] + "\n" + good[len(good)-4:], identity.Malformed},
		"a space before":               {" " + good, identity.Malformed},
		"padding":                      {good + "=", identity.Malformed},
		"no signature":                 {parts[0] + "." + parts[1] + ".", identity.Signature},
		"another token's signature":    {parts[0] + "." + parts[1] + "." + strings.Split(key.sign(t, claims(map[string]any{"sub": "bob"}), nil), ".")[2], identity.Signature},
		"a changed payload":            {parts[0] + "." + part(strings.Replace(string(payload), "ann", "bob", 1)) + "." + parts[2], identity.Signature},
		"none":                         {part(`{"alg":"none"}`) + "." + parts[1] + ".", identity.Algorithm},
		"None":                         {part(`{"alg":"None"}`) + "." + parts[1] + ".", identity.Algorithm},
		"none with a signature":        {part(`{"alg":"none","kid":"k1"}`) + "." + parts[1] + "." + parts[2], identity.Algorithm},
		"no algorithm":                 {part(`{"kid":"k1"}`) + "." + parts[1] + "." + parts[2], identity.Algorithm},
		"HMAC with the public key":     {withHMAC(`{"alg":"HS256","kid":"k1"}`, string(payload), publicPEM), identity.Algorithm},
		"HMAC with the key as DER":     {withHMAC(`{"alg":"HS256","kid":"k1"}`, string(payload), public), identity.Algorithm},
		"HMAC with the published key":  {withHMAC(`{"alg":"HS256","kid":"k1"}`, string(payload), publicJWK), identity.Algorithm},
		"HMAC that says RS256":         {withHMAC(`{"alg":"RS256","kid":"k1"}`, string(payload), publicPEM), identity.Signature},
		"an algorithm not declared":    {(&signer{id: "k1", algorithm: "PS256", private: key.private}).sign(t, claims(nil), nil), identity.Algorithm},
		"another key with the same id": {other.sign(t, claims(nil), nil), identity.Signature},
		"a key in the header":          {other.sign(t, claims(nil), map[jose.HeaderKey]any{"jwk": other.published()}), identity.Signature},
		"a key's address in the header": {other.sign(t, claims(nil), map[jose.HeaderKey]any{
			"jku": elsewhere.server.URL + "/keys", "x5u": elsewhere.server.URL + "/keys"}), identity.Signature},
		"a key that does not exist":        {key.sign(t, claims(nil), map[jose.HeaderKey]any{"kid": "k9"}), identity.UnknownKey},
		"a key of another algorithm":       {key.sign(t, claims(nil), map[jose.HeaderKey]any{"kid": "k2"}), identity.UnknownKey},
		"a key for encryption":             {forEncryption.sign(t, claims(nil), nil), identity.UnknownKey},
		"a key for another algorithm":      {forPS.sign(t, claims(nil), nil), identity.UnknownKey},
		"an RSA key of 1024 bits":          {short.sign(t, claims(nil), nil), identity.UnknownKey},
		"an extension that must be known":  {key.sign(t, claims(nil), map[jose.HeaderKey]any{"crit": []string{"exp"}, "exp": 1}), identity.Malformed},
		"an extension that the JWS knows":  {key.sign(t, claims(nil), map[jose.HeaderKey]any{"crit": []string{"b64"}, "b64": true}), identity.Malformed},
		"a logout token":                   {key.sign(t, claims(nil), map[jose.HeaderKey]any{"typ": "logout+jwt"}), identity.Malformed},
		"another issuer":                   {key.sign(t, claims(map[string]any{"iss": elsewhere.server.URL}), nil), identity.UnknownIssuer},
		"the issuer with a slash":          {key.sign(t, claims(map[string]any{"iss": p.server.URL + "/"}), nil), identity.UnknownIssuer},
		"the issuer in capitals":           {key.sign(t, claims(map[string]any{"iss": strings.ToUpper(p.server.URL)}), nil), identity.UnknownIssuer},
		"no issuer":                        {key.sign(t, claims(map[string]any{"iss": nil}), nil), identity.Malformed},
		"an issuer that is a list":         {key.sign(t, claims(map[string]any{"iss": []string{p.server.URL}}), nil), identity.Malformed},
		"two issuers":                      {key.sign(t, fmt.Sprintf(`{"iss":"https://a","iss":%q,"aud":%q,"sub":"ann","exp":%d}`, p.server.URL, audience, in(time.Hour)), nil), identity.Malformed},
		"two subjects":                     {key.sign(t, fmt.Sprintf(`{"iss":%q,"aud":%q,"sub":"ann","sub":"bob","exp":%d}`, p.server.URL, audience, in(time.Hour)), nil), identity.Malformed},
		"the names of claims in capitals":  {key.sign(t, fmt.Sprintf(`{"iss":%q,"AUD":%q,"SUB":"ann","EXP":%d}`, p.server.URL, audience, in(time.Hour)), nil), identity.Malformed},
		"the audience of another endpoint": {key.sign(t, claims(map[string]any{"aud": "https://cars.example.com/mcp/"}), nil), identity.Audience},
		"the audience without its slash":   {key.sign(t, claims(map[string]any{"aud": strings.TrimSuffix(audience, "/")}), nil), identity.Audience},
		"a beginning of the audience":      {key.sign(t, claims(map[string]any{"aud": "https://books.example.com"}), nil), identity.Audience},
		"several other audiences":          {key.sign(t, claims(map[string]any{"aud": []string{"a", "b"}}), nil), identity.Audience},
		"no audience":                      {key.sign(t, claims(map[string]any{"aud": nil}), nil), identity.Audience},
		"an empty list of audiences":       {key.sign(t, claims(map[string]any{"aud": []string{}}), nil), identity.Audience},
		"an audience that is an object":    {key.sign(t, claims(map[string]any{"aud": map[string]any{audience: true}}), nil), identity.Audience},
		"audiences in a list in a list":    {key.sign(t, claims(map[string]any{"aud": []any{[]string{audience}}}), nil), identity.Audience},
		"expired":                          {key.sign(t, claims(map[string]any{"exp": in(-time.Hour)}), nil), identity.Expired},
		"expired beyond the skew":          {key.sign(t, claims(map[string]any{"exp": in(-31 * time.Second)}), nil), identity.Expired},
		"expired within the skew":          {key.sign(t, claims(map[string]any{"exp": in(-29 * time.Second)}), nil), identity.Accepted},
		"not yet valid":                    {key.sign(t, claims(map[string]any{"nbf": in(time.Hour)}), nil), identity.NotYetValid},
		"not yet valid beyond the skew":    {key.sign(t, claims(map[string]any{"nbf": in(32 * time.Second)}), nil), identity.NotYetValid},
		"not yet valid within the skew":    {key.sign(t, claims(map[string]any{"nbf": in(29 * time.Second)}), nil), identity.Accepted},
		"no expiry":                        {key.sign(t, claims(map[string]any{"exp": nil}), nil), identity.Malformed},
		"an expiry that is a text":         {key.sign(t, claims(map[string]any{"exp": fmt.Sprint(in(time.Hour))}), nil), identity.Malformed},
		"an expiry beyond all years":       {key.sign(t, claims(map[string]any{"exp": 1e300}), nil), identity.Malformed},
		"an expiry before all years":       {key.sign(t, claims(map[string]any{"exp": -1}), nil), identity.Malformed},
		"a beginning that is a text":       {key.sign(t, claims(map[string]any{"nbf": "now"}), nil), identity.Malformed},
		"no subject":                       {key.sign(t, claims(map[string]any{"sub": nil}), nil), identity.Subject},
		"an empty subject":                 {key.sign(t, claims(map[string]any{"sub": ""}), nil), identity.Subject},
		"a subject that is a number":       {key.sign(t, claims(map[string]any{"sub": 42}), nil), identity.Subject},
		"a very long subject":              {key.sign(t, claims(map[string]any{"sub": strings.Repeat("a", 5000)}), nil), identity.Subject},
		"huge":                             {key.sign(t, claims(map[string]any{"x": strings.Repeat("a", 16<<10)}), nil), identity.Malformed},
		"a million letters":                {"ey" + strings.Repeat("a", 1<<20) + ".a.a", identity.Malformed},
		"a million dots":                   {"ey" + strings.Repeat(".", 1<<20), identity.Malformed},
		"a deep header":                    {part(`{"alg":"RS256","x":`+strings.Repeat("[", 11000)+`}`) + "." + parts[1] + "." + parts[2], identity.Malformed},
		"a deep payload":                   {key.sign(t, `{"iss":"`+p.server.URL+`","x":`+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)+`}`, nil), identity.Malformed},
		"large, but not too large":         {key.sign(t, claims(map[string]any{"x": strings.Repeat("a", 11<<10)}), nil), identity.Accepted},
	} {
		t.Run(name, func(t *testing.T) {
			mustRefuse(t, v, test.text, now, test.want)
			mustRefuse(t, v, test.text, now, test.want) // and the second time
		})
	}
	if n := elsewhere.requests.Load(); n != 0 {
		t.Errorf("%d requests went to a server that only the tokens name", n)
	}
}

func TestIsToken(t *testing.T) {
	key := newSigner(t, "", "ES256")
	for text, want := range map[string]bool{
		key.sign(t, map[string]any{"iss": "x"}, nil): true, "": false, "mcp_abcdefghijklmnop.secret": false,
		"any text of ours, with dots. And more.": false, "eyJ.x": false, "eyJ.x.y.z.a": false,
	} {
		if identity.IsToken(text) != want {
			t.Errorf("IsToken(%q) is not %v", text, want)
		}
	}
}

// A token that was accepted is refused from its expiry on, though it is remembered.
func TestRememberedTokensExpire(t *testing.T) {
	t.Parallel()
	now := time.Now()
	key := newSigner(t, "k1", "ES256")
	p := newProvider(t, key)
	v := start(t, identity.Options{}, settings(p.issuer()), false)
	text := key.sign(t, p.claims(now, map[string]any{"exp": now.Add(time.Minute).Unix()}), nil)
	caller := mustAccept(t, v, text, now)
	if again := mustAccept(t, v, text, now); again != caller {
		t.Error("a token that is known is checked again")
	}
	mustAccept(t, v, text, caller.Expiry.Add(-time.Nanosecond))
	mustRefuse(t, v, text, caller.Expiry, identity.Expired)
}

// More tokens than are remembered are accepted all the same.
func TestManyTokens(t *testing.T) {
	t.Parallel()
	now := time.Now()
	key := newSigner(t, "k1", "EdDSA")
	p := newProvider(t, key)
	v := start(t, identity.Options{}, settings(p.issuer(func(i *contract.Issuer) { i.Algorithms = []string{"EdDSA"} })), false)
	for i := range 5000 {
		if i == 2500 {
			for range 500 { // and large ones
				mustAccept(t, v, key.sign(t, p.claims(now, map[string]any{"x": rand.Text() + strings.Repeat("x", 10<<10)}), nil), now)
			}
		}
		if caller := mustAccept(t, v, key.sign(t, p.claims(now, map[string]any{"sub": fmt.Sprint(i)}), nil), now); caller.Subject != fmt.Sprint(i) {
			t.Fatalf("caller %d is %s", i, caller.Subject)
		}
	}
	if entries, bytes := identity.Remembered(v); entries > 4096 || bytes > 4<<20 || entries < 1000 {
		t.Errorf("%d tokens of %d bytes are remembered", entries, bytes)
	}
}

// Whatever text comes, it is refused, unless the issuer has signed just that.
func FuzzVerify(f *testing.F) {
	now := time.Now()
	key := newSigner(f, "k1", "ES256")
	p := newProvider(f, key)
	v := start(f, identity.Options{}, settings(p.issuer()), false)
	good := key.sign(f, p.claims(now, nil), nil)
	f.Add(good)
	f.Add(part(`{"alg":"none"}`) + "." + part(`{"iss":"`+p.server.URL+`"}`) + ".")
	f.Add(part(`{"alg":"ES256","kid":"k1","crit":["b64"],"b64":false}`) + "." + part(`{"iss":"`+p.server.URL+`"}`) + ".AAAA")
	f.Add("ey..")
	f.Fuzz(func(t *testing.T, text string) {
		caller, refusal := v.Verify(t.Context(), text, sumOf(text), now)
		if (refusal == identity.Accepted || caller != nil) && !strings.HasPrefix(text, good[:strings.LastIndex(good, ".")+1]) {
			t.Errorf("%q is accepted", text)
		}
	})
}
