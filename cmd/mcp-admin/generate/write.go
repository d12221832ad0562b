package generate

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// The comments by which a later run knows what an earlier one has seen.
const (
	columnsComment = "Columns:"
	tablesComment  = "Tables:"
)

// A document is one YAML document of the output. Name is the name of its file, if each has one.
type document struct {
	name string
	text []byte
}

// documents are the guesses as YAML: the header with the endpoint if it is asked for and the token, then each model.
func (g *Guesses) documents(withEndpoint bool) ([]document, error) {
	first := document{name: g.Options.Endpoint.Name}
	var b bytes.Buffer
	b.WriteString(g.header())
	if withEndpoint {
		endpoint, err := encode(g.MCPEndpoint(), map[string]string{"database.access": "whatever tokens may do; take it out once they may write"})
		if err != nil {
			return nil, err
		}
		b.WriteString(g.aboutConnection())
		b.Write(endpoint)
		b.WriteString("---\n")
	}
	token, err := encode(g.Token(), nil)
	if err != nil {
		return nil, err
	}
	b.Write(token)
	first.text = b.Bytes()
	all := []document{first}
	for _, m := range g.Models {
		d, err := m.document()
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

// YAML is all of it as one file.
func (g *Guesses) YAML(withEndpoint bool) ([]byte, error) {
	documents, err := g.documents(withEndpoint)
	var texts [][]byte
	for _, d := range documents {
		texts = append(texts, d.text)
	}
	return bytes.Join(texts, []byte("---\n")), err
}

// Count returns how many guesses there are: things whose comment says why they were guessed.
func (g *Guesses) Count() int {
	n := 0
	for _, m := range g.Models {
		n += len(m.Reasons)
	}
	return n
}

func (m *Model) document() (document, error) {
	encoded, err := encode(&m.Exposure, m.Reasons)
	if err != nil {
		return document{}, err
	}
	return document{m.Exposure.Name, append([]byte(list(columnsComment, columnNames(m.Table))), encoded...)}, nil
}

// header says what was read, and what was left out.
func (g *Guesses) header() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Guessed by mcp-admin generate from %s %s, database %s: %s.\n", g.Schema.Engine, g.Schema.Version,
		output.Printable(g.Schema.Database), output.Numbered(len(g.Models), "model"))
	b.WriteString("# Read each line before you apply it: a comment says why it is there. Personal data is masked and secrets are\n# hidden by the names of columns alone.\n")
	for _, l := range g.LeftOut {
		fmt.Fprintf(&b, "# Left out: %s: %s\n", quoted(l.Table.String()), output.Printable(l.Reason))
	}
	b.WriteString(list(tablesComment, g.tables()))
	return b.String()
}

// tables are the names of all tables that were looked at.
func (g *Guesses) tables() []string {
	var names []string
	for _, t := range g.Schema.Tables {
		names = append(names, t.String())
	}
	return names
}

// aboutConnection says how to make the Secret that the endpoint needs.
func (g *Guesses) aboutConnection() string {
	switch g.Schema.Engine {
	case contract.EngineSQLite:
		return "# The pod's own, empty file: give it a claim with your file, or an initConfigMapRef with SQL that fills it.\n"
	case contract.EngineDuckDB:
		return "# It needs a PersistentVolumeClaim with the files, and a server's image with DuckDB (docs/duckdb.md). A path names a file or folder of it.\n"
	}
	return fmt.Sprintf("# It needs a Secret with the connection, and a database user who may do no more than agents need:\n"+
		"#   kubectl -n %s create secret generic %s --from-literal=uri=$MCP_ADMIN_DSN\n", namespaceOr(g.Options.Endpoint.Namespace), g.ConnectionSecret())
}

func namespaceOr(namespace string) string {
	if namespace == "" {
		return "default"
	}
	return namespace
}

func columnNames(t *database.Table) []string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	return names
}

// listWidth is how wide a list in a comment may be; continued begins its further lines.
const (
	listWidth = 118
	continued = "#   "
)

// list is a comment with a title and names.
func list(title string, names []string) string {
	var b strings.Builder
	line := "# " + title
	for i, name := range names {
		word := " " + quoted(name)
		if i < len(names)-1 {
			word += ","
		}
		if len(line)+len(word) > listWidth {
			b.WriteString(line + "\n")
			line = strings.TrimSuffix(continued, " ")
		}
		line += word
	}
	b.WriteString(line + "\n")
	return b.String()
}

// listed reads the names of a list in a text; false if there is none of that title.
func listed(text, title string) (names []string, found bool) {
	start, end := place(text, title)
	if start < 0 {
		return nil, false
	}
	var all strings.Builder
	for line := range strings.Lines(text[start:end]) {
		all.WriteString(" " + strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "#")))
	}
	rest := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(all.String()), title))
	for rest != "" {
		var name string
		if quote, err := strconv.QuotedPrefix(rest); err == nil {
			name, _ = strconv.Unquote(quote)
			rest = strings.TrimPrefix(rest[len(quote):], ",")
		} else {
			name, rest, _ = strings.Cut(rest, ",")
			name = strings.TrimSpace(name)
		}
		names = append(names, name)
		rest = strings.TrimSpace(rest)
	}
	return names, true
}

// place is where a list of that title begins and ends in a text; -1 if there is none.
func place(text, title string) (start, end int) {
	start = -1
	at := 0
	for line := range strings.Lines(text) {
		switch {
		case start < 0 && strings.HasPrefix(line, "# "+title):
			start = at
		case start >= 0 && !strings.HasPrefix(line, continued):
			return start, at
		}
		at += len(line)
	}
	return start, at
}

// quoted returns a name, between quotes if it could be taken for something else.
func quoted(name string) string {
	if strings.ContainsAny(name, ",\"\\") || output.Printable(name) != name || strings.TrimSpace(name) != name || name == "" || strings.Contains(name, "  ") {
		return strconv.Quote(name)
	}
	return name
}
