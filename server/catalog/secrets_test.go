package catalog

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// knownColumn is a line of testdata/columns.txt.
type knownColumn struct {
	program, verdict string
	table            *database.Table
	column           *database.Column
}

// knownColumns reads testdata/columns.txt, whose first lines say what stands in it.
func knownColumns(t *testing.T) []knownColumn {
	t.Helper()
	file, err := os.Open("testdata/columns.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	tables, references := map[string]*database.Table{}, map[*database.Column]string{}
	var all []knownColumn
	program := ""
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			program = heading
		}
		parts := strings.Split(line, "\t")
		if len(parts) != 3 {
			continue
		}
		name, columnName, _ := strings.Cut(parts[0], ".")
		table := tables[program+"."+name]
		if table == nil {
			table = &database.Table{Name: name}
			tables[program+"."+name] = table
		}
		column, primary, to := columnOf(t, columnName, parts[1])
		table.Columns = append(table.Columns, column)
		if primary {
			table.PrimaryKey = []*database.Column{column}
		}
		if to != "" {
			references[column] = program + "." + to
		}
		all = append(all, knownColumn{program, parts[2], table, column})
	}
	for _, known := range all {
		if to, ok := references[known.column]; ok {
			cut := strings.LastIndexByte(to, '.')
			other := tables[to[:cut]]
			known.table.ForeignKeys = append(known.table.ForeignKeys, &database.ForeignKey{Columns: []*database.Column{known.column},
				References: other, ReferencedColumns: []*database.Column{other.Column(to[cut+1:])}})
		}
	}
	return all
}

// columnOf reads a column's type: "text(40) pk", "text → sessions.id".
func columnOf(t *testing.T, name, declared string) (c *database.Column, primary bool, references string) {
	t.Helper()
	declared, references, _ = strings.Cut(declared, " → ")
	declared, primary = strings.CutSuffix(declared, " pk")
	kind, length, _ := strings.Cut(strings.TrimSuffix(declared, ")"), "(")
	c = &database.Column{Name: name}
	if length != "" {
		c.MaxLength, _ = strconv.Atoi(length)
	}
	for c.Kind = database.Boolean; c.Kind.String() != kind; c.Kind++ {
		if c.Kind > database.Array {
			t.Fatalf("%s has the type %q", name, kind)
		}
	}
	return c, primary, references
}

func TestColumnsOfThirdPartySchemasThatLookSecret(t *testing.T) {
	var secrets, shown, plain, hidden int
	for _, known := range knownColumns(t) {
		looks := LooksSecret(known.table, known.column)
		where := fmt.Sprintf("%s: %s.%s", known.program, known.table.Name, known.column.Name)
		if want := known.verdict == "secret" || known.verdict == "plain, hidden"; looks != want {
			t.Errorf("%s is held for a secret: %t, but it is %s", where, looks, known.verdict)
		}
		switch known.verdict {
		case "secret":
			secrets++
		case "secret, shown":
			secrets, shown = secrets+1, shown+1
		case "plain":
			plain++
		case "plain, hidden":
			plain, hidden = plain+1, hidden+1
		default:
			t.Errorf("%s: %q is no verdict", where, known.verdict)
		}
	}
	t.Logf("%d secrets, of them %d shown; %d that are named alike, of them %d hidden", secrets, shown, plain, hidden)
	if shown*20 > secrets || hidden*10 > plain {
		t.Error("too many are decided wrongly")
	}
}

// A foreign key is a secret if what it leads to is one, whatever their own names say.
func TestAForeignKeyIsAsSecretAsWhatItLeadsTo(t *testing.T) {
	id, token := &database.Column{Name: "id", Kind: database.Text}, &database.Column{Name: "api_token", Kind: database.Text}
	clients := &database.Table{Name: "clients", Columns: []*database.Column{id, token}, PrimaryKey: []*database.Column{id}}
	session, client := &database.Column{Name: "session_id", Kind: database.Text}, &database.Column{Name: "client", Kind: database.Text}
	requests := &database.Table{Name: "requests", Columns: []*database.Column{session, client}}
	if !LooksSecret(requests, session) || LooksSecret(requests, client) {
		t.Fatal("without foreign keys the names decide")
	}
	for column, to := range map[*database.Column]*database.Column{session: id, client: token} {
		requests.ForeignKeys = append(requests.ForeignKeys, &database.ForeignKey{Columns: []*database.Column{column}, References: clients, ReferencedColumns: []*database.Column{to}})
	}
	if LooksSecret(requests, session) || !LooksSecret(requests, client) {
		t.Error("the foreign keys do not decide")
	}
	circle := []*database.ForeignKey{{Columns: []*database.Column{id}, References: requests, ReferencedColumns: []*database.Column{session}}}
	clients.ForeignKeys = slices.Clone(circle)
	LooksSecret(requests, session) // must end
}
