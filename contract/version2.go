package contract

import (
	"fmt"
	"strconv"
)

// Version 2 of the Config was one Secret with everything in it, tokens with their groups' rules too. Servers of the last
// release read it. The manager writes it beside the parts as long as pods read it, and reads it when it takes over from
// a manager of that release. If a manager of that release wrote it last, servers of this one answer from it, too.

// version2 is the whole Config as it was. It has the members of Config that readers of version 2 must know.
type version2 struct {
	Version   int `json:"version"`
	MinReader int `json:"minReader"`
	// Parts reports whether the parts say the same, or something newer. A manager that knows no parts writes no such member.
	Parts    bool     `json:"parts,omitempty"`
	Revision int64    `json:"revision"`
	Endpoint Endpoint `json:"endpoint"`
	Models   []Model  `json:"models"`
	Tokens   []Token  `json:"tokens"`
}

// EncodeVersion2 returns a whole Config as readers of version 2 take it. What such a reader could not enforce is left out.
// besideParts tells readers of version 3 that the parts count, and not this.
func EncodeVersion2(c *Config, besideParts bool) (Part, error) {
	whole := version2{Version: 2, MinReader: 2, Parts: besideParts, Revision: c.Revision, Endpoint: c.Endpoint, Models: []Model{}, Tokens: []Token{}}
	for _, m := range c.Models {
		if len(c.Requires)+len(m.Requires) == 0 {
			whole.Models = append(whole.Models, m)
		}
	}
	for _, t := range c.Tokens {
		if len(t.Requires) > 0 {
			t.Hashes, t.Identity = nil, nil
		}
		t.Rules = c.RulesOf(&t)
		whole.Tokens = append(whole.Tokens, t)
	}
	part, err := encode(&whole, c.Revision, "0")
	if err != nil {
		return nil, err
	}
	part[PartKeyCount] = []byte("1")
	return part, nil
}

// DecodeVersion2 reads a whole Config of version 1 or 2. Its tokens' rules are those of their groups too. besideParts
// reports whether the parts count for readers of version 3.
func DecodeVersion2(p Part) (c *Config, besideParts bool, err error) {
	var whole version2
	if err := decode(p, "0", &whole); err != nil {
		return nil, false, err
	}
	if whole.Version > 2 || string(p[PartKeyRevision]) != strconv.FormatInt(whole.Revision, 10) {
		return nil, false, fmt.Errorf("the Config of version %d and revision %d is not of version 2, or not of revision %q", whole.Version, whole.Revision, p[PartKeyRevision])
	}
	return &Config{Version: whole.Version, Revision: whole.Revision, Endpoint: whole.Endpoint, Models: whole.Models, Tokens: whole.Tokens}, whole.Parts, nil
}

// RulesOf are a token's own rules and those of its groups, together.
func (c *Config) RulesOf(t *Token) []Rule {
	rules := t.Rules[:len(t.Rules):len(t.Rules)]
	for _, name := range t.Groups {
		if group := c.FindGroup(name); group != nil {
			rules = append(rules, group.Rules...)
		}
	}
	return rules
}
