package catalog

import (
	"reflect"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/sqlscan"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

func policy(filters ...contract.Filter) func(*contract.Model) {
	return func(m *contract.Model) {
		m.RowPolicies = append(m.RowPolicies, contract.RowPolicy{Name: "own", Everyone: true, Filters: filters})
	}
}

func update(u contract.UpdateAction, parameters ...contract.Parameter) func(*contract.Model) {
	return func(m *contract.Model) {
		m.Actions = append(m.Actions, contract.Action{Name: "act", Update: &u, Parameters: parameters})
	}
}

func set(field, source, value string) contract.UpdateAction {
	return contract.UpdateAction{Set: []contract.ActionAssignment{{Field: field, Source: source, Value: value}}}
}

func setTo(field, parameter string) contract.UpdateAction {
	return contract.UpdateAction{Set: []contract.ActionAssignment{{Field: field, Source: contract.SourceParameter, Parameter: parameter}}}
}

func TestPoliciesThatCannotBeUnderstoodWithholdTheModel(t *testing.T) {
	for _, r := range []refused{
		{"no such column", "task", policy(contract.Filter{Field: "titel", Value: "x"}), missing, "rowPolicies own: task has no column titel; the nearest is title"},
		{"no such relation", "task", policy(contract.Filter{Field: "owner__name", Value: "x"}), missing, "rowPolicies own: task has no column owner__name; its columns are number, assignee_id, reviewer_id, title, due, key, maybe"},
		{"no such column at the other end", "task", policy(contract.Filter{Field: "assignee__nam", Value: "x"}), missing, "rowPolicies own: employee, to which assignee leads, has no column nam"},
		{"no such column two relations away", "task", policy(contract.Filter{Field: "assignee__boss_id__nam", Value: "x"}), missing, "rowPolicies own: employee, to which assignee__boss_id leads, has no column nam"},
		{"no such relation at the other end", "task", policy(contract.Filter{Field: "assignee__chief__name", Value: "x"}), missing, "rowPolicies own: employee, to which assignee leads, has no column chief__name"},
		{"three relations", "task", policy(contract.Filter{Field: "assignee__boss_id__boss_id__name", Value: "x"}), wrong, "rowPolicies own: assignee__boss_id__boss_id__name goes through more than 2 relations"},
		{"no relation's name", "task", policy(contract.Filter{Field: "__title", Value: "x"}), missing, "rowPolicies own: task has no column __title; the nearest is title"},
		{"one of several", "task", policy(contract.Filter{Any: []contract.Filter{{Field: "title", Value: "x"}, {Field: "assignee__nam", Value: "x"}}}), missing, "rowPolicies own: employee, to which assignee leads, has no column nam"},
		{"a filter of nothing", "task", policy(contract.Filter{}), missing, "rowPolicies own: task has no column ; its columns are number, assignee_id, reviewer_id, title, due, key, maybe"},
		{"a value of another type", "task", policy(contract.Filter{Field: "due", Value: "soon"}), wrong, `rowPolicies own: the filter of due: must be a date, YYYY-MM-DD, not "soon"`},
		{"a value among several", "task", policy(contract.Filter{Field: "number", Lookup: "in", Values: []string{"1", "x"}}), wrong, `rowPolicies own: the filter of number: each value must be an integer, or a string of its digits, not "x"`},
		{"a lookup that the type has not", "task", policy(contract.Filter{Field: "number", Lookup: "contains", Value: "1"}), wrong, "rowPolicies own: the filter of number: lookup contains is not offered for a field of type integer; its lookups are exact, gt, gte, lt, lte, in, range, isnull, ne"},
		{"an attribute for a lookup of lists", "task", policy(contract.Filter{Field: "number", Lookup: "in", TokenAttribute: "a"}), wrong, "rowPolicies own: the filter of number: lookup in takes no tokenAttribute for a field of type integer; those that do are exact, gt, gte, lt, lte, ne"},
		{"an attribute for a lookup that there is none of", "task", policy(contract.Filter{Field: "title", Lookup: "like", TokenAttribute: "a"}), wrong, "rowPolicies own: the filter of title: lookup like takes no tokenAttribute for a field of type text; those that do are exact, iexact, contains, icontains, startswith, istartswith, endswith, iendswith, gt, gte, lt, lte, ne"},
		{"the second filter", "task", policy(contract.Filter{Field: "title", Value: "x"}, contract.Filter{Field: "nothing", Value: "x"}), missing, "rowPolicies own: task has no column nothing; its columns are number, assignee_id, reviewer_id, title, due, key, maybe"},
	} {
		r.test(t)
	}
}

func TestPoliciesMayCompareWhatIsHidden(t *testing.T) {
	schema := office()
	m := Build(&contract.Config{Models: []contract.Model{model("task", "task", func(m *contract.Model) {
		m.Exclude = []string{"maybe", "assignee_id"}
		policy(contract.Filter{Field: "maybe", Value: "x"},
			contract.Filter{Field: "assignee__department_code", TokenAttribute: "code"},
			contract.Filter{Field: "assignee_id__api_token", Lookup: "isnull", Value: "true"})(m)
	})}}, schema).Model("task")
	if !m.Served() || len(m.Policies) != 1 {
		t.Fatalf("got %+v", m.Status)
	}
	task, employee := m.Table, m.Table.ForeignKeys[0].References
	toEmployee := []FilterStep{{employee, task.ForeignKeys[0].Columns, task.ForeignKeys[0].ReferencedColumns}}
	f := m.Policies[0].Filters
	if f[0].Column != task.Column("maybe") || f[0].Steps != nil || !reflect.DeepEqual(f[0].Condition, database.Compare{Column: task.Column("maybe"), Op: database.Equal, Value: "x"}) {
		t.Errorf("a hidden column: %+v", f[0])
	}
	if f[1].Column != employee.Column("department_code") || !reflect.DeepEqual(f[1].Steps, toEmployee) || f[1].Condition != nil {
		t.Errorf("an attribute through a hidden relation to what is not registered: %+v", f[1])
	}
	if !reflect.DeepEqual(f[2].Steps, toEmployee) || !reflect.DeepEqual(f[2].Condition, database.IsNull{Column: employee.Column("api_token")}) {
		t.Errorf("a relation by its column's name: %+v", f[2])
	}
}

func TestPoliciesFollowTwoRelations(t *testing.T) {
	schema := office()
	m := Build(&contract.Config{Models: []contract.Model{model("task", "task", policy(
		contract.Filter{Field: "assignee__boss__name", Value: "x"},
		contract.Filter{Any: []contract.Filter{{Field: "assignee__task_by_reviewer__title", TokenAttribute: "t"}, {Field: "title", Value: "x"}}}))}}, schema).Model("task")
	if !m.Served() {
		t.Fatalf("got %+v", m.Status)
	}
	task, f := m.Table, m.Policies[0].Filters
	employee, boss := task.ForeignKeys[0].References, task.ForeignKeys[0].References.ForeignKeys[0]
	toEmployee := FilterStep{employee, task.ForeignKeys[0].Columns, task.ForeignKeys[0].ReferencedColumns}
	if want := []FilterStep{toEmployee, {employee, boss.Columns, boss.ReferencedColumns}}; !reflect.DeepEqual(f[0].Steps, want) || f[0].Column != employee.Column("name") {
		t.Errorf("two forward relations: %+v", f[0])
	}
	back := task.ForeignKeys[1]
	if want := []FilterStep{toEmployee, {task, back.ReferencedColumns, back.Columns}}; !reflect.DeepEqual(f[1].AnyOf[0].Steps, want) || f[1].AnyOf[0].Column != task.Column("title") {
		t.Errorf("a relation back: %+v", f[1])
	}
	if f[1].Column != nil || f[1].AnyOf[1].Column != task.Column("title") {
		t.Errorf("one of several: %+v", f[1])
	}
}

func TestActionsThatCannotBeUnderstoodWithholdTheModel(t *testing.T) {
	integer, text := contract.Parameter{Name: "n", Type: contract.TypeInteger}, contract.Parameter{Name: "s", Type: contract.TypeString}
	sql := func(statement string, parameters ...contract.Parameter) func(*contract.Model) {
		return func(m *contract.Model) {
			m.Actions = []contract.Action{{Name: "act", SQL: &contract.SQLAction{Statement: statement}, Parameters: parameters}}
		}
	}
	withWhere := func(f contract.Filter) contract.UpdateAction {
		u := set("card", contract.SourceNull, "")
		u.Where = []contract.Filter{f}
		return u
	}
	twice := contract.UpdateAction{Set: append(set("card", contract.SourceNull, "").Set, set("card", contract.SourceValue, "x").Set...)}
	withVersion := func(m *contract.Model) {
		m.VersionField = "version"
		update(set("version", contract.SourceValue, "1"))(m)
	}
	for _, r := range []refused{
		{"no such field", "employee", update(set("cart", contract.SourceNull, "")), missing, "actions act: employee has no column cart; the nearest is card"},
		{"the key", "employee", update(set("id", contract.SourceValue, "1")), wrong, "actions act: id is part of the key, which cannot be changed"},
		{"a generated column", "employee", update(set("initials", contract.SourceValue, "x")), wrong, "actions act: initials is computed by the database"},
		{"the version", "employee", withVersion, wrong, "actions act: version is the versionField, which the server moves with every write"},
		{"a field twice", "employee", update(twice), wrong, "actions act: card is set twice"},
		{"a value of another type", "employee", update(set("boss_id", contract.SourceValue, "him")), wrong, `actions act: the value of boss_id must be an integer, or a string of its digits, not "him"`},
		{"a value that does not fit", "employee", update(set("salary", contract.SourceValue, "12345")), wrong, "actions act: the value of salary must have at most 4 digits before the point, not 5"},
		{"null where it must not be", "employee", update(set("badge", contract.SourceNull, "")), wrong, "actions act: badge must not be null"},
		{"now in a text", "employee", update(set("card", contract.SourceNow, "")), wrong, "actions act: card is text, which now is none of"},
		{"a source that there is none of", "employee", update(set("card", "Random", "")), wrong, "actions act: card has no known source"},
		{"a parameter that is not declared", "employee", update(setTo("card", "x"), text), wrong, "actions act: card is set to the parameter x, which is not declared"},
		{"a parameter of another type", "employee", update(setTo("card", "n"), integer), wrong, "actions act: the parameter n is of type Integer, and card is text"},
		{"a parameter of no type", "employee", update(setTo("card", "x"), contract.Parameter{Name: "x", Type: "Color"}), wrong, "actions act: the parameter x has no known type"},
		{"a parameter twice", "employee", update(setTo("card", "s"), text, text), wrong, "actions act: the parameter s is declared twice"},
		{"a parameter's choice that is no value", "employee", update(setTo("boss_id", "n"), contract.Parameter{Name: "n", Type: contract.TypeInteger, Choices: []contract.Choice{{Value: "x"}}}), wrong, `actions act: the choice "x" of n must be an integer, or a string of its digits, not "x"`},
		{"where of no column", "employee", update(withWhere(contract.Filter{Field: "cart", Value: "x"})), missing, "actions act: employee has no column cart; the nearest is card"},
		{"where of another type", "employee", update(withWhere(contract.Filter{Field: "boss_id", Value: "x"})), wrong, `actions act: the filter of boss_id: must be an integer, or a string of its digits, not "x"`},
		{"where of an attribute", "employee", update(withWhere(contract.Filter{Field: "card", TokenAttribute: "x"})), wrong, "actions act: the filter of card: tokenAttribute belongs to row policies"},
		{"sql without ids", "employee", sql("DELETE FROM employee"), wrong, "actions act: the statement must contain :ids, the selected rows, as in WHERE id IN (:ids)"},
		{"sql with a parameter that is not declared", "employee", sql("UPDATE employee SET card = :x WHERE id IN (:ids)", text), wrong, "actions act: the statement names :x, which is not a parameter; the parameters are :ids, :s"},
		{"sql where the key has two columns", "department", sql("DELETE FROM department WHERE code IN (:ids)"), wrong, "actions act: an sql action needs a key of one column, and that of department has 2"},
		{"sql on what has no key", "summary", sql("DELETE FROM summary WHERE id IN (:ids)"), wrong, "actions act: an sql action needs a key of one column, and that of summary has 0"},
	} {
		r.test(t)
	}
}

func TestActionsAreCompiled(t *testing.T) {
	m := at(t, "employee", func(m *contract.Model) {
		m.ReadOnly, m.Exclude = []string{"card"}, []string{"salary"}
		m.Actions = []contract.Action{
			{Name: "reset", Parameters: []contract.Parameter{{Name: "n", Type: contract.TypeInteger}}, Update: &contract.UpdateAction{
				Set: []contract.ActionAssignment{
					{Field: "card", Source: contract.SourceValue, Value: "none"},
					{Field: "salary", Source: contract.SourceParameter, Parameter: "n"},
					{Field: "changed", Source: contract.SourceNow},
					{Field: "name", Source: contract.SourceNull}},
				Where: []contract.Filter{{Field: "status", Value: "out"}}}},
			{Name: "wipe", SQL: &contract.SQLAction{Statement: "DELETE FROM employee WHERE id IN (:ids);"}},
			{Name: "call", Webhook: &contract.Webhook{URL: "https://example.org"}},
		}
	}).Model("employee")
	if !m.Served() || len(m.Actions) != 3 {
		t.Fatalf("got %+v", m.Status)
	}
	column := m.Table.Column
	var got []ActionAssignment
	for _, a := range m.Actions[0].Set {
		if a.Field.Column != column(a.Field.Name) {
			t.Errorf("%s has another column", a.Field.Name)
		}
		got = append(got, ActionAssignment{How: a.How, Value: a.Value, Parameter: a.Parameter})
	}
	if want := []ActionAssignment{{Value: "none"}, {Parameter: "n"}, {How: database.AssignNow}, {}}; !reflect.DeepEqual(got, want) {
		t.Errorf("it sets %+v, want %+v", got, want)
	}
	where := m.Actions[0].Where
	if want := (database.Compare{Column: column("status"), Op: database.Equal, Value: "out"}); len(where) != 1 || !reflect.DeepEqual(where[0].Condition, database.Condition(want)) {
		t.Errorf("where is %+v", where)
	}
	if want := []sqlscan.Piece{{SQL: "DELETE FROM employee WHERE id IN ("}, {Parameter: "ids"}, {SQL: ")"}}; !reflect.DeepEqual(m.Actions[1].Statements[0], want) {
		t.Errorf("the statement is %+v", m.Actions[1].Statements[0])
	}
	if m.Actions[1].Where != nil || m.Actions[2].Webhook == nil {
		t.Errorf("the others are %+v and %+v", m.Actions[1], m.Actions[2])
	}
}
