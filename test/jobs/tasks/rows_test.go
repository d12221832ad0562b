package main

import (
	"strings"
	"testing"
)

func TestAValueHasOneForm(t *testing.T) {
	for _, c := range []struct{ kind, text, want string }{
		{"DATE", "2026-01-31", "2026-01-31"}, {"DATE", "2026-01-31T00:00:00Z", "2026-01-31"}, {"DATE", "never", "never"},
		{"TIMESTAMP", "2026-01-31 08:00:00", "2026-01-31 08:00:00"}, {"TIMESTAMP", "2026-01-31T08:00:00Z", "2026-01-31 08:00:00"},
		{"TIMESTAMP", "2026-01-31T08:00:00.500000+00:00", "2026-01-31 08:00:00.5"}, {"TIMESTAMP", "2026-01-31 08:00:00.000000", "2026-01-31 08:00:00"},
		{"DECIMAL", "12.50", "12.5"}, {"DECIMAL", "12", "12"}, {"DECIMAL", "100.00", "100"}, {"NUMERIC", "0.001", "0.001"}, {"DECIMAL", "-0.10", "-0.1"},
		{"REAL", "0.30000000000000004", "0.3"}, {"BOOLEAN", "1", "true"}, {"BOOLEAN", "false", "false"}, {"VARCHAR", "012.50", "012.50"},
	} {
		if got := (column{"c", c.kind}).text(c.text); got != c.want {
			t.Errorf("%s %s is %s, want %s", c.kind, c.text, got, c.want)
		}
	}
}

const cards = `
-- Names and types in any form that SQLite reads.
create table if not exists "card" (card_id varchar(10) NOT NULL PRIMARY KEY, balance DECIMAL(10,2),
  CHECK (balance >= 0
    OR balance IS NULL));
CREATE TABLE line (
  open BOOLEAN NOT NULL,
  line_no INTEGER NOT NULL,
  card_id VARCHAR(10) NOT NULL,
  PRIMARY KEY (card_id, line_no),
  FOREIGN KEY (card_id) REFERENCES card (card_id)
);
CREATE INDEX line_open ON line (open);
`

func TestTheSchemaIsRead(t *testing.T) {
	tables, err := readTables(t.Context(), cards)
	if err != nil {
		t.Fatal(err)
	}
	if len(tables) != 2 || tables[0].name != "card" || tables[1].name != "line" || len(tables[1].columns) != 3 {
		t.Fatalf("%+v", tables)
	}
	if got := strings.Join(tables[0].key, ",") + " " + strings.Join(tables[1].key, ","); got != "card_id card_id,line_no" {
		t.Errorf("got %q, want %q", got, "card_id card_id,line_no")
	}
	if got := tables[0].column("balance").kind; got != "DECIMAL" {
		t.Errorf("got %q, want %q", got, "DECIMAL")
	}
	if _, err := readTables(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "makes no table") {
		t.Error(err)
	}
	if _, err := readTables(t.Context(), "CREATE TABLE loose (a INTEGER)"); err == nil || !strings.Contains(err.Error(), "loose has no primary key") {
		t.Error(err)
	}
}

func TestTheEndStateIsHeldAgainstEveryRow(t *testing.T) {
	tables, err := readTables(t.Context(), cards)
	if err != nil {
		t.Fatal(err)
	}
	card, line := tables[0], tables[1]
	before := rows{`"a"`: {"card_id": "a", "balance": "1"}, `"b"`: {"card_id": "b"}}
	want, err := card.after(before, writes{
		Inserted: []object{{"card_id": "c", "balance": "2"}},
		Updated:  []struct{ Key, Old, New object }{{object{"card_id": "a"}, object{"balance": "1.00"}, object{"balance": nil}}},
		Deleted:  []struct{ Key, Old object }{{object{"card_id": "b"}, object{"balance": nil}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if found := card.differences(rows{`"a"`: {"card_id": "a"}, `"c"`: {"card_id": "c", "balance": "2"}}, want); len(found) != 0 {
		t.Errorf("got %d: %v, want %d", len(found), found, 0)
	}
	if found := card.differences(before, want); len(found) != 3 {
		t.Errorf("a row too many, one too few and one that is not changed: %q", found)
	}
	if _, err := card.after(before, writes{Inserted: []object{{"card_id": "a"}}}); err == nil {
		t.Error("a row that is there can be inserted")
	}
	if _, err := card.after(before, writes{Deleted: []struct{ Key, Old object }{{Key: object{"card_id": "z"}}}}); err == nil {
		t.Error("a row that is not there can be deleted")
	}
	if got, err := line.rowOf(object{"card_id": "a", "line_no": 1, "open": int64(1)}); err != nil || got["open"] != "true" || got["line_no"] != "1" {
		t.Errorf("got %v, %v", got, err)
	}
}
