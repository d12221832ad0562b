package v1alpha1

import (
	"crypto/x509"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	issuerName         = groupName
	serviceAccountName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`)
	namespaceName      = groupName
	scope              = regexp.MustCompile(`^[\x21\x23-\x5B\x5D-\x7E]+$`)
	brokenPointer      = regexp.MustCompile(`~([^01]|$)`)
)

// The most characters that the texts about an issuer's callers have together.
const (
	maxClaimCharacters      = 2048
	maxExpressionCharacters = 2048
)

func (v *validator) authentication(path *field.Path, a *AuthenticationSpec) {
	at := path.Child("serviceAccounts")
	oneOf(v, at.Child("check"), a.ServiceAccounts.Check, "", CheckKeys, CheckTokenReview)
	v.audiences(at.Child("audiences"), a.ServiceAccounts.Audiences)
	at = path.Child("oidc")
	v.atMost(at, len(a.OIDC), 16)
	distinct(v, at, a.OIDC, func(i OIDCIssuer) string { return i.Name })
	distinct(v, at, a.OIDC, func(i OIDCIssuer) string { return string(i.URL) })
	for i := range a.OIDC {
		v.issuer(at.Index(i), &a.OIDC[i])
	}
}

func (v *validator) issuer(path *field.Path, i *OIDCIssuer) {
	v.required(path.Child("name"), i.Name, 63, issuerName)
	if i.URL == "" {
		v.add(field.Required(path.Child("url"), ""))
	}
	v.issuerURL(path.Child("url"), i.URL)
	v.issuerURL(path.Child("discoveryURL"), i.DiscoveryURL)
	v.issuerURL(path.Child("keysURL"), i.KeysURL)
	if i.DiscoveryURL != "" && i.KeysURL != "" {
		v.invalid(path, "", "at most one of discoveryURL and keysURL may be given: with keysURL nothing is discovered")
	}
	notEmpty(v, path.Child("audiences"), i.Audiences)
	v.audiences(path.Child("audiences"), i.Audiences)
	v.certificates(path.Child("certificateAuthority"), i.CertificateAuthority)
	notEmpty(v, path.Child("algorithms"), i.Algorithms)
	oneOfEach(v, path.Child("algorithms"), i.Algorithms, "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
	v.duration(path.Child("clockSkew"), i.ClockSkew, 0, 5*time.Minute)
	v.optional(path.Child("subjectClaim"), i.SubjectClaim, 128, nil)
	oneOf(v, path.Child("listing"), i.Listing, "", IssuerListed, IssuerUnlisted)
	v.set(path.Child("scopes"), i.Scopes, 16, 128, scope)
}

func (v *validator) issuerURL(path *field.Path, issuer IssuerURL) {
	if issuer == "" {
		return
	}
	v.text(path, string(issuer), 1, 512, nil)
	u, err := url.ParseRequestURI(string(issuer))
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || strings.ContainsAny(string(issuer), "?#@") {
		v.invalid(path, issuer, "must be an https URL with a host, without user, query and fragment")
	}
}

func (v *validator) audiences(path *field.Path, audiences []Audience) {
	texts := make([]string, len(audiences))
	for i, audience := range audiences {
		texts[i] = string(audience)
	}
	v.set(path, texts, 16, 512, nil)
}

// certificates are in PEM. What is wrong with a text is not told with the text, in which a private key may stand.
func (v *validator) certificates(path *field.Path, text string) {
	if text == "" {
		return
	}
	if utf8.RuneCountInString(text) > 16384 {
		v.add(field.TooLong(path, "", 16384))
	}
	if !x509.NewCertPool().AppendCertsFromPEM([]byte(text)) || strings.Contains(text, "PRIVATE KEY") {
		v.invalid(path, "", "must be certificates in PEM, and no private key")
	}
}

// callers checks whom a token is for if somebody else issues their tokens.
func (v *validator) callers(spec *field.Path, s *MCPTokenSpec) {
	if ref := s.ServiceAccountRef; ref != nil {
		at := spec.Child("serviceAccountRef")
		v.required(at.Child("name"), ref.Name, 253, serviceAccountName)
		v.optional(at.Child("namespace"), ref.Namespace, 63, namespaceName)
	}
	if s.OIDC == nil {
		return
	}
	v.oidc(spec.Child("oidc"), s.OIDC)
	for _, name := range slices.Sorted(maps.Keys(s.OIDC.Attributes)) {
		if _, both := s.Attributes[name]; both {
			v.invalid(spec.Child("oidc", "attributes").Key(name), name, "an attribute is in attributes or in oidc.attributes, not in both")
		}
	}
}

func (v *validator) oidc(path *field.Path, o *OIDCIdentity) {
	v.required(path.Child("issuer"), o.Issuer, 63, nil)
	if (o.Subject != "") == (len(o.Claims) > 0) {
		v.invalid(path, "", "exactly one of subject and claims must be given")
	}
	v.optional(path.Child("subject"), o.Subject, 1024, nil)
	v.claims(path.Child("claims"), o.Claims)
	v.expressions(path.Child("attributes"), o.Attributes)
	if o.Groups == nil {
		return
	}
	at := path.Child("groups")
	v.required(at.Child("expression"), string(o.Groups.Expression), 1024, nil)
	if len(o.Groups.Among) == 0 {
		v.add(field.Required(at.Child("among"), "name the groups that a caller can have by its token"))
	}
	v.set(at.Child("among"), o.Groups.Among, 100, 63, nil)
	v.together(at.Child("among"), characters(o.Groups.Among), maxGroupCharacters)
}

func (v *validator) claims(path *field.Path, claims map[string]ClaimValue) {
	v.atMost(path, len(claims), 16)
	total := 0
	for _, name := range slices.Sorted(maps.Keys(claims)) {
		v.text(path.Key(name), name, 1, 128, nil)
		if strings.HasPrefix(name, "/") && brokenPointer.MatchString(name) {
			v.invalid(path.Key(name), name, "a name that begins with / is a JSON pointer, in which ~ stands only in ~0 and ~1")
		}
		v.text(path.Key(name), string(claims[name]), 1, 1024, nil)
		total += utf8.RuneCountInString(name) + utf8.RuneCountInString(string(claims[name]))
	}
	v.together(path, total, maxClaimCharacters)
}

func (v *validator) expressions(path *field.Path, attributes map[string]CELExpression) {
	v.atMost(path, len(attributes), 16)
	total := 0
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		v.text(path.Key(name), name, 1, 63, attributeName)
		v.text(path.Key(name), string(attributes[name]), 1, 1024, nil)
		total += utf8.RuneCountInString(name) + utf8.RuneCountInString(string(attributes[name]))
	}
	v.together(path, total, maxExpressionCharacters)
}
