package generate

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"sigs.k8s.io/yaml"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

const shop = `
CREATE TABLE customers (id INTEGER PRIMARY KEY, full_name VARCHAR(80) NOT NULL, email VARCHAR(120), iban VARCHAR(34),
  password_hash VARCHAR(100), created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, deleted_at TIMESTAMP);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers (id), "on" VARCHAR(10), is_deleted BOOLEAN);
CREATE TABLE order_lines (order_id INTEGER NOT NULL REFERENCES orders (id) ON DELETE CASCADE, line INTEGER NOT NULL, PRIMARY KEY (order_id, line));
CREATE TABLE sessions (session_token VARCHAR(40) PRIMARY KEY, data TEXT);
CREATE TABLE audit_log (id INTEGER PRIMARY KEY, what TEXT);
CREATE VIEW names AS SELECT id, full_name FROM customers;
`

const written = `# Guessed by mcp-admin generate from SQLite VERSION, database shop.sqlite: 4 models.
# Read each line before you apply it: a comment says why it is there. Personal data is masked and secrets are
# hidden by the names of columns alone.
# Left out: audit_log: an audit table, by its name
# Left out: sessions: its key session_token is named like a secret
# Tables: audit_log, customers, names, order_lines, orders, sessions
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPToken
metadata: {name: shop-reader}
spec:
  endpointRef: {name: shop}
  permissions: [{models: ["*"], verbs: [view]}]
---
# Columns: id, full_name, email, iban, password_hash, created_at, deleted_at
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPModelExposure
metadata: {name: customers}
spec:
  endpointRef: {name: shop}
  table: {name: customers}
  expose: true
  verboseName: customer # the singular of the table's name
  fields:
    exclude:
    - password_hash # named like a secret
    readOnly:
    - created_at # a time that the database keeps
    masked:
    - {name: email} # personal data, by its name
    - {name: iban, keepLast: 4} # personal data, by its name
  displayField: full_name # it names a row, by its own name
  # deleted_at marks deleted rows, by its name
  rowPolicies:
  - name: not-deleted
    appliesTo: Everyone
    filters: [{field: deleted_at, lookup: isnull, value: "true"}]
---
# Columns: id, full_name
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPModelExposure
metadata: {name: names}
spec:
  endpointRef: {name: shop}
  table: {name: names}
  expose: true
  verboseName: name # the singular of the table's name
  key: [id] # nothing in the database says that id is unique
  displayField: full_name # it names a row, by its own name
---
# Columns: order_id, line
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPModelExposure
metadata: {name: order-lines}
spec:
  endpointRef: {name: shop}
  table: {name: order_lines}
  expose: true
  verboseName: order line # the singular of the table's name
---
# Columns: id, customer_id, on, is_deleted
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPModelExposure
metadata: {name: orders}
spec:
  endpointRef: {name: shop}
  table: {name: orders}
  expose: true
  verboseName: order # the singular of the table's name
  inlines:
  - {model: order_lines} # a row of order_lines belongs to one of these, by its foreign key
  # is_deleted marks deleted rows, by its name
  rowPolicies:
  - name: not-deleted
    appliesTo: Everyone
    filters:
    - any: [{field: is_deleted, value: "false"}, {field: is_deleted, lookup: isnull, value: "true"}]
`

// execute runs SQL on a SQLite file.
func execute(t *testing.T, file, script string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(script); err != nil {
		t.Fatal(err)
	}
}

// run runs the command and returns what it printed.
func run(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	command := Command()
	command.SetArgs(args)
	command.SetOut(&out)
	if err := command.ExecuteContext(t.Context()); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return out.String()
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestEachGuessIsWrittenWithItsReason(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.sqlite")
	execute(t, file, shop)
	var version string
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("SELECT sqlite_version()").Scan(&version); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, want := run(t, "--sqlite", file), strings.Replace(written, "VERSION", version, 1); got != want {
			t.Fatalf("wrote\n%s\nwant\n%s", got, want)
		}
	}
}

func TestTablesAreChosenByPatterns(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.sqlite")
	execute(t, file, shop)
	for args, want := range map[string]string{
		"--include order*":                   "order-lines orders",
		"--exclude order* --exclude names":   "customers",
		"--include audit_log,orders":         "audit-log orders",
		"--include order* --exclude *_lines": "orders",
	} {
		var names []string
		for line := range strings.Lines(run(t, append(strings.Fields(args), "--sqlite", file)...)) {
			if name, ok := strings.CutPrefix(line, "metadata: {name: "); ok && !strings.HasPrefix(name, "shop-") {
				names = append(names, strings.TrimSuffix(name, "}\n"))
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s takes %s, want %s", args, got, want)
		}
	}
}

func TestAnUpdateAddsWhatIsNewAndKeepsWhatPeopleWrote(t *testing.T) {
	for _, folder := range []bool{false, true} {
		dir := t.TempDir()
		file, target := filepath.Join(dir, "shop.sqlite"), filepath.Join(dir, "models.yaml")
		all := func() string { return read(t, target) }
		if folder {
			target = filepath.Join(dir, "models")
			if err := os.Mkdir(target, 0o700); err != nil {
				t.Fatal(err)
			}
			all = func() string {
				files, err := filepath.Glob(filepath.Join(target, "*.yaml"))
				if err != nil {
					t.Fatal(err)
				}
				var text strings.Builder
				for _, f := range files {
					text.WriteString(read(t, f))
				}
				return text.String()
			}
		}
		edit := func(old, replacement string) {
			t.Helper()
			files, _ := filepath.Glob(filepath.Join(target, "*.yaml"))
			if !folder {
				files = []string{target}
			}
			for _, f := range files {
				if err := os.WriteFile(f, []byte(strings.Replace(read(t, f), old, replacement, 1)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		execute(t, file, shop)
		args := []string{"--sqlite", file, "--update", target}
		if printed := run(t, args...); !strings.Contains(printed, "added the MCPModelExposure customers for table customers\n") {
			t.Errorf("printed %s", printed)
		}
		first := all()
		if printed := run(t, args...); all() != first || !strings.Contains(printed, "has all that is in the database") {
			t.Errorf("a second run without a change printed %s and wrote\n%s", printed, all())
		}

		// A person shows e-mail addresses, takes out the model of names, and writes a comment.
		edit("    - {name: email} # personal data, by its name\n", "    # Marketing may see e-mail addresses.\n")
		edit("metadata: {name: names}", "metadata: {name: other}")
		edit("table: {name: names}", "table: {name: nothing}")
		edit("metadata: {name: orders}", "metadata: {name: purchases}")
		execute(t, file, `ALTER TABLE customers ADD COLUMN phone VARCHAR(30); ALTER TABLE customers ADD COLUMN api_key VARCHAR(30);
			CREATE TABLE order_notes (id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders (id), note TEXT);`)
		printed := run(t, args...)
		for _, want := range []string{"added the column phone of table customers\n", "added the MCPModelExposure order-notes for table order_notes\n"} {
			if !strings.Contains(printed, want) {
				t.Errorf("%q was not printed, but %s", want, printed)
			}
		}
		now := all()
		for _, want := range []string{
			"# Marketing may see e-mail addresses.\n", "- {name: phone} # personal data, by its name\n", "- api_key # named like a secret\n",
			"deleted_at, phone, api_key\n", "metadata: {name: purchases}\n", "table: {name: order_notes}\n", "- {name: iban, keepLast: 4} # personal data, by its name\n",
		} {
			if !strings.Contains(now, want) {
				t.Errorf("%q is not in\n%s", want, now)
			}
		}
		for _, gone := range []string{"{name: email}", "table: {name: names}"} {
			if strings.Contains(now, gone) {
				t.Errorf("%q is there again in\n%s", gone, now)
			}
		}
		if run(t, args...); all() != now {
			t.Errorf("a run without a change wrote\n%s", all())
		}
	}
}

// A file that cannot be read is not changed: what it has would be added again.
func TestAnUpdateOfABrokenFileChangesNothing(t *testing.T) {
	dir := t.TempDir()
	file, target := filepath.Join(dir, "shop.sqlite"), filepath.Join(dir, "models.yaml")
	execute(t, file, shop)
	const broken = "kind: MCPModelExposure\nspec: [\n"
	if err := os.WriteFile(target, []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
	command := Command()
	command.SetArgs([]string{"--sqlite", file, "--update", target})
	command.SetOut(&bytes.Buffer{})
	if err := command.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "models.yaml, document 1") || read(t, target) != broken {
		t.Errorf("ended with %v, and the file holds %s", err, read(t, target))
	}
}

func TestNamesOfModels(t *testing.T) {
	for name, tc := range map[string]struct{ tables, want string }{
		"snake case":       {"OrderLine HTTPHost", "order_line http_host"},
		"a shared prefix":  {"wp_posts wp_users wp_term_taxonomy", "posts users term_taxonomy"},
		"too few":          {"wp_posts wp_users", "wp_posts wp_users"},
		"not shared":       {"wp_posts wp_users other", "wp_posts wp_users other"},
		"other letters":    {"straßen größe 注文 2024", "strassen groesse table table_2024"},
		"the same":         {"Order order ORDER", "order order_2 order_3"},
		"long":             {"customer_subscription_payment_transaction_histories", "custome_subscri_payment_transac_historie"},
		"long and without": {strings.Repeat("x", 60), strings.Repeat("x", 40)},
	} {
		t.Run(name, func(t *testing.T) {
			var tables []*database.Table
			for n := range strings.FieldsSeq(tc.tables) {
				tables = append(tables, &database.Table{Name: n})
			}
			names := modelNames(tables, &database.Schema{}, nil)
			var got []string
			for _, table := range tables {
				got = append(got, names[table])
			}
			if strings.Join(got, " ") != tc.want {
				t.Errorf("%s are called %s, want %s", tc.tables, got, tc.want)
			}
		})
	}
	a, b := &database.Table{Schema: "public", Name: "item"}, &database.Table{Schema: "archive", Name: "item"}
	names := modelNames([]*database.Table{a, b}, &database.Schema{HasSchemas: true, SearchPath: []string{"public", "archive"}}, map[string]string{"x": "other"})
	if names[a] != "item" || names[b] != "archive_item" {
		t.Errorf("two schemas: %v", names)
	}
}

func TestPersonalData(t *testing.T) {
	for name, want := range map[string]bool{
		"email": true, "e_mail": true, "EmailAddress": true, "phone": true, "phone_number": true, "home_phone": true, "mobile2": true,
		"billing_address_line_1": true, "zip": true, "ip_address": true, "date_of_birth": true, "birthDate": true, "ssn": true, "card_number": true,
		"PostalCode": true, "tax_id": true, "straße": true,
		"name": false, "city": false, "email_template": false, "address_type": false, "phone_type": false, "mailing": false, "number": false,
		"zipper": false, "is_email": true, "title": false, "account": false, "account_number": true,
	} {
		if got, _ := personalData(&database.Column{Name: name, Kind: database.Text}); got != want {
			t.Errorf("%s is personal: %v", name, got)
		}
	}
	if got, _ := personalData(&database.Column{Name: "is_email", Kind: database.Boolean}); got {
		t.Error("a flag is personal")
	}
	if _, keep := personalData(&database.Column{Name: "card_number", Kind: database.Text}); keep != 4 {
		t.Errorf("%d characters of a card's number are shown", keep)
	}
}

func TestSingulars(t *testing.T) {
	for plural, want := range map[string]string{
		"orders": "order", "categories": "category", "boxes": "box", "addresses": "address", "houses": "house", "people": "person",
		"status": "status", "analysis": "analysis", "news": "news", "movies": "movie", "bus": "bus", "order": "order", "matches": "match",
	} {
		if got := singular(plural); got != want {
			t.Errorf("the singular of %s is %s, want %s", plural, got, want)
		}
	}
}

func TestListsInCommentsAreReadAsTheyWereWritten(t *testing.T) {
	names := []string{"plain", "with, comma", `a "quote"`, " blank ", strings.Repeat("long", 20), "two words", "größe", strings.Repeat("b", 100)}
	text := "# before\n" + list(columnsComment, names) + "apiVersion: x\n"
	got, ok := listed(text, columnsComment)
	if !ok || strings.Join(got, "|") != strings.Join(names, "|") {
		t.Errorf("%q are read as %q in\n%s", names, got, text)
	}
	if again := replaceList(text, columnsComment, names[:1]); again != "# before\n# Columns: plain\napiVersion: x\n" {
		t.Errorf("replaced:\n%s", again)
	}
	if _, ok := listed("# Columns of it\n", columnsComment); ok {
		t.Error("another comment is taken for a list")
	}
}

// A time is read-only if the database keeps it: else new rows would have none.
func TestTimesThatTheDatabaseDoesNotKeepCanBeSet(t *testing.T) {
	file := filepath.Join(t.TempDir(), "notes.sqlite")
	execute(t, file, `CREATE TABLE note (id INTEGER PRIMARY KEY, created_at TIMESTAMP, updated_at TIMESTAMP DEFAULT NULL,
		modified TIMESTAMP DEFAULT '1970-01-01 00:00:00', inserted TIMESTAMP DEFAULT CURRENT_TIMESTAMP);`)
	if got := run(t, "--sqlite", file); !strings.Contains(got, "readOnly:\n    - inserted # a time that the database keeps\n") || strings.Count(got, "# a time") != 1 {
		t.Errorf("%s", got)
	}
}

// Names may hold what moves a terminal's cursor, ends a line, or turns the direction of writing. They are written as
// escapes, and read back as they are.
func TestNamesThatAreNotPrintableAreEscaped(t *testing.T) {
	const table, column, hidden = "no\x1b[31mte\u202e", "a\nspec: b\u2066", "password\x1b]0;x\a"
	file := filepath.Join(t.TempDir(), "names.sqlite")
	execute(t, file, fmt.Sprintf("CREATE TABLE \"%s\" (id INTEGER PRIMARY KEY, \"%s\" TEXT, \"%s\" TEXT, deleted_at TIMESTAMP);\n"+
		"CREATE TABLE \"audit\u202e\" (id INTEGER PRIMARY KEY)", table, column, hidden))
	text := run(t, "--sqlite", file)
	if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); i >= 0 {
		t.Errorf("%q is written as it is", text[max(0, i-20):i+10])
	}
	var exposure v1alpha1.MCPModelExposure
	documents := strings.Split(text, "---\n")
	if err := yaml.UnmarshalStrict([]byte(documents[len(documents)-1]), &exposure); err != nil {
		t.Fatal(err)
	}
	if exposure.Spec.Table.Name != table || !slices.Equal(exposure.Spec.Fields.Exclude, []string{hidden}) {
		t.Errorf("read back is %+v", exposure.Spec)
	}
	if names, _ := listed(text, columnsComment); !slices.Contains(names, column) {
		t.Errorf("the columns are %q", names)
	}
}
