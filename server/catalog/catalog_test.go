package catalog

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// shop is a schema of three related tables: author <- book <- sale, the last with a key of two columns.
func shop() *database.Schema {
	column := func(name string, kind database.Kind) *database.Column {
		return &database.Column{Name: name, Kind: kind, Scale: -1}
	}
	author := &database.Table{Name: "author", Kind: database.BaseTable, Columns: []*database.Column{
		column("id", database.Integer), column("name", database.Text), column("api_key", database.Text)}}
	author.PrimaryKey = author.Columns[:1]
	book := &database.Table{Name: "Book", Kind: database.BaseTable, Columns: []*database.Column{
		column("BookId", database.Integer), column("AuthorId", database.Integer), column("Title", database.Text), column("Meta", database.JSON)}}
	book.PrimaryKey = book.Columns[:1]
	book.ForeignKeys = []*database.ForeignKey{{Name: "a", Columns: book.Columns[1:2], References: author, ReferencedColumns: author.PrimaryKey}}
	sale := &database.Table{Name: "sale", Kind: database.BaseTable, Columns: []*database.Column{
		column("book_id", database.Integer), column("day", database.Date), column("id", database.Text)}}
	sale.PrimaryKey = sale.Columns[:2]
	sale.ForeignKeys = []*database.ForeignKey{{Name: "b", Columns: sale.Columns[:1], References: book, ReferencedColumns: book.PrimaryKey}}
	schema := &database.Schema{Engine: "SQLite", Database: "shop", Tables: []*database.Table{book, author, sale}}
	return schema.GrantAll()
}

func model(name, table string, change func(*contract.Model)) contract.Model {
	m := contract.Model{Name: name, Exposure: name, Table: table, DefaultPageSize: 100, MaxPageSize: 1000}
	if change != nil {
		change(&m)
	}
	return m
}

func build(models ...contract.Model) *Catalog {
	return Build(&contract.Config{Models: models}, shop())
}

func TestRowsAndRelationsAreNamedByTheRules(t *testing.T) {
	c := build(model("author", "author", nil), model("book", "Book", nil), model("sale", "sale", nil))
	for _, tc := range []struct {
		model             string
		fields, relations string
		keyName, hidden   string
	}{
		{"author", "id name", "book_by_author", "", "api_key"},
		{"book", "BookId author_id Title Meta", "author sale_by_book", "id", ""},
		{"sale", "book_id day id", "book", "pk", ""},
	} {
		m := c.Model(tc.model)
		if !m.Served() {
			t.Fatalf("%s is withheld: %s", tc.model, m.Status.Message)
		}
		var fields, relations []string
		for _, f := range m.Fields {
			fields = append(fields, f.Name)
		}
		for _, r := range m.Relations {
			relations = append(relations, r.Name)
		}
		if got := strings.Join(fields, " "); got != tc.fields {
			t.Errorf("%s has fields %q, want %q", tc.model, got, tc.fields)
		}
		if got := strings.Join(relations, " "); got != tc.relations {
			t.Errorf("%s has relations %q, want %q", tc.model, got, tc.relations)
		}
		if m.KeyName != tc.keyName {
			t.Errorf("%s shows its key as %q, want %q", tc.model, m.KeyName, tc.keyName)
		}
		if got := strings.Join(m.Status.Hidden, " "); got != tc.hidden {
			t.Errorf("%s hides %q, want %q", tc.model, got, tc.hidden)
		}
	}
	if f := c.Model("book").Field("AuthorId"); f == nil || f.Name != "author_id" {
		t.Error("a foreign key is not accepted under its column's own name")
	}
}

func TestWhatDoesNotFitIsWithheld(t *testing.T) {
	for _, tc := range []struct {
		name    string
		change  func(*contract.Model)
		reason  string
		message string
	}{
		{"a table that is not there", func(m *contract.Model) { m.Table = "Boook" }, contract.ReasonTableNotFound, "table Boook does not exist in database shop; the nearest is Book"},
		{"exclude names no column", func(m *contract.Model) { m.Exclude = []string{"Titel"} }, contract.ReasonFieldNotFound, "fields.exclude: Book has no column Titel; the nearest is Title"},
		{"include names no column", func(m *contract.Model) { m.Include = []string{"zzzzzzzz"} }, contract.ReasonFieldNotFound, "fields.include: Book has no column zzzzzzzz; its columns are BookId, author_id, Title, Meta"},
		{"the key is excluded", func(m *contract.Model) { m.Exclude = []string{"BookId"} }, contract.ReasonFieldNotAllowed, "cannot be hidden"},
		{"search in a hidden column", func(m *contract.Model) { m.Exclude, m.SearchFields = []string{"Title"}, []string{"Title"} }, contract.ReasonFieldNotFound, "searchFields: column Title of Book is hidden"},
		{"search in what is no text", func(m *contract.Model) { m.SearchFields = []string{"BookId"} }, contract.ReasonFieldNotAllowed, "is no text but integer"},
		{"search through a relation that is not there", func(m *contract.Model) { m.SearchFields = []string{"publisher__name"} }, contract.ReasonFieldNotFound, "searchFields"},
		{"search in a secret of another model", func(m *contract.Model) { m.SearchFields = []string{"author__api_key"} }, contract.ReasonFieldNotFound, "column api_key of author is hidden"},
		{"order by what has no order", func(m *contract.Model) { m.Ordering = []string{"-Meta"} }, contract.ReasonFieldNotAllowed, "has no order"},
		{"order by a column that is not there", func(m *contract.Model) { m.Ordering = []string{"Nope"} }, contract.ReasonFieldNotFound, "ordering"},
		{"display a column that is not there", func(m *contract.Model) { m.ListDisplay = []string{"Nope"} }, contract.ReasonFieldNotFound, "listDisplay"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := build(model("author", "author", nil), model("book", "Book", tc.change))
			m := c.Model("book")
			if m.Served() || m.Status.Reason != tc.reason || !strings.Contains(m.Status.Message, tc.message) {
				t.Errorf("got %s %q, want %s %q", m.Status.Reason, m.Status.Message, tc.reason, tc.message)
			}
			if a := c.Model("author"); !a.Served() || len(a.Relations) != 0 {
				t.Errorf("the other model must be served, without relations to a withheld one: %+v", a.Status)
			}
		})
	}
}

func TestOfTwoModelsOfATableTheOlderKeepsIt(t *testing.T) {
	old := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := build(
		model("a", "author", func(m *contract.Model) { m.Created = old.Add(time.Second) }),
		model("b", "author", func(m *contract.Model) { m.Created = old }),
	)
	if c.Model("a").Status.Reason != contract.ReasonTableConflicted || !c.Model("b").Served() {
		t.Errorf("a: %+v, b: %+v", c.Model("a").Status, c.Model("b").Status)
	}
}

func TestATableThatIsLeftOutIsToldAsSuch(t *testing.T) {
	schema := &database.Schema{Database: "d", HasSchemas: true, SearchPath: []string{"a"}, LeftOut: []database.LeftOut{{Schema: "a", Name: "loose", Why: "has no rule"}}}
	for _, in := range []string{"a", ""} {
		if got := tableNotFound(schema, in, "loose"); got != "table a.loose has no rule" {
			t.Errorf("in %q: got %q", in, got)
		}
	}
	if got := tableNotFound(schema, "b", "loose"); !strings.Contains(got, "table b.loose does not exist") {
		t.Errorf("got %q", got)
	}
}

func TestATableWithoutASchemaIsLookedForInTheSearchPath(t *testing.T) {
	in := func(schema string) *database.Table { return &database.Table{Schema: schema, Name: "t"} }
	schema := &database.Schema{Database: "d", HasSchemas: true, SearchPath: []string{"b", "a"},
		Tables: []*database.Table{in("a"), in("b"), {Schema: "c", Name: "only"}}}
	schema.GrantAll()
	elsewhere := func(m *contract.Model) { m.Schema = "z" }
	c := Build(&contract.Config{Models: []contract.Model{model("m", "t", nil), model("n", "only", nil), model("o", "t", elsewhere)}}, schema)
	if got := c.Model("m").Table.String(); got != "b.t" {
		t.Errorf("found %s, want b.t", got)
	}
	if m := c.Model("m"); m.Module != "b" {
		t.Errorf("the module is %q, want the table's schema", m.Module)
	}
	if got := c.Model("n").Status.Message; !strings.Contains(got, "the nearest is c.only") {
		t.Errorf("outside the search path: %q", got)
	}
	if got := c.Model("o").Status.Message; !strings.Contains(got, "not in a schema that the endpoint reads (b, a); add z to the MCPEndpoint's spec.database.schemas") {
		t.Errorf("in a schema that is not looked at: %q", got)
	}
}

func TestWithoutASchemaNothingIsServed(t *testing.T) {
	c := Build(&contract.Config{Models: []contract.Model{model("m", "t", nil)}}, nil)
	if m := c.Model("m"); m.Served() || m.Status.Reason != contract.ReasonSchemaUnknown {
		t.Errorf("%+v", m.Status)
	}
}

func TestRelationNames(t *testing.T) {
	for column, want := range map[string]string{
		"author_id": "author", "AuthorId": "author", "authorID": "author", "reports_to": "reports_to", "ReportsTo": "reports_to",
		"SupportRepId": "support_rep", "MediaTypeId": "media_type", "_id": "", "id": "id", "Id": "id", "ID": "id",
		"VALID": "valid", "AUTHOR_ID": "author", "x2Id": "x2", "HTTPServerId": "http_server", "a b_id": "a_b",
	} {
		if got := RelationName(column); got != want {
			t.Errorf("RelationName(%q) = %q, want %q", column, got, want)
		}
	}
}

func TestSecretLookingNames(t *testing.T) {
	is := func(name string, kind database.Kind) bool {
		return LooksSecret(&database.Table{Name: "person"}, &database.Column{Name: name, Kind: kind})
	}
	for _, name := range []string{"password", "passwordHash", "user_password", "PASSWD", "secret", "client_secret", "token", "AccessToken",
		"refresh_token", "api_key", "apiKey", "hash", "pw_hash", "salt", "private_key", "PrivateKey", "authtoken", "accesstoken", "pwhash",
		"passphrase", "pass_crypt", "Pass", "auth_key", "ha1", "ha1b", "a_session", "token_value", "password_old", "totp_secret",
		"session_cookie", "recovery_codes", "pin", "activation_key", "credentials", "user_token2"} {
		if !is(name, database.Text) {
			t.Errorf("text %q is not held for a secret", name)
		}
	}
	for _, name := range []string{"tokens_used", "hashtag", "salted_peanuts", "key", "author", "public_key", "passport", "asphalt", "token_id",
		"TokenMinExpiry", "token_used_ts_ms", "token_type", "sort_key", "primary_key", "compass", "passenger", "session_count", "spin",
		"cc_number", "cardnumber", "iban", "ssn", "keyword", "hash_algorithm", "bypass_reason"} {
		if is(name, database.Text) {
			t.Errorf("text %q is held for a secret", name)
		}
	}
	for _, name := range []string{"token", "password_length", "pass", "session", "hash", "TokenMinExpiry", "token_used_ts_ms"} {
		if is(name, database.Integer) {
			t.Errorf("integer %q is held for a secret", name)
		}
	}
	if !is("pin", database.Integer) || !is("card_cvv", database.Integer) || !is("password", database.Bytes) || !is("token", database.UUID) {
		t.Error("a secret that is no text is not held for one")
	}
	if is("has_password", database.Boolean) || is("password_changed", database.TimestampTZ) {
		t.Error("a flag or a moment is held for a secret")
	}
}

func TestASecretLookingColumnIsShownWhereItIsNamed(t *testing.T) {
	m := build(model("author", "author", func(m *contract.Model) { m.Include = []string{"api_key"} })).Model("author")
	if want := []string{"id", "api_key"}; !reflect.DeepEqual(m.Status.Columns, want) {
		t.Errorf("visible are %q, want %q", m.Status.Columns, want)
	}
}
