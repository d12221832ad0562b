package harness

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Client is a client of an Issuer, at which people log in (the authorization code flow of OpenID Connect Core 1.0, section 3.1, with PKCE).
type Client struct {
	// ID and Secret are the client's; with InForm it may tell the secret in the form alone. Redirects are the URLs that people come back to.
	ID, Secret string
	InForm     bool
	Redirects  []string

	issuer *Issuer
	mu     sync.Mutex
	// subject and claims are those of the person who logs in next, change what is done to the ID token.
	subject string
	claims  map[string]any
	change  func(claims map[string]any, token string) string
	codes   map[string]url.Values
	// given are all codes and tokens that were handed out.
	given []string
}

// AddClient has people log in at the issuer for a client.
func (i *Issuer) AddClient(c *Client) *Client {
	c.issuer, c.codes = i, map[string]url.Values{}
	i.client.Store(c)
	return c
}

// LogIn has everybody who comes from now on be this person. The claims are added to the ID token's usual claims, or take their places; a nil
// one is left out.
func (c *Client) LogIn(subject string, claims map[string]any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.subject, c.claims, c.change = subject, claims, nil
}

// Forge has each ID token replaced by another text, made of its claims and its text.
func (c *Client) Forge(change func(claims map[string]any, token string) string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.change = change
}

// Given are all codes and tokens that were handed out.
func (c *Client) Given() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.given)
}

// authorize logs the person in who is there, and sends them back with a code.
func (c *Client) authorize(w http.ResponseWriter, r *http.Request) {
	asked := r.URL.Query()
	if asked.Get("response_type") != "code" || asked.Get("client_id") != c.ID || !slices.Contains(c.Redirects, asked.Get("redirect_uri")) ||
		asked.Get("code_challenge_method") != "S256" || asked.Get("code_challenge") == "" || !slices.Contains(strings.Fields(asked.Get("scope")), "openid") {
		http.Error(w, "invalid_request", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	code := rand.Text()
	c.codes[code], c.given = asked, append(c.given, code)
	back := url.Values{"code": {code}, "state": {asked.Get("state")}, "iss": {c.issuer.server.URL}}
	http.Redirect(w, r, asked.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

// token gives tokens for a code, once, to the client that asked for the code.
func (c *Client) token(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	asked, known := c.codes[r.PostFormValue("code")]
	delete(c.codes, r.PostFormValue("code"))
	id, secret, inHeader := r.BasicAuth()
	if !inHeader {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	proof := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	w.Header().Set("Content-Type", "application/json")
	switch {
	case id != c.ID || secret != c.Secret || inHeader == c.InForm:
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":"invalid_client"}`)) // a client that is gone needs none
		return
	case !known || r.PostFormValue("grant_type") != "authorization_code" || r.PostFormValue("redirect_uri") != asked.Get("redirect_uri") ||
		base64.RawURLEncoding.EncodeToString(proof[:]) != asked.Get("code_challenge"):
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_grant","error_description":"of the code ` + r.PostFormValue("code") + `"}`))
		return
	}
	now := time.Now()
	claims := map[string]any{"iss": c.issuer.server.URL, "sub": c.subject, "aud": c.ID, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(), "nonce": asked.Get("nonce")}
	maps.Copy(claims, c.claims)
	maps.DeleteFunc(claims, func(_ string, value any) bool { return value == nil })
	text := c.issuer.Sign(claims)
	if c.change != nil {
		text = c.change(claims, text)
	}
	access, refresh := "access-"+rand.Text(), "refresh-"+rand.Text()
	c.given = append(c.given, text, access, refresh)
	_ = json.NewEncoder(w).Encode(map[string]any{"token_type": "Bearer", "access_token": access, "refresh_token": refresh, "expires_in": 3600, "id_token": text})
}
