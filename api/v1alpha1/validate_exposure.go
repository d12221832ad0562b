package v1alpha1

import (
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

var (
	exposureName = regexp.MustCompile(`^[a-z][a-z0-9.-]*$`)
	fieldName    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}$`)
	relationName = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
)

// operations are the operations that a model may offer.
func operations() []Operation {
	var all []Operation
	for _, name := range contract.OperationNames() {
		all = append(all, Operation(name))
	}
	return all
}

// lookups are the ways in which a field may be compared.
var lookups = []Lookup{"exact", "iexact", "contains", "icontains", "startswith", "istartswith", "endswith", "iendswith",
	"gt", "gte", "lt", "lte", "in", "range", "isnull", "ne", "date", "year", "month", "day",
	"quarter", "week", "weekday", "hour", "contained_by", "overlap", "has_key"}

// listLookups are those that compare with several values.
var listLookups = []Lookup{"in", "range", "contained_by", "overlap"}

// ValidateMCPModelExposure is Validate for an MCPModelExposure.
func ValidateMCPModelExposure(e *MCPModelExposure) field.ErrorList {
	var v validator
	spec := field.NewPath("spec")
	if e.Spec.Model == "" && (len(e.Name) > 40 || !exposureName.MatchString(e.Name)) {
		v.invalid(field.NewPath("metadata", "name"), e.Name, "spec.model is required where metadata.name is no model name: a lower-case letter, then letters, digits, '-' and '.', at most 40 characters")
	}
	v.required(spec.Child("endpointRef", "name"), e.Spec.EndpointRef.Name, 40, nil)
	v.optional(spec.Child("model"), e.Spec.Model, 40, identifier)
	v.optional(spec.Child("module"), e.Spec.Module, 64, nil)
	v.table(spec.Child("table"), e.Spec.Table)
	if e.Spec.EffectivePinned() && !e.Spec.EffectiveExpose() {
		v.invalid(spec.Child("pinned"), true, "pinned needs expose: true")
	}
	v.optional(spec.Child("verboseName"), e.Spec.VerboseName, 100, nil)
	v.optional(spec.Child("verboseNamePlural"), e.Spec.VerboseNamePlural, 100, nil)
	v.optional(spec.Child("description"), e.Spec.Description, 1000, nil)
	notEmpty(&v, spec.Child("key"), e.Spec.Key)
	v.set(spec.Child("key"), e.Spec.Key, 16, 128, nil)
	v.fields(spec.Child("fields"), &e.Spec.Fields)
	v.optional(spec.Child("displayField"), e.Spec.DisplayField, 128, nil)
	v.texts(spec.Child("searchFields"), e.Spec.SearchFields, 50, 200, nil)
	v.texts(spec.Child("ordering"), e.Spec.Ordering, 10, 200, nil)
	v.texts(spec.Child("listDisplay"), e.Spec.ListDisplay, 100, 200, nil)
	v.inlines(spec.Child("inlines"), e.Spec.Inlines)
	notEmpty(&v, spec.Child("operations"), e.Spec.Operations)
	oneOfEach(&v, spec.Child("operations"), e.Spec.Operations, operations()...)
	v.actions(spec.Child("actions"), e.Spec.Actions)
	v.reportPolicies(spec.Child("actions"), &e.Spec)
	v.rowPolicies(spec.Child("rowPolicies"), e.Spec.RowPolicies)
	v.optional(spec.Child("versionField"), e.Spec.VersionField, 128, nil)
	oneOf(&v, spec.Child("totalCount"), e.Spec.TotalCount, "", TotalCountAuto, TotalCountExact, TotalCountCapped)
	oneOf(&v, spec.Child("reads"), e.Spec.Reads, "", ReadsFromPrimary, ReadsFromReplica)
	oneOf(&v, spec.Child("databaseMessages"), e.Spec.DatabaseMessages, "", DatabaseMessagesHidden, DatabaseMessagesShown)
	limits := spec.Child("limits")
	within(&v, limits.Child("defaultPageSize"), e.Spec.Limits.DefaultPageSize, 1, 10000)
	within(&v, limits.Child("maxPageSize"), e.Spec.Limits.MaxPageSize, 1, 10000)
	if e.Spec.Limits.DefaultPageSize > e.Spec.Limits.EffectiveMaxPageSize() {
		v.invalid(limits, "", "defaultPageSize must not be larger than maxPageSize")
	}
	within(&v, limits.Child("maxBulkItems"), e.Spec.Limits.MaxBulkItems, 1, 1000)
	return v.errs
}

func (v *validator) table(path *field.Path, t TableReference) {
	v.optional(path.Child("schema"), t.Schema, 64, nil)
	v.required(path.Child("name"), t.Name, 128, nil)
}

func (v *validator) fields(path *field.Path, f *FieldsSpec) {
	v.set(path.Child("include"), f.Include, 500, 128, nil)
	v.set(path.Child("exclude"), f.Exclude, 500, 128, nil)
	v.set(path.Child("readOnly"), f.ReadOnly, 500, 128, nil)

	at := path.Child("masked")
	v.atMost(at, len(f.Masked), 500)
	distinct(v, at, f.Masked, func(m MaskedField) string { return m.Name })
	for i, m := range f.Masked {
		v.required(at.Index(i).Child("name"), m.Name, 128, nil)
		within(v, at.Index(i).Child("keepLast"), m.KeepLast, 1, 64)
	}

	at = path.Child("overrides")
	v.atMost(at, len(f.Overrides), 500)
	distinct(v, at, f.Overrides, func(o FieldOverride) string { return o.Name })
	for i, o := range f.Overrides {
		v.required(at.Index(i).Child("name"), o.Name, 128, nil)
		v.optional(at.Index(i).Child("description"), o.Description, 1000, nil)
		v.choices(at.Index(i).Child("choices"), o.Choices, 200)
		v.optional(at.Index(i).Child("relation"), o.Relation, 63, relationName)
		v.optional(at.Index(i).Child("rename"), o.Rename, 63, fieldName)
		if o.Rename != "" && o.Relation != "" {
			v.invalid(at.Index(i), o.Name, "rename and relation both name the field; give one of them")
		}
	}
}

func (v *validator) choices(path *field.Path, choices []Choice, maximum int) {
	v.atMost(path, len(choices), maximum)
	distinct(v, path, choices, func(c Choice) string { return c.Value })
	for i, c := range choices {
		v.required(path.Index(i).Child("value"), c.Value, 200, nil)
		v.optional(path.Index(i).Child("label"), c.Label, 200, nil)
	}
}

func (v *validator) inlines(path *field.Path, inlines []InlineSpec) {
	v.atMost(path, len(inlines), 20)
	distinct(v, path, inlines, func(i InlineSpec) string { return i.Model })
	for i, inline := range inlines {
		v.required(path.Index(i).Child("model"), inline.Model, 40, identifier)
		v.optional(path.Index(i).Child("foreignKey"), inline.ForeignKey, 128, nil)
		within(v, path.Index(i).Child("max"), inline.Max, 1, 1000)
	}
}

func (v *validator) rowPolicies(path *field.Path, policies []RowPolicy) {
	v.atMost(path, len(policies), 50)
	distinct(v, path, policies, func(p RowPolicy) string { return p.Name })
	for i, p := range policies {
		at := path.Index(i)
		v.required(at.Child("name"), p.Name, 63, groupName)
		oneOf(v, at.Child("appliesTo"), p.AppliesTo, "", AppliesToEveryone, AppliesToGroups)
		if (len(p.Groups) > 0) == (p.AppliesTo == AppliesToEveryone) {
			v.invalid(at, p.Name, "groups must be given, or appliesTo: Everyone instead of them")
		}
		v.set(at.Child("groups"), p.Groups, 100, 63, nil)
		if (len(p.Filters) > 0) == (p.AllRows != nil && *p.AllRows) {
			v.invalid(at, p.Name, "filters must be given, or allRows: true instead of them")
		}
		v.rowFilters(at.Child("filters"), p.Filters)
	}
}

func (v *validator) rowFilters(path *field.Path, filters []RowFilter) {
	v.atMost(path, len(filters), 32)
	for i, f := range filters {
		at := path.Index(i)
		plain := f.Plain()
		switch {
		case len(f.Any) == 0:
			v.filter(at, plain)
		case plain.Field != "" || plain.Lookup != "" || plain.operands() != 0:
			v.invalid(at, f.Field, "field must be given, or any instead of it and of all else")
		default:
			v.atMost(at.Child("any"), len(f.Any), 16)
			for j, one := range f.Any {
				v.filter(at.Child("any").Index(j), one)
			}
		}
	}
}

func (v *validator) filter(at *field.Path, f FieldFilter) {
	v.required(at.Child("field"), f.Field, 200, nil)
	oneOf(v, at.Child("lookup"), f.EffectiveLookup(), lookups...)
	if f.operands() != 1 {
		v.invalid(at, f.Field, "exactly one of value, values and tokenAttribute must be given")
	}
	if f.Value != nil {
		v.text(at.Child("value"), *f.Value, 0, 1000, nil)
	}
	v.atMost(at.Child("values"), len(f.Values), 1000)
	for j, value := range f.Values {
		v.text(at.Child("values").Index(j), value, 0, 1000, nil)
	}
	v.optional(at.Child("tokenAttribute"), f.TokenAttribute, 63, attributeName)
	v.lookup(at, f)
}

// operands is how many things the filter compares with.
func (f FieldFilter) operands() (n int) {
	for _, is := range []bool{f.Value != nil, len(f.Values) > 0, f.TokenAttribute != ""} {
		if is {
			n++
		}
	}
	return n
}

// lookup checks that a filter has what its lookup compares with.
func (v *validator) lookup(path *field.Path, f FieldFilter) {
	if slices.Contains(listLookups, f.Lookup) != (len(f.Values) > 0) {
		v.invalid(path, f.Field, "values belongs to the lookups in, range, contained_by and overlap, which need it")
	}
	if f.Lookup == "range" && len(f.Values) != 2 {
		v.invalid(path, f.Field, "range needs two values")
	}
	if f.Lookup == "isnull" && (f.Value == nil || *f.Value != "true" && *f.Value != "false") {
		v.invalid(path, f.Field, `isnull needs the value "true" or "false"`)
	}
}
