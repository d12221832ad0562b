package mysql_test

import (
	"slices"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// failing is a table whose trigger raises errors that the server itself might raise.
const failing = `
CREATE TABLE item (id integer AUTO_INCREMENT PRIMARY KEY, name varchar(40), version integer DEFAULT 1);
CREATE TRIGGER failing BEFORE INSERT ON item FOR EACH ROW BEGIN
  IF NEW.name = 'read-only' THEN SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1836, MESSAGE_TEXT = 'Running in read-only mode'; END IF;
  IF NEW.name = 'replica' THEN SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1290,
    MESSAGE_TEXT = 'The server is running with the --read-only option so it cannot execute this statement'; END IF;
  IF NEW.name = 'other option' THEN SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1290,
    MESSAGE_TEXT = 'The server is running with the --secure-file-priv option so it cannot execute this statement'; END IF;
  IF NEW.name = 'deadlock' THEN SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'Deadlock found'; END IF;
  IF NEW.name = 'waited' THEN SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1205, MESSAGE_TEXT = 'Lock wait timeout exceeded'; END IF;
  IF NEW.name = 'said' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'Only on Mondays'; END IF;
  IF NEW.name = 'numbered' THEN SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 3819, MESSAGE_TEXT = 'Only on Tuesdays'; END IF;
  IF NEW.name = 'silent' THEN SIGNAL SQLSTATE '45000'; END IF;
END`

func TestFailures(t *testing.T) {
	f := open(t, failing, nil)
	item := f.table(t, "item")
	for _, test := range []struct {
		name    string
		code    database.Code
		again   bool
		message string
	}{
		{"read-only", database.Unreachable, false, ""},
		{"replica", database.Unreachable, false, ""},
		{"other option", database.Failed, false, ""},
		{"deadlock", database.Locked, true, ""},
		{"waited", database.Locked, false, ""},
		{"said", database.Violated, false, "Only on Mondays"},
		{"numbered", database.Violated, false, "Only on Tuesdays"},
		{"silent", database.Violated, false, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := f.Transact(t.Context(), func(tx database.Tx) error {
				_, err := tx.Insert(t.Context(), insert(item, test.name), nil)
				return err
			})
			e := wantError(t, err, test.code, "Mondays", "Tuesdays")
			if e.Again != test.again {
				t.Errorf("again is %t", e.Again)
			}
			if e.Code == database.Unreachable && e.Reason != contract.ReasonUnreachable {
				t.Errorf("the reason is %s", e.Reason)
			}
			if e.Code == database.Violated && (e.Violation.Kind != database.OtherViolation || e.Violation.Message != test.message) {
				t.Errorf("it is %+v", e.Violation)
			}
		})
	}
}

// TestTakenOver has a server turn out to be read-only: no connection that was opened before is used again.
func TestTakenOver(t *testing.T) {
	f := open(t, failing, nil)
	item := f.table(t, "item")
	connections := func() (n int) {
		err := f.plain.QueryRow("SELECT count(*) FROM information_schema.PROCESSLIST WHERE DB = ?", f.connection.Database).Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	alone := connections() // on the connection that the introspection left
	err := f.Transact(t.Context(), func(tx database.Tx) error {
		if err := f.Ping(t.Context()); err != nil { // on another connection, which is idle afterwards
			return err
		}
		_, err := tx.Insert(t.Context(), insert(item, "replica"), nil)
		return err
	})
	wantError(t, err, database.Unreachable)
	if err := f.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	// The server lists a connection for a moment after it was closed.
	now := connections()
	for deadline := time.Now().Add(10 * time.Minute); now > alone && time.Now().Before(deadline); now = connections() {
		time.Sleep(10 * time.Millisecond)
	}
	if now > alone {
		t.Errorf("there are %d connections, want %d", now, alone)
	}
}

func TestPartitions(t *testing.T) {
	f := open(t, "CREATE TABLE item (id integer PRIMARY KEY, name varchar(9)) PARTITION BY RANGE (id) (PARTITION low VALUES LESS THAN (10))", nil)
	item := f.table(t, "item")
	err := f.Transact(t.Context(), func(tx database.Tx) error {
		_, err := tx.Insert(t.Context(), &database.Insert{Into: database.NewSource(item, nil),
			Set: []database.Assignment{{Column: item.Column("id"), Value: int64(10)}}}, nil)
		return err
	})
	if e := wantError(t, err, database.Violated); e.Violation.Kind != database.PartitionViolation || e.Violation.Table != item {
		t.Errorf("it is %+v", e.Violation)
	}
}

// A server may speak MySQL's protocol, call itself any release, and have no JSON_TABLE (TiDB).
func TestDocumentsOnAServerWithoutJSONTable(t *testing.T) {
	c := databasetest.MariaDB(t)
	databasetest.ExecuteMySQL(t, c, "CREATE TABLE t (id int PRIMARY KEY, doc json)")
	for _, has := range []bool{true, false} {
		uri := databasetest.URI(c)
		if !has {
			uri = databasetest.Refusing(t, uri, "JSON_TABLE(", "JSON_TABLEAU(")
		}
		connection, err := contract.ResolveConnection(map[string][]byte{"uri": []byte(uri)}, "")
		if err != nil {
			t.Fatal(err)
		}
		schema := databasetest.Introspect(t, openAt(t, connection, nil))
		doc := databasetest.Table(t, schema, c.Database+".t").Column("doc")
		if noted := slices.Contains(schema.Notes, "it has no JSON_TABLE: JSON columns cannot be looked into"); doc.Contains != has || noted == has {
			t.Errorf("with JSON_TABLE %v: the column can be looked into: %v, the notes %q", has, doc.Contains, schema.Notes)
		}
	}
}
