package generate

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// maxInlines is the most inlines of one model: each adds to what get_ shows.
const maxInlines = 5

// relate guesses what follows from other models: inlines, and the search in tables without a text of their own.
func (g *Guesses) relate() {
	models := map[*database.Table]*Model{}
	for _, m := range g.Models {
		models[m.Table] = m
	}
	for _, child := range g.Models {
		for _, fk := range child.Table.ForeignKeys {
			parent := models[fk.References]
			if parent == nil || parent == child || !belongs(child.Table, fk) {
				continue
			}
			parent.addInline(child, fk)
			break // a row belongs to one other
		}
	}
	found := g.catalogue()
	for _, m := range g.Models {
		m.searchRelated(found.Model(m.Exposure.EffectiveModel()))
	}
}

// belongs reports whether a foreign key names the row that its own row is a part of: it goes when that one goes, or is known
// by it, or has its name.
func belongs(child *database.Table, fk *database.ForeignKey) bool {
	if slices.ContainsFunc(fk.Columns, func(c *database.Column) bool { return c.Nullable }) {
		return false
	}
	within := !slices.ContainsFunc(fk.Columns, func(c *database.Column) bool { return !slices.Contains(child.PrimaryKey, c) })
	parentName, childName := strings.Join(catalog.Words(fk.References.Name), ""), strings.Join(catalog.Words(child.Name), "")
	named := len(childName) > len(parentName) && (strings.HasPrefix(childName, parentName) || strings.HasPrefix(childName, singular(parentName)))
	return fk.OnDelete == database.Cascade || within || named
}

// addInline makes another model's rows a part of this model's.
func (m *Model) addInline(child *Model, fk *database.ForeignKey) {
	inlines := &m.Exposure.Spec.Inlines
	name := child.Exposure.EffectiveModel()
	if len(*inlines) == maxInlines {
		return
	}
	inline := v1alpha1.InlineSpec{Model: name}
	several := 0
	for _, other := range child.Table.ForeignKeys {
		if other.References == fk.References {
			several++
		}
	}
	if several > 1 {
		inline.ForeignKey = fk.Columns[0].Name
	}
	*inlines = append(*inlines, inline)
	m.because("inlines."+name, "a row of %s belongs to one of these, by its foreign key", child.Table.Name)
}

// searchRelated has a model without a text of its own be found by the names of what it points to.
func (m *Model) searchRelated(found *catalog.Model) {
	if found == nil || !found.Served() || len(found.Search) > 0 {
		return
	}
	const most = 3
	for _, r := range found.Relations {
		if f := r.Target.Display; !r.Many && f != nil && f.Column.Kind == database.Text && len(m.Exposure.Spec.SearchFields) < most {
			m.Exposure.Spec.SearchFields = append(m.Exposure.Spec.SearchFields, r.Name+"__"+f.Name)
			m.because("searchFields", "it has no text of its own")
		}
	}
}

// keepWhatIsServed looks at the guesses as a server would, takes back guesses that would withhold a model, and leaves out
// the tables that cannot be served at all.
func (g *Guesses) keepWhatIsServed() {
	attempts := []func(*v1alpha1.MCPModelExposureSpec){
		func(s *v1alpha1.MCPModelExposureSpec) { s.SearchFields, s.Inlines, s.Relations = nil, nil, nil },
		func(s *v1alpha1.MCPModelExposureSpec) { s.DisplayField, s.Key = "", nil },
	}
	for _, simplify := range attempts {
		found := g.catalogue()
		for _, m := range g.Models {
			if model := found.Model(m.Exposure.EffectiveModel()); model == nil || !model.Served() {
				simplify(&m.Exposure.Spec)
			}
		}
	}
	for settled := false; !settled; {
		found := g.catalogue()
		before := len(g.Models)
		g.Models = slices.DeleteFunc(g.Models, func(m *Model) bool {
			model := found.Model(m.Exposure.EffectiveModel())
			if model != nil && model.Served() {
				return false
			}
			reason := "it cannot be served"
			if model != nil {
				reason = model.Status.Message
			}
			g.LeftOut = append(g.LeftOut, LeftOut{m.Table, reason})
			return true
		})
		if settled = len(g.Models) == before; !settled {
			g.dropRelated()
		}
	}
}

// dropRelated takes back the inlines and relations whose models are left out.
func (g *Guesses) dropRelated() {
	gone := func(name string) bool {
		return !slices.ContainsFunc(g.Models, func(m *Model) bool { return m.Exposure.EffectiveModel() == name })
	}
	for _, m := range g.Models {
		s := &m.Exposure.Spec
		s.Inlines = slices.DeleteFunc(s.Inlines, func(i v1alpha1.InlineSpec) bool { return gone(i.Model) })
		s.Relations = slices.DeleteFunc(s.Relations, func(r v1alpha1.RelationSpec) bool { return gone(r.Model) })
	}
}

// catalogue is a server's catalogue of the guesses.
func (g *Guesses) catalogue() *catalog.Catalog {
	endpoint := g.MCPEndpoint()
	in := compile.Inputs{
		Endpoint: endpoint, StatusKey: contract.NewToken(), SealKey: contract.NewSealKey(), Now: time.Now(),
		Credentials: map[types.NamespacedName]compile.Credential{},
	}
	for _, m := range g.Models {
		in.Exposures = append(in.Exposures, m.Exposure)
	}
	config, _ := compile.Compile(in)
	return catalog.Build(config, g.Schema)
}
