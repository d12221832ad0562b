package catalog

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// office is a schema for exposures with mistakes: employees in departments, their tasks, a view without a key, and the
// audit table.
func office() *database.Schema {
	column := func(name string, kind database.Kind) *database.Column {
		return &database.Column{Name: name, Kind: kind, Scale: -1, Precision: -1, FractionDigits: -1, Nullable: true}
	}
	with := func(c *database.Column, change func(*database.Column)) *database.Column { change(c); return c }
	required := func(c *database.Column) *database.Column {
		return with(c, func(c *database.Column) { c.Nullable = false })
	}
	department := &database.Table{Name: "department", Kind: database.BaseTable, Writable: true, Columns: []*database.Column{
		required(column("code", database.Text)), required(column("floor", database.Integer)), column("region", database.Text)}}
	department.PrimaryKey = department.Columns[:2]
	employee := &database.Table{Name: "employee", Kind: database.BaseTable, Writable: true, Columns: []*database.Column{
		required(column("id", database.Integer)),
		column("name", database.Text),
		with(column("status", database.Enum), func(c *database.Column) { c.Choices = []string{"in", "out"} }),
		column("card", database.Text),
		with(column("boss_id", database.Integer), func(c *database.Column) { c.Comment = "who to ask" }),
		column("boss", database.Text),
		column("department_code", database.Text),
		column("department_floor", database.Integer),
		required(column("version", database.Integer)),
		with(required(column("changed", database.TimestampTZ)), func(c *database.Column) { c.FractionDigits = 6 }),
		with(required(column("day", database.Timestamp)), func(c *database.Column) { c.FractionDigits, c.NativeType = 0, "timestamp(0)" }),
		with(column("initials", database.Text), func(c *database.Column) { c.Generated = true }),
		column("api_token", database.Text),
		with(column("salary", database.Decimal), func(c *database.Column) { c.Precision, c.Scale = 6, 2 }),
		required(column("badge", database.Text)),
		required(column("whenever", database.Timestamp)),
	}}
	employee.PrimaryKey = employee.Columns[:1]
	employee.Unique = [][]*database.Column{{employee.Column("badge")}}
	employee.ForeignKeys = []*database.ForeignKey{
		{Name: "boss", Columns: []*database.Column{employee.Column("boss_id")}, References: employee, ReferencedColumns: employee.PrimaryKey},
		{Name: "department", Columns: []*database.Column{employee.Column("department_code"), employee.Column("department_floor")}, References: department, ReferencedColumns: department.PrimaryKey},
	}
	task := &database.Table{Name: "task", Kind: database.BaseTable, Writable: true, Columns: []*database.Column{
		required(column("number", database.Integer)), column("assignee_id", database.Integer), column("reviewer_id", database.Integer),
		column("title", database.Text), column("due", database.Date), required(column("key", database.Text)), column("maybe", database.Text)}}
	task.Unique = [][]*database.Column{task.Columns[:1], {task.Column("maybe")}}
	for _, name := range []string{"assignee_id", "reviewer_id"} {
		task.ForeignKeys = append(task.ForeignKeys, &database.ForeignKey{Name: name, Columns: []*database.Column{task.Column(name)}, References: employee, ReferencedColumns: employee.PrimaryKey})
	}
	view := &database.Table{Name: "summary", Kind: database.View, Columns: []*database.Column{column("region", database.Text), column("id", database.Integer), column("heads", database.Integer)}}
	audit := &database.Table{Name: "mcp_admin_log", Kind: database.BaseTable, Writable: true, Columns: []*database.Column{required(column("id", database.Integer)), column("message", database.Text)}}
	audit.PrimaryKey = audit.Columns[:1]
	schema := &database.Schema{Engine: "PostgreSQL", Database: "office", Tables: []*database.Table{department, employee, audit, view, task}, Audit: audit}
	return schema.GrantAll()
}

// at builds the catalog of all of office's tables, with a change to the exposure of one.
func at(t testing.TB, name string, change func(*contract.Model)) *Catalog {
	t.Helper()
	schema := office()
	config := &contract.Config{}
	for _, table := range schema.Tables {
		m := model(table.Name, table.Name, nil)
		if table.Name == name && change != nil {
			change(&m)
		}
		config.Models = append(config.Models, m)
	}
	return Build(config, schema)
}

// refused is a case of an exposure that does not fit its table.
type refused struct {
	name, model string
	change      func(*contract.Model)
	reason      string
	message     string
}

func (r refused) test(t *testing.T) {
	t.Run(r.name, func(t *testing.T) {
		m := at(t, r.model, r.change).Model(r.model)
		if m.Served() || m.Status.Reason != r.reason || m.Status.Message != r.message {
			t.Errorf("got %s %q, want %s %q", m.Status.Reason, m.Status.Message, r.reason, r.message)
		}
	})
}

const (
	missing = contract.ReasonFieldNotFound
	wrong   = contract.ReasonFieldNotAllowed
)

func mask(names ...string) func(*contract.Model) {
	return func(m *contract.Model) {
		for _, name := range names {
			m.Masked = append(m.Masked, contract.MaskedField{Name: name, KeepLast: 2})
		}
	}
}

func override(o contract.FieldOverride) func(*contract.Model) {
	return func(m *contract.Model) { m.Overrides = append(m.Overrides, o) }
}

func key(names ...string) func(*contract.Model) {
	return func(m *contract.Model) { m.Key = names }
}

func TestFieldsThatCannotBeAsTheExposureHasThemWithholdTheModel(t *testing.T) {
	display := func(name string) func(*contract.Model) {
		return func(m *contract.Model) { m.DisplayField = name }
	}
	version := func(name string) func(*contract.Model) {
		return func(m *contract.Model) { m.VersionField = name }
	}
	both := func(changes ...func(*contract.Model)) func(*contract.Model) {
		return func(m *contract.Model) {
			for _, change := range changes {
				change(m)
			}
		}
	}
	hide := func(names ...string) func(*contract.Model) {
		return func(m *contract.Model) { m.Exclude = names }
	}
	for _, r := range []refused{
		{"read-only names nothing", "task", func(m *contract.Model) { m.ReadOnly = []string{"titel"} }, missing, "fields.readOnly: task has no column titel; the nearest is title"},
		{"a mask over nothing", "task", mask("titel"), missing, "fields.masked: task has no column titel; the nearest is title"},
		{"a mask over what is hidden", "task", both(hide("title"), mask("title")), missing, "fields.masked: column title of task is hidden"},
		{"a mask over a secret", "employee", mask("api_token"), wrong, "fields.masked: column api_token of employee is hidden, since it is named like a secret; list it in fields.include to show it as ****"},
		{"a mask over the key", "employee", mask("id"), wrong, "fields.masked: id is part of the key of employee, which cannot be masked"},
		{"a mask over a declared key", "task", both(key("number"), mask("number")), wrong, "fields.masked: number is part of the key of task, which cannot be masked"},
		{"a declared key is hidden", "task", both(key("number"), hide("number")), wrong, "fields.exclude: number is part of the key of task, which cannot be hidden"},
		{"order by what is masked", "employee", both(mask("card"), func(m *contract.Model) { m.Ordering = []string{"-card"} }), wrong, "ordering: card is masked; a masked field cannot order, search or label rows"},
		{"order by what is hidden", "employee", both(hide("card"), func(m *contract.Model) { m.Ordering = []string{"card"} }), missing, "ordering: column card of employee is hidden"},
		{"search in what is masked", "employee", both(mask("card"), func(m *contract.Model) { m.SearchFields = []string{"^card"} }), wrong, "searchFields: card is masked; a masked field cannot order, search or label rows"},
		{"called by what is masked", "employee", both(mask("name"), display("name")), wrong, "displayField: name is masked; a masked field cannot order, search or label rows"},
		{"called by what is hidden", "employee", both(hide("name"), display("name")), missing, "displayField: column name of employee is hidden"},
		{"called by nothing", "employee", display("nam"), missing, "displayField: employee has no column nam; the nearest is name"},
		{"an override of nothing", "employee", override(contract.FieldOverride{Name: "stat"}), missing, "fields.overrides: employee has no column stat; the nearest is status"},
		{"two overrides of one field", "employee", both(override(contract.FieldOverride{Name: "boss_id", Relation: "chief"}), override(contract.FieldOverride{Name: "chief_id"})), wrong, "fields.overrides: chief_id is listed twice, once as boss_id and once as chief_id"},
		{"a choice that is no value", "employee", override(contract.FieldOverride{Name: "version", Choices: []contract.Choice{{Value: "1"}, {Value: "one"}}}), wrong, `fields.overrides: the choice "one" of version must be an integer, or a string of its digits, not "one"`},
		{"a choice that cannot be stored", "employee", override(contract.FieldOverride{Name: "salary", Choices: []contract.Choice{{Value: "1.234"}}}), wrong, `fields.overrides: the choice "1.234" of salary must have at most 2 digits after the point, not 3`},
		{"a choice that the enum has not", "employee", override(contract.FieldOverride{Name: "status", Choices: []contract.Choice{{Value: "ill"}}}), wrong, `fields.overrides: the choice "ill" of status must be one of in, out, not "ill"`},
		{"a type that the column cannot have", "employee", override(contract.FieldOverride{Name: "badge", Type: "Integer"}), wrong, "fields.overrides: badge cannot be of the type Integer, as the column is text; only MySQL's and MariaDB's tinyint can be either Integer or Boolean"},
		{"a number that is read as a date", "employee", override(contract.FieldOverride{Name: "salary", Reads: "Date"}), wrong, "fields.overrides: salary cannot be read as Date, as the column is no text but decimal; remove reads"},
		{"a text that is read as a code", "employee", override(contract.FieldOverride{Name: "card", Reads: "Text"}), wrong, "fields.overrides: card cannot be read as Text, as the column is no integer but text; remove reads"},
		{"a key that is read as a number", "department", override(contract.FieldOverride{Name: "code", Reads: "Integer"}), wrong, "fields.overrides: code is part of the key, whose values are compared as they are; remove reads"},
		{"a policy by the order of texts that are read as numbers", "employee", both(override(contract.FieldOverride{Name: "card", Reads: "Integer"}), func(m *contract.Model) {
			m.RowPolicies = []contract.RowPolicy{{Name: "low", Everyone: true, Filters: []contract.Filter{{Field: "card", Lookup: "lt", Value: "5"}}}}
		}), wrong, "rowPolicies low: the filter of card: lt compares the texts of card, which are read as Integer; compare it by exact or in, which texts have, or use a column of that type"},
		{"a relation of what leads nowhere", "employee", override(contract.FieldOverride{Name: "name", Relation: "namesake"}), wrong, "fields.overrides: name is not a foreign key, so it has no relation to name"},
		{"a relation with a column's name", "employee", override(contract.FieldOverride{Name: "boss_id", Relation: "card"}), wrong, "fields.overrides: card cannot be the relation of boss_id: another column or relation is named card or card_id"},
		{"a key of no column", "task", key("nummer"), missing, "key: task has no column nummer; the nearest is number"},
		{"a key where there is one", "employee", key("badge"), wrong, "key: employee has a primary key of its own, id; leave out key"},
		{"a key of the key in another order", "department", key("floor", "code"), wrong, "key: department has a primary key of its own, code, floor; leave out key"},
		{"a column twice in the key", "task", key("assignee", "number", "number"), missing, "key: task has no column assignee; its columns are number, assignee_id, reviewer_id, title, due, key, maybe"},
		{"a version of nothing", "employee", version("versio"), missing, "versionField: employee has no column versio; the nearest is version"},
		{"a hidden version", "employee", both(hide("version"), version("version")), missing, "versionField: column version of employee is hidden"},
		{"a masked version", "employee", both(mask("version"), version("version")), wrong, "versionField: version is masked; a masked field cannot order, search or label rows"},
		{"the key as version", "employee", version("id"), wrong, "versionField: id is part of the key, which never changes"},
		{"a version that may be null", "employee", version("boss_id"), wrong, "versionField: boss_id may be null, and a row would then have no version; make the column NOT NULL"},
		{"a text as version", "employee", version("badge"), wrong, "versionField: badge is text; a version is an integer or a timestamp"},
		{"a version of whole seconds", "employee", version("day"), wrong, "versionField: the type of day, timestamp(0), is coarser than a millisecond; give it 3 digits or more, or use an integer"},
		{"an inline of no model", "employee", inline("tasks", ""), missing, "inlines: there is no model tasks"},
		{"an inline of a model that leads nowhere", "employee", inline("department", ""), wrong, "inlines: department has no foreign key to employee"},
		{"an inline by one of two keys", "employee", inline("task", ""), wrong, "inlines: task has several foreign keys to employee; name one of assignee_id, reviewer_id in foreignKey"},
		{"an inline by what is no key to here", "employee", inline("task", "title"), missing, "inlines: title of task is no foreign key to employee; there are assignee_id, reviewer_id"},
		{"the audit's table is written", "mcp_admin_log", func(m *contract.Model) { m.Operations = []string{"list", "update"} }, wrong, "operations: mcp_admin_log is a table of the server's own, which is read-only; remove update"},
		{"the audit's table has an action", "mcp_admin_log", func(m *contract.Model) { m.Actions = []contract.Action{{Name: "forget"}} }, wrong, "actions: mcp_admin_log is a table of the server's own, which is read-only; remove them"},
	} {
		r.test(t)
	}
}

func TestTypesOfOverrides(t *testing.T) {
	schema := office()
	employee := schema.Tables[1]
	for _, name := range []string{"active", "level"} {
		employee.Columns = append(employee.Columns, &database.Column{Name: name, Kind: database.Boolean, Bits: 8, NativeType: "tinyint(1)", Nullable: true})
	}
	m := Build(&contract.Config{Models: []contract.Model{model("employee", "employee", func(m *contract.Model) {
		override(contract.FieldOverride{Name: "level", Type: contract.TypeInteger, Choices: []contract.Choice{{Value: "2"}}})(m)
		override(contract.FieldOverride{Name: "active", Type: contract.TypeBoolean})(m)
	})}}, schema.GrantAll()).Model("employee")
	if !m.Served() {
		t.Fatalf("it is not served: %s", m.Status.Message)
	}
	if level, active := m.Field("level").Column, m.Field("active").Column; level.Kind != database.Integer || active.Kind != database.Boolean || m.Table.Column("level") != level {
		t.Errorf("level is %s, active %s", level.Kind, active.Kind)
	}
	if employee.Column("level").Kind != database.Boolean {
		t.Error("the schema itself was changed")
	}
}

func TestSetsTellTheirMembers(t *testing.T) {
	schema := office()
	employee := schema.Tables[1]
	employee.Columns = append(employee.Columns, &database.Column{Name: "days", Kind: database.Other, NativeType: "set('mo','tu')", Choices: []string{"mo", "tu"}, Comment: "when they work", Nullable: true})
	m := Build(&contract.Config{Models: []contract.Model{model("employee", "employee", nil)}}, schema.GrantAll()).Model("employee")
	if f := m.Field("days"); f.Help != "when they work. Any of mo, tu, joined by commas." || len(f.Choices) > 0 {
		t.Errorf("the help is %q, the choices %v", f.Help, f.Choices)
	}
}

func TestWhatTheExposureSaysOfFieldsHolds(t *testing.T) {
	m := at(t, "employee", func(m *contract.Model) {
		m.ReadOnly = []string{"status", "boss_id"}
		mask("card")(m)
		m.VersionField = "changed"
		override(contract.FieldOverride{Name: "status", Description: "where they are", Choices: []contract.Choice{{Value: "in", Label: "In"}}})(m)
		override(contract.FieldOverride{Name: "boss_id", Relation: "chief"})(m)
	}).Model("employee")
	if !m.Served() || len(m.Status.Notes) > 0 {
		t.Fatalf("got %+v", m.Status)
	}
	var readOnly []string
	for _, f := range m.Fields {
		if f.ReadOnly {
			readOnly = append(readOnly, f.Name)
		}
	}
	if want := []string{"status", "chief_id", "changed", "initials"}; !slices.Equal(readOnly, want) {
		t.Errorf("read-only are %q, want %q", readOnly, want)
	}
	if want := []string{"status", "boss_id", "changed", "initials"}; !slices.Equal(m.Status.ReadOnly, want) || !slices.Equal(m.Status.Masked, []string{"card"}) {
		t.Errorf("the status says that %q are read-only and %q masked", m.Status.ReadOnly, m.Status.Masked)
	}
	if f := m.Field("card"); !f.Masked || f.KeepLast != 2 {
		t.Errorf("the mask is %+v", f)
	}
	if f := m.Field("status"); f.Help != "where they are" || len(f.Choices) != 1 || f.Choices[0].Label != "In" {
		t.Errorf("status is %+v", f)
	}
	if f := m.Field("boss_id"); f.Name != "chief_id" || f.Help != "who to ask" || m.Relation("chief") == nil || m.Relation("boss") != nil {
		t.Errorf("the foreign key is %+v", f)
	}
	if m.Version == nil || m.Version.Name != "changed" || m.Display.Name != "name" {
		t.Errorf("the version is %v, the display %v", m.Version, m.Display)
	}
	for _, s := range m.Search {
		if s.Field.Masked {
			t.Errorf("search looks in the masked %s", s.Text)
		}
	}
}

func TestARowIsCalledByTheColumnThatIsNamedForIt(t *testing.T) {
	for _, tc := range []struct {
		model  string
		change func(*contract.Model)
		want   string
	}{
		{"employee", nil, "name"}, {"task", nil, "title"}, {"department", nil, ""},
		{"task", mask("title"), ""},
		{"task", func(m *contract.Model) { m.Exclude = []string{"title"} }, ""},
		{"task", func(m *contract.Model) { m.DisplayField = "assignee_id" }, "assignee_id"},
	} {
		m, got := at(t, tc.model, tc.change).Model(tc.model), ""
		if m.Display != nil {
			got = m.Display.Name
		}
		if !m.Served() || got != tc.want {
			t.Errorf("%s is called by %q, want %q: %s", tc.model, got, tc.want, m.Status.Message)
		}
	}
}

func TestAFieldThatIsNamedLikeASecretSaysSo(t *testing.T) {
	m := at(t, "employee", func(m *contract.Model) { m.Include = []string{"name", "api_token"} }).Model("employee")
	if f := m.Field("api_token"); f == nil || !f.Secret || m.Field("name").Secret || len(m.Status.Hidden) != 0 {
		t.Errorf("the field is %+v, and hidden are %q", f, m.Status.Hidden)
	}
}

func TestKeys(t *testing.T) {
	for _, tc := range []struct {
		name, model string
		change      func(*contract.Model)
		key, row    string
		unique      bool
	}{
		{"a primary key", "employee", nil, "id", "", true},
		{"a primary key, declared as it is", "department", key("code", "floor"), "code floor", "id", true},
		{"none", "summary", nil, "", "", false},
		{"the only unique index that is never null", "task", nil, "number", "id", true},
		{"none, as the unique column is hidden", "task", exclude("number"), "maybe", "id", false},
		{"a unique column", "task", key("number"), "number", "id", true},
		{"a unique column that may be null", "task", key("maybe"), "maybe", "id", false},
		{"a column that is not unique", "task", key("key"), "key", "id", false},
		{"more than what is unique", "task", key("number", "key"), "number key", "id", true},
		{"a view's", "summary", key("region", "id"), "region id", "pk", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := at(t, tc.model, tc.change).Model(tc.model)
			if !m.Served() {
				t.Fatalf("it is not served: %s", m.Status.Message)
			}
			if got := strings.Join(m.Status.Key, " "); got != tc.key || m.UniqueKey != tc.unique || m.KeyName != tc.row {
				t.Errorf("the key is %q (unique: %v), in rows %q", got, m.UniqueKey, m.KeyName)
			}
			for _, f := range m.Key {
				if !f.PrimaryKey || m.Field(f.Name) != f {
					t.Errorf("%s is not of the key, or hidden", f.Name)
				}
			}
		})
	}
}

func TestAVersionIsAnIntegerOrAFineTimestamp(t *testing.T) {
	for _, tc := range []struct {
		column string
		want   bool
	}{
		{"version", true}, {"changed", true}, {"whenever", false}, {"day", false},
	} {
		t.Run(tc.column, func(t *testing.T) {
			m := Build(&contract.Config{Models: []contract.Model{model("employee", "employee", func(m *contract.Model) { m.VersionField = tc.column })}}, office()).Model("employee")
			if m.Served() != tc.want || tc.want && (m.Version.Name != tc.column || !m.Version.ReadOnly) {
				t.Errorf("got %+v", m.Status)
			}
		})
	}
}

func TestTheAuditsTableIsOnlyViewed(t *testing.T) {
	c := at(t, "", nil)
	m := c.Model("mcp_admin_log")
	if !m.Served() || !m.Audits || c.Audit() != m.Table || !slices.Equal(m.Operations, contract.ShowingOperations()) {
		t.Errorf("its operations are %q: %+v", m.Operations, m.Status)
	}
	if m := c.Model("task"); m.Audits || len(m.Operations) != 0 {
		t.Errorf("another's are %q", m.Operations)
	}
}

func exclude(columns ...string) func(*contract.Model) {
	return func(m *contract.Model) { m.Exclude = columns }
}
