package tail

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract/spelling"
)

// filter lets some lines through, and knows what to say if there were none.
type filter struct {
	// token is the MCPToken whose lines are shown, NAME or NAMESPACE/NAME; "" is any. namespace is that of a token without one; "" is any.
	token, namespace string
	// row is the row whose lines are shown; zero is any.
	row row

	// read counts the lines that were read, shown those that were let through.
	read, shown int
	// tokens and models are those that the lines have.
	tokens, models map[string]bool
	// ofModel counts the lines of the row's model, unnamed those of them that may be of the row and do not name all their rows.
	ofModel, unnamed int
}

// row is one row of a model; the zero row is any.
type row struct{ model, id string }

// readRow reads MODEL/ID; "" is any row.
func readRow(text string) (row, error) {
	if text == "" {
		return row{}, nil
	}
	model, id, whole := strings.Cut(text, "/")
	if !whole || model == "" || id == "" {
		return row{}, fmt.Errorf("--row: %q is not MODEL/ID, such as customer/42", text)
	}
	return row{model, id}, nil
}

// through is show for the lines that are asked for.
func (f *filter) through(show func(line) error) func(line) error {
	f.tokens, f.models = map[string]bool{}, map[string]bool{}
	return func(l line) error {
		f.read++
		if !f.isOfToken(&l.record) || !f.isOfRow(&l.record) {
			return nil
		}
		f.shown++
		return show(l)
	}
}

func (f *filter) isOfToken(r *record) bool {
	if r.Token != "" {
		f.tokens[r.Token] = true
	}
	return f.token == "" || f.means(r.Token)
}

// means reports whether a token, as a line has it, is the one that is asked for.
func (f *filter) means(token string) bool {
	namespace, name, whole := strings.Cut(token, "/")
	return token == f.token || whole && name == f.token && (f.namespace == "" || namespace == f.namespace)
}

func (f *filter) isOfRow(r *record) bool {
	of := r.Model
	if r.RowsOf != "" {
		of = r.RowsOf
	}
	if of != "" {
		f.models[of] = true
	}
	if f.row == (row{}) {
		return true
	}
	if of != f.row.model {
		return false
	}
	f.ofModel++
	if slices.Contains(r.IDs, f.row.id) {
		return true
	}
	// The line of what came of an intent counts.
	if r.Outcome != outcomeIntent && (r.Rows != nil && *r.Rows > len(r.IDs) || r.Changed > len(r.IDs)) {
		f.unnamed++
	}
	return false
}

// tell says why no line was shown, if none was, and how many lines may be of the row and do not say.
func (f *filter) tell(out io.Writer) {
	switch {
	case f.shown > 0 || f.read == 0:
	case f.token != "" && !slices.ContainsFunc(slices.Collect(maps.Keys(f.tokens)), f.means):
		fmt.Fprintf(out, "# none of the %d lines is of token %s; %s\n", f.read, f.token, theyAreOf(f.tokens, f.token))
	case f.row.model != "" && !f.models[f.row.model]:
		fmt.Fprintf(out, "# no line is of model %s; %s\n", f.row.model, theyAreOf(f.models, f.row.model))
	case f.row.model != "":
		fmt.Fprintf(out, "# none of the %d lines of %s names %s\n", f.ofModel, f.row.model, f.row.id)
	}
	if f.unnamed > 0 {
		fmt.Fprintf(out, "# lines of %s that may be of it, and do not name all of their rows: %d. A line has at most 100 ids; without audit.reads: Rows, calls that read and exports have none\n", f.row.model, f.unnamed)
	}
}

// maxNames is the most names that are told one by one.
const maxNames = 10

// theyAreOf says of what the lines are, and which name is like the one that was asked for.
func theyAreOf(names map[string]bool, asked string) string {
	if len(names) == 0 {
		return "they name none"
	}
	sorted := slices.Sorted(maps.Keys(names))
	last := make([]string, len(sorted))
	for i, name := range sorted {
		last[i] = name[strings.LastIndexByte(name, '/')+1:]
	}
	like := ""
	if i := spelling.Nearest(asked[strings.LastIndexByte(asked, '/')+1:], last); i >= 0 {
		like = fmt.Sprintf("; did you mean %s?", sorted[i])
	}
	if len(sorted) > maxNames {
		return fmt.Sprintf("they are of %d others, %s among them%s", len(sorted), strings.Join(sorted[:maxNames], ", "), like)
	}
	return "they are of " + strings.Join(sorted, ", ") + like
}
