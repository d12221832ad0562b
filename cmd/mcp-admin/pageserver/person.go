package pageserver

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// naming says who a person is for the API server, by the claims of an ID token. The rules are those of the API server's own flags
// --oidc-username-claim, --oidc-username-prefix, --oidc-groups-claim and --oidc-groups-prefix.
type naming struct {
	issuer                        string
	usernameClaim, usernamePrefix string
	groupsClaim, groupsPrefix     string
	// users and groups are those that may be impersonated; empty is all.
	users, groups []string
}

// person is somebody who logged in, as the API server knows them.
type person struct {
	Name   string   `json:"name"`
	Groups []string `json:"groups,omitempty"`
}

// Names of the API server's own claims, prefixes and accounts.
const (
	emailClaim = "email"
	// noPrefix is the prefix that stands for none.
	noPrefix = "-"
	// reserved is how the names begin that Kubernetes keeps for itself: of nodes, controllers, ServiceAccounts and administrators.
	reserved = "system:"
)

// prefix is what each user name begins with. Without one, it is the issuer's URL and "#", unless the name is an e-mail address.
func (n *naming) prefix() string {
	switch {
	case n.usernamePrefix == noPrefix:
		return ""
	case n.usernamePrefix == "" && n.usernameClaim != emailClaim:
		return n.issuer + "#"
	}
	return n.usernamePrefix
}

// person reads the claims. The error is for the person, and has nothing of the token but names that are refused.
func (n *naming) person(claims map[string]any) (*person, error) {
	name, _ := claims[n.usernameClaim].(string)
	if name == "" {
		return nil, fmt.Errorf("the identity provider does not say your name: its token has no text in the claim %q", n.usernameClaim)
	}
	if verified, told := claims["email_verified"]; n.usernameClaim == emailClaim && told && verified != true {
		return nil, errors.New("the identity provider says that your e-mail address is not verified")
	}
	p := &person{Name: n.prefix() + name}
	if n.groupsClaim != "" {
		groups, err := texts(claims[n.groupsClaim])
		if err != nil {
			return nil, fmt.Errorf("the claim %q of the identity provider's token %w", n.groupsClaim, err)
		}
		for _, group := range groups {
			p.Groups = append(p.Groups, n.groupsPrefix+group)
		}
	}
	if err := n.mayBe(p); err != nil {
		return nil, err
	}
	// The others would have the API server refuse each request.
	p.Groups = slices.DeleteFunc(p.Groups, func(group string) bool { return len(n.groups) > 0 && !slices.Contains(n.groups, group) })
	slices.Sort(p.Groups)
	p.Groups = slices.Compact(p.Groups)
	return p, nil
}

// texts are the texts of a claim: one, a list, or none.
func texts(claim any) ([]string, error) {
	switch claim := claim.(type) {
	case nil:
		return nil, nil
	case string:
		return []string{claim}, nil
	case []any:
		all := make([]string, len(claim))
		for i, one := range claim {
			text, ok := one.(string)
			if !ok {
				return nil, errors.New("has something else than texts")
			}
			all[i] = text
		}
		return all, nil
	}
	return nil, errors.New("is neither a text nor a list of texts")
}

// mayBe says why nobody may be this person here.
func (n *naming) mayBe(p *person) error {
	if err := usable(p.Name); err != nil {
		return fmt.Errorf("the user name %q %w", p.Name, err)
	}
	if len(n.users) > 0 && !slices.Contains(n.users, p.Name) {
		return fmt.Errorf("the user %q is not one of those whom this page is for", p.Name)
	}
	for _, group := range p.Groups {
		if err := usable(group); err != nil {
			return fmt.Errorf("the group %q %w", group, err)
		}
	}
	return nil
}

// usable says why no request can be made in a name. It goes into a header of HTTP, which loses spaces at its ends: " ann" would be ann.
func usable(name string) error {
	switch {
	case strings.HasPrefix(name, reserved):
		return errors.New("is one of Kubernetes' own, which nobody may be here")
	case name == "" || strings.TrimSpace(name) != name || strings.ContainsFunc(name, unicode.IsControl):
		return errors.New("is empty, or has characters that no name has")
	}
	return nil
}
