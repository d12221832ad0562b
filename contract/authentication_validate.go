package contract

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// maxClockSkew is the most that an issuer's clock may be from the server's.
const maxClockSkew = Duration(5 * time.Minute)

// check says what in the settings no server could check tokens by.
func (a *Authentication) check(told fault) {
	if !slices.Contains([]string{"", CheckKeys, CheckTokenReview}, a.ServiceAccounts.Check) {
		told("serviceAccounts.check", "%q is neither %s nor %s", a.ServiceAccounts.Check, CheckKeys, CheckTokenReview)
	}
	names, urls := map[string]bool{}, map[string]bool{}
	for i := range a.Issuers {
		issuer := &a.Issuers[i]
		fail := told.at(fmt.Sprintf("issuers[%d]", i))
		if issuer.Name == "" || names[issuer.Name] {
			fail("name", "%q is empty, or stands twice", issuer.Name)
		}
		if !isIssuerURL(issuer.URL) || urls[issuer.URL] {
			fail("url", "%q is no https URL without user, query and fragment, or stands twice", issuer.URL)
		}
		for _, where := range []struct{ member, url string }{{"discoveryURL", issuer.DiscoveryURL}, {"keysURL", issuer.KeysURL}} {
			if where.url != "" && !isIssuerURL(where.url) {
				fail(where.member, "%q is no https URL without user, query and fragment", where.url)
			}
		}
		if issuer.DiscoveryURL != "" && issuer.KeysURL != "" {
			fail("keysURL", "must not be given beside discoveryURL")
		}
		if len(issuer.Algorithms) == 0 {
			fail("algorithms", "is missing")
		}
		for _, name := range issuer.Algorithms {
			if !slices.Contains(Algorithms, name) {
				fail("algorithms", "%q is none of %s", name, strings.Join(Algorithms, ", "))
			}
		}
		if issuer.ClockSkew < 0 || issuer.ClockSkew > maxClockSkew {
			fail("clockSkew", "must be between 0s and %s, is %s", time.Duration(maxClockSkew), time.Duration(issuer.ClockSkew))
		}
		if issuer.SubjectClaim == "" {
			fail("subjectClaim", "is missing")
		}
		names[issuer.Name], urls[issuer.URL] = true, true
	}
}

// isIssuerURL reports whether a text is an https URL with a host, and without user, query and fragment.
func isIssuerURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme == "https" && u.Hostname() != "" && !strings.ContainsAny(text, "?#@")
}

// problem says what is wrong with an identity; "" if nothing is.
func (i *Identity) problem() string {
	ofServiceAccount := i.ServiceAccount != ""
	namespace, name, named := strings.Cut(i.ServiceAccount, "/")
	switch {
	case ofServiceAccount == (i.Issuer != ""):
		return "must have either a serviceAccount or an issuer"
	case ofServiceAccount && (!named || namespace == "" || name == "" || strings.Contains(name, "/")):
		return "serviceAccount must be namespace/name"
	case ofServiceAccount && (i.Subject != "" || len(i.Claims)+len(i.Attributes) > 0 || i.Groups != ""):
		return "a serviceAccount has no subject, claims, attributes and groups"
	case !ofServiceAccount && (i.Subject != "") == (len(i.Claims) > 0):
		return "must have either a subject or claims"
	case (i.Groups != "") != (len(i.Among) > 0):
		return "groups and among belong together"
	}
	for name := range i.Claims {
		if name == "" {
			return "the name of a claim is empty"
		}
	}
	return ""
}
