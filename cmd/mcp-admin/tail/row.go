package tail

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// row is one row of a model; the zero row is any.
type row struct{ model, id string }

// read reads MODEL/ID.
func (r *row) read(text string) error {
	if text == "" {
		return nil
	}
	var whole bool
	if r.model, r.id, whole = strings.Cut(text, "/"); !whole || r.model == "" || r.id == "" {
		return fmt.Errorf("--row: %q is not MODEL/ID, such as customer/42", text)
	}
	return nil
}

// shownOfRow is show for the lines that name the row.
func (o *options) shownOfRow(show func(line) error) func(line) error {
	if o.row == (row{}) {
		return show
	}
	return func(l line) error {
		r := &l.record
		of := r.Model
		if r.RowsOf != "" {
			of = r.RowsOf
		}
		switch {
		case of != o.row.model:
		case slices.Contains(r.IDs, o.row.id):
			return show(l)
		case r.Outcome == outcomeIntent: // the line of what came of it counts
		case r.Rows != nil && *r.Rows > len(r.IDs) || r.Changed > len(r.IDs):
			o.unnamed++
		}
		return nil
	}
}

// tellUnnamed says how many lines may be of the row and do not say.
func (o *options) tellUnnamed(errOut io.Writer) {
	if o.unnamed > 0 {
		fmt.Fprintf(errOut, "# lines of %s that may be of it, and do not name all of their rows: %d. A line has at most 100 ids; without audit.reads: Rows, calls that read and exports have none\n", o.row.model, o.unnamed)
	}
}
