package dev

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/generate"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/target"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	db "github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// shop is a database with a bit of all that is guessed about.
const shop = `
CREATE TABLE customers (id INTEGER PRIMARY KEY, full_name VARCHAR(80) NOT NULL, email VARCHAR(120) NOT NULL, phone VARCHAR(30),
  password_hash VARCHAR(100), created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, deleted_at TIMESTAMP NULL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers (id), state VARCHAR(10) NOT NULL, note VARCHAR(200));
CREATE TABLE order_lines (order_id INTEGER NOT NULL REFERENCES orders (id) ON DELETE CASCADE, line INTEGER NOT NULL, sku VARCHAR(20), amount INTEGER, PRIMARY KEY (order_id, line));
CREATE TABLE schema_migrations (version VARCHAR(50) PRIMARY KEY);
CREATE TABLE user_audit (id INTEGER PRIMARY KEY, what VARCHAR(100));
CREATE VIEW open_orders AS SELECT o.id AS order_id, c.full_name FROM orders o JOIN customers c ON c.id = o.customer_id;
INSERT INTO customers (id, full_name, email, phone, password_hash) VALUES (1, 'Ada Example', 'ada@example.com', '123456', 'x');
INSERT INTO customers (id, full_name, email, deleted_at) VALUES (2, 'Eve Gone', 'eve@example.com', '2026-01-01 00:00:00');
INSERT INTO orders VALUES (1, 1, 'open', 'first');
INSERT INTO order_lines VALUES (1, 1, 'A-1', 3);
`

// a database is one that the flags name.
type database struct {
	name string
	// flags name it, make runs SQL on it.
	open func(t *testing.T) (flags []string, execute func(script string))
}

var databases = []database{
	{"SQLite", func(t *testing.T) ([]string, func(string)) {
		file := filepath.Join(t.TempDir(), "shop.sqlite")
		return []string{"--sqlite", file}, func(script string) { executeSQLite(t, file, script) }
	}},
	{"PostgreSQL", func(t *testing.T) ([]string, func(string)) {
		uri := databasetest.URI(databasetest.PostgreSQL(t))
		return []string{"--dsn", uri}, func(script string) { databasetest.Execute(t, uri, script) }
	}},
	{"MariaDB", func(t *testing.T) ([]string, func(string)) {
		c := databasetest.MariaDB(t)
		return []string{"--dsn", dsn(c)}, func(script string) { databasetest.ExecuteMySQL(t, c, script) }
	}},
}

// dsn is the connection as a URL.
func dsn(c contract.Connection) string {
	return fmt.Sprintf("mysql://%s:%s@%s/%s", c.User, c.Password, c.Address(), c.Database)
}

func TestDevServesADatabaseWithoutYAML(t *testing.T) {
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			flags, execute := d.open(t)
			execute(shop)
			out, _ := start(t, append(flags, "--state", t.TempDir(), "--exclude", "order_lin?s", "-v")...)
			printed := out.waitFor(t, "claude mcp add")
			if lines := strings.Count(printed, "\n"); lines > 45 {
				t.Errorf("%d lines are more than a screenful:\n%s", lines, printed)
			}
			for _, says := range []string{"masked: email, phone; hidden: password_hash", "customers", "schema_migrations (bookkeeping of migrations)", "user_audit (an audit table, by its name)",
				"note: nothing in the database says that these columns identify a row: open_orders (order_id)", "codex mcp add", "gemini mcp add"} {
				if !strings.Contains(printed, says) {
					t.Errorf("%q is not in what was printed:\n%s", says, printed)
				}
			}
			if strings.Contains(printed, "order_lines") || strings.Contains(printed, ", update") {
				t.Errorf("what was left out is there, or a tool that writes:\n%s", printed)
			}
			token := bearerToken.FindStringSubmatch(printed)[1]
			_, answer := call(t, printed, token, "list_customers", "{}")
			if !strings.Contains(answer, "Ada Example") || strings.Contains(answer, "ada@") || strings.Contains(answer, "Eve") || strings.Contains(answer, "password") {
				t.Errorf("listed %s", answer)
			}
			if _, answer := call(t, printed, token, "get_open_orders", `{"id": 1}`); !strings.Contains(answer, "Ada Example") {
				t.Errorf("the view's row by its guessed key: %s", answer)
			}
			logged := out.waitFor(t, "get_open_orders")
			if !regexp.MustCompile(`\d\d:\d\d:\d\d  default/\S+-reader  list_customers +ok  1 row  [0-9.]+ ms\n`).MatchString(logged) || strings.Contains(logged, "Ada") {
				t.Errorf("the log of calls is wrong, or has values:\n%s", logged)
			}
		})
	}
}

func TestDevLetsCallersWriteIfItIsTold(t *testing.T) {
	flags, execute := databases[0].open(t)
	execute(shop)
	out, _ := start(t, append(flags, "--state", t.TempDir(), "--write")...)
	printed := out.waitFor(t, "claude mcp add")
	token := bearerToken.FindStringSubmatch(printed)[1]
	if _, answer := call(t, printed, token, "update_orders", `{"id":1,"data":{"state":"done"}}`); !strings.Contains(answer, "success") {
		t.Errorf("got %s, want success in it", answer)
	}
}

// Models without an MCPEndpoint are as read-only as a database without models.
func TestDevOnlyReadsWithGeneratedModelsUnlessItIsToldToWrite(t *testing.T) {
	flags, execute := databases[0].open(t)
	execute(shop)
	var text bytes.Buffer
	command := generate.Command()
	command.SetArgs(flags)
	command.SetOut(&text)
	if err := command.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "models.yaml")
	writer := strings.ReplaceAll(text.String(), "verbs: [view]", `verbs: ["*"]`)
	if writer == text.String() {
		t.Fatalf("the token has other verbs:\n%s", writer)
	}
	if err := os.WriteFile(file, []byte(writer), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, more := range [][]string{nil, {"--write"}} {
		out, _ := start(t, slices.Concat(flags, []string{"-f", file, "--state", t.TempDir()}, more)...)
		printed := out.waitFor(t, "claude mcp add")
		_, answer := call(t, printed, bearerToken.FindStringSubmatch(printed)[1], "update_orders", `{"id":1,"data":{"state":"done"}}`)
		if wrote := strings.Contains(answer, "success"); wrote != (more != nil) || strings.Contains(printed, "read-only") == wrote {
			t.Errorf("with %q: %s\n%s", more, answer, printed)
		} else if says := "the endpoint only reads its database; who runs it can let it write (spec.database.access: ReadWrite, or mcp-admin dev --write)"; !wrote && !strings.Contains(answer, says) {
			t.Errorf("got %s, want %q in it", answer, says)
		}
	}
	endpoint := "---\napiVersion: mcpadmin.dev/v1alpha1\nkind: MCPEndpoint\nmetadata: {name: shop}\nspec: {database: {sqlite: {emptyDir: {}}}}\n"
	if err := os.WriteFile(file, []byte(writer+endpoint), 0o600); err != nil {
		t.Fatal(err)
	}
	dev := Command()
	dev.SetArgs(slices.Concat(flags, []string{"-f", file, "--state", t.TempDir(), "--write", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"}))
	if err := dev.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "spec.database.access says whether rows may change; leave --write out") {
		t.Errorf("with an MCPEndpoint of the manifests: %v", err)
	}
}

func TestDevTakesTheDSNFromTheEnvironment(t *testing.T) {
	_, execute := databases[0].open(t) // its file is not the served one
	execute(shop)
	file := filepath.Join(t.TempDir(), "other.sqlite")
	executeSQLite(t, file, shop)
	t.Setenv(target.DSNVariable, "sqlite://"+file)
	out, _ := start(t, "--state", t.TempDir())
	if printed := out.waitFor(t, "claude mcp add"); !strings.Contains(printed, "default/other is served") {
		t.Errorf("got %s, want default/other is served in it", printed)
	}
}

// The message about a database that cannot be used has no password.
func TestDevTellsWhatIsWrongWithADSN(t *testing.T) {
	for name, tc := range map[string]struct {
		flags []string
		want  string
	}{
		"no user":     {[]string{"--dsn", "postgres://localhost/shop"}, "--dsn names no user; write postgresql://user:password@host:port/database"},
		"no database": {[]string{"--dsn", "mysql://me:hush@localhost"}, "--dsn names no database; write mysql://"},
		"no server":   {[]string{"--dsn", "postgres://me:hush@127.0.0.1:1/shop"}, "the database cannot be read"},
		"two":         {[]string{"--dsn", "mysql://me:hush@localhost/x", "--sqlite", "x"}, "name different databases"},
		"no file":     {[]string{"--sqlite", "nowhere.sqlite"}, "nowhere.sqlite is not an existing file"},
		"nothing":     {nil, "there is nothing to serve"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := Command()
			var out bytes.Buffer
			cmd.SetArgs(append(tc.flags, "--state", t.TempDir(), "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"))
			cmd.SetOut(&out)
			cmd.SetErr(&out)
			if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error()+out.String(), "hush") {
				t.Errorf("ended with %v, want %q", err, tc.want)
			}
		})
	}
}

// dev serves what generate writes: each model is there, and each tool that reads answers.
func TestGeneratedManifestsAreServedUnchanged(t *testing.T) {
	chinooks := map[string]string{"SQLite": "Chinook_Sqlite.sql", "PostgreSQL": "Chinook_PostgreSql.sql", "MariaDB": "Chinook_MySql.sql"}
	for _, d := range databases {
		for name, script := range map[string]func(t *testing.T) string{
			"shop":    func(*testing.T) string { return shop },
			"chinook": func(t *testing.T) string { return databasetest.Chinook(t, chinooks[d.name]) },
		} {
			t.Run(d.name+" "+name, func(t *testing.T) {
				flags, execute := d.open(t)
				execute(script(t))
				file := filepath.Join(t.TempDir(), "models.yaml")
				var out bytes.Buffer
				cmd := generate.Command()
				cmd.SetArgs(append(flags, "--endpoint", "shop"))
				cmd.SetOut(&out)
				if err := cmd.ExecuteContext(t.Context()); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
				models := strings.Count(out.String(), "kind: MCPModelExposure")
				served, _ := start(t, append(flags, "-f", file, "--state", t.TempDir(), "-v")...)
				printed := served.waitFor(t, "claude mcp add")
				rows := regexp.MustCompile(`(?m)^  (\w+) +\S+ +list, `).FindAllStringSubmatch(printed, -1)
				if len(rows) != models || models == 0 || strings.Contains(printed, "lacks something") {
					t.Errorf("%d models of %d are served:\n%s\n%s", len(rows), models, printed, out.String())
				}
				token := bearerToken.FindStringSubmatch(printed)[1]
				for _, row := range rows {
					for _, tool := range []string{"list", "describe"} {
						if status, answer := call(t, printed, token, tool+"_"+row[1], "{}"); status != http.StatusOK || strings.Contains(answer, `\"error\"`) {
							t.Errorf("%s_%s: %d %s", tool, row[1], status, answer)
						}
					}
				}
			})
		}
	}
}

func TestDevTellsWhyItHasNoTableToServe(t *testing.T) {
	customer := &db.Table{Name: "customer", Kind: db.BaseTable}
	for _, tc := range []struct {
		tables  []*db.Table
		leftOut []generate.LeftOut
		options generate.Options
		want    string
	}{
		{nil, nil, generate.Options{}, "it has no tables, or the user may not see them"},
		{[]*db.Table{customer}, nil, generate.Options{Include: []string{"custmer"}}, `none of its 1 tables is chosen by --include custmer; the nearest is "customer"`},
		{[]*db.Table{customer}, nil, generate.Options{Exclude: []string{"*"}}, "--exclude * leaves out all of its 1 tables"},
		{[]*db.Table{customer}, []generate.LeftOut{{Table: customer, Reason: "the database user may not read it"}}, generate.Options{},
			"no table can be served: customer (the database user may not read it)"},
	} {
		got := whyNone(&db.Schema{Tables: tc.tables}, tc.options, &generate.Guesses{LeftOut: tc.leftOut})
		if !strings.HasPrefix(got, tc.want) {
			t.Errorf("%d tables, %+v: got %q, want %q", len(tc.tables), tc.options, got, tc.want)
		}
	}
}

func TestDevServesATableThatIsMadeLater(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.sqlite")
	executeSQLite(t, file, shop)
	named, err := (&target.Flags{SQLite: file}).Database(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	g := guessed{database: named}
	before, err := g.manifests(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	executeSQLite(t, file, "CREATE TABLE parcels (id INTEGER PRIMARY KEY, label TEXT)")
	after, err := g.manifests(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(after.Exposures) != len(before.Exposures)+1 {
		t.Errorf("%d models before, %d after", len(before.Exposures), len(after.Exposures))
	}
	if !slices.ContainsFunc(after.Exposures, func(e v1alpha1.MCPModelExposure) bool { return e.Spec.Table.Name == "parcels" }) {
		t.Error("the new table is not among the manifests")
	}
}

func TestDevSaysOnceThatDuckDBOnlyReads(t *testing.T) {
	endpoint := &v1alpha1.MCPEndpoint{Spec: v1alpha1.MCPEndpointSpec{Database: v1alpha1.DatabaseSpec{DuckDB: &v1alpha1.DuckDBSpec{}, Access: v1alpha1.DatabaseReadOnly}}}
	o := &outcome{endpoint: endpoint, guessed: true, config: &contract.Config{}}
	status := &contract.Status{Models: []contract.ModelStatus{{Name: "item", Notes: []string{"Read-only: DuckDB databases and files are only read.", "another note"}}}}
	if got := o.access(); got != ", read-only" {
		t.Errorf("of the database it says %q", got)
	}
	if entries := o.reportModels(status); len(entries) != 1 || !slices.Equal(entries[0].notes, []string{"  item: another note"}) {
		t.Errorf("of the model it says %+v", entries)
	}
	if got := whyNone(&db.Schema{Notes: []string{"a.parquet is not served: it is broken."}}, generate.Options{}, &generate.Guesses{}); got != "a.parquet is not served: it is broken." {
		t.Errorf("without a table it says %q", got)
	}
	command := Command()
	command.SetArgs([]string{"--duckdb", t.TempDir(), "--write"})
	command.SetOut(io.Discard)
	command.SetErr(io.Discard)
	if err := command.ExecuteContext(t.Context()); err == nil || err.Error() != "--duckdb and --write do not go together: DuckDB databases and files are only read" {
		t.Errorf("to write: %v", err)
	}
}
