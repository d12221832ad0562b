package catalog

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

func linked(relations ...contract.Relation) func(*contract.Model) {
	return func(m *contract.Model) { m.Relations = relations }
}

func TestDeclaredRelationsLeadToOneRowByAKeyAndElseToMany(t *testing.T) {
	for _, tc := range []struct {
		name     string
		relation contract.Relation
		target   string
		many     bool
		theirs   string
		reverse  string
	}{
		{"the key", contract.Relation{Name: "owner", Columns: []string{"number"}, Model: "employee"}, "employee", false, "id", "task_by_owner"},
		{"a unique column", contract.Relation{Name: "owner", Columns: []string{"title"}, Model: "employee", References: []string{"badge"}}, "employee", false, "badge", "task_by_owner"},
		{"no unique column", contract.Relation{Name: "same", Columns: []string{"title"}, Model: "employee", References: []string{"name"}, ReverseName: "tasks"}, "employee", true, "name", "tasks"},
		{"two columns, by their names and fields", contract.Relation{Name: "place", Columns: []string{"title", "assignee_id"}, Model: "department", References: []string{"code", "floor"}}, "department", false, "code, floor", "task_by_place"},
		{"a part of a key", contract.Relation{Name: "place", Columns: []string{"title"}, Model: "department", References: []string{"code"}}, "department", true, "code", "task_by_place"},
		{"types that compare", contract.Relation{Name: "paid", Columns: []string{"number"}, Model: "employee", References: []string{"salary"}}, "employee", true, "salary", "task_by_paid"},
		{"the model itself", contract.Relation{Name: "alike", Columns: []string{"title"}, Model: "task", References: []string{"title"}}, "task", true, "title", "task_by_alike"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := at(t, "task", linked(tc.relation))
			r, back := c.Model("task").Relation(tc.relation.Name), c.Model(tc.target).Relation(tc.reverse)
			if r == nil || back == nil {
				t.Fatalf("got %v and back %v; notes %q", r, back, c.Model("task").Status.Notes)
			}
			if r.Target.Name != tc.target || r.Many != tc.many || joined(r.Theirs) != tc.theirs {
				t.Errorf("got %+v, want it to %s of %s, many %v", r, tc.theirs, tc.target, tc.many)
			}
			if back.Target.Name != "task" || !back.Many || !slices.Equal(back.Ours, r.Theirs) || !slices.Equal(back.Theirs, r.Ours) {
				t.Errorf("back is %+v of %+v", back, r)
			}
		})
	}
}

func TestAKeyThatTheExposureOfAViewDeclaresTellsItsRowsApart(t *testing.T) {
	schema := office()
	view := model("summary", "summary", func(m *contract.Model) { m.Key = []string{"id"} })
	task := model("task", "task", linked(contract.Relation{Name: "heads", Columns: []string{"number"}, Model: "summary"}))
	c := Build(&contract.Config{Models: []contract.Model{view, task}}, schema)
	if r := c.Model("task").Relation("heads"); r == nil || r.Many {
		t.Errorf("got %+v, want a relation to one row; notes %q", r, c.Model("task").Status.Notes)
	}
}

func TestADeclaredRelationThatTheExposureItselfGetsWrongWithholdsTheModel(t *testing.T) {
	for _, tc := range []refused{
		{"no column", "task", linked(contract.Relation{Name: "owner", Columns: []string{"ownr"}, Model: "employee"}), missing, "relations: owner: task has no column ownr; its columns are number, assignee_id, reviewer_id, title, due, key, maybe"},
		{"a column's name", "task", linked(contract.Relation{Name: "title", Columns: []string{"number"}, Model: "employee"}), wrong, "relations: title: a column or the relation of a foreign key has that name; choose another"},
		{"a foreign key's relation", "task", linked(contract.Relation{Name: "assignee", Columns: []string{"number"}, Model: "employee"}), wrong, "relations: assignee: a column or the relation of a foreign key has that name; choose another"},
	} {
		tc.test(t)
	}
}

func TestWhyADeclaredRelationCannotBeFollowedIsNoted(t *testing.T) {
	toEmployee := contract.Relation{Name: "owner", Columns: []string{"number"}, Model: "employee"}
	with := func(change func(*contract.Relation)) contract.Relation {
		r := toEmployee
		change(&r)
		return r
	}
	hide := func(name string) func(*contract.Model) {
		return func(m *contract.Model) {
			m.Relations, m.Exclude = []contract.Relation{with(func(r *contract.Relation) { r.Columns = []string{name} })}, []string{name}
		}
	}
	for _, tc := range []struct {
		name   string
		change func(*contract.Model)
		want   string
	}{
		{"no such model", linked(with(func(r *contract.Relation) { r.Model = "worker" })), "there is no model worker with a table that can be read"},
		{"no such column", linked(with(func(r *contract.Relation) { r.References = []string{"nr"} })), "employee has no column nr"},
		{"another number of columns", linked(with(func(r *contract.Relation) { r.Model = "department" })), "the key of department has 2 columns, and the relation 1; name as many in references"},
		{"no key", linked(with(func(r *contract.Relation) { r.Model = "summary" })), "summary has no key; name its columns in references"},
		{"other types", linked(with(func(r *contract.Relation) { r.References = []string{"name"} })), "number, of type integer, cannot be compared with name of employee, of type text"},
		{"a hidden column", hide("assignee_id"), "assignee_id must be visible, and not masked"},
		{"a hidden column of the other model", linked(with(func(r *contract.Relation) { r.Columns = []string{"title"}; r.References = []string{"api_token"} })), "api_token of employee must be visible, and not masked"},
		{"a taken way back", linked(with(func(r *contract.Relation) { r.ReverseName = "salary" })), "it has no way back, as a column or relation of employee is named salary; set reverseName"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := at(t, "task", tc.change).Model("task")
			want := "relations: owner cannot be followed: " + tc.want + "."
			if !m.Served() || !slices.Contains(m.Status.Notes, want) {
				t.Errorf("got %s %q with notes\n%s\nwant %q", m.Status.Reason, m.Status.Message, strings.Join(m.Status.Notes, "\n"), want)
			}
		})
	}
}

func TestPoliciesGoAlongDeclaredRelations(t *testing.T) {
	mine := func(field string) func(*contract.Model) {
		return func(m *contract.Model) {
			if m.Name == "task" {
				m.Relations = []contract.Relation{{Name: "owner", Columns: []string{"number"}, Model: "employee", References: []string{"id"}}}
			}
			m.RowPolicies = []contract.RowPolicy{{Name: "p", Everyone: true, Filters: []contract.Filter{{Field: field, Value: "in"}}}}
		}
	}
	c := at(t, "task", mine("owner__status"))
	if m := c.Model("task"); !m.Served() || len(m.Policies[0].Filters[0].Steps) != 1 || m.Policies[0].Filters[0].Steps[0].Table.Name != "employee" {
		t.Fatalf("got %+v, want a policy along the relation", m.Status)
	}
}

func TestAColumnThatIsNamedLikeAKeyIsNoted(t *testing.T) {
	for _, tc := range []struct {
		column, table, key string
		want               bool
	}{
		{"customer_id", "customers", "id", true}, {"CustomerID", "Customer", "Id", true}, {"customerid", "customer", "id", true},
		{"billing_customer_id", "customer", "id", true}, {"film_id", "film", "film_id", true}, {"film_id", "films", "id", true},
		{"id", "customer", "id", false}, {"customer", "customer", "id", false}, {"custom_id", "customer", "id", false}, {"code", "country", "code", false},
		{"country_code", "country", "code", true}, {"uncustomer_id", "customer", "id", false},
	} {
		if got := NamedAfter(tc.column, tc.table, tc.key); got != tc.want {
			t.Errorf("%s like %s of %s: got %v", tc.column, tc.key, tc.table, got)
		}
	}

	schema := office()
	task := schema.Tables[len(schema.Tables)-1]
	task.Columns = append(task.Columns, &database.Column{Name: "employee_id", Kind: database.Integer, Nullable: true, Privileges: database.MaySelect})
	config := &contract.Config{Models: []contract.Model{model("employee", "employee", nil), model("task", "task", nil)}}
	const want = "employee_id is named like the key of employee, but no foreign key leads there. If it names a row of employee, say so: relations: [{name: employee, columns: [employee_id], model: employee}]."
	if notes := Build(config, schema).Model("task").Status.Notes; !slices.Contains(notes, want) {
		t.Errorf("got %q, want %q", notes, want)
	}
	config.Models[1].Relations = []contract.Relation{{Name: "employee", Columns: []string{"employee_id"}, Model: "employee"}}
	if notes := Build(config, schema).Model("task").Status.Notes; slices.Contains(notes, want) {
		t.Errorf("got %q of a model that has the relation", notes)
	}
}
