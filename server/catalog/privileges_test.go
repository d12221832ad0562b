package catalog

import (
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// granted is the office after its database's user was granted less.
func granted(t *testing.T, name string, change func(*database.Table), exposure func(*contract.Model)) *Model {
	t.Helper()
	schema := office()
	for _, table := range schema.Tables {
		if table.Name == name {
			change(table)
		}
	}
	return Build(&contract.Config{Models: []contract.Model{model(name, name, exposure)}}, schema).Model(name)
}

func TestATableThatMayNotBeReadIsNotServed(t *testing.T) {
	m := granted(t, "task", func(t *database.Table) { t.Privileges = database.MayInsert }, nil)
	if m.Served() || m.Status.Reason != contract.ReasonNotPermitted || m.Status.Message != "the database user may not read task; grant it SELECT on the table" {
		t.Errorf("%+v", m.Status)
	}
}

func TestColumnsThatMayNotBeReadAreHidden(t *testing.T) {
	without := func(columns ...string) func(*database.Table) {
		return func(t *database.Table) {
			for _, name := range columns {
				t.Column(name).Privileges = database.MayInsert
			}
		}
	}
	m := granted(t, "employee", without("card", "salary"), nil)
	if m.Field("card") != nil || !strings.Contains(strings.Join(m.Status.Notes, " "), "The database user may not read card, salary; grant SELECT on them") {
		t.Errorf("%+v", m.Status)
	}
	m = granted(t, "employee", without("id"), nil)
	if !m.Served() || len(m.Key) > 0 || !strings.Contains(strings.Join(m.Status.Notes, " "), "may not read the primary key (id)") {
		t.Errorf("a key that may not be read: %+v", m.Status)
	}
	m = granted(t, "employee", without("card"), func(m *contract.Model) { m.Ordering = []string{"card"} })
	if m.Status.Message != "ordering: the database user may not read column card of employee; grant SELECT on it" {
		t.Errorf("%q", m.Status.Message)
	}
}

// keyApart leaves a table without a key, as its rows lie on several servers by something else.
func keyApart(t *database.Table) { t.KeyApart, t.PrimaryKey, t.Unique = t.Columns[:1], nil, nil }

func TestWhyNothingIsWritten(t *testing.T) {
	full := func(*database.Table) {}
	table := func(p database.Privileges) func(*database.Table) { return func(t *database.Table) { t.Privileges = p } }
	for _, tc := range []struct {
		name, model            string
		change                 func(*database.Table)
		exposure               func(*contract.Model)
		create, update, delete string
	}{
		{"all granted", "employee", full, nil, "", "", ""},
		{"a view", "summary", full, nil, "is a view", "is a view", "is a view"},
		{"no key", "task", func(t *database.Table) { t.Unique = nil }, nil, "", NoKey, NoKey},
		{"a key that each shard keeps for itself", "task", keyApart, nil, "", "each shard keeps the primary key (number) unique for itself alone", "to read rows by their key, list it in spec.key"},
		{"such a key that the exposure names", "task", keyApart, func(m *contract.Model) { m.Key = []string{"number"} }, "", "Have a sequence of the VSchema fill it", "or shard the table by it."},
		{"SELECT alone", "employee", table(database.MaySelect), nil, "lacks INSERT on employee", "lacks UPDATE", "lacks DELETE"},
		{"no DELETE", "employee", table(database.MayAll &^ database.MayDelete), nil, "", "", "lacks DELETE"},
		{"no UPDATE", "employee", table(database.MayAll &^ database.MayUpdate), nil, "", "lacks UPDATE", "lacks UPDATE on employee. The database locks"},
		{"a required column is hidden", "employee", full, exclude("badge"), "a new row needs badge", "", ""},
		{"a required column is hidden, and a trigger may fill it", "employee", func(t *database.Table) { t.InsertTrigger = true }, exclude("badge"), "", "", ""},
		{"a required column is hidden, and a policy fixes it", "employee", full, func(m *contract.Model) {
			m.Exclude = []string{"badge"}
			m.RowPolicies = []contract.RowPolicy{{Name: "own", Filters: []contract.Filter{{Field: "badge", TokenAttribute: "badge"}}}}
		}, "", "", ""},
		{"a required column may not be set", "employee", func(t *database.Table) { t.Column("badge").Privileges = database.MaySelect }, nil, "a new row needs badge", "", ""},
		{"the version is filled in", "employee", full, func(m *contract.Model) { m.VersionField = "version" }, "", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := granted(t, tc.model, tc.change, tc.exposure)
			if !m.Served() {
				t.Fatalf("it is not served: %s", m.Status.Message)
			}
			for what, pair := range map[string][2]string{
				"create": {m.WhyNoCreate(), tc.create}, "update": {m.WhyNoUpdate(), tc.update}, "delete": {m.WhyNoDelete(), tc.delete},
			} {
				if got, want := pair[0], pair[1]; (want == "") != (got == "") || !strings.Contains(got, want) {
					t.Errorf("%s: %q, want %q", what, got, want)
				}
			}
		})
	}
}

func TestDependentsOfEverySchemaAreKnown(t *testing.T) {
	schema := office()
	employee := schema.Tables[1]
	boss := &database.Column{Name: "who", Kind: database.Integer}
	outside := &database.Table{Schema: "elsewhere", Name: "badge", Columns: []*database.Column{boss}}
	outside.ForeignKeys = []*database.ForeignKey{{Name: "who", Columns: outside.Columns, References: employee, ReferencedColumns: employee.PrimaryKey}}
	schema.Outside = []*database.Table{outside}
	c := Build(&contract.Config{Models: []contract.Model{
		model("employee", "employee", nil), model("task", "task", func(m *contract.Model) { m.Exclude = []string{"gone"} }),
	}}, schema)
	found := map[string]Dependent{}
	for _, d := range c.Dependents(employee) {
		found[d.Table.Name+"."+d.Key.Columns[0].Name] = d
	}
	if d := found["badge.who"]; d.Table != outside || !d.Unreadable {
		t.Errorf("a foreign key of another schema, which may not be read: %+v", d)
	}
	if d := found["task.reviewer_id"]; !d.Withheld || d.Model != nil || d.Unreadable {
		t.Errorf("a foreign key of a model that is withheld: %+v", d)
	}
	if !c.Withholds(c.Model("task").Table) || c.Withholds(employee) || c.Withholds(outside) {
		t.Error("which tables are withheld is not known")
	}
	config := &contract.Config{Models: []contract.Model{model("employee", "employee", nil)}}
	config.Endpoint.WithheldTables = []contract.TableName{{Name: "task"}, {Name: "employee"}, {Name: "unknown"}, {Schema: "elsewhere", Name: "badge"}}
	if c := Build(config, schema); !c.Withholds(schema.Tables[4]) || c.Withholds(employee) || !c.Withholds(outside) {
		t.Error("the table of an exposure that was refused is not withheld, or a served one is")
	}
}
