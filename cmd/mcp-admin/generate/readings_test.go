package generate

import (
	"path/filepath"
	"strings"
	"testing"
)

const imported = `
CREATE TABLE rows (id INTEGER PRIMARY KEY, pieces TEXT, price TEXT, day TEXT, at TEXT, code TEXT, words TEXT, few TEXT, email TEXT, parent_code TEXT, none TEXT);
INSERT INTO rows VALUES
 (1, '3', '1.50', '2026-01-31', '2026-01-31 10:00', '007', 'one', '1', '1', '1', null),
 (2, ' 10', '2', '2026-02-01', '2026-02-01T10:00:00Z', '12', '2', null, '2', '2', 'n/a'),
 (3, 'n/a', '', '2026-02-28', '2026-02-28', '100', '3', '2', '3', '3', ''),
 (4, '-5', '.5', null, null, '5', '4', '', '4', '4', '-')`

func TestTextsThatHoldNumbersAndDatesAreFound(t *testing.T) {
	file := filepath.Join(t.TempDir(), "imported.sqlite")
	execute(t, file, imported)
	if plain := run(t, "--sqlite", file); strings.Contains(plain, "reads") {
		t.Errorf("values are looked at although nobody asked for it:\n%s", plain)
	}
	command := Command()
	command.SetArgs([]string{"--endpoint", "shop", "--look-at-values"})
	command.SilenceUsage, command.SilenceErrors = true, true
	if err := command.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "--look-at-values needs --dsn") {
		t.Errorf("values of a database in a cluster: %v", err)
	}
	got := run(t, "--sqlite", file, "--look-at-values")
	const want = `    overrides:
    - {name: pieces, reads: Integer} # all of the 3 texts looked at are such
    - {name: price, reads: Decimal} # all of the 3 texts looked at are such
    - {name: day, reads: Date} # all of the 3 texts looked at are such
    - {name: at, reads: Timestamp} # all of the 3 texts looked at are such
    - {name: parent_code, reads: Integer} # all of the 4 texts looked at are such
`
	if !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
