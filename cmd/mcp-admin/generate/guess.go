package generate

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Options say what to guess.
type Options struct {
	// Endpoint is the MCPEndpoint that the objects are for.
	Endpoint types.NamespacedName
	// Include and Exclude are patterns (path.Match) of tables' names, or of schema.name. A table is taken if it matches one
	// of Include, or if there are none, and none of Exclude. An Include without wildcards also takes a table that would be
	// left out by its name.
	Include, Exclude []string
	// Names are the models' names that are in use already, by table or schema.table.
	Names map[string]string
	// Write lets the token change rows.
	Write bool
}

// Guesses are the manifests that an administrator would write for a database.
type Guesses struct {
	Options Options
	Schema  *database.Schema
	// Models are in the order of their tables.
	Models []*Model
	// LeftOut are the tables without a model, in order.
	LeftOut []LeftOut

	names catalog.Names
}

// Model is one table with what was guessed of it.
type Model struct {
	Table    *database.Table
	Exposure v1alpha1.MCPModelExposure
	// Reasons say why something was guessed, by its place in the exposure's spec: "displayField", "fields.masked.email".
	Reasons map[string]string
}

// LeftOut is a table without a model, and why.
type LeftOut struct {
	Table  *database.Table
	Reason string
}

// From guesses from a schema. Equal inputs give equal guesses.
func From(schema *database.Schema, o Options) (*Guesses, error) {
	for _, pattern := range slices.Concat(o.Include, o.Exclude) {
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, fmt.Errorf("%q is no pattern; use *, ? and [a-z]", pattern)
		}
	}
	g := &Guesses{Options: o, Schema: schema, names: catalog.Names{}}
	var tables []*database.Table
	for _, t := range schema.Tables {
		switch reason := o.reasonToLeaveOut(t); {
		case !o.wants(t):
		case reason != "":
			g.LeftOut = append(g.LeftOut, LeftOut{t, reason})
		default:
			tables = append(tables, t)
		}
	}
	names := modelNames(tables, schema, o.Names)
	for _, t := range tables {
		g.Models = append(g.Models, g.model(t, names[t]))
	}
	if inPlural(tables) {
		for _, m := range g.Models {
			m.guessVerboseName()
		}
	}
	g.guessRelations()
	g.guessCodes()
	g.relate()
	g.keepWhatIsServed()
	g.guessMeanings()
	return g, nil
}

// wants reports whether Include and Exclude let a table be.
func (o *Options) wants(t *database.Table) bool {
	matches := func(pattern string) bool {
		byName, _ := path.Match(pattern, t.Name)
		whole, _ := path.Match(pattern, t.String())
		return byName || whole
	}
	return (len(o.Include) == 0 || slices.ContainsFunc(o.Include, matches)) && !slices.ContainsFunc(o.Exclude, matches)
}

// model guesses what one table shows.
func (g *Guesses) model(t *database.Table, name string) *Model {
	m := &Model{Table: t, Reasons: map[string]string{}}
	expose := true
	m.Exposure = v1alpha1.MCPModelExposure{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "MCPModelExposure"},
		ObjectMeta: metav1.ObjectMeta{Name: strings.ReplaceAll(name, "_", "-"), Namespace: g.Options.Endpoint.Namespace},
		Spec: v1alpha1.MCPModelExposureSpec{
			EndpointRef: v1alpha1.EndpointReference{Name: g.Options.Endpoint.Name},
			Table:       v1alpha1.TableReference{Name: t.Name},
			Expose:      &expose,
		},
	}
	if g.severalSchemas() {
		m.Exposure.Spec.Table.Schema = t.Schema
	}
	m.guessKey(g.Schema)
	m.guessFields()
	m.guessDisplay()
	m.guessSearch()
	m.guessPolicy()
	return m
}

// severalSchemas reports whether a table's name alone does not say which table it is.
func (g *Guesses) severalSchemas() bool { return g.Schema.HasSchemas && len(g.Schema.SearchPath) > 1 }

// because notes why something was guessed.
func (m *Model) because(place, format string, args ...any) {
	m.Reasons[place] = fmt.Sprintf(format, args...)
}

// Token is a token that reads every model, or may do everything.
func (g *Guesses) Token() *v1alpha1.MCPToken {
	token := &v1alpha1.MCPToken{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "MCPToken"},
		ObjectMeta: metav1.ObjectMeta{Name: g.Options.Endpoint.Name + "-reader", Namespace: g.Options.Endpoint.Namespace},
	}
	verb := v1alpha1.VerbView
	if g.Options.Write {
		token.Name, verb = g.Options.Endpoint.Name+"-writer", v1alpha1.VerbAll
	}
	token.Spec = v1alpha1.MCPTokenSpec{
		EndpointRef: v1alpha1.TokenEndpointReference{Name: g.Options.Endpoint.Name},
		Permissions: []v1alpha1.PermissionRule{{Models: []string{"*"}, Verbs: []v1alpha1.Verb{verb}}},
	}
	return token
}

// ConnectionSecret is the name of the Secret from which a guessed MCPEndpoint takes its connection.
func (g *Guesses) ConnectionSecret() string { return g.Options.Endpoint.Name + "-db" }

// FilesClaim is the name of the claim with the files that a guessed MCPEndpoint reads with DuckDB.
func (g *Guesses) FilesClaim() string { return g.Options.Endpoint.Name + "-files" }

// MCPEndpoint is the endpoint of the database. It takes the connection from a Secret, has a SQLite file, or reads a claim's files.
func (g *Guesses) MCPEndpoint() *v1alpha1.MCPEndpoint {
	endpoint := &v1alpha1.MCPEndpoint{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "MCPEndpoint"},
		ObjectMeta: metav1.ObjectMeta{Name: g.Options.Endpoint.Name, Namespace: g.Options.Endpoint.Namespace},
	}
	d := &endpoint.Spec.Database
	switch g.Schema.Engine {
	case contract.EngineSQLite:
		d.SQLite = &v1alpha1.SQLiteSpec{EmptyDir: &v1alpha1.SQLiteEmptyDir{}}
	case contract.EngineDuckDB:
		d.DuckDB = &v1alpha1.DuckDBSpec{Claim: v1alpha1.DatabaseClaim{Name: g.FilesClaim()}}
	default:
		d.ConnectionSecretRef = &v1alpha1.ConnectionSecretReference{Name: g.ConnectionSecret()}
	}
	if !g.Options.Write {
		d.Access = v1alpha1.DatabaseReadOnly
	}
	if g.severalSchemas() && d.ConnectionSecretRef != nil {
		d.Schemas = g.Schema.SearchPath
	}
	return endpoint
}

// text reports whether a column holds texts that people read.
func text(c *database.Column) bool { return c.Kind == database.Text }

// last is the last of a name's words.
func last(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

// isKey reports whether a column identifies rows or relates them: nothing may hide or mask it then.
func (m *Model) isKey(c *database.Column) bool {
	return slices.Contains(m.Table.PrimaryKey, c) || slices.Contains(m.Exposure.Spec.Key, c.Name) || m.isForeignKey(c)
}

func (m *Model) isForeignKey(c *database.Column) bool {
	return slices.ContainsFunc(m.Table.ForeignKeys, func(fk *database.ForeignKey) bool { return slices.Contains(fk.Columns, c) })
}

// shown are the columns whose values a caller sees as they are.
func (m *Model) shown() []*database.Column {
	f := &m.Exposure.Spec.Fields
	return slices.DeleteFunc(slices.Clone(m.Table.Columns), func(c *database.Column) bool {
		masked := slices.ContainsFunc(f.Masked, func(masked v1alpha1.MaskedField) bool { return masked.Name == c.Name })
		return masked || slices.Contains(f.Exclude, c.Name) || catalog.LooksSecret(m.Table, c) || !c.Privileges.Has(database.MaySelect)
	})
}

// byWorth sorts columns, the least rank first, else in the table's order. Columns of a rank below 0 are left out.
func byWorth(columns []*database.Column, rank func(*database.Column) int) []*database.Column {
	some := slices.DeleteFunc(slices.Clone(columns), func(c *database.Column) bool { return rank(c) < 0 })
	slices.SortStableFunc(some, func(a, b *database.Column) int { return cmp.Compare(rank(a), rank(b)) })
	return some
}
