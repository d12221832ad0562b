package tools

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/action"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// fieldInfo describes a field; what does not apply is left out.
type fieldInfo struct {
	Name string `json:"name"`
	Type string `json:"type"`
	// Reads is the type of what the texts hold, or text if the integers are codes; conditions, orders, groups and measures are about that.
	Reads string `json:"reads,omitempty"`
	// Format says what values look like if the type does not.
	Format   string `json:"format,omitempty"`
	Required bool   `json:"required"`
	// Nullable is set if a call may write null.
	Nullable bool `json:"nullable,omitempty"`
	call.Bounds
	Choices []action.Choice `json:"choices,omitempty"`
	// Examples are all values that the field has in the rows that the token sees.
	Examples   []json.RawMessage `json:"examples,omitempty"`
	Default    any               `json:"default,omitempty"`
	PrimaryKey bool              `json:"primary_key,omitempty"`
	Unique     bool              `json:"unique,omitempty"`
	Editable   *bool             `json:"editable,omitempty"`
	HelpText   string            `json:"help_text,omitempty"`
}

// isReadOnly reports whether no call writes the field.
func isReadOnly(f *catalog.Field) bool { return f.ReadOnly || f.Column.Generated }

func describeField(f *catalog.Field) fieldInfo {
	c := f.Column
	info := fieldInfo{
		Name: f.Name, Type: c.Kind.String(), Required: c.NeedsValue(),
		Format: call.ValueForm(c), Bounds: call.BoundsOf(f), PrimaryKey: f.PrimaryKey, Unique: f.Unique, HelpText: f.Help,
	}
	if !f.Masked {
		info.Default = call.DefaultOf(c)
	}
	for _, each := range f.Choices {
		info.Choices = append(info.Choices, action.Choice{Value: each.Value, Label: cmp.Or(each.Label, each.Value)})
	}
	info.Nullable = c.Nullable && !isReadOnly(f)
	if isReadOnly(f) {
		info.Editable, info.Required = new(bool), false
	}
	if len(f.Synonyms) > 0 {
		info.note(alsoCalled(f.Synonyms))
	}
	if f.Masked {
		info.note(maskNote(f))
	}
	if f.Reading != nil {
		info.Reads = f.Reading.Column.Kind.String()
		info.note(readingNote(f.Reading))
	}
	return info
}

// alsoCalled tells of other words for a model or a field.
func alsoCalled(synonyms []string) string { return "Also called " + strings.Join(synonyms, ", ") + "." }

// noteWriting says of a field what a caller must know who may write rows.
func (f *fieldInfo) noteWriting(of *catalog.Field) {
	if isReadOnly(of) || !of.PrimaryKey && !of.Masked && !of.Column.Places {
		return
	}
	f.note("Set on create only.")
	if of.PrimaryKey && f.Required {
		f.note("The database gives none: choose one that is free.")
	}
}

// note adds a sentence to the help.
func (f *fieldInfo) note(text string) {
	if f.HelpText = strings.TrimSpace(call.Sentence(f.HelpText)); f.HelpText != "" {
		f.HelpText += " "
	}
	f.HelpText += text
}

// readForms say which texts are read as values of a kind.
var readForms = map[database.Kind]string{
	database.Integer:   fmt.Sprintf("at most %d digits, perhaps with a sign", database.ReadIntegerDigits),
	database.Decimal:   fmt.Sprintf("at most %d digits before a point and %d behind it, perhaps with a sign", database.ReadWholeDigits, database.ReadFractionDigits),
	database.Boolean:   "true, t, yes, y, 1 or false, f, no, n, 0",
	database.Date:      "YYYY-MM-DD",
	database.Timestamp: "YYYY-MM-DD or YYYY-MM-DDTHH:MM[:SS[.ffffff]], perhaps with Z or an offset; the time is in UTC",
}

// readingNote says what asking about a text means that is read as something else, or about a code.
func readingNote(f *catalog.Field) string {
	if f.HoldsCodes() {
		return "Codes: rows show the number. Ordered, grouped and searched as text (startswith, contains, __prefix_2), and not computed with."
	}
	kind := f.Column.Kind
	return fmt.Sprintf("Rows show the text. Compared, ordered, grouped and computed as %s (%s); any other text is null there. contains, startswith, … ask the text.", kind, readForms[kind])
}

// maskNote says how a masked field is shown.
func maskNote(f *catalog.Field) string {
	const unusable = " It cannot be filtered, grouped, ordered or searched by."
	if f.KeepLast == 0 {
		return "Masked: shown as ****." + unusable
	}
	return fmt.Sprintf("Masked: shown as **** and its last %d characters, where it has at least %d.", f.KeepLast, 2*f.KeepLast+4) + unusable
}
