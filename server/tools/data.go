package tools

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// rowData holds what a call's `data` sets in one row.
type rowData struct {
	scope access.Scope
	set   []database.Assignment
	// fields are the fields that the caller gave, references the foreign keys among them.
	fields     []*catalog.Field
	references []reference
	// loose are the values of an update for Loose columns: what they are, the row itself says.
	loose []looseValue
}

// purpose says what data is for: what it must hold and may not.
type purpose struct {
	creates bool
	// parent are the columns that lead an inline's row to the row it belongs to: they are not the caller's to set.
	parent []*database.Column
}

// readData reads `data`: fields under their API or column names. It finds all that is wrong at once, before the database
// is asked; the error then is a validation error.
func (req *request) readData(scope access.Scope, raw json.RawMessage, p purpose) (*rowData, error) {
	given := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &given); err != nil || isNull(raw) {
		return nil, invalid("data must be an object of field name to value, not %s", lookup.Excerpt(raw))
	}
	d := &rowData{scope: scope}
	problems := &violations{}
	unknown := false
	for _, name := range slices.Sorted(maps.Keys(given)) {
		f := scope.Field(name)
		switch {
		case f == nil:
			message := "there is no such field"
			if !unknown { // said once
				message += "; those that can be set are " + strings.Join(writableNames(scope, p), ", ")
			}
			unknown = true
			problems.add(lookup.Excerpt([]byte(name)), "%s", message)
			continue
		case slices.Contains(d.fields, f):
			problems.add(name, "is given twice: %s is the same field; send one of them", f.Name)
			continue
		}
		d.fields = append(d.fields, f)
		if message := whyNotWritable(f, p); message != "" {
			problems.add(f.Name, "%s", message)
			continue
		}
		if kept, ok := req.restoredAs[f.Name]; ok {
			d.set = append(d.set, database.Assignment{Column: f.Column, Value: kept, Kept: true})
			continue
		}
		value, err := storedValue(f, given[name], req.restores)
		if !p.creates && f.Column.Loose {
			d.loose = append(d.loose, looseValue{f, given[name], err})
		}
		if err != nil {
			problems.add(f.Name, "%s%s", err, whereIDsAre(scope, []*database.Column{f.Column}))
			continue
		}
		d.set = append(d.set, database.Assignment{Column: f.Column, Value: value})
	}
	if p.creates {
		d.complete(p, problems)
	}
	d.references = req.referencesOf(d, p.creates)
	if problems.ErrorCount == d.undecided() {
		return d, nil
	}
	return d, problems.err()
}

// complete fills in what the row policy fixes, and finds the required fields that are missing.
func (d *rowData) complete(p purpose, problems *violations) {
	for _, a := range d.scope.Fixed() {
		if !d.sets(a.Column) && !slices.Contains(p.parent, a.Column) && mayStore(a.Column, true) {
			d.set = append(d.set, a)
		}
	}
	m := d.scope.Model()
	for _, f := range d.scope.Fields() {
		if slices.Contains(d.fields, f) || d.sets(f.Column) || slices.Contains(p.parent, f.Column) || !f.Column.NeedsValue() {
			continue
		}
		switch {
		case f != m.Version && whyNotWritable(f, p) == "":
			problems.add(f.Name, "is required")
		case f != m.Version || !mayStore(f.Column, true):
			// It is not the caller's to set: what the database makes of it, its own error says.
		case f.Column.Kind == database.Integer:
			d.set = append(d.set, database.Assignment{Column: f.Column, Value: int64(1)})
		default:
			d.set = append(d.set, database.Assignment{Column: f.Column, How: database.AssignNow})
		}
	}
}

func (d *rowData) sets(c *database.Column) bool {
	return slices.ContainsFunc(d.set, func(a database.Assignment) bool { return a.Column == c })
}

// whyNotWritable says why a field cannot be set; "" where it can.
func whyNotWritable(f *catalog.Field, p purpose) string {
	switch {
	case slices.Contains(p.parent, f.Column):
		return "cannot be set here: it refers to the row that this one is sent with; leave it out"
	case f.Column.Generated:
		return "cannot be set: the database computes it; leave it out"
	case f.ReadOnly || !mayStore(f.Column, p.creates):
		return "is read-only; leave it out"
	case f.Masked && !p.creates:
		return "is masked, so it can be given to a new row only and this one keeps what it has; leave it out, and tell the user if it has to change"
	case f.PrimaryKey && !p.creates:
		return "is part of the key, which cannot be changed; leave it out"
	}
	return ""
}

// mayStore reports whether the database's user may give the column a value, in a new row or in one that is there.
func mayStore(c *database.Column, creates bool) bool {
	if creates {
		return c.Privileges.Has(database.MayInsert)
	}
	return c.Privileges.Has(database.MayUpdate)
}

func writableNames(scope access.Scope, p purpose) []string {
	var names []string
	for _, f := range scope.Fields() {
		if whyNotWritable(f, p) == "" {
			names = append(names, f.Name)
		}
	}
	return names
}

// cutText ends what a read shows of a value that is too long (docs/design/values.md, "Long values").
var cutText = regexp.MustCompile(`\.\.\.\[cut: [0-9]{1,3}(,[0-9]{3})* bytes in all\]$`)

// isCut reports whether a value is the part of a longer one that a read showed.
func isCut(raw json.RawMessage) bool {
	return len(raw) > 0 && raw[0] == '"' && cutText.MatchString(plainText(raw))
}

// storedValue reads one value to store, or to restore.
func storedValue(f *catalog.Field, raw json.RawMessage, restores bool) (database.Value, error) {
	if isNull(raw) {
		if !f.Column.Nullable {
			return nil, failf(CodeValidation, "must not be null")
		}
		return nil, nil
	}
	if isCut(raw) {
		return nil, failf(CodeValidation, "is the beginning of a value that was cut when it was read, and would replace the whole; "+
			"leave it out, or read the rest with get, field, offset and length first")
	}
	value, err := lookup.ParseStored(f.Column, raw)
	if err != nil && restores && f.Column.Loose {
		value, err = lookup.ParseValue(f.Column, raw) // it may be longer than its type says
	}
	if err != nil {
		return nil, err
	}
	switch {
	case len(f.Choices) > 0 && !isChoice(f.Column, f.Choices, value):
		return nil, failf(CodeValidation, "must be one of %s, not %s", choiceNames(f.Choices), lookup.Excerpt(raw))
	case f.Check != nil && !meets(f.Check, value):
		return nil, failf(CodeValidation, "%s, not %s", wanted(f.Check), lookup.Excerpt(raw))
	}
	return value, nil
}

// names are the fields that the caller gave.
func (d *rowData) names() []string {
	names := make([]string, len(d.fields))
	for i, f := range d.fields {
		names[i] = f.Name
	}
	return names
}

// changeSummary is the journal's message about an update: what differs, whatever was asked for.
func changeSummary(before, after *row) string {
	was, is := before.members(), after.members()
	var names []string
	for _, f := range before.model.Fields {
		if !bytes.Equal(was[f.Name], is[f.Name]) {
			names = append(names, f.Name)
		}
	}
	if len(names) == 0 {
		return "changed nothing"
	}
	return "changed " + strings.Join(names, ", ")
}
