package generate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// leastUnnamed is how many different values a column must have for a guess that it is a relation, if its name does not say so.
// Integers never suffice: small ones are in every key.
const leastUnnamed = 20

// mostLooked is how many pairs of columns are compared without a name that suggests it.
const mostLooked = 200

// LookFor looks for the values that a column has in some rows, in another one. It returns how many different values there are, and
// how many of them were found.
type LookFor func(table *database.Table, column *database.Column, in *database.Table, key *database.Column) (values, found int, err error)

// GuessLinks guesses relations from values: of a column whose values are all keys of one other table. Names must suggest it, if only by
// a word, or the values must be many texts.
func (g *Guesses) GuessLinks(look LookFor) error {
	left := mostLooked
	for _, m := range g.Models {
		for _, c := range m.shown() {
			if m.isForeignKey(c) || m.leadsOn(c) || slices.Equal(m.key(), []string{c.Name}) || !isKeyKind(c) {
				continue
			}
			link, err := g.linkOf(m, c, look, &left)
			if err != nil {
				return err
			}
			if link.to == nil {
				continue
			}
			relation := v1alpha1.RelationSpec{Name: m.relationName(c, link.to), Columns: []string{c.Name}, Model: link.to.Exposure.EffectiveModel()}
			if relation.Name == "" {
				continue
			}
			m.Exposure.Spec.Relations = append(m.Exposure.Spec.Relations, relation)
			m.because("relations."+relation.Name, "all of the %d values of %s looked at are keys of %s", link.values, c.Name, link.to.Table.Name)
		}
	}
	return nil
}

// isKeyKind reports whether values of a column may name rows.
func isKeyKind(c *database.Column) bool {
	return c.Kind == database.Integer || c.Kind == database.Text || c.Kind == database.UUID
}

// valueLink is the model whose keys all values are; to is nil if there is none, or if there are several.
type valueLink struct {
	to     *Model
	values int
}

func (g *Guesses) linkOf(m *Model, c *database.Column, look LookFor, left *int) (link valueLink, err error) {
	for _, to := range g.Models {
		names := to.key()
		if to == m || len(names) != 1 || to.Table.Kind != database.BaseTable {
			continue
		}
		key := to.Table.Column(names[0])
		if !slices.Contains(to.shown(), key) || key.Kind != c.Kind {
			continue
		}
		least := fewestValues
		if !suggests(c, to) {
			if least = leastUnnamed; c.Kind == database.Integer || *left == 0 {
				continue
			}
			*left--
		}
		values, found, err := look(m.Table, c, to.Table, key)
		if err != nil {
			return valueLink{}, fmt.Errorf("the values of %s cannot be looked at: %w", m.Table, err)
		}
		if values < least || found < values {
			continue
		}
		if link.to != nil {
			return valueLink{}, nil // each may be meant
		}
		link = valueLink{to, values}
	}
	return link, nil
}

// suggests reports whether a column's name has a word of a table's name, or its beginning: cust_no suggests customers.
func suggests(c *database.Column, to *Model) bool {
	const shortest = 3
	theirs := catalog.WordsOf(to.Table.Name + " " + to.Exposure.EffectiveModel())
	return slices.ContainsFunc(catalog.WordsOf(c.Name), func(word string) bool {
		return len(word) >= shortest && slices.ContainsFunc(theirs, func(their string) bool {
			return strings.HasPrefix(their, word) || len(their) >= shortest && strings.HasPrefix(word, their)
		})
	})
}
