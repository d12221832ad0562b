package database_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// chinookKeys are the tables of Chinook as PostgreSQL's script names them, their keys, and the tables that their
// foreign keys lead to. The other scripts write the names in camel case.
var chinookKeys = map[string]struct{ key, foreign string }{
	"album":          {"album_id", "artist_id>artist.artist_id"},
	"artist":         {"artist_id", ""},
	"customer":       {"customer_id", "support_rep_id>employee.employee_id"},
	"employee":       {"employee_id", "reports_to>employee.employee_id"},
	"genre":          {"genre_id", ""},
	"invoice":        {"invoice_id", "customer_id>customer.customer_id"},
	"invoice_line":   {"invoice_line_id", "invoice_id>invoice.invoice_id track_id>track.track_id"},
	"media_type":     {"media_type_id", ""},
	"playlist":       {"playlist_id", ""},
	"playlist_track": {"playlist_id,track_id", "playlist_id>playlist.playlist_id track_id>track.track_id"},
	"track":          {"track_id", "album_id>album.album_id genre_id>genre.genre_id media_type_id>media_type.media_type_id"},
}

func TestChinook(t *testing.T) {
	scripts := map[string]string{
		contract.EnginePostgreSQL: databasetest.Chinook(t, "Chinook_PostgreSql.sql"),
		contract.EngineMySQL:      databasetest.Chinook(t, "Chinook_MySql.sql"),
		contract.EngineSQLite:     databasetest.Chinook(t, "Chinook_Sqlite.sql"),
	}
	onAllEngines(t, scripts, func(t *testing.T, f fixture) {
		schema := f.schema(t)
		if len(schema.Tables) != len(chinookKeys) {
			t.Errorf("found %d tables, want %d", len(schema.Tables), len(chinookKeys))
		}
		for _, table := range schema.Tables {
			t.Run(table.Name, func(t *testing.T) {
				checkKeys(t, table)
				checkRows(t, f, table)
			})
		}
	})
}

func checkKeys(t *testing.T, table *database.Table) {
	want := chinookKeys[snakeCase(table.Name)]
	if got := snakeCase(columnNames(table.PrimaryKey)); got != want.key {
		t.Errorf("the key is %s, want %s", got, want.key)
	}
	var foreign []string
	for _, key := range table.ForeignKeys {
		foreign = append(foreign, snakeCase(columnNames(key.Columns)+">"+key.References.Name+"."+columnNames(key.ReferencedColumns)))
	}
	slices.Sort(foreign)
	if got := strings.Join(foreign, " "); got != want.foreign {
		t.Errorf("the foreign keys are %s, want %s", got, want.foreign)
	}
}

// checkRows compares a Select of all columns with plain SQL.
func checkRows(t *testing.T, f fixture, table *database.Table) {
	expected := readPlainly(t, f.engine, f.plain, table)
	rows, page := f.read(t, &database.Select{
		From: database.NewSource(table, nil), Output: outputs(table.Columns...), Order: ascending(table.PrimaryKey...),
		Limit: 100_000, Total: database.TotalExact,
	})
	if len(rows) != len(expected) || page.Total != int64(len(expected)) {
		t.Fatalf("%d rows, total %d; plain SQL finds %d", len(rows), page.Total, len(expected))
	}
	for i, row := range rows {
		if row != expected[i] {
			t.Fatalf("row %d is\n%s\nplain SQL says\n%s", i, row, expected[i])
		}
	}
}

// readPlainly reads a table as texts, and writes the JSON that is expected of each row.
func readPlainly(t *testing.T, engine string, plain *sql.DB, table *database.Table) (expected []string) {
	t.Helper()
	quote, text := `"`, "text"
	if engine == contract.EngineMySQL {
		quote, text = "`", "char"
	}
	columns := make([]string, len(table.Columns))
	for i, column := range table.Columns {
		columns[i] = "CAST(" + quote + column.Name + quote + " AS " + text + ")"
		if column.NativeType == "NUMERIC(10,2)" { // SQLite keeps a float
			columns[i] = fmt.Sprintf(`printf('%%.2f', "%s")`, column.Name)
		}
	}
	name := quote + table.Name + quote
	var key []string
	for _, column := range table.PrimaryKey {
		key = append(key, name+"."+quote+column.Name+quote)
	}
	rows, err := plain.Query("SELECT " + strings.Join(columns, ", ") + " FROM " + name + " ORDER BY " + strings.Join(key, ", "))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		targets := make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			t.Fatal(err)
		}
		members := make([]string, len(values))
		for i, value := range values {
			members[i] = fmt.Sprintf("%q:%s", table.Columns[i].Name, plainJSON(t, table.Columns[i], value))
		}
		expected = append(expected, "{"+strings.Join(members, ",")+"}")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return expected
}

func plainJSON(t *testing.T, column *database.Column, value sql.NullString) string {
	t.Helper()
	switch native := strings.ToLower(column.NativeType); {
	case !value.Valid:
		return "null"
	case native == "integer", strings.HasPrefix(native, "int("):
		return value.String
	case strings.HasPrefix(native, "timestamp"), native == "datetime":
		return `"` + strings.Replace(value.String, " ", "T", 1) + `"`
	}
	quoted, err := json.Marshal(value.String)
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(`\u0026`, "&", `\u003c`, "<", `\u003e`, ">").Replace(string(quoted))
}

// snakeCase turns AlbumId and PlaylistTrack into album_id and playlist_track.
func snakeCase(name string) string {
	var snake strings.Builder
	for i, c := range name {
		if c >= 'A' && c <= 'Z' {
			if i > 0 && name[i-1] >= 'a' && name[i-1] <= 'z' {
				snake.WriteByte('_')
			}
			c += 'a' - 'A'
		}
		snake.WriteRune(c)
	}
	return snake.String()
}
