package compile

import "github.com/mcp-admin/mcp-admin-operator/contract"

// Difference counts the models and tokens in which two Configs differ. A token that comes into force is added, and one
// that is no longer in force is removed.
type Difference struct{ Added, Changed, Removed int }

// Compare returns how next differs from previous, which may be nil.
func Compare(previous, next *contract.Config) Difference {
	if previous == nil {
		previous = &contract.Config{}
	}
	var d Difference
	before, after := inForce(previous), inForce(next)
	for key, revision := range after {
		switch old, known := before[key]; {
		case !known:
			d.Added++
		case old != revision:
			d.Changed++
		}
	}
	for key := range before {
		if _, still := after[key]; !still {
			d.Removed++
		}
	}
	return d
}

// inForce are the revisions of a Config's models, and of its tokens that are in force, by what they are made of.
func inForce(c *contract.Config) map[any]int64 {
	revisions := make(map[any]int64, len(c.Models)+len(c.Tokens))
	for i := range c.Models {
		revisions[modelKey(&c.Models[i])] = c.Models[i].Revision
	}
	for i := range c.Tokens {
		if len(c.Tokens[i].Hashes) > 0 {
			revisions[tokenKey(&c.Tokens[i])] = c.Tokens[i].Revision
		}
	}
	return revisions
}
