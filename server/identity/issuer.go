package identity

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// An issuer is one whose tokens are accepted: the cluster, whose URL and algorithms the API server tells, or a declared one.
type issuer struct {
	contract.Issuer
	source *keySource
	// cluster reports whether the tokens belong to ServiceAccounts; reviews is nil if the API server is not asked about
	// them.
	cluster bool
	reviews *reviewer
}

// algorithms are the algorithms that the issuer may sign with.
func (i *issuer) algorithms(known *keySet) []string {
	if i.cluster {
		return known.document.Algorithms
	}
	return i.Algorithms
}

// keysFor returns the keys that a token of the issuer may be signed with.
func (i *issuer) keysFor(t *token) ([]*key, Refusal) {
	known := i.source.known.Load()
	if known == nil {
		return nil, Unavailable
	}
	if t.issuer != known.document.Issuer {
		return nil, UnknownIssuer
	}
	if !slices.Contains(i.algorithms(known), t.algorithm) {
		return nil, Algorithm
	}
	keys := known.candidates(t.keyID, t.algorithm)
	if len(keys) == 0 {
		return nil, UnknownKey
	}
	return keys, Accepted
}

// caller returns who a token with these claims, which were signed by the issuer, was issued to.
func (i *issuer) caller(claims map[string]any, now time.Time) (*Caller, Refusal) {
	skew := time.Duration(i.ClockSkew)
	expiry, ok := moment(claims["exp"])
	if !ok {
		return nil, Malformed // without an end it would be good for ever
	}
	expiry = expiry.Add(skew)
	if !now.Before(expiry) {
		return nil, Expired
	}
	if notBefore, given := claims["nbf"]; given {
		begin, ok := moment(notBefore)
		if !ok {
			return nil, Malformed
		}
		if now.Before(begin.Add(-skew)) {
			return nil, NotYetValid
		}
	}
	if !i.isFor(claims["aud"]) {
		return nil, Audience
	}
	caller := &Caller{Issuer: i.URL, Claims: claims, Expiry: expiry}
	if i.cluster {
		caller.Subject, caller.ServiceAccount = serviceAccount(claims)
	} else {
		caller.Subject, _ = claims[i.SubjectClaim].(string)
	}
	if caller.Subject == "" || len(caller.Subject) > maxSubject || i.cluster && caller.ServiceAccount == "" {
		return nil, Subject
	}
	return caller, Accepted
}

// maxSubject is in bytes: the longest that an MCPToken can name.
const maxSubject = 4096

// maxMoment is the last second that RFC 3339 can write.
const maxMoment = 253402300799

// moment reads a NumericDate of RFC 7519.
func moment(claim any) (time.Time, bool) {
	seconds, ok := claim.(float64)
	if !ok || seconds < 0 || seconds > maxMoment {
		return time.Time{}, false
	}
	whole, fraction := math.Modf(seconds)
	return time.Unix(int64(whole), int64(fraction*1e9)), true
}

// isFor reports whether a token was issued for one of the issuer's audiences. The claim is a text, or a list of texts.
func (i *issuer) isFor(claim any) bool {
	names, ok := claim.([]any)
	if !ok {
		names = []any{claim}
	}
	return slices.ContainsFunc(names, func(name any) bool {
		text, ok := name.(string)
		return ok && slices.Contains(i.Audiences, text)
	})
}

// serviceAccount returns the subject of a ServiceAccount's token, and namespace/name; "" unless both parts of the token that say
// so agree.
func serviceAccount(claims map[string]any) (subject, name string) {
	subject, _ = claims["sub"].(string)
	of, found := strings.CutPrefix(subject, "system:serviceaccount:")
	namespace, account, found2 := strings.Cut(of, ":")
	details, _ := claims["kubernetes.io"].(map[string]any)
	detailed, _ := details["serviceaccount"].(map[string]any)
	if !found || !found2 || namespace == "" || account == "" || details["namespace"] != namespace || detailed["name"] != account {
		return subject, ""
	}
	return subject, namespace + "/" + account
}

// status returns the issuer as it was last seen; false if it was not asked yet.
func (i *issuer) status() (contract.IssuerStatus, bool) {
	seen, problem := i.source.state()
	known := i.source.known.Load()
	status := contract.IssuerStatus{Name: i.Name, Reason: contract.ReasonKeysKnown, Usable: known != nil}
	if known != nil && !known.fitsAny(i.algorithms(known)) {
		status.Usable = false
		status.Reason = contract.ReasonIssuerUnreachable
		status.Message = fmt.Sprintf("%s publishes no key for %s. Declare the algorithms that it signs with.",
			known.document.Issuer, strings.Join(i.algorithms(known), ", "))
	}
	if problem != nil {
		status.Reason, status.Message = problem.reason, problem.message
		status.Usable = status.Usable && i.reviews == nil // an API server that is away reviews nothing either
	}
	if i.reviews != nil {
		if forbidden := i.reviews.forbidden(); forbidden != "" {
			status = contract.IssuerStatus{Name: i.Name, Reason: contract.ReasonTokenReviewForbidden, Message: forbidden}
		}
	}
	return status, seen
}

// CallerOf returns who a token is issued to that a declared issuer has signed with these claims, or why it is refused. It is for those who
// ask what a caller would be: nothing is let in by it.
func CallerOf(declared *contract.Issuer, claims map[string]any, now time.Time) (*Caller, Refusal) {
	return (&issuer{Issuer: *declared}).caller(claims, now)
}
