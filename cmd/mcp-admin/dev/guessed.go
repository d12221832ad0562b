package dev

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/generate"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/manifests"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/target"
	"github.com/mcp-admin/mcp-admin-operator/contract/spelling"
	db "github.com/mcp-admin/mcp-admin-operator/server/database"
)

// lookEvery is how often a database without manifests is looked at for new tables.
const lookEvery = 30 * time.Second

// guessed are the manifests that nobody wrote: what generate guesses from a database.
type guessed struct {
	database *target.Database
	// schemas are those to read; empty is all.
	schemas []string
	options generate.Options
}

// manifests reads the database's schema, and guesses.
func (g *guessed) manifests(ctx context.Context) (*Manifests, error) {
	schema, err := g.database.Schema(ctx, g.schemas)
	if err != nil {
		return nil, err
	}
	options := g.options
	options.Endpoint = types.NamespacedName{Namespace: metav1.NamespaceDefault, Name: generate.EndpointName(g.database.Name)}
	guesses, err := generate.From(schema, options)
	if err != nil {
		return nil, err
	}
	if len(guesses.Models) == 0 {
		return nil, fmt.Errorf("database %s: %s", g.database.Name, whyNone(schema, g.options, guesses))
	}
	m := &Manifests{Objects: manifests.New()}
	endpoint := guesses.MCPEndpoint()
	m.Endpoints = append(m.Endpoints, *endpoint)
	m.Tokens = append(m.Tokens, *guesses.Token())
	for _, model := range guesses.Models {
		m.Exposures = append(m.Exposures, model.Exposure)
		if key := model.Exposure.Spec.Key; len(key) > 0 {
			m.uncheckedKeys = append(m.uncheckedKeys, fmt.Sprintf("%s (%s)", model.Exposure.EffectiveModel(), strings.Join(key, ", ")))
		}
	}
	for _, l := range guesses.LeftOut {
		m.leftOut = append(m.leftOut, fmt.Sprintf("%s (%s)", l.Table, l.Reason))
	}
	if !g.database.InFiles() {
		m.Secrets[types.NamespacedName{Namespace: endpoint.Namespace, Name: guesses.ConnectionSecret()}] = g.database.Secret
	}
	return m, nil
}

// whyNone says why no table of a schema has a model.
func whyNone(schema *db.Schema, options generate.Options, guesses *generate.Guesses) string {
	if len(schema.Tables) == 0 && len(schema.Notes) > 0 {
		return strings.Join(schema.Notes, " ")
	}
	if len(schema.Tables) == 0 {
		return "it has no tables, or the user may not see them; look into the schemas that hold them (--schemas), and grant the user USAGE and SELECT"
	}
	if len(guesses.LeftOut) > 0 {
		var reasons []string
		for _, l := range guesses.LeftOut[:min(len(guesses.LeftOut), 5)] {
			reasons = append(reasons, fmt.Sprintf("%s (%s)", l.Table, l.Reason))
		}
		return "no table can be served: " + strings.Join(reasons, ", ")
	}
	var names []string
	for _, t := range schema.Tables {
		names = append(names, t.Name)
	}
	text := fmt.Sprintf("none of its %d tables is chosen by --include %s", len(names), strings.Join(options.Include, ","))
	if len(options.Include) == 0 {
		return fmt.Sprintf("--exclude %s leaves out all of its %d tables", strings.Join(options.Exclude, ","), len(names))
	}
	if i := spelling.Nearest(options.Include[0], names); i >= 0 {
		text += fmt.Sprintf("; the nearest is %q", names[i])
	}
	return text
}

// supply puts a database in the place of the endpoint's own: as the Secret that it names, or as its file.
func (m *Manifests) supply(e *v1alpha1.MCPEndpoint, d *target.Database) error {
	ref := e.Spec.Database.ConnectionSecretRef
	switch {
	case d.SQLite != "" && e.Spec.Database.SQLite == nil:
		return fmt.Errorf("--sqlite: MCPEndpoint %s/%s has no spec.database.sqlite; write `database: {sqlite: {emptyDir: {}}}` there", e.Namespace, e.Name)
	case d.DuckDB != "" && e.Spec.Database.DuckDB == nil:
		return fmt.Errorf("--duckdb: MCPEndpoint %s/%s has no spec.database.duckdb; write `database: {duckdb: {claim: {name: files}}}` there", e.Namespace, e.Name)
	case d.InFiles():
	case ref == nil:
		return fmt.Errorf("--dsn: MCPEndpoint %s/%s has no spec.database.connectionSecretRef; name any Secret there", e.Namespace, e.Name)
	default:
		m.Secrets[types.NamespacedName{Namespace: e.Namespace, Name: ref.Name}] = d.SecretWith(ref.Key)
	}
	return nil
}

// lacksConnection reports whether the manifests hold no Secret of an endpoint's connection.
func (m *Manifests) lacksConnection(e *v1alpha1.MCPEndpoint) bool {
	ref := e.Spec.Database.ConnectionSecretRef
	return ref != nil && m.Secrets[types.NamespacedName{Namespace: e.Namespace, Name: ref.Name}] == nil
}

// supplyEndpoint makes the endpoint that all the exposures name. It only reads unless it is to write.
func (m *Manifests) supplyEndpoint(d *target.Database, write bool) error {
	if len(m.Exposures) == 0 {
		return errors.New("the manifests hold neither an MCPEndpoint nor an MCPModelExposure")
	}
	first := &m.Exposures[0]
	endpoint := v1alpha1.MCPEndpoint{ObjectMeta: metav1.ObjectMeta{Namespace: first.Namespace, Name: first.Spec.EndpointRef.Name}}
	database := &endpoint.Spec.Database
	if !write {
		database.Access = v1alpha1.DatabaseReadOnly
	}
	switch {
	case d.SQLite != "":
		database.SQLite = &v1alpha1.SQLiteSpec{EmptyDir: &v1alpha1.SQLiteEmptyDir{}}
	case d.DuckDB != "":
		database.DuckDB = &v1alpha1.DuckDBSpec{Claim: v1alpha1.DatabaseClaim{Name: endpoint.Name + "-files"}}
	default:
		database.ConnectionSecretRef = &v1alpha1.ConnectionSecretReference{Name: endpoint.Name + "-db"}
	}
	for i := range m.Exposures {
		e := &m.Exposures[i]
		if e.Namespace != endpoint.Namespace || e.Spec.EndpointRef.Name != endpoint.Name {
			return fmt.Errorf("the manifests hold no MCPEndpoint, and models of two: %s/%s and %s/%s", endpoint.Namespace, endpoint.Name, e.Namespace, e.Spec.EndpointRef.Name)
		}
		if schema := e.Spec.Table.Schema; schema != "" && !d.InFiles() && !slices.Contains(database.Schemas, schema) {
			database.Schemas = append(database.Schemas, schema)
		}
	}
	m.Endpoints = append(m.Endpoints, endpoint)
	return nil
}

// mostKeysShown is how many models are named whose keys were guessed.
const mostKeysShown = 5

// keysToCheck says which keys were guessed; "" if none was.
func (m *Manifests) keysToCheck() string {
	if m == nil || len(m.uncheckedKeys) == 0 {
		return ""
	}
	shown := m.uncheckedKeys[:min(len(m.uncheckedKeys), mostKeysShown)]
	text := "nothing in the database says that these columns identify a row: " + strings.Join(shown, ", ")
	if more := len(m.uncheckedKeys) - len(shown); more > 0 {
		text += fmt.Sprintf(", and those of %d other models", more)
	}
	return text
}
