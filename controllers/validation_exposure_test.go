package controllers_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

var _ = Describe("The API server and admission, of an exposure,", func() {
	var w *world
	BeforeEach(func() { w = newWorld() })

	DescribeTable("agree on its names", func(valid bool, change func(*exposureType)) {
		e := w.exposure("order", "shop")
		change(e)
		agree(e, valid)
	},
		Entry("as it is", true, func(*exposureType) {}),
		Entry("with a name that is no model's", false, func(e *exposureType) { e.Name = "1order" }),
		Entry("with a name too long for a model", false, func(e *exposureType) { e.Name = long(41) }),
		Entry("with such a name and a model", true, func(e *exposureType) { e.Name, e.Spec.Model = "1order", "order" }),
		Entry("with a name that becomes one", true, func(e *exposureType) { e.Name = "order-line.x" }),
		Entry("with a model of upper case", false, func(e *exposureType) { e.Spec.Model = "Order" }),
		Entry("with a long model", false, func(e *exposureType) { e.Spec.Model = long(41) }),
		Entry("without an endpoint", false, func(e *exposureType) { e.Spec.EndpointRef.Name = "" }),
		Entry("without a table", false, func(e *exposureType) { e.Spec.Table.Name = "" }),
		Entry("with a long table", false, func(e *exposureType) { e.Spec.Table.Name = long(129) }),
		Entry("with a table in another script", true, func(e *exposureType) { e.Spec.Table.Name = strings.Repeat("ж", 128) }),
		Entry("with a long description", false, func(e *exposureType) { e.Spec.Description = long(1001) }),
		Entry("with a field twice", false, func(e *exposureType) { e.Spec.Fields.Exclude = []string{"a", "a"} }),
		Entry("with an empty field", false, func(e *exposureType) { e.Spec.Fields.Include = []string{""} }),
		Entry("with too many fields", false, func(e *exposureType) { e.Spec.Fields.Include = many(501) }),
		Entry("with an order that repeats itself", true, func(e *exposureType) { e.Spec.Ordering = []string{"a", "a"} }),
		Entry("with too long an order", false, func(e *exposureType) { e.Spec.Ordering = many(11) }),
		Entry("with a page larger than the largest", false, func(e *exposureType) {
			e.Spec.Limits = v1alpha1.ModelLimits{DefaultPageSize: 20, MaxPageSize: 10}
		}),
		Entry("with a page larger than the largest when absent", false, func(e *exposureType) { e.Spec.Limits.DefaultPageSize = 1001 }),
		Entry("with a small largest page", true, func(e *exposureType) { e.Spec.Limits.MaxPageSize = 10 }),
		Entry("with messages of the database", true, func(e *exposureType) { e.Spec.DatabaseMessages = "Shown" }),
		Entry("with messages of the database in part", false, func(e *exposureType) { e.Spec.DatabaseMessages = "Some" }),
		Entry("with a pin", true, func(e *exposureType) { e.Spec.Expose, e.Spec.Pinned = new(true), new(true) }),
		Entry("with a pin that is out", true, func(e *exposureType) { e.Spec.Pinned = new(false) }),
		Entry("with a pin on what is not exposed", false, func(e *exposureType) { e.Spec.Pinned = new(true) }),
		Entry("with a pin on what is exposed no more", false, func(e *exposureType) { e.Spec.Expose, e.Spec.Pinned = new(false), new(true) }),
		Entry("with a negative page", false, func(e *exposureType) { e.Spec.Limits.MaxPageSize = -1 }),
	)

	fields := func(f v1alpha1.FieldsSpec) func(*exposureType) {
		return func(e *exposureType) { e.Spec.Fields = f }
	}
	policy := func(p v1alpha1.RowPolicy) func(*exposureType) {
		return func(e *exposureType) { e.Spec.RowPolicies = []v1alpha1.RowPolicy{p} }
	}
	filter := func(f v1alpha1.RowFilter) func(*exposureType) {
		return policy(v1alpha1.RowPolicy{Name: "p", AppliesTo: "Everyone", Filters: []v1alpha1.RowFilter{f}})
	}
	DescribeTable("agree on what it shows, and to whom", func(valid bool, change func(*exposureType)) {
		e := w.exposure("order", "shop")
		change(e)
		agree(e, valid)
	},
		Entry("with a key", true, func(e *exposureType) { e.Spec.Key = []string{"a", "b"} }),
		Entry("with a key of one column twice", false, func(e *exposureType) { e.Spec.Key = []string{"a", "a"} }),
		Entry("with a key of too many columns", false, func(e *exposureType) { e.Spec.Key = many(17) }),
		Entry("with fields of every sort", true, fields(v1alpha1.FieldsSpec{
			ReadOnly: []string{"a"}, Masked: []v1alpha1.MaskedField{{Name: "b", KeepLast: 4}, {Name: "c"}},
			Overrides: []v1alpha1.FieldOverride{{Name: "d", Relation: "state_2", Choices: []v1alpha1.Choice{{Value: "x", Label: "X"}, {Value: "y"}}}},
		})),
		Entry("with a read-only field twice", false, fields(v1alpha1.FieldsSpec{ReadOnly: []string{"a", "a"}})),
		Entry("with a masked field twice", false, fields(v1alpha1.FieldsSpec{Masked: []v1alpha1.MaskedField{{Name: "a"}, {Name: "a"}}})),
		Entry("with a masked field of no name", false, fields(v1alpha1.FieldsSpec{Masked: []v1alpha1.MaskedField{{KeepLast: 4}}})),
		Entry("with a masked field that keeps too much", false, fields(v1alpha1.FieldsSpec{Masked: []v1alpha1.MaskedField{{Name: "a", KeepLast: 65}}})),
		Entry("with a masked field that keeps less than nothing", false, fields(v1alpha1.FieldsSpec{Masked: []v1alpha1.MaskedField{{Name: "a", KeepLast: -1}}})),
		Entry("with an override twice", false, fields(v1alpha1.FieldsSpec{Overrides: []v1alpha1.FieldOverride{{Name: "a"}, {Name: "a"}}})),
		Entry("with a choice twice", false, fields(v1alpha1.FieldsSpec{Overrides: []v1alpha1.FieldOverride{{Name: "a", Choices: []v1alpha1.Choice{{Value: "x"}, {Value: "x"}}}}})),
		Entry("with a choice of nothing", false, fields(v1alpha1.FieldsSpec{Overrides: []v1alpha1.FieldOverride{{Name: "a", Choices: []v1alpha1.Choice{{}}}}})),
		Entry("with a relation that a filter could not name", false, fields(v1alpha1.FieldsSpec{Overrides: []v1alpha1.FieldOverride{{Name: "a", Relation: "a__b"}}})),
		Entry("with texts that hold something else", true, fields(v1alpha1.FieldsSpec{Overrides: []v1alpha1.FieldOverride{{Name: "a", Reads: "Integer"}, {Name: "b", Reads: "Timestamp"}, {Name: "c", Reads: "Text"}}})),
		Entry("with texts that hold what nothing is", false, fields(v1alpha1.FieldsSpec{Overrides: []v1alpha1.FieldOverride{{Name: "a", Reads: "Float"}}})),
		Entry("with examples", true, fields(v1alpha1.FieldsSpec{Exclude: []string{"b"}, Masked: []v1alpha1.MaskedField{{Name: "c"}}, Overrides: []v1alpha1.FieldOverride{{Name: "a", Examples: "Shown"}, {Name: "c"}}})),
		Entry("with examples of another sort", false, fields(v1alpha1.FieldsSpec{Overrides: []v1alpha1.FieldOverride{{Name: "a", Examples: "Hidden"}}})),
		Entry("with examples of a masked field", false, fields(v1alpha1.FieldsSpec{Masked: []v1alpha1.MaskedField{{Name: "a"}}, Overrides: []v1alpha1.FieldOverride{{Name: "a", Examples: "Shown"}}})),
		Entry("with examples of a hidden field", false, fields(v1alpha1.FieldsSpec{Exclude: []string{"a"}, Overrides: []v1alpha1.FieldOverride{{Name: "a", Examples: "Shown"}}})),
		Entry("with a new name for a column", true, fields(v1alpha1.FieldsSpec{Overrides: []v1alpha1.FieldOverride{{Name: "Unit Price", Rename: "unit_price"}}})),
		Entry("with a new name that is no name", false, fields(v1alpha1.FieldsSpec{Overrides: []v1alpha1.FieldOverride{{Name: "a", Rename: "Unit Price"}}})),
		Entry("with too long a new name", false, fields(v1alpha1.FieldsSpec{Overrides: []v1alpha1.FieldOverride{{Name: "a", Rename: long(64)}}})),
		Entry("with two new names", false, fields(v1alpha1.FieldsSpec{Overrides: []v1alpha1.FieldOverride{{Name: "a", Rename: "b", Relation: "c"}}})),
		Entry("with a long display field", false, func(e *exposureType) { e.Spec.DisplayField = long(129) }),
		Entry("with a long version field", false, func(e *exposureType) { e.Spec.VersionField = long(129) }),
		Entry("with inlines", true, func(e *exposureType) {
			e.Spec.Inlines = []v1alpha1.InlineSpec{{Model: "line", ForeignKey: "order_id", Max: 1000}, {Model: "note"}}
		}),
		Entry("with an inline twice", false, func(e *exposureType) { e.Spec.Inlines = []v1alpha1.InlineSpec{{Model: "line"}, {Model: "line"}} }),
		Entry("with an inline of no model", false, func(e *exposureType) { e.Spec.Inlines = []v1alpha1.InlineSpec{{ForeignKey: "order_id"}} }),
		Entry("with an inline of too many rows", false, func(e *exposureType) { e.Spec.Inlines = []v1alpha1.InlineSpec{{Model: "line", Max: 1001}} }),
		Entry("with relations", true, func(e *exposureType) {
			e.Spec.Relations = []v1alpha1.RelationSpec{{Name: "a", Columns: []string{"a", "b"}, Model: "line", References: []string{"c", "d"}, ReverseName: "back"}, {Name: "b", Columns: []string{"a"}, Model: "line"}}
		}),
		Entry("with a relation twice", false, func(e *exposureType) {
			e.Spec.Relations = []v1alpha1.RelationSpec{{Name: "a", Columns: []string{"a"}, Model: "line"}, {Name: "a", Columns: []string{"b"}, Model: "line"}}
		}),
		Entry("with a relation of no columns", false, func(e *exposureType) { e.Spec.Relations = []v1alpha1.RelationSpec{{Name: "a", Model: "line"}} }),
		Entry("with a relation to fewer columns", false, func(e *exposureType) {
			e.Spec.Relations = []v1alpha1.RelationSpec{{Name: "a", Columns: []string{"a", "b"}, Model: "line", References: []string{"c"}}}
		}),
		Entry("with measures and segments", true, func(e *exposureType) {
			e.Spec.Measures = []v1alpha1.MeasureSpec{{Name: "revenue", Measure: object(`{"sum":"total"}`)}, {Name: "orders", Measure: object(`{"count":"*"}`)}}
			e.Spec.Segments = []v1alpha1.SegmentSpec{{Name: "open", Filters: object(`{"_any":[{"status":"open"},{"due__lt":{"_now":"0d"}}]}`)}}
			e.Spec.Synonyms = []string{"purchase", "Bestellung"}
		}),
		Entry("with a measure twice", false, func(e *exposureType) {
			e.Spec.Measures = []v1alpha1.MeasureSpec{{Name: "revenue", Measure: object(`{}`)}, {Name: "revenue", Measure: object(`{}`)}}
		}),
		Entry("with a measure of no meaning", false, func(e *exposureType) { e.Spec.Measures = []v1alpha1.MeasureSpec{{Name: "revenue"}} }),
		Entry("with a measure that is a text", false, func(e *exposureType) {
			e.Spec.Measures = []v1alpha1.MeasureSpec{{Name: "revenue", Measure: object(`"sum"`)}}
		}),
		Entry("with questions", true, func(e *exposureType) {
			e.Spec.Questions = []v1alpha1.QuestionSpec{{Ask: "How many?", Call: v1alpha1.QuestionCall{Tool: "aggregate", Arguments: object(`{"measures":{"n":{"count":"*"}}}`)}}, {Ask: "What is it?", Call: v1alpha1.QuestionCall{Tool: "describe"}}}
		}),
		Entry("with a question twice", false, func(e *exposureType) {
			e.Spec.Questions = []v1alpha1.QuestionSpec{{Ask: "What?", Call: v1alpha1.QuestionCall{Tool: "describe"}}, {Ask: "What?", Call: v1alpha1.QuestionCall{Tool: "list"}}}
		}),
		Entry("with a question that nobody asks", false, func(e *exposureType) {
			e.Spec.Questions = []v1alpha1.QuestionSpec{{Call: v1alpha1.QuestionCall{Tool: "list"}}}
		}),
		Entry("with a question without a call", false, func(e *exposureType) { e.Spec.Questions = []v1alpha1.QuestionSpec{{Ask: "What?"}} }),
		Entry("with a question that writes", false, func(e *exposureType) {
			e.Spec.Questions = []v1alpha1.QuestionSpec{{Ask: "What?", Call: v1alpha1.QuestionCall{Tool: "delete", Arguments: object(`{"id":1}`)}}}
		}),
		Entry("with a question that is a report", false, func(e *exposureType) {
			e.Spec.Questions = []v1alpha1.QuestionSpec{{Ask: "What?", Call: v1alpha1.QuestionCall{Tool: "report"}}}
		}),
		Entry("with a question whose arguments are a text", false, func(e *exposureType) {
			e.Spec.Questions = []v1alpha1.QuestionSpec{{Ask: "What?", Call: v1alpha1.QuestionCall{Tool: "list", Arguments: object(`"all"`)}}}
		}),
		Entry("with a segment whose name is none", false, func(e *exposureType) {
			e.Spec.Segments = []v1alpha1.SegmentSpec{{Name: "Open ones", Filters: object(`{"status":"open"}`)}}
		}),
		Entry("with a synonym twice", false, func(e *exposureType) { e.Spec.Synonyms = []string{"purchase", "purchase"} }),
		Entry("with operations", true, func(e *exposureType) { e.Spec.Operations = []v1alpha1.Operation{"list", "autocomplete"} }),
		Entry("with an operation twice", false, func(e *exposureType) { e.Spec.Operations = []v1alpha1.Operation{"list", "list"} }),
		Entry("with an unknown operation", false, func(e *exposureType) { e.Spec.Operations = []v1alpha1.Operation{"find_models"} }),
		Entry("with a way to count", true, func(e *exposureType) { e.Spec.TotalCount = "Capped" }),
		Entry("with another way to count", false, func(e *exposureType) { e.Spec.TotalCount = "exact" }),
		Entry("with the largest bulk", true, func(e *exposureType) { e.Spec.Limits.MaxBulkItems = 1000 }),
		Entry("with too large a bulk", false, func(e *exposureType) { e.Spec.Limits.MaxBulkItems = 1001 }),

		Entry("with all rows for a group", true, policy(v1alpha1.RowPolicy{Name: "p", Groups: []string{"a"}, AllRows: new(true)})),
		Entry("with all rows for groups, said at length", true, policy(v1alpha1.RowPolicy{Name: "p", AppliesTo: "Groups", Groups: []string{"a"}, AllRows: new(true)})),
		Entry("with all rows for everyone", true, policy(v1alpha1.RowPolicy{Name: "p", AppliesTo: "Everyone", AllRows: new(true)})),
		Entry("with a policy of no name", false, policy(v1alpha1.RowPolicy{AppliesTo: "Everyone", AllRows: new(true)})),
		Entry("with a policy twice", false, func(e *exposureType) {
			p := v1alpha1.RowPolicy{Name: "p", AppliesTo: "Everyone", AllRows: new(true)}
			e.Spec.RowPolicies = []v1alpha1.RowPolicy{p, p}
		}),
		Entry("with a policy for nobody", false, policy(v1alpha1.RowPolicy{Name: "p", AllRows: new(true)})),
		Entry("with a policy for no groups", false, policy(v1alpha1.RowPolicy{Name: "p", AppliesTo: "Groups", AllRows: new(true)})),
		Entry("with a policy for groups and everyone", false, policy(v1alpha1.RowPolicy{Name: "p", AppliesTo: "Everyone", Groups: []string{"a"}, AllRows: new(true)})),
		Entry("with a policy for somebody else", false, policy(v1alpha1.RowPolicy{Name: "p", AppliesTo: "Nobody", Groups: []string{"a"}, AllRows: new(true)})),
		Entry("with a policy of no rows", false, policy(v1alpha1.RowPolicy{Name: "p", AppliesTo: "Everyone"})),
		Entry("with a policy that denies all rows", false, policy(v1alpha1.RowPolicy{Name: "p", AppliesTo: "Everyone", AllRows: new(false)})),
		Entry("with a policy of all rows and some", false, policy(v1alpha1.RowPolicy{
			Name: "p", AppliesTo: "Everyone", AllRows: new(true), Filters: []v1alpha1.RowFilter{{Field: "a", Value: new("b")}},
		})),
		Entry("with a filter by a value", true, filter(v1alpha1.RowFilter{Field: "a", Value: new("b")})),
		Entry("with a filter by an empty value", true, filter(v1alpha1.RowFilter{Field: "a", Value: new("")})),
		Entry("with a filter by an attribute", true, filter(v1alpha1.RowFilter{Field: "a", Lookup: "startswith", TokenAttribute: "Region.x-1"})),
		Entry("with a filter by an attribute that no token can have", false, filter(v1alpha1.RowFilter{Field: "a", TokenAttribute: "1 2"})),
		Entry("with a filter of a long field", true, filter(v1alpha1.RowFilter{Field: long(200), Value: new("b")})),
		Entry("with a filter of too long a field", false, filter(v1alpha1.RowFilter{Field: long(201), Value: new("b")})),
		Entry("with a filter of no field", false, filter(v1alpha1.RowFilter{Value: new("b")})),
		Entry("with a filter by nothing", false, filter(v1alpha1.RowFilter{Field: "a"})),
		Entry("with a filter by two things", false, filter(v1alpha1.RowFilter{Field: "a", Value: new("b"), TokenAttribute: "c"})),
		Entry("with an unknown lookup", false, filter(v1alpha1.RowFilter{Field: "a", Lookup: "like", Value: new("b")})),
		Entry("with one of several values", true, filter(v1alpha1.RowFilter{Field: "a", Lookup: "in", Values: []string{"b", ""}})),
		Entry("with one of an attribute", false, filter(v1alpha1.RowFilter{Field: "a", Lookup: "in", TokenAttribute: "b"})),
		Entry("with several values to equal", false, filter(v1alpha1.RowFilter{Field: "a", Values: []string{"b"}})),
		Entry("with a range", true, filter(v1alpha1.RowFilter{Field: "a", Lookup: "range", Values: []string{"1", "2"}})),
		Entry("with a range of one end", false, filter(v1alpha1.RowFilter{Field: "a", Lookup: "range", Values: []string{"1"}})),
		Entry("with a null", true, filter(v1alpha1.RowFilter{Field: "a", Lookup: "isnull", Value: new("false")})),
		Entry("with a null of another value", false, filter(v1alpha1.RowFilter{Field: "a", Lookup: "isnull", Value: new("no")})),
		Entry("with one of several filters", true, filter(v1alpha1.RowFilter{Any: []v1alpha1.FieldFilter{{Field: "a", Value: new("b")}, {Field: "c__d__e", TokenAttribute: "f"}}})),
		Entry("with one of no filters", false, filter(v1alpha1.RowFilter{Any: []v1alpha1.FieldFilter{}})),
		Entry("with one of a filter by nothing", false, filter(v1alpha1.RowFilter{Any: []v1alpha1.FieldFilter{{Field: "a"}}})),
		Entry("with one of several filters beside a field", false, filter(v1alpha1.RowFilter{Field: "a", Value: new("b"), Any: []v1alpha1.FieldFilter{{Field: "a", Value: new("b")}}})),
		Entry("with one of several filters beside a value", false, filter(v1alpha1.RowFilter{Value: new("b"), Any: []v1alpha1.FieldFilter{{Field: "a", Value: new("b")}}})),
		Entry("with one of several filters beside a lookup", false, filter(v1alpha1.RowFilter{Lookup: "ne", Any: []v1alpha1.FieldFilter{{Field: "a", Value: new("b")}}})),
		Entry("with one of too many filters", false, filter(v1alpha1.RowFilter{Any: slices.Repeat([]v1alpha1.FieldFilter{{Field: "a", Value: new("b")}}, 17)})),
		Entry("with elements", true, filter(v1alpha1.RowFilter{Field: "a", Lookup: "overlap", Values: []string{"b"}})),
		Entry("with elements as one value", false, filter(v1alpha1.RowFilter{Field: "a", Lookup: "contained_by", Value: new("b")})),
		Entry("with a null by an attribute", false, filter(v1alpha1.RowFilter{Field: "a", Lookup: "isnull", TokenAttribute: "b"})),
	)

	DescribeTable("agree on an action", func(valid bool, change func(*v1alpha1.ActionSpec)) {
		e := w.exposure("order", "shop")
		a := v1alpha1.ActionSpec{
			Name:       "refund",
			Parameters: []v1alpha1.ParameterSpec{{Name: "reason", Type: "String"}},
			Update:     &v1alpha1.UpdateActionSpec{Set: []v1alpha1.FieldAssignment{{Field: "at", Source: "Now"}}},
		}
		change(&a)
		e.Spec.Actions = []v1alpha1.ActionSpec{a}
		agree(e, valid)
	},
		Entry("as it is", true, func(*v1alpha1.ActionSpec) {}),
		Entry("without a name", false, func(a *v1alpha1.ActionSpec) { a.Name = "" }),
		Entry("with a name of upper case", false, func(a *v1alpha1.ActionSpec) { a.Name = "Refund" }),
		Entry("with a long name", false, func(a *v1alpha1.ActionSpec) { a.Name = long(41) }),
		Entry("with the server's own name", false, func(a *v1alpha1.ActionSpec) { a.Name = "delete_selected" }),
		Entry("that requires verbs", true, func(a *v1alpha1.ActionSpec) { a.Requires = []v1alpha1.RequiredVerb{"change", "delete"} }),
		Entry("that requires a verb twice", false, func(a *v1alpha1.ActionSpec) { a.Requires = []v1alpha1.RequiredVerb{"change", "change"} }),
		Entry("that requires every verb", false, func(a *v1alpha1.ActionSpec) { a.Requires = []v1alpha1.RequiredVerb{"*"} }),
		Entry("that asks", true, func(a *v1alpha1.ActionSpec) { a.Confirm = &v1alpha1.ConfirmSpec{} }),
		Entry("that asks for its token", true, func(a *v1alpha1.ActionSpec) {
			a.Confirm = &v1alpha1.ConfirmSpec{Token: "Required", Message: "{{ .count }}?"}
		}),
		Entry("that asks at times", true, func(a *v1alpha1.ActionSpec) {
			a.Confirm = &v1alpha1.ConfirmSpec{Message: "{{if gt .count 1}}All {{.count}} orders of the range?{{else}}{{with .parameters}}This?{{end}}{{end}}"}
		}),
		Entry("that asks for ever", false, func(a *v1alpha1.ActionSpec) { a.Confirm = &v1alpha1.ConfirmSpec{Message: "{{range 30000000}}x{{end}}"} }),
		Entry("that asks in capitals", false, func(a *v1alpha1.ActionSpec) { a.Confirm = &v1alpha1.ConfirmSpec{Message: "{{.count | printf `%09d`}}"} }),
		Entry("that defines", false, func(a *v1alpha1.ActionSpec) { a.Confirm = &v1alpha1.ConfirmSpec{Message: "{{- define `a`}}x{{end}}"} }),
		Entry("that asks in another way", false, func(a *v1alpha1.ActionSpec) { a.Confirm = &v1alpha1.ConfirmSpec{Token: "Always"} }),
		Entry("that asks at length", false, func(a *v1alpha1.ActionSpec) { a.Confirm = &v1alpha1.ConfirmSpec{Message: long(1001)} }),
		Entry("with a parameter twice", false, func(a *v1alpha1.ActionSpec) { a.Parameters = append(a.Parameters, a.Parameters[0]) }),
		Entry("with a parameter of no type", false, func(a *v1alpha1.ActionSpec) { a.Parameters[0].Type = "" }),
		Entry("with a parameter of another type", false, func(a *v1alpha1.ActionSpec) { a.Parameters[0].Type = "Text" }),
		Entry("with a parameter that may be absent", true, func(a *v1alpha1.ActionSpec) { a.Parameters[0].Presence = "Optional" }),
		Entry("with a parameter of another presence", false, func(a *v1alpha1.ActionSpec) { a.Parameters[0].Presence = "Maybe" }),
		Entry("with a parameter named like the form's own", false, func(a *v1alpha1.ActionSpec) { a.Parameters[0].Name = "ids" }),
		Entry("with a choice of a parameter twice", false, func(a *v1alpha1.ActionSpec) {
			a.Parameters[0].Choices = []v1alpha1.Choice{{Value: "x"}, {Value: "x", Label: "y"}}
		}),
		Entry("of no kind", false, func(a *v1alpha1.ActionSpec) { a.Update = nil }),
		Entry("of two kinds", false, func(a *v1alpha1.ActionSpec) { a.Webhook = &v1alpha1.WebhookSpec{URL: "http://billing/x"} }),
		Entry("that sets nothing", false, func(a *v1alpha1.ActionSpec) { a.Update.Set = nil }),
		Entry("that sets a field twice", false, func(a *v1alpha1.ActionSpec) { a.Update.Set = append(a.Update.Set, a.Update.Set[0]) }),
		Entry("that sets from nowhere", false, func(a *v1alpha1.ActionSpec) { a.Update.Set[0].Source = "" }),
		Entry("that sets a constant", true, func(a *v1alpha1.ActionSpec) {
			a.Update.Set[0] = v1alpha1.FieldAssignment{Field: "a", Source: "Value", Value: new("")}
		}),
		Entry("that sets no constant", false, func(a *v1alpha1.ActionSpec) { a.Update.Set[0].Source = "Value" }),
		Entry("that sets a constant and null", false, func(a *v1alpha1.ActionSpec) {
			a.Update.Set[0] = v1alpha1.FieldAssignment{Field: "a", Source: "Null", Value: new("b")}
		}),
		Entry("that sets a parameter", true, func(a *v1alpha1.ActionSpec) {
			a.Update.Set[0] = v1alpha1.FieldAssignment{Field: "a", Source: "Parameter", Parameter: "reason"}
		}),
		Entry("that sets an unknown parameter", false, func(a *v1alpha1.ActionSpec) {
			a.Update.Set[0] = v1alpha1.FieldAssignment{Field: "a", Source: "Parameter", Parameter: "cause"}
		}),
		Entry("that sets a parameter where none is declared", false, func(a *v1alpha1.ActionSpec) {
			a.Parameters, a.Update.Set[0] = nil, v1alpha1.FieldAssignment{Field: "a", Source: "Parameter", Parameter: "reason"}
		}),
		Entry("that sets no parameter", false, func(a *v1alpha1.ActionSpec) { a.Update.Set[0].Source = "Parameter" }),
		Entry("of some rows", true, func(a *v1alpha1.ActionSpec) { a.Update.Where = []v1alpha1.RowFilter{{Field: "a", Value: new("b")}} }),
		Entry("of rows by nothing", false, func(a *v1alpha1.ActionSpec) { a.Update.Where = []v1alpha1.RowFilter{{Field: "a"}} }),
		Entry("of rows by one of two fields, one of them related", true, func(a *v1alpha1.ActionSpec) {
			a.Update.Where = []v1alpha1.RowFilter{{Any: []v1alpha1.FieldFilter{{Field: "a", Value: new("b")}, {Field: "c__d", Value: new("b")}}}}
		}),
		Entry("of rows by an attribute among others", false, func(a *v1alpha1.ActionSpec) {
			a.Update.Where = []v1alpha1.RowFilter{{Any: []v1alpha1.FieldFilter{{Field: "a", Value: new("b")}, {Field: "c", TokenAttribute: "b"}}}}
		}),
		Entry("of rows by an attribute", false, func(a *v1alpha1.ActionSpec) {
			a.Update.Where = []v1alpha1.RowFilter{{Field: "a", TokenAttribute: "b"}}
		}),
		Entry("by a statement", true, func(a *v1alpha1.ActionSpec) {
			a.Update, a.SQL = nil, &v1alpha1.SQLActionSpec{Statement: "update orders set note = :reason where id in (:ids)"}
		}),
		Entry("by no statement", false, func(a *v1alpha1.ActionSpec) { a.Update, a.SQL = nil, &v1alpha1.SQLActionSpec{} }),
		Entry("by a long statement", false, func(a *v1alpha1.ActionSpec) {
			a.Update, a.SQL = nil, &v1alpha1.SQLActionSpec{Statement: "update orders set note = '" + long(10000) + "' where id in (:ids)"}
		}),
		Entry("by a call", true, hook("https://billing.example:8443/send?x=y", nil)),
		Entry("by a call that may take long", true, hook("http://billing/send", new(time.Minute))),
		Entry("by a call that may take too long", false, hook("http://billing/send", new(61*time.Second))),
		Entry("by a call that may take no time", false, hook("http://billing/send", new(time.Duration))),
		Entry("by a call to nowhere", false, hook("", nil)),
		Entry("by a call without a host", false, hook("http:///send", nil)),
		Entry("by a call of another scheme", false, hook("ftp://billing/send", nil)),
		Entry("by a call that tells a password", false, hook("http://me:pw@billing/send", nil)),
		Entry("by a call to a fragment", false, hook("http://billing/send#x", nil)),
		Entry("by a call with a Secret of no name", false, func(a *v1alpha1.ActionSpec) {
			hook("http://billing/send", nil)(a)
			a.Webhook.HeadersSecretRef = &v1alpha1.SecretReference{}
		}),
	)

	It("refuses an action twice, and Validate alone a statement or a template that is none", func() {
		e := w.exposure("order", "shop")
		a := v1alpha1.ActionSpec{Name: "recompute", SQL: &v1alpha1.SQLActionSpec{Statement: "update orders set total = 0 where id in (:ids)"}}
		e.Spec.Actions = []v1alpha1.ActionSpec{a, a}
		agree(e, false)
		for _, statement := range []string{"drop table orders", "update orders set total = 0", "update orders set note = :note where id in (:ids)"} {
			a.SQL = &v1alpha1.SQLActionSpec{Statement: statement}
			e.Spec.Actions = []v1alpha1.ActionSpec{a}
			errs := v1alpha1.Validate(e)
			Expect(errs).To(HaveLen(1), statement)
			Expect(errs[0].Field).To(Equal("spec.actions[0].sql.statement"))
		}
		a.SQL = &v1alpha1.SQLActionSpec{Statement: "update orders set total = 0 where id in (:ids)"}
		a.Confirm = &v1alpha1.ConfirmSpec{Message: "Refund {{ .count orders?"}
		e.Spec.Actions = []v1alpha1.ActionSpec{a}
		errs := v1alpha1.Validate(e)
		Expect(errs).To(HaveLen(1))
		Expect(errs[0].Field).To(Equal("spec.actions[0].confirm.message"))
	})
})

// hook makes an action a webhook.
func hook(url string, timeout *time.Duration) func(*v1alpha1.ActionSpec) {
	return func(a *v1alpha1.ActionSpec) {
		a.Update, a.Webhook = nil, &v1alpha1.WebhookSpec{URL: url}
		if timeout != nil {
			a.Webhook.Timeout = &metav1.Duration{Duration: *timeout}
		}
	}
}

// What the documentation shows must be accepted as it stands, with no field that the API server does not know.
var _ = Describe("The API server and admission, of whole manifests,", func() {
	DescribeTable("accept", func(pattern string) {
		w := newWorld()
		paths, err := filepath.Glob(pattern)
		Expect(err).NotTo(HaveOccurred())
		objects := 0
		for _, path := range paths {
			content, err := os.ReadFile(path)
			Expect(err).NotTo(HaveOccurred())
			for document := range strings.SplitSeq(string(content), "\n---\n") {
				o := &unstructured.Unstructured{}
				Expect(yaml.Unmarshal([]byte(document), o)).To(Succeed(), path)
				if o.GroupVersionKind().GroupVersion() != v1alpha1.GroupVersion {
					continue
				}
				o.SetNamespace(w.namespace)
				Expect(k8s.Create(context.Background(), o, client.DryRunAll, client.FieldValidation("Strict"))).To(Succeed(), "%s of %s", o.GetName(), path)
				typed, err := k8s.Scheme().New(o.GroupVersionKind())
				Expect(err).NotTo(HaveOccurred())
				Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, typed)).To(Succeed())
				Expect(admitted(typed.(client.Object))).To(BeEmpty(), "%s of %s", o.GetName(), path)
				Expect(v1alpha1.Validate(typed)).To(BeEmpty(), "%s of %s", o.GetName(), path)
				objects++
			}
		}
		Expect(objects).To(BeNumerically(">", 2))
	},
		Entry("a shop", "testdata/shop.yaml"),
		Entry("the samples", "../config/samples/*.yaml"),
	)
})

// object is a JSON value that no schema describes.
func object(text string) runtime.RawExtension { return runtime.RawExtension{Raw: []byte(text)} }
