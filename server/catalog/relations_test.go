package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

func inline(model, foreignKey string) func(*contract.Model) {
	return func(m *contract.Model) {
		m.Inlines = append(m.Inlines, contract.Inline{Model: model, ForeignKey: foreignKey, Max: 7})
	}
}

func TestARelationWithoutAFreeNameIsNamedByTheStatus(t *testing.T) {
	m := at(t, "", nil).Model("employee")
	if want := "The foreign key boss_id has no relation, because the name it would have is taken. Name one in fields.overrides."; !m.Served() || !slices.Equal(m.Status.Notes, []string{want}) {
		t.Errorf("got %+v, want %q", m.Status, want)
	}
	if f := m.Field("boss_id"); f == nil || f.Name != "boss_id" || m.Relation("boss") != nil {
		t.Errorf("the foreign key is %+v", f)
	}
}

// What a caller may not see of a foreign key, the status does not tell, either.
func TestTheStatusTellsTheForeignKeysThatCallersSee(t *testing.T) {
	told := func(c *Catalog, model string) string {
		var all []string
		for _, fk := range c.Model(model).Status.ForeignKeys {
			all = append(all, strings.Join(fk.Columns, "+")+" to "+fk.Model)
		}
		return strings.Join(all, ", ")
	}
	for _, tc := range []struct {
		what, of, model, want string
		change                func(*contract.Model)
	}{
		{"all are visible", "", "employee", "boss_id to employee, department_code+department_floor to department", nil},
		{"a name is taken, and there are two to one model", "", "task", "assignee_id to employee, reviewer_id to employee", nil},
		{"a column is hidden", "task", "task", "reviewer_id to employee", func(m *contract.Model) { m.Exclude = []string{"assignee_id"} }},
		{"a column is masked", "employee", "employee", "boss_id to employee", mask("department_floor")},
		{"the other model is not served", "department", "employee", "boss_id to employee", func(m *contract.Model) { m.Table = "nowhere" }},
		{"none", "", "summary", "", nil},
	} {
		if got := told(at(t, tc.of, tc.change), tc.model); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.what, got, tc.want)
		}
	}
}

// A policy on employees does not guard the tasks that refer to them, which is right, and easily overlooked.
func TestAModelWithoutPoliciesThatRefersToAGuardedOneSaysSo(t *testing.T) {
	guarded := func(m *contract.Model) {
		m.RowPolicies = []contract.RowPolicy{{Name: "mine", Groups: []string{"staff"}, AllRows: true}}
	}
	says := func(c *Catalog, model string) bool {
		return slices.ContainsFunc(c.Model(model).Status.Notes, func(note string) bool {
			return strings.HasPrefix(note, "employee has row policies, which do not guard the rows that refer to it by assignee_id")
		})
	}
	if c := at(t, "employee", guarded); !says(c, "task") || says(c, "employee") {
		t.Errorf("got the notes %q of task and %q of employee, want the first alone to say that it is not guarded", c.Model("task").Status.Notes, c.Model("employee").Status.Notes)
	}
	if c := at(t, "task", guarded); says(c, "task") {
		t.Errorf("got the notes %q of a model with policies of its own, want none", c.Model("task").Status.Notes)
	}
}

// Clients refuse the column's own name, and need no other than the relation's.
func TestTheFieldOfAForeignKeyIsNamedByItsRelation(t *testing.T) {
	const column = "Zuständige ID"
	for _, tc := range []struct {
		name      string
		overrides []contract.FieldOverride
		field     string
		relation  string
	}{
		{"by itself", nil, "zustaendige_id", "zustaendige"},
		{"with a relation", []contract.FieldOverride{{Name: column, Relation: "worker"}}, "worker_id", "worker"},
		{"with another name", []contract.FieldOverride{{Name: column, Rename: "in_charge"}}, "in_charge", "zustaendige"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			schema := office()
			schema.Tables[4].Column("assignee_id").Name = column
			c := Build(&contract.Config{Models: []contract.Model{
				model("employee", "employee", nil), model("task", "task", func(m *contract.Model) { m.Overrides = tc.overrides }),
			}}, schema)
			m := c.Model("task")
			if f := m.Field(tc.field); !m.Served() || f == nil || f.Name != tc.field || m.Relation(tc.relation) == nil || strings.Contains(fmt.Sprint(m.Status.Notes), column) {
				t.Errorf("got the fields %v and %+v, want %s with the relation %s and no note on names", m.columns, m.Status, tc.field, tc.relation)
			}
		})
	}
}

func TestRelationsOverWhatIsHiddenOrMaskedDoNotExist(t *testing.T) {
	for _, tc := range []struct {
		name   string
		model  string
		change func(*contract.Model)
		want   string
	}{
		{"all is visible", "", nil, "department task_by_assignee task_by_reviewer"},
		{"a hidden foreign key", "task", func(m *contract.Model) { m.Exclude = []string{"assignee_id"} }, "department task_by_reviewer"},
		{"a masked foreign key", "task", mask("assignee_id"), "department task_by_reviewer"},
		{"a column of a foreign key of two is hidden", "employee", func(m *contract.Model) { m.Exclude = []string{"department_floor"} }, "task_by_assignee task_by_reviewer"},
		{"the other model is withheld", "task", key("none"), "department"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var names []string
			for _, r := range at(t, tc.model, tc.change).Model("employee").Relations {
				names = append(names, r.Name)
			}
			if got := strings.Join(names, " "); got != tc.want {
				t.Errorf("the relations are %q, want %q", got, tc.want)
			}
		})
	}
}

func TestInlinesLeadFromTheRowToItsOwn(t *testing.T) {
	c := at(t, "employee", inline("task", "reviewer_id"))
	m := c.Model("employee")
	if !m.Served() || len(m.Inlines) != 1 {
		t.Fatalf("got %+v", m.Status)
	}
	in := m.Inlines[0]
	if in.Model != c.Model("task") || in.Max != 7 || in.Relation.Name != "task_by_reviewer" || !in.Relation.Many || in.Relation.Theirs[0].Name != "reviewer_id" || in.Relation.Ours[0].Name != "id" {
		t.Errorf("the inline is %+v over %+v", in, in.Relation)
	}
}

func TestAnInlineThatIsWithheldWithholdsItsParent(t *testing.T) {
	schema := office()
	c := Build(&contract.Config{Models: []contract.Model{
		model("employee", "employee", inline("task", "assignee_id")),
		model("task", "task", func(m *contract.Model) { m.Exclude = []string{"assignee_id"} }),
	}}, schema)
	if m := c.Model("employee"); m.Served() || m.Status.Message != "inlines: the foreign key assignee_id of task, or what it refers to, is hidden or masked" {
		t.Errorf("a hidden foreign key: %+v", m.Status)
	}
	c = Build(&contract.Config{Models: []contract.Model{
		model("employee", "employee", inline("task", "assignee_id")),
		model("task", "task", func(m *contract.Model) { m.Ordering = []string{"nothing"} }),
	}}, schema)
	if m := c.Model("employee"); m.Served() || !strings.HasPrefix(m.Status.Message, "inlines: the model task is not served: ordering: task has no column nothing") {
		t.Errorf("a withheld inline: %+v", m.Status)
	}
}

func TestForeignKeysAreKnownByWhatTheyLeadTo(t *testing.T) {
	schema := office()
	c := Build(&contract.Config{Models: []contract.Model{model("employee", "employee", nil)}}, schema)
	employee := c.Model("employee").Table
	var got []string
	for _, d := range c.Dependents(employee) {
		got = append(got, fmt.Sprint(d.Table.Name, ".", d.Key.Columns[0].Name, " ", d.Model == c.Model("employee")))
	}
	if want := []string{"employee.boss_id true", "task.assignee_id false", "task.reviewer_id false"}; !slices.Equal(got, want) {
		t.Errorf("pointing at it are %q, want %q", got, want)
	}
	if c.ModelOf(employee) != c.Model("employee") || c.ModelOf(schema.Tables[0]) != nil {
		t.Error("a table's model is another one")
	}
}
