package rights

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/spelling"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/identity"
)

// Visitor is what a caller gets who shows a token of an identity provider.
type Visitor struct {
	Endpoint string `json:"endpoint"`
	// Issuer is the name that the endpoint gives the provider, Subject whom the token was issued to.
	Issuer  string `json:"issuer"`
	Subject string `json:"subject,omitempty"`
	// Assumed are the claims that were not given, and are taken as a good token has them.
	Assumed []string `json:"assumed,omitempty"`
	// Refused says why the caller is not let in; "" if the caller is.
	Refused string `json:"refused,omitempty"`
	// Token is the MCPToken that is for the caller; Groups and Attributes are the caller's, by the claims too.
	Token      string            `json:"token,omitempty"`
	Groups     []string          `json:"groups,omitempty"`
	Attributes map[string]string `json:"attributes,omitempty"`
	// Models say what the caller may do to each, Tools what the caller's tools/list has. Withheld are as in Matrix.
	Models   []compile.Access  `json:"models"`
	Tools    *compile.Tools    `json:"tools,omitempty"`
	Withheld map[string]string `json:"withheld,omitempty"`
}

// maxClaims bounds claims, in bytes; a server takes no token that is larger.
const maxClaims = 16 << 10

// ReadClaims reads claims: the JSON object that is the middle part of a JSON Web Token.
func ReadClaims(from io.Reader) (map[string]any, error) {
	text, err := io.ReadAll(io.LimitReader(from, maxClaims+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxClaims {
		return nil, fmt.Errorf("the claims have more than %d bytes, and no server takes such a token", maxClaims)
	}
	if bytes.Count(text, []byte(".")) == 2 && !bytes.ContainsAny(text, "{ ") {
		return nil, errors.New("this is a whole token, which lets its holder in: give its claims alone, as a JSON object")
	}
	var claims map[string]any
	if err := json.Unmarshal(text, &claims); err != nil || claims == nil {
		return nil, errors.New(`the claims must be a JSON object, such as {"sub": "anna", "groups": ["clerks"]}`)
	}
	return claims, nil
}

// Visitor works out what a caller gets whose token an issuer of that name has signed with these claims: by the server's own code, and by
// what the controllers give it. The issuer is that of the claim iss if the name is "", or else the only one. What claims lack that every
// good token has, its end and its audience, is taken as good.
func (o *Objects) Visitor(issuer string, claims map[string]any, now time.Time) (*Visitor, error) {
	config, verdicts := o.Compile(now)
	if config == nil {
		return nil, fmt.Errorf("MCPEndpoint %s is not valid: %s", cluster.Key(o.Endpoint), verdicts.Endpoint.Message)
	}
	declared, err := issuerOf(config.Endpoint.Authentication.Issuers, issuer, claims)
	if err != nil {
		return nil, fmt.Errorf("MCPEndpoint %s %w", cluster.Key(o.Endpoint), err)
	}
	v := &Visitor{Endpoint: cluster.Key(o.Endpoint).String(), Issuer: declared.Name, Models: []compile.Access{}}
	claims = v.complete(claims, declared, now)
	caller, refused := identity.CallerOf(declared, claims, now)
	if refused != identity.Accepted {
		v.Refused = whyNoCaller(refused, declared)
		return v, nil
	}
	v.Subject = caller.Subject
	// Whom a caller is depends on no model, and what the token may do the compile step says.
	token, none := access.TokensOf(config, catalog.Build(config, nil)).Identify(caller, now)
	switch none.Reason {
	case identity.Accepted:
		v.take(o, config, &verdicts, &token)
	case access.Ambiguous:
		v.Refused = fmt.Sprintf("MCPTokens %s and %s are both for the caller, and neither is more specific", none.Tokens[0], none.Tokens[1])
	default:
		v.Refused = "no MCPToken in force is for the caller"
	}
	return v, nil
}

// issuerOf is the issuer of a name, or that of the claims, or the only one.
func issuerOf(issuers []contract.Issuer, name string, claims map[string]any) (*contract.Issuer, error) {
	var names []string
	url, _ := claims["iss"].(string)
	for i := range issuers {
		issuer := &issuers[i]
		names = append(names, issuer.Name)
		if issuer.Name == name || name == "" && issuer.URL == url {
			if url != "" && url != issuer.URL {
				return nil, fmt.Errorf("knows the issuer %s by the URL %s, and the claim iss is %q", issuer.Name, issuer.URL, url)
			}
			return issuer, nil
		}
	}
	nearest := ""
	if i := spelling.Nearest(name, names); i >= 0 {
		nearest = fmt.Sprintf("; the nearest is %q", names[i])
	}
	switch {
	case len(issuers) == 0:
		return nil, errors.New("has no issuer: it lets in no callers of identity providers (spec.authentication.oidc)")
	case name != "":
		return nil, fmt.Errorf("has no issuer %q%s", name, nearest)
	case url != "":
		return nil, fmt.Errorf("has no issuer with the URL %q of the claim iss", url)
	case len(issuers) > 1:
		return nil, fmt.Errorf("has several issuers; name one: %s", strings.Join(names, ", "))
	}
	return &issuers[0], nil
}

// complete adds what every good token has.
func (v *Visitor) complete(claims map[string]any, issuer *contract.Issuer, now time.Time) map[string]any {
	claims = maps.Clone(claims)
	assume := func(name string, value any) {
		if _, given := claims[name]; !given {
			claims[name] = value
			v.Assumed = append(v.Assumed, name)
		}
	}
	assume("iss", issuer.URL)
	assume("exp", float64(now.Add(time.Hour).Unix()))
	if len(issuer.Audiences) > 0 {
		assume("aud", issuer.Audiences[0])
	}
	return claims
}

// whyNoCaller says why a server refuses a token for what it says.
func whyNoCaller(refused identity.Refusal, issuer *contract.Issuer) string {
	switch refused {
	case identity.Expired:
		return "the token has expired (exp)"
	case identity.NotYetValid:
		return "the token is not good yet (nbf)"
	case identity.Audience:
		if len(issuer.Audiences) == 0 {
			return "the endpoint has no audience for tokens of " + issuer.Name + ": it needs a public URL, or audiences of the issuer"
		}
		return "the token was issued for others (aud): the endpoint takes " + strings.Join(issuer.Audiences, ", ")
	case identity.Subject:
		return "the token does not say whom it was issued to: the claim " + issuer.SubjectClaim + " must be a text"
	}
	return "exp and nbf must be numbers of seconds"
}

// take notes what the token gives the caller.
func (v *Visitor) take(o *Objects, config *contract.Config, verdicts *compile.Verdicts, token *access.Token) {
	v.Token = token.Name()
	i := slices.IndexFunc(o.Tokens, func(t v1alpha1.MCPToken) bool { return cluster.Key(&t).String() == v.Token })
	t := o.Tokens[i].DeepCopy()
	names := slices.Collect(maps.Keys(t.Spec.Attributes))
	if t.Spec.OIDC != nil {
		names = slices.AppendSeq(names, maps.Keys(t.Spec.OIDC.Attributes))
	}
	v.Groups, v.Attributes = token.Groups(), map[string]string{}
	// As if the token itself had what the claims give.
	t.Spec.OIDC, t.Spec.Groups, t.Spec.Attributes = nil, v.Groups, map[string]v1alpha1.AttributeValue{}
	for _, name := range names {
		if value, has := token.Attribute(name); has {
			v.Attributes[name], t.Spec.Attributes[name] = value, v1alpha1.AttributeValue(value)
		}
	}
	v.Withheld = o.withheld(config, verdicts)
	v.Models = slices.DeleteFunc(compile.Explain(config, t), func(a compile.Access) bool { return v.Withheld[a.Model] != "" })
	v.Tools = new(compile.ExplainTools(config, t))
}
