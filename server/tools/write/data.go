package write

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// RowData holds what a call's `data` sets in one row.
type RowData struct {
	Scope access.Scope
	Set   []database.Assignment
	// Fields are the fields that the caller gave, references the foreign keys among them.
	Fields     []*catalog.Field
	references []Reference
	// loose are the values of an update for Loose columns: what they are, the row itself says.
	loose []looseValue
}

// Purpose says what data is for: what it must hold and may not.
type Purpose struct {
	Creates bool
	// Restores is set if a row is brought back.
	Restores bool
	// Parent are the columns that lead an inline's row to the row it belongs to: they are not the caller's to set.
	Parent []*database.Column
}

// readData reads `data`: fields under their API or column names. It finds all that is wrong at once, before the database
// is asked; the error then is a validation error. raw is a part of arguments that were read before.
func readData(req *call.Request, scope access.Scope, raw json.RawMessage, p Purpose) (*RowData, error) {
	given, ok := jsontext.ReadObject(raw)
	if !ok || given == nil {
		return nil, call.Invalid("data must be an object of field name to value, not %s", lookup.Excerpt(raw))
	}
	d := &RowData{Scope: scope, Fields: make([]*catalog.Field, 0, len(given)), Set: make([]database.Assignment, 0, len(given))}
	p.Restores = req.Restores
	problems := &call.Violations{}
	unknown := false
	for _, m := range given {
		name, raw := m.Name, m.Value
		f := scope.Field(name)
		switch {
		case f == nil:
			message := "there is no such field"
			if !unknown { // said once
				message += "; those that can be set are " + strings.Join(writableNames(scope, p), ", ")
			}
			unknown = true
			problems.Add(lookup.Excerpt([]byte(name)), "%s", message)
			continue
		case slices.Contains(d.Fields, f):
			problems.Add(name, "is given twice: %s is the same field; send one of them", f.Name)
			continue
		}
		d.Fields = append(d.Fields, f)
		if message := WhyNotWritable(f, p); message != "" {
			problems.Add(f.Name, "%s", message)
			continue
		}
		if kept, ok := req.RestoredAs[f.Name]; ok {
			d.Set = append(d.Set, database.Assignment{Column: f.Column, Value: kept, Kept: true})
			continue
		}
		value, err := StoredValue(f, raw, req.Restores)
		if !p.Creates && f.Column.Loose {
			d.loose = append(d.loose, looseValue{f, raw, err})
		}
		if err != nil {
			problems.Add(f.Name, "%s%s", err, whereIDsAre(scope, []*database.Column{f.Column}))
			continue
		}
		d.Set = append(d.Set, database.Assignment{Column: f.Column, Value: value})
	}
	if p.Creates {
		d.complete(p, problems)
	}
	d.references = ReferencesOf(req, d, p.Creates)
	if problems.ErrorCount == d.undecided() {
		return d, nil
	}
	return d, problems.Err()
}

// complete fills in what the row policy fixes, and finds the required fields that are missing.
func (d *RowData) complete(p Purpose, problems *call.Violations) {
	for _, a := range d.Scope.Fixed() {
		if !d.sets(a.Column) && !slices.Contains(p.Parent, a.Column) && mayStore(a.Column, true) {
			d.Set = append(d.Set, a)
		}
	}
	m := d.Scope.Model()
	for _, f := range d.Scope.Fields() {
		if slices.Contains(d.Fields, f) || d.sets(f.Column) || slices.Contains(p.Parent, f.Column) || !f.Column.NeedsValue() {
			continue
		}
		switch {
		case f != m.Version && WhyNotWritable(f, p) == "":
			problems.Add(f.Name, "is required")
		case f != m.Version || !mayStore(f.Column, true):
			// It is not the caller's to set: what the database makes of it, its own error says.
		case f.Column.Kind == database.Integer:
			d.Set = append(d.Set, database.Assignment{Column: f.Column, Value: int64(1)})
		default:
			d.Set = append(d.Set, database.Assignment{Column: f.Column, How: database.AssignNow})
		}
	}
}

func (d *RowData) sets(c *database.Column) bool {
	return slices.ContainsFunc(d.Set, func(a database.Assignment) bool { return a.Column == c })
}

// WhyNotWritable says why a field cannot be set; "" where it can.
func WhyNotWritable(f *catalog.Field, p Purpose) string {
	switch {
	case slices.Contains(p.Parent, f.Column):
		return "cannot be set here: it refers to the row that this one is sent with; leave it out"
	case f.Column.Generated:
		return "cannot be set: the database computes it; leave it out"
	case f.Restorable && p.Creates && p.Restores:
		return ""
	case f.Column.Places && !p.Creates:
		return "decides which server holds the row, so it is set only when the row is created; leave it out"
	case f.ReadOnly || !mayStore(f.Column, p.Creates):
		return "is read-only; leave it out"
	case f.Masked && !p.Creates:
		return "is masked, so it can be given to a new row only and this one keeps what it has; leave it out, and tell the user if it has to change"
	case f.PrimaryKey && !p.Creates:
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

func writableNames(scope access.Scope, p Purpose) []string {
	var names []string
	for _, f := range scope.Fields() {
		if WhyNotWritable(f, p) == "" {
			names = append(names, f.Name)
		}
	}
	return names
}

// cutText ends what a read shows of a value that is too long (docs/design/values.md, "Long values").
var cutText = regexp.MustCompile(`\.\.\.\[cut: [0-9]{1,3}(,[0-9]{3})* bytes in all\]$`)

// IsCut reports whether a value is the part of a longer one that a read showed.
func IsCut(raw json.RawMessage) bool {
	if len(raw) == 0 || raw[0] != '"' {
		return false
	}
	text := call.PlainText(raw)
	return strings.HasSuffix(text, " bytes in all]") && cutText.MatchString(text)
}

// StoredValue reads one value to store, or to restore.
func StoredValue(f *catalog.Field, raw json.RawMessage, restores bool) (database.Value, error) {
	if call.IsNull(raw) {
		if !f.Column.Nullable {
			return nil, call.Failf(call.CodeValidation, "must not be null")
		}
		return nil, nil
	}
	if IsCut(raw) {
		return nil, call.Failf(call.CodeValidation, "is the beginning of a value that was cut when it was read, and would replace the whole; "+
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
	case len(f.Choices) > 0 && !IsChoice(f.Column, f.Choices, value):
		return nil, call.Failf(call.CodeValidation, "must be one of %s, not %s", ChoiceNames(f.Choices), lookup.Excerpt(raw))
	case f.Check != nil && !call.Meets(f.Check, value):
		return nil, call.Failf(call.CodeValidation, "%s, not %s", call.Allowed(f.Check), lookup.Excerpt(raw))
	}
	return value, nil
}

// names are the fields that the caller gave.
func (d *RowData) names() []string {
	names := make([]string, len(d.Fields))
	for i, f := range d.Fields {
		names[i] = f.Name
	}
	return names
}

// changeSummary is the journal's message about an update: what differs, whatever was asked for.
func changeSummary(before, after *call.Row) string {
	var names []string
	for _, f := range before.Model.Fields {
		if !bytes.Equal(before.Value(f.Name), after.Value(f.Name)) {
			names = append(names, f.Name)
		}
	}
	if len(names) == 0 {
		return "changed nothing"
	}
	return "changed " + strings.Join(names, ", ")
}
