package controllers_test

import (
	. "github.com/onsi/ginkgo/v2"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

var _ = Describe("The API server and admission", func() {
	var w *world
	BeforeEach(func() { w = newWorld() })

	DescribeTable("agree on a report", func(valid bool, change func(*exposureType, *v1alpha1.ActionSpec)) {
		e := w.exposure("order", "shop")
		a := v1alpha1.ActionSpec{Name: "ranks", Parameters: []v1alpha1.ParameterSpec{{Name: "since", Type: "Date"}},
			Report: &v1alpha1.ReportActionSpec{Statement: "select id from orders where placed > :since and team in (:groups) and owner = :token and region = :attribute_region"}}
		change(e, &a)
		e.Spec.Actions = []v1alpha1.ActionSpec{a}
		agree(e, valid)
	},
		Entry("as it is", true, func(*exposureType, *v1alpha1.ActionSpec) {}),
		Entry("without a statement", false, func(_ *exposureType, a *v1alpha1.ActionSpec) { a.Report.Statement = "" }),
		Entry("with a long statement", false, func(_ *exposureType, a *v1alpha1.ActionSpec) {
			a.Report.Statement = "select '" + long(10000) + "'"
		}),
		Entry("beside a statement that changes rows", false, func(_ *exposureType, a *v1alpha1.ActionSpec) {
			a.SQL = &v1alpha1.SQLActionSpec{Statement: "delete from orders where id in (:ids)"}
		}),
		Entry("that requires a verb", false, func(_ *exposureType, a *v1alpha1.ActionSpec) { a.Requires = []v1alpha1.RequiredVerb{"view"} }),
		Entry("that asks", false, func(_ *exposureType, a *v1alpha1.ActionSpec) { a.Confirm = &v1alpha1.ConfirmSpec{} }),
		Entry("with a parameter that is the caller's name", false, func(_ *exposureType, a *v1alpha1.ActionSpec) { a.Parameters[0].Name = "token" }),
		Entry("with a parameter that is an attribute", false, func(_ *exposureType, a *v1alpha1.ActionSpec) { a.Parameters[0].Name = "attribute_region" }),
		Entry("that ignores policies where there are none", true, func(_ *exposureType, a *v1alpha1.ActionSpec) { a.Report.Policies = v1alpha1.ReportPoliciesIgnored }),
		Entry("that does what nobody knows with policies", false, func(_ *exposureType, a *v1alpha1.ActionSpec) { a.Report.Policies = "Applied" }),
		Entry("that says nothing of policies", false, func(e *exposureType, _ *v1alpha1.ActionSpec) {
			e.Spec.RowPolicies = []v1alpha1.RowPolicy{{Name: "all", Groups: []string{"g"}, AllRows: new(true)}}
		}),
		Entry("that ignores policies", true, func(e *exposureType, a *v1alpha1.ActionSpec) {
			e.Spec.RowPolicies = []v1alpha1.RowPolicy{{Name: "all", Groups: []string{"g"}, AllRows: new(true)}}
			a.Report.Policies = v1alpha1.ReportPoliciesIgnored
		}),
	)

	DescribeTable("agree on session settings", func(valid bool, change func(*v1alpha1.DatabaseSpec)) {
		e := w.endpoint("shop")
		e.Spec.Database = v1alpha1.DatabaseSpec{ConnectionSecretRef: connection("x"), SessionSettings: []v1alpha1.SessionSetting{
			{Name: "app.token", Source: v1alpha1.SessionToken}, {Name: "app.groups", Source: v1alpha1.SessionGroups},
			{Name: "app.region", Source: v1alpha1.SessionAttribute, Attribute: "region"},
		}}
		change(&e.Spec.Database)
		agree(e, valid)
	},
		Entry("as they are", true, func(*v1alpha1.DatabaseSpec) {}),
		Entry("of PostgreSQL", true, func(d *v1alpha1.DatabaseSpec) { d.Engine = v1alpha1.EnginePostgreSQL }),
		Entry("of MySQL", false, func(d *v1alpha1.DatabaseSpec) { d.Engine = v1alpha1.EngineMySQL }),
		Entry("of SQLite", false, func(d *v1alpha1.DatabaseSpec) {
			d.ConnectionSecretRef, d.SQLite = nil, w.endpoint("shop").Spec.Database.SQLite
		}),
		Entry("of PostgreSQL's own", false, func(d *v1alpha1.DatabaseSpec) { d.SessionSettings[0].Name = "role" }),
		Entry("with a name twice", false, func(d *v1alpha1.DatabaseSpec) { d.SessionSettings[0].Name = "app.groups" }),
		Entry("from nowhere", false, func(d *v1alpha1.DatabaseSpec) { d.SessionSettings[0].Source = "" }),
		Entry("from an attribute without a name", false, func(d *v1alpha1.DatabaseSpec) { d.SessionSettings[2].Attribute = "" }),
		Entry("with an attribute too many", false, func(d *v1alpha1.DatabaseSpec) { d.SessionSettings[0].Attribute = "region" }),
	)

	DescribeTable("agree on comments of statements", func(valid bool, change func(*v1alpha1.DatabaseSpec)) {
		e := w.endpoint("shop")
		e.Spec.Database = v1alpha1.DatabaseSpec{ConnectionSecretRef: connection("x"), Comment: v1alpha1.CommentTrace}
		change(&e.Spec.Database)
		agree(e, valid)
	},
		Entry("of an engine that the Secret tells", true, func(*v1alpha1.DatabaseSpec) {}),
		Entry("of PostgreSQL", true, func(d *v1alpha1.DatabaseSpec) { d.Engine = v1alpha1.EnginePostgreSQL }),
		Entry("of MySQL", false, func(d *v1alpha1.DatabaseSpec) { d.Engine = v1alpha1.EngineMySQL }),
		Entry("none, of MySQL", true, func(d *v1alpha1.DatabaseSpec) {
			d.Engine, d.Comment = v1alpha1.EngineMySQL, v1alpha1.CommentNone
		}),
		Entry("of SQLite", false, func(d *v1alpha1.DatabaseSpec) {
			d.ConnectionSecretRef, d.SQLite = nil, w.endpoint("shop").Spec.Database.SQLite
		}),
		Entry("of another kind", false, func(d *v1alpha1.DatabaseSpec) { d.Comment = "Caller" }),
	)
})
