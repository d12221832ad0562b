package generate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/target"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

const till = `
CREATE TABLE clients (id INTEGER PRIMARY KEY, name VARCHAR(80));
CREATE TABLE orders (id INTEGER PRIMARY KEY, client_id INTEGER REFERENCES clients (id), placed DATE, shipping DECIMAL(8,2), total DECIMAL(8,2), total_id INTEGER);
CREATE TABLE order_lines (order_id INTEGER NOT NULL REFERENCES orders (id) ON DELETE CASCADE, line INTEGER NOT NULL, unit_price DECIMAL(8,2), amount DECIMAL(8,2), PRIMARY KEY (order_id, line));
CREATE TABLE shops (id INTEGER PRIMARY KEY, name VARCHAR(80), naics_code INTEGER, country_code INTEGER, zip INTEGER, floors INTEGER, iso VARCHAR(3));
CREATE TABLE accounts (account_number INTEGER PRIMARY KEY, owner VARCHAR(20));
CREATE TABLE entries (id INTEGER PRIMARY KEY, account_number INTEGER, country_code INTEGER REFERENCES shops (id));
INSERT INTO clients VALUES (1, 'Ann'); INSERT INTO orders VALUES (1, 1, '2026-01-05', 1, 10, 1); INSERT INTO order_lines VALUES (1, 1, 5, 10);
`

func TestAmountsAreProposedAsMeasuresAndQuestions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "till.sqlite")
	execute(t, file, till)
	got := run(t, "--sqlite", file)
	for _, want := range []string{`  measures:
  - {name: sum_of_total, measure: {sum: total}} # total is what adds up, by its name
  - {name: number_of_orders, measure: {count: "*"}} # how many rows there are
  - {name: total_per_order, measure: {ratio: [sum_of_total, number_of_orders]}} # of the two
  questions:
  # placed is a day
  - ask: "What is the total of each month?"
    call: {tool: aggregate, arguments: {group_by: [placed__month], measures: [sum_of_total]}}
  # client leads to rows with a name
  - ask: "Which clients have the highest total?"
`, `  - {name: sum_of_amount, measure: {sum: amount}} # amount is what adds up, by its name
  - {name: number_of_orders, measure: {count_distinct: order_id}} # a row belongs to one of orders, by its foreign key
  - {name: amount_per_order, measure: {ratio: [sum_of_amount, number_of_orders]}} # of the two
`} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant in it\n%s", got, want)
		}
	}
	if n := strings.Count(got, "measures:\n"); n != 2 {
		t.Errorf("%d models have measures, want those two that have an amount", n)
	}
}

func TestIntegersThatAreNamedLikeCodesAreProposedAsTexts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "till.sqlite")
	execute(t, file, till)
	got := run(t, "--sqlite", file)
	const want = `    masked:
    # personal data, by its name; if you show it, its numbers are codes: reads: Text in fields.overrides
    - {name: zip}
    overrides:
    - {name: naics_code, reads: Text} # its numbers are codes, by its name
    - {name: country_code, reads: Text} # its numbers are codes, by its name
`
	if !strings.Contains(strings.ReplaceAll(got, "    - {name: zip} # personal data, by its name; if you show it, its numbers are codes: reads: Text in fields.overrides\n",
		"    # personal data, by its name; if you show it, its numbers are codes: reads: Text in fields.overrides\n    - {name: zip}\n"), want) {
		t.Errorf("got\n%s\nwant in it\n%s", got, want)
	}
	if n := strings.Count(got, "reads: Text}"); n != 2 {
		t.Errorf("%d columns are read as texts, want two: neither keys nor what leads to others", n)
	}
}

// What is proposed is served as it stands, with each measure and question.
func TestProposalsAreServed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "till.sqlite")
	execute(t, file, till)
	named := &target.Database{SQLite: file, Engine: contract.EngineSQLite, Name: "till"}
	schema, err := named.Schema(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	g, err := From(schema, Options{Endpoint: types.NamespacedName{Namespace: "test", Name: "test"}})
	if err != nil {
		t.Fatal(err)
	}
	in := compile.Inputs{Endpoint: g.MCPEndpoint(), StatusKey: contract.NewToken(), SealKey: contract.NewSealKey()}
	for _, m := range g.Models {
		in.Exposures = append(in.Exposures, m.Exposure)
	}
	config, verdicts := compile.Compile(in)
	for key, v := range verdicts.Exposures {
		if !v.Accepted {
			t.Errorf("%s is not accepted: %s", key, v.Message)
		}
	}
	const root = "0123456789012345678901234567890123456789012345"
	endpoint := harness.Serve(t, harness.Database{SQLiteFile: file}, config.Models, []contract.Token{{Namespace: "test", Name: "root",
		Hashes: []string{contract.HashToken(root)}, Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"view"}}}}})
	for _, m := range endpoint.Status().Models {
		for _, note := range m.Notes {
			if strings.Contains(note, "not offered") || strings.Contains(note, "questions") {
				t.Errorf("%s: %s", m.Name, note)
			}
		}
	}
	for _, m := range config.Models {
		for _, declared := range m.Measures {
			if text, isError := endpoint.Call(root, "aggregate_"+m.Name, fmt.Sprintf(`{"measures":[%q]}`, declared.Name)); isError {
				t.Errorf("%s: %s: %s", m.Name, declared.Name, text)
			}
		}
		for _, q := range m.Questions {
			if text, isError := endpoint.Call(root, q.Tool+"_"+m.Name, string(q.Arguments)); isError {
				t.Errorf("%s: %s: %s", m.Name, q.Ask, text)
			}
		}
	}
}

func TestValuesThatAreAllKeysAreProposedAsRelations(t *testing.T) {
	file := filepath.Join(t.TempDir(), "loose.sqlite")
	var script strings.Builder
	script.WriteString(`CREATE TABLE customers (number INTEGER PRIMARY KEY, name VARCHAR(80));
		CREATE TABLE products (sku VARCHAR(20) PRIMARY KEY, name VARCHAR(80));
		CREATE TABLE stores (store_key INTEGER PRIMARY KEY, name VARCHAR(80));
		CREATE TABLE sales (id INTEGER PRIMARY KEY, cust INTEGER, bought VARCHAR(20), pieces INTEGER, other VARCHAR(20), cust_wrong INTEGER, cust_few INTEGER, note VARCHAR(20));`)
	for i := range 40 {
		fmt.Fprintf(&script, "INSERT INTO customers VALUES (%d, 'c'); INSERT INTO stores VALUES (%[1]d, 's'); INSERT INTO products VALUES ('p%[1]d', 'p');", i)
	}
	for i := range 30 {
		fmt.Fprintf(&script, "INSERT INTO sales VALUES (%d, %d, 'p%d', %d, 'p%d', %d, %d, null);", i, i%10, i, i, i%5, 100+i, i%2)
	}
	execute(t, file, script.String())
	if plain := run(t, "--sqlite", file); strings.Contains(plain, "relations:") {
		t.Errorf("values are looked at although nobody asked for it:\n%s", plain)
	}
	got := run(t, "--sqlite", file, "--look-at-values")
	const want = `  relations:
  - {name: customers, columns: [cust], model: customers} # all of the 10 values of cust looked at are keys of customers
  - {name: products, columns: [bought], model: products} # all of the 30 values of bought looked at are keys of products
`
	if !strings.Contains(got, want) || strings.Count(got, "columns: [") != 2 {
		t.Errorf("got\n%s\nwant\n%sand no other", got, want)
	}
}

func TestAnUpdateKeepsWhatPeopleMadeOfProposals(t *testing.T) {
	dir := t.TempDir()
	file, models := filepath.Join(dir, "till.sqlite"), filepath.Join(dir, "models.yaml")
	execute(t, file, till)
	run(t, "--sqlite", file, "--update", models)
	edited := strings.Replace(read(t, models), "  - {name: number_of_orders, measure: {count: \"*\"}} # how many rows there are\n", "  # ours\n", 1)
	edited = strings.Replace(edited, "What is the total of each month?", "What did we sell?", 1)
	if err := os.WriteFile(models, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	execute(t, file, "ALTER TABLE orders ADD COLUMN paid DECIMAL(8,2); ALTER TABLE shops ADD COLUMN bank_code INTEGER")
	run(t, "--sqlite", file, "--update", models)
	now := read(t, models)
	for _, want := range []string{"# ours", "What did we sell?", "- {name: bank_code, reads: Text} # its numbers are codes, by its name\n"} {
		if !strings.Contains(now, want) {
			t.Errorf("%q is not in\n%s", want, now)
		}
	}
	for _, gone := range []string{"sum_of_paid", "What is the total of each month?", `measure: {count: "*"}`} {
		if strings.Contains(now, gone) {
			t.Errorf("%q was added to\n%s", gone, now)
		}
	}
}
