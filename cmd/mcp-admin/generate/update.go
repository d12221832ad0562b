package generate

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// A file is a file of manifests, cut into its documents.
type file struct {
	path string
	// documents are the texts between lines of "---".
	documents []string
	changed   bool
	mode      fs.FileMode
}

// A manifests are the existing ones.
type manifests struct {
	path string
	// folder reports whether path is a folder, in which new objects get files of their own.
	folder bool
	files  []*file
}

// readManifests reads a file, or the manifests directly in a folder. A file that does not exist yet is empty.
func readManifests(path string) (*manifests, error) {
	m := &manifests{path: path}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		m.files = []*file{{path: path, mode: 0o600}}
		return m, nil
	case err != nil:
		return nil, err
	case !info.IsDir():
		return m, m.read(path)
	}
	m.folder = true
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		switch filepath.Ext(entry.Name()) {
		case ".yaml", ".yml":
			if err := m.read(filepath.Join(path, entry.Name())); err != nil {
				return nil, err
			}
		}
	}
	return m, nil
}

func (m *manifests) read(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	f := &file{path: path, mode: info.Mode().Perm()}
	var b strings.Builder
	for line := range strings.Lines(string(content)) {
		if strings.HasPrefix(line, "---") {
			f.documents = append(f.documents, b.String())
			b.Reset()
			continue
		}
		b.WriteString(line)
	}
	f.documents = append(f.documents, b.String())
	f.documents = slices.DeleteFunc(f.documents, func(d string) bool { return strings.TrimSpace(d) == "" })
	m.files = append(m.files, f)
	return nil
}

// exposure is a document with an MCPModelExposure of an endpoint.
type exposure struct {
	file  *file
	index int
	v1alpha1.MCPModelExposure
}

// exposures are the endpoint's. A document that cannot be read is an error: what it has would be added again.
func (m *manifests) exposures(endpoint string) ([]exposure, error) {
	var all []exposure
	for _, f := range m.files {
		for i, text := range f.documents {
			e := exposure{file: f, index: i}
			if err := sigsyaml.Unmarshal([]byte(text), &e.MCPModelExposure); err != nil {
				var head struct {
					Kind string `json:"kind"`
				}
				if sigsyaml.Unmarshal([]byte(text), &head) == nil && head.Kind != "MCPModelExposure" {
					continue // another kind, with fields of other types
				}
				return nil, fmt.Errorf("%s, document %d: %w", f.path, i+1, err)
			}
			if e.Kind == "MCPModelExposure" && e.Spec.EndpointRef.Name == endpoint {
				all = append(all, e)
			}
		}
	}
	return all, nil
}

// seen are the tables that earlier runs have looked at, and the file that says so; nil if there were none.
func (m *manifests) seen() (tables []string, in *file, index int) {
	for _, f := range m.files {
		for i, text := range f.documents {
			if names, ok := listed(text, tablesComment); ok {
				return names, f, i
			}
		}
	}
	return nil, nil, 0
}

// A change says what an update did, for people.
type change struct{ what string }

// update adds to the manifests what is in the guesses and not yet there. It removes nothing, and leaves alone every document
// to which nothing is added: comments, order and form of what people wrote stay.
func (m *manifests) update(g *Guesses, withEndpoint bool) ([]change, error) {
	there, err := m.exposures(g.Options.Endpoint.Name)
	if err != nil {
		return nil, err
	}
	seen, header, index := m.seen()
	documents, err := g.documents(withEndpoint)
	if err != nil {
		return nil, err
	}
	var changes []change
	if header == nil {
		m.add(documents[0])
		changes = append(changes, change{"the MCPToken " + g.Token().Name})
	} else if names := union(seen, g.tables()); !slices.Equal(names, seen) {
		header.documents[index] = replaceList(header.documents[index], tablesComment, names)
		header.changed = true
	}
	for i, model := range g.Models {
		at := slices.IndexFunc(there, func(e exposure) bool { return g.isOf(&e.MCPModelExposure, model) })
		switch {
		case at >= 0:
			added, err := there[at].extend(model)
			if err != nil {
				return nil, err
			}
			changes = append(changes, added...)
		case slices.Contains(seen, model.Table.String()):
			// Somebody took it out.
		default:
			m.add(documents[i+1])
			changes = append(changes, change{"the MCPModelExposure " + model.Exposure.Name + " for table " + model.Table.String()})
		}
	}
	return changes, nil
}

// isOf reports whether an exposure has a model's table.
func (g *Guesses) isOf(e *v1alpha1.MCPModelExposure, model *Model) bool {
	schema := e.Spec.Table.Schema
	return e.Spec.Table.Name == model.Table.Name &&
		(schema == model.Table.Schema || schema == "" && (model.Exposure.Spec.Table.Schema == "" || model.Table.Schema == firstOf(g.Schema.SearchPath)))
}

// add adds a new document: to the one file, or as a file of its own.
func (m *manifests) add(d document) {
	if !m.folder {
		f := m.files[0]
		f.documents, f.changed = append(f.documents, string(d.text)), true
		return
	}
	path := filepath.Join(m.path, d.name+".yaml")
	for n := 2; slices.ContainsFunc(m.files, func(f *file) bool { return f.path == path }); n++ {
		path = filepath.Join(m.path, fmt.Sprintf("%s-%d.yaml", d.name, n))
	}
	m.files = append(m.files, &file{path: path, documents: []string{string(d.text)}, changed: true, mode: 0o600})
}

// extend adds to an exposure what was guessed of columns that are new in its table.
func (e *exposure) extend(model *Model) ([]change, error) {
	text := e.file.documents[e.index]
	known, ok := listed(text, columnsComment)
	columns := columnNames(model.Table)
	fresh := slices.DeleteFunc(slices.Clone(columns), func(name string) bool { return slices.Contains(known, name) })
	if !ok || len(fresh) == 0 {
		return nil, nil // written by hand, or nothing is new
	}
	text = replaceList(text, columnsComment, union(known, columns))
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		return nil, fmt.Errorf("%s, document %d: %w", e.file.path, e.index+1, err)
	}
	if len(e.Spec.Fields.Include) == 0 && model.addFields(document.Content[0], fresh) {
		encoded, err := write(&document)
		if err != nil {
			return nil, err
		}
		text = string(encoded)
	}
	e.file.documents[e.index], e.file.changed = text, true
	var changes []change
	for _, name := range fresh {
		changes = append(changes, change{"the column " + name + " of table " + model.Table.String()})
	}
	return changes, nil
}

// addFields adds what was guessed of some columns to spec.fields of a document, and reports whether there was anything.
func (m *Model) addFields(root *yaml.Node, columns []string) bool {
	added := false
	add := func(listName, name string, item *yaml.Node) {
		if !slices.Contains(columns, name) {
			return
		}
		items := child(child(child(root, "spec", yaml.MappingNode), "fields", yaml.MappingNode), listName, yaml.SequenceNode)
		if slices.ContainsFunc(items.Content, func(n *yaml.Node) bool { return nameOf(n) == name }) {
			return
		}
		item.LineComment = commentOf(m.Reasons["fields."+listName+"."+name])
		items.Content, items.Style = append(items.Content, item), 0
		added = true
	}
	fields := &m.Exposure.Spec.Fields
	for _, name := range fields.Exclude {
		add("exclude", name, scalar(name))
	}
	for _, name := range fields.ReadOnly {
		add("readOnly", name, scalar(name))
	}
	for _, masked := range fields.Masked {
		item := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle, Content: []*yaml.Node{scalar("name"), scalar(masked.Name)}}
		if masked.KeepLast > 0 {
			item.Content = append(item.Content, scalar("keepLast"), &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: fmt.Sprint(masked.KeepLast)})
		}
		add("masked", masked.Name, item)
	}
	for _, o := range fields.Overrides {
		add("overrides", o.Name, &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle, Content: []*yaml.Node{
			scalar("name"), scalar(o.Name), scalar("reads"), scalar(string(o.Reads)), // nothing else is guessed of one
		}})
	}
	return added
}

// child returns the value of a key of a mapping, which it makes if it is missing.
func child(mapping *yaml.Node, key string, kind yaml.Kind) *yaml.Node {
	for i := 0; i < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	value := &yaml.Node{Kind: kind}
	mapping.Style = 0
	mapping.Content = append(mapping.Content, scalar(key), value)
	return value
}

func scalar(text string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	lay(node, "", nil, 0)
	return node
}

// replaceList puts names into the place of a list in a text.
func replaceList(text, title string, names []string) string {
	start, end := place(text, title)
	return text[:start] + list(title, names) + text[end:]
}

// union is the first list with what is only in the second behind it.
func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, name := range b {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// save writes the files that have changed, each whole or not at all.
func (m *manifests) save() error {
	for _, f := range m.files {
		if !f.changed {
			continue
		}
		var b bytes.Buffer
		for i, d := range f.documents {
			if i > 0 {
				b.WriteString("---\n")
			}
			b.WriteString(strings.TrimRight(d, "\n") + "\n")
		}
		temporary := f.path + ".new"
		if err := os.WriteFile(temporary, b.Bytes(), f.mode); err != nil {
			return err
		}
		if err := os.Rename(temporary, f.path); err != nil {
			return err
		}
	}
	return nil
}

// names are the names of the models that there are, by their tables. A name of an object alone is in use too.
func (m *manifests) names(endpoint string) (map[string]string, error) {
	there, err := m.exposures(endpoint)
	names := map[string]string{}
	for _, e := range there {
		names[e.Spec.Table.String()] = e.EffectiveModel()
		names[" "+e.Name] = strings.NewReplacer("-", "_", ".", "_").Replace(e.Name)
	}
	return names, err
}
