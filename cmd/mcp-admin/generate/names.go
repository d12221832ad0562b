package generate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// maxName is the longest name of a model.
const maxName = 40

// modelNames gives each table a model's name: the table's in snake case, without a prefix that all tables share, shortened
// to maxName. Tables whose names are equal then differ by their schemas, or else by numbers. A table that has a name
// already keeps it.
func modelNames(tables []*database.Table, schema *database.Schema, known map[string]string) map[*database.Table]string {
	prefix := sharedPrefix(tables)
	used := map[string]bool{}
	for _, name := range known {
		used[name] = true
	}
	names := map[*database.Table]string{}
	inPath := func(t *database.Table) int { return slices.Index(schema.SearchPath, t.Schema) }
	bySchema := slices.Clone(tables) // the first schema's tables have the plain names
	slices.SortStableFunc(bySchema, func(a, b *database.Table) int { return cmp.Compare(inPath(a), inPath(b)) })
	for _, t := range bySchema {
		inFirst := !schema.HasSchemas || t.Schema == firstOf(schema.SearchPath)
		if name, ok := known[t.String()]; ok || inFirst && known[t.Name] != "" {
			names[t] = cmp.Or(name, known[t.Name])
			continue
		}
		name := plain(t.Name[len(prefix):], "table")
		if used[name] && t.Schema != "" && !inFirst {
			name = plain(t.Schema+"_"+t.Name[len(prefix):], "table")
		}
		name = shorten(name, maxName)
		for n := 2; used[name]; n++ {
			suffix := fmt.Sprintf("_%d", n)
			name = shorten(plain(t.Name[len(prefix):], "table"), maxName-len(suffix)) + suffix
		}
		used[name], names[t] = true, name
	}
	return names
}

func firstOf(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// sharedPrefix is the beginning of all tables' names, up to an underscore ("wp_"); "" if there is none, or if there are too
// few tables to tell.
func sharedPrefix(tables []*database.Table) string {
	const few = 3
	if len(tables) < few {
		return ""
	}
	at := strings.IndexByte(tables[0].Name, '_')
	if at <= 0 {
		return ""
	}
	prefix := tables[0].Name[:at+1]
	for _, t := range tables {
		rest, ok := strings.CutPrefix(t.Name, prefix)
		if !ok || rest == "" || !unicode.IsLetter([]rune(rest)[0]) {
			return ""
		}
	}
	return prefix
}

// plain is a name of a lower-case letter and then letters, digits and underscores; otherwise is used if none is left.
func plain(name, otherwise string) string {
	var b strings.Builder
	for _, word := range catalog.Words(name) {
		if b.Len() > 0 {
			b.WriteByte('_')
		}
		for _, r := range word {
			if r < unicode.MaxASCII && (unicode.IsLower(r) || unicode.IsDigit(r)) {
				b.WriteRune(r)
			}
		}
	}
	name = strings.Join(strings.FieldsFunc(b.String(), func(r rune) bool { return r == '_' }), "_")
	switch {
	case name == "":
		return otherwise
	case name[0] >= '0' && name[0] <= '9':
		return otherwise + "_" + name
	}
	return name
}

// shorten takes characters from the ends of the longest words until a name is short enough, so that each word can still be
// known.
func shorten(name string, most int) string {
	words := strings.Split(name, "_")
	for length := len(name); length > most; length-- {
		longest := 0
		for i, word := range words {
			if len(word) > len(words[longest]) {
				longest = i
			}
		}
		if len(words[longest]) == 1 {
			return strings.TrimRight(strings.Join(words, "_")[:most], "_")
		}
		words[longest] = words[longest][:len(words[longest])-1]
	}
	return strings.Join(words, "_")
}

// irregular are the words whose singular does not follow from their ends.
var irregular = map[string]string{
	"people": "person", "children": "child", "men": "man", "women": "woman", "mice": "mouse", "movies": "movie", "cookies": "cookie",
	"data": "data", "media": "media", "criteria": "criteria", "series": "series", "news": "news", "species": "species", "indices": "index", "statuses": "status",
}

// singular is the singular of an English word, as far as its end tells.
func singular(word string) string {
	if known, ok := irregular[word]; ok {
		return known
	}
	for _, ending := range []struct{ plural, singular string }{
		{"ies", "y"}, {"sses", "ss"}, {"xes", "x"}, {"ches", "ch"}, {"shes", "sh"},
		{"ss", "ss"}, {"us", "us"}, {"is", "is"}, {"s", ""},
	} {
		stem, ok := strings.CutSuffix(word, ending.plural)
		if ok && (len(stem) > 1 || ending.plural == ending.singular) {
			return stem + ending.singular
		}
	}
	return word
}

// inPlural reports whether tables are named in the English plural: most of them are then.
func inPlural(tables []*database.Table) bool {
	n := 0
	for _, t := range tables {
		if word := last(catalog.Words(t.Name)); singular(word) != word {
			n++
		}
	}
	return 2*n > len(tables)
}

// guessVerboseName gives a model whose table is named in the plural its name in the singular, if the plural follows from
// that again.
func (m *Model) guessVerboseName() {
	e := &m.Exposure
	words := strings.Split(e.EffectiveModel(), "_")
	one := slices.Clone(words)
	one[len(one)-1] = singular(last(words))
	if slices.Equal(one, words) {
		return
	}
	e.Spec.VerboseName = strings.Join(one, " ")
	if e.EffectiveVerboseNamePlural() != strings.Join(words, " ") {
		e.Spec.VerboseName = ""
		return
	}
	m.because("verboseName", "the singular of the table's name")
}

// EndpointName is a name for the MCPEndpoint of a database.
func EndpointName(database string) string {
	const most = 30 // the names of its Secrets and workload are longer
	return strings.ReplaceAll(shorten(plain(database, "database"), most), "_", "-")
}
