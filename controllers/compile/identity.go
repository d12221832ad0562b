package compile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/claims"
)

// noText is the credential of a token whose callers show what somebody else issued: there is nothing to look up.
var noText = &Credential{}

// identityEntry says whom a token is for that has no text; nil for others. Its issuer is the name that the token has.
func identityEntry(t *v1alpha1.MCPToken) *contract.Identity {
	if t.Spec.ServiceAccountRef != nil {
		return &contract.Identity{ServiceAccount: t.ServiceAccount().String()}
	}
	oidc := t.Spec.OIDC
	if oidc == nil {
		return nil
	}
	identity := &contract.Identity{
		Issuer: oidc.Issuer, Subject: oidc.Subject, Claims: texts(oidc.Claims), Attributes: texts(oidc.Attributes),
	}
	if oidc.Groups != nil {
		identity.Groups = string(oidc.Groups.Expression)
		identity.Among = slices.Sorted(slices.Values(oidc.Groups.Among))
	}
	return identity
}

func texts[T ~string](values map[string]T) map[string]string {
	if len(values) == 0 {
		return nil
	}
	plain := make(map[string]string, len(values))
	for name, value := range values {
		plain[name] = string(value)
	}
	return plain
}

// owned lists what no two tokens can have at once: the hashes of a token's texts, or the key of its identity. No key looks
// like a hash: it begins with a quotation mark.
func owned(t *v1alpha1.MCPToken, credential *Credential) []string {
	if identity := identityEntry(t); identity != nil {
		return []string{identity.Key()}
	}
	return credential.Hashes
}

// precedence orders the tokens that want the same. The older one goes first; but who a caller is, anybody can write, unlike a
// secret text: a token of another namespace, though it is older, takes no caller from tokens in the endpoint's own
// namespace.
func precedence(a, b *v1alpha1.MCPToken) int {
	if a.Spec.IssuedElsewhere() && a.Foreign() != b.Foreign() {
		if a.Foreign() {
			return 1
		}
		return -1
	}
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// conflict is the verdict on a token if another one that goes before it wants the same.
func conflict(t, first *v1alpha1.MCPToken) Verdict {
	if t.Spec.IssuedElsewhere() {
		return conflicted(nameFor(first, t) + " is for the same callers, and goes first; make one of the two, or let them differ in whom they are for")
	}
	return conflicted("the token has the same text as " + nameFor(first, t) + ", which is older")
}

// refuseIssuer is the verdict on a token whose issuer the endpoint does not have; nil if it has.
func (c *Compiler) refuseIssuer(e *v1alpha1.MCPEndpoint, t *v1alpha1.MCPToken) *Verdict {
	if t.Spec.OIDC == nil || c.issuers[t.Spec.OIDC.Issuer] != "" {
		return nil
	}
	return &Verdict{
		Reason:  v1alpha1.ReasonIssuerNotFound,
		Message: fmt.Sprintf("MCPEndpoint %s has no issuer %q in its spec.authentication.oidc", e.Name, t.Spec.OIDC.Issuer),
	}
}

// expression is one of a token's expressions: it gives a text, or a list of them.
type expression struct {
	text string
	list bool
}

// expressions says which of a token's expressions cannot be evaluated, and why.
func (c *Compiler) expressions(t *v1alpha1.MCPToken) field.ErrorList {
	oidc := t.Spec.OIDC
	if oidc == nil {
		return nil
	}
	var errs field.ErrorList
	check := func(path *field.Path, text v1alpha1.CELExpression, list bool) {
		if problem := c.problemOf(expression{string(text), list}); problem != "" {
			errs = append(errs, field.Invalid(path, string(text), problem))
		}
	}
	at := field.NewPath("spec", "oidc")
	for _, name := range slices.Sorted(maps.Keys(oidc.Attributes)) {
		check(at.Child("attributes").Key(name), oidc.Attributes[name], false)
	}
	if oidc.Groups != nil {
		check(at.Child("groups", "expression"), oidc.Groups.Expression, true)
	}
	return errs
}

// maxProblems is how many expressions a Compiler remembers: tokens that are made alike have the same.
const maxProblems = 1024

// problemOf says what is wrong with an expression; "" if nothing is.
func (c *Compiler) problemOf(e expression) string {
	problem, known := c.problems[e]
	if known {
		return problem
	}
	program, err := claims.Compile(e.text)
	switch {
	case err != nil:
		problem = err.Error()
	case e.list && !program.MayBeList():
		problem = "it must give a list of texts, such as claims.groups, or one text"
	case !e.list && !program.MayBeText():
		problem = "it must give a text, such as claims.region; string(…) makes one of a number"
	}
	if c.problems == nil || len(c.problems) >= maxProblems {
		c.problems = map[expression]string{}
	}
	c.problems[e] = problem
	return problem
}

// atMost is a token with every group and attribute that a caller can have by its claims.
func atMost(entry *contract.Token) *contract.Token {
	if entry.Identity == nil {
		return entry
	}
	most := *entry
	most.Groups = slices.Compact(slices.Sorted(slices.Values(slices.Concat(entry.Groups, entry.Identity.Among))))
	most.Attributes = maps.Clone(entry.Attributes)
	for name := range entry.Identity.Attributes {
		if most.Attributes == nil {
			most.Attributes = map[string]string{}
		}
		most.Attributes[name] = ""
	}
	return &most
}
