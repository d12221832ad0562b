package catalog

import (
	"slices"
	"strings"
	"unicode"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/spelling"
)

// The words of names and descriptions, as find_models compares them.

// digraphs are the letters that are written for umlauts, and the letters that umlauts become without their dots: a column
// kaeufer, the label Käufer and the query kaufer are one word.
var digraphs = strings.NewReplacer("ae", "a", "oe", "o", "ue", "u")

// WordsOf returns the words of a text, in Latin letters and folded, each once: a word is letters and digits, and begins anew at
// a capital within a name.
func WordsOf(text string) []string {
	var words []string
	var word strings.Builder
	end := func() {
		if folded := singular(digraphs.Replace(word.String())); folded != "" && !slices.Contains(words, folded) {
			words = append(words, folded)
		}
		word.Reset()
	}
	lower := false
	for _, r := range spelling.Latin(text) {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
		default:
			if unicode.IsUpper(r) && lower {
				end()
			}
			word.WriteRune(unicode.ToLower(r))
		}
		lower = unicode.IsLower(r)
	}
	end()
	return words
}

// singular is a word without the endings of English plurals.
func singular(word string) string {
	if stem, ok := strings.CutSuffix(word, "ies"); ok && len(stem) > 1 {
		return stem + "y"
	}
	if stem, ok := strings.CutSuffix(word, "s"); ok && len(stem) > 2 && !strings.HasSuffix(stem, "s") {
		return stem
	}
	return word
}

// Score says how much a model is about a query: how many of its words the model has, and how good the places are where it
// has them.
type Score struct{ Words, Weight int }

// The weights of a word by where it stands: in the model's name or labels, in a field's name, in the description. A word
// that begins with the query's counts half, and one that only contains it a quarter.
const (
	nameWeight        = 16
	fieldWeight       = 8
	descriptionWeight = 4
)

// ModelWords are the words of what any token that may view a model sees of it.
type ModelWords struct{ names, fields, description []string }

// With returns the words with those of measures and segments that a token has, which count like fields.
func (m ModelWords) With(declared []contract.Declared) ModelWords {
	m.fields = slices.Clip(m.fields)
	for _, d := range declared {
		m.fields = append(m.fields, WordsOf(d.Name+" "+strings.Join(d.Synonyms, " "))...)
		m.description = append(slices.Clip(m.description), WordsOf(d.Description)...)
	}
	return m
}

// Words returns the words of the served models, by Model.Index. They are found when they are first asked for.
func (c *Catalog) Words() []ModelWords { return c.words() }

func (c *Catalog) findWords() []ModelWords {
	all := make([]ModelWords, len(c.models))
	for _, m := range c.models {
		if !m.Served() {
			continue
		}
		names := append([]string{m.Name, m.Declared.VerboseName, m.Declared.VerboseNamePlural}, m.Declared.Synonyms...)
		w := ModelWords{names: WordsOf(strings.Join(names, " ")), description: WordsOf(m.Description())}
		for _, f := range m.Fields {
			w.fields = append(w.fields, WordsOf(f.Name)...)
			w.fields = append(w.fields, WordsOf(strings.Join(f.Synonyms, " "))...)
		}
		all[m.Index] = w
	}
	return all
}

// Score compares a query's words with a model's.
func (m *ModelWords) Score(query []string) Score {
	var s Score
	for _, word := range query {
		weight := max(nameWeight*likeness(m.names, word), fieldWeight*likeness(m.fields, word), descriptionWeight*likeness(m.description, word))
		if s.Weight += weight; weight > 0 {
			s.Words++
		}
	}
	return s
}

// likeness is how much the most similar of the words is like the one that is looked for: 4 if it is that, 0 if it has
// nothing of it.
func likeness(words []string, wanted string) int {
	best := 0
	for _, word := range words {
		switch {
		case word == wanted:
			return 4
		case strings.HasPrefix(word, wanted):
			best = max(best, 2)
		case strings.Contains(word, wanted):
			best = max(best, 1)
		}
	}
	return best
}
