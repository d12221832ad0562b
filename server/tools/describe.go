package tools

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/write"
)

var _ = call.WithArguments("describe", call.Operation{
	Note: "(fields, relations; look there first)",
	Description: func(m *catalog.Model) string {
		if m == nil {
			return "Describe a model: its fields, what create and update take, its relationships, how lists are searched and ordered, its actions. Look here before you filter or write."
		}
		return fmt.Sprintf("Describe %s.", call.PluralOf(m))
	},
	OutputSchema: func(*catalog.Model) call.Schema { return call.PayloadSchema[description]() },
	Advice:       "fields, types and relationships: look here before you filter",
}, describe)

// description is describe_'s payload.
type description struct {
	ModelName         string `json:"model_name"`
	VerboseName       string `json:"verbose_name"`
	VerboseNamePlural string `json:"verbose_name_plural"`
	AppLabel          string `json:"app_label,omitempty"`
	Description       string `json:"description,omitempty"`
	// Synonyms are other words for the model.
	Synonyms []string `json:"synonyms,omitempty"`
	// Rows says which rows the token sees, if a row policy decides that.
	Rows          string                `json:"rows,omitempty"`
	Operations    []string              `json:"operations"`
	Fields        []fieldInfo           `json:"fields"`
	Relationships []relationInfo        `json:"relationships"`
	AdminConfig   administrationOptions `json:"admin_config"`
	Data          *writableData         `json:"data,omitempty"`
	VersionField  string                `json:"version_field,omitempty"`
	Limits        modelLimits           `json:"limits"`
	// Measures and Segments are what aggregate and list take by name.
	Measures []declaredInfo `json:"measures,omitempty"`
	Segments []declaredInfo `json:"segments,omitempty"`
	// Questions are what people ask of the model; its prompt understand_model has the calls that answer them.
	Questions []string `json:"questions,omitempty"`
	// Asking tells what arguments of list and aggregate take that their schemas have no room for.
	Asking *askingForms `json:"asking,omitempty"`
	// Export tells how rows leave as a file; nothing if the token may not export them.
	Export string `json:"export,omitempty"`
	// Notice says what the description lacks.
	Notice string `json:"notice,omitempty"`
}

// declaredInfo is a measure or a segment that a call can name. Means is what the name stands for.
type declaredInfo struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Synonyms    []string        `json:"synonyms,omitempty"`
	Means       json.RawMessage `json:"means"`
}

func describeDeclared(all []contract.Declared) []declaredInfo {
	var infos []declaredInfo
	for _, d := range all {
		infos = append(infos, declaredInfo(d))
	}
	return infos
}

// writableData are the fields that create and update take; one that the token may not use is left out. Fields says of
// which type they are, and within which bounds.
type writableData struct {
	Create *creatableData `json:"create,omitempty"`
	// Update is what update and items of bulk take, which need no field.
	Update []string `json:"update,omitempty"`
}

type creatableData struct {
	Required []string `json:"required"`
	Optional []string `json:"optional"`
}

// modelLimits bound the model's pages and bulk calls.
type modelLimits struct {
	Limit     int `json:"limit"`
	MaxLimit  int `json:"max_limit"`
	BulkItems int `json:"bulk_items"`
}

// kindToMany is the kind of a relation to many rows.
const kindToMany = "one_to_many"

// relationInfo describes a relation. Kind is many_to_one for a foreign key and one_to_many for its reverse; Type is the
// foreign key's own.
type relationInfo struct {
	fieldInfo
	RelatedModel string `json:"related_model"`
	Kind         string `json:"kind"`
	// ForeignKey is the field of the related rows that names the row, if the relation is one_to_many.
	ForeignKey string `json:"foreign_key,omitempty"`
}

// administrationOptions are how the exposure shows the model, less what the token may not see.
type administrationOptions struct {
	ListDisplay    []string `json:"list_display"`
	SearchFields   []string `json:"search_fields"`
	Ordering       []string `json:"ordering"`
	ReadonlyFields []string `json:"readonly_fields"`
	Inlines        []string `json:"inlines"`
	Actions        []string `json:"actions"`
}

// keptDescription is what is the same in the descriptions of a model for all tokens with the same rights that see the same rows.
type keptDescription struct {
	answer *call.KeptAnswer
	// texts are the fields of which the rows say more.
	texts []*catalog.Field
}

// Size implements call.Kept.
func (k *keptDescription) Size() int { return k.answer.Size() + 8*len(k.texts) }

// describe answers what the model is made of.
func describe(c *call.Call, _ *call.NoArguments) ([]byte, error) {
	m, rows := c.Scope.Model(), rowsSeen(c.Scope)
	key := call.ShelfKey{What: c.Op.Name, About: m.Name + "\x00" + rows, Rights: c.Token.RightsKey()}
	kept := call.Take(c.Shelf, key, func() *keptDescription {
		scope := c.Token.Anyone().Reach(m)
		answer, _ := json.Marshal(describeFor(c, scope, rows)) // strings and numbers: it cannot fail
		return &keptDescription{call.AnswerToKeep(answer), freeTexts(scope)}
	})
	numbers, examples := numberTexts(c, kept.texts), fieldsWithExamples(m)
	if len(numbers)+len(examples) == 0 {
		return c.AnswerKept(kept.answer), nil
	}
	d := describeFor(c, c.Scope, rows)
	if len(examples) > 0 {
		d.addExamples(c.Examples.Of(c, examples))
	}
	for _, f := range numbers {
		at := slices.IndexFunc(d.Fields, func(info fieldInfo) bool { return info.Name == f.Name })
		d.Fields[at].note(numberTextNote)
	}
	return json.Marshal(d)
}

// describeFor describes a scope's model with the measures, segments and questions that the caller has. These are found with the caller's own
// token, but depend on its rights alone.
func describeFor(c *call.Call, scope access.Scope, rows string) *description {
	d := descriptionOf(c.Catalog, scope, rows)
	measures, segments := declaredFor(c.Catalog, c.Scope)
	d.Measures, d.Segments = describeDeclared(measures), describeDeclared(segments)
	for _, q := range c.Questions() {
		d.Questions = append(d.Questions, q.Ask)
	}
	if d.Asking != nil {
		d.Asking.note(d)
	}
	if c.Scope.Has(access.View|access.Export) && c.Settings.ExportProblem == "" {
		d.Export = fmt.Sprintf(`export: csv or ndjson on list, aggregate, related and report answers the link of a file with all rows, at most %d, instead of rows`, c.Settings.MaxExportRows)
	}
	return d
}

// fieldsWithExamples are the fields whose values are shown.
func fieldsWithExamples(m *catalog.Model) (some []*catalog.Field) {
	for _, f := range m.Fields {
		if f.Examples {
			some = append(some, f)
		}
	}
	return some
}

// addExamples adds the values of fields, or says that they could not be read.
func (d *description) addExamples(examples *call.ExampleValues) {
	for i := range d.Fields {
		d.Fields[i].Examples = examples.Values[d.Fields[i].Name]
	}
	if len(examples.Unread) > 0 {
		d.Notice = fmt.Sprintf("the examples of %s could not be read; describe again in a minute, or group by the field", strings.Join(examples.Unread, ", "))
	}
}

// descriptionOf describes the model as the scope's token may see it, who sees these rows (rowsSeen).
func descriptionOf(models *catalog.Catalog, scope access.Scope, rows string) *description {
	m := scope.Model()
	d := &description{
		ModelName: m.Name, VerboseName: m.Declared.VerboseName, VerboseNamePlural: m.Declared.VerboseNamePlural, AppLabel: m.Module, Rows: rows,
		Description: m.Description(), Synonyms: m.Declared.Synonyms, Operations: []string{}, Fields: []fieldInfo{}, Relationships: []relationInfo{},
		Limits: modelLimits{m.Declared.DefaultPageSize, m.Declared.MaxPageSize, m.Declared.MaxBulkItems},
		AdminConfig: administrationOptions{
			ListDisplay: []string{}, SearchFields: []string{}, Ordering: []string{}, ReadonlyFields: []string{}, Inlines: []string{}, Actions: []string{},
		},
	}
	d.Data = dataOf(models, scope)
	for _, f := range scope.Fields() {
		info := describeField(f)
		if d.Data != nil {
			info.noteWriting(f)
		}
		d.Fields = append(d.Fields, info)
		if isReadOnly(f) {
			d.AdminConfig.ReadonlyFields = append(d.AdminConfig.ReadonlyFields, f.Name)
		}
		if len(m.Declared.ListDisplay) == 0 {
			d.AdminConfig.ListDisplay = append(d.AdminConfig.ListDisplay, f.Name)
		}
	}
	for _, name := range m.Declared.ListDisplay {
		if f := scope.Field(name); f != nil {
			name = f.Name
		}
		d.AdminConfig.ListDisplay = append(d.AdminConfig.ListDisplay, name)
	}
	for _, r := range scope.Relations() {
		d.Relationships = append(d.Relationships, describeRelation(scope, r))
	}
	for _, f := range scope.SearchFields() {
		d.AdminConfig.SearchFields = append(d.AdminConfig.SearchFields, f.Text)
	}
	for _, o := range m.Ordering {
		name := o.Field.Name
		if o.Descending {
			name = "-" + name
		}
		d.AdminConfig.Ordering = append(d.AdminConfig.Ordering, name)
	}
	for _, in := range m.Inlines {
		if scope.Of(in.Model).Has(access.View) {
			d.AdminConfig.Inlines = append(d.AdminConfig.Inlines, in.Model.Name)
		}
	}
	for _, action := range call.ActionsOf(models, scope) {
		d.AdminConfig.Actions = append(d.AdminConfig.Actions, action.Name)
	}
	for _, op := range call.Operations {
		if op.IsOfferedTo(models, scope) {
			d.Operations = append(d.Operations, op.Name)
		}
	}
	if m.Version != nil {
		d.VersionField = m.Version.Name
	}
	if d.Asking = askingOf(models, d, scope); d.Asking != nil {
		d.Asking.Search, d.Asking.SimilarTo = searchForm(m, rows != ""), similarForm(d, m)
	}
	return d
}

// dataOf says which fields the token may write; nil if it may write none.
func dataOf(models *catalog.Catalog, scope access.Scope) *writableData {
	m := scope.Model()
	var data writableData
	if write.CreateOperation.IsOfferedTo(models, scope) {
		s := write.DataSchema(m, true)
		data.Create = &creatableData{Required: append([]string{}, s.Required...), Optional: []string{}}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if !slices.Contains(s.Required, name) {
				data.Create.Optional = append(data.Create.Optional, name)
			}
		}
	}
	if write.UpdateOperation.IsOfferedTo(models, scope) {
		data.Update = slices.Sorted(maps.Keys(write.DataSchema(m, false).Properties))
	}
	if data.Create == nil && data.Update == nil {
		return nil
	}
	return &data
}

// rowsSeen says in a sentence which rows the token sees; "" if it sees all of them.
func rowsSeen(scope access.Scope) string {
	if !scope.Limited() {
		return ""
	}
	names := scope.PolicyNames()
	for i, name := range names {
		names[i] = "`" + name + "`"
	}
	switch len(names) {
	case 0:
		return "you see no rows: no row policy is for you"
	case 1:
		return "you see the rows of policy " + names[0]
	}
	return "you see the rows of the policies " + strings.Join(names, ", ")
}

func describeRelation(scope access.Scope, r *catalog.Relation) relationInfo {
	info := relationInfo{fieldInfo: fieldInfo{Name: r.Name, Type: "array"}, RelatedModel: r.Target.Name, Kind: kindToMany}
	if r.Many {
		if f := call.FieldOf(scope.Of(r.Target), r.Theirs[0]); f != nil && len(r.Theirs) == 1 {
			info.ForeignKey = f.Name
		}
		return info
	}
	info.Kind, info.Type = "many_to_one", database.Other.String()
	if len(r.Ours) == 1 {
		info.Type = r.Ours[0].Kind.String()
	}
	for _, c := range r.Ours {
		info.Required = info.Required || !c.Nullable
	}
	return info
}
