package engines

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// Without TWOPC the shards of a transaction commit one after the other. If one fails, what was committed before it stays. The answer says
// so, and a repetition does not deny it.
func TestACommitOfWhichOneShardFails(t *testing.T) {
	onShards(t, func(t *testing.T, engine harness.Engine) {
		b := findShards(t, serveItems(t, engine, ""))
		s := b.suite
		if notes := fmt.Sprint(s.endpoint.Status().Database.Notes); !strings.Contains(notes, "one shard after the other (MULTI)") {
			t.Errorf("the status notes %s", notes)
		}

		s.check(t, "a part stays, and the caller is told", func(t *testing.T) {
			b.failPartly(t, "a", "")
		})
		s.check(t, "with a key a repetition does not claim that all was done", func(t *testing.T) {
			for _, names := range []string{"b", "c", "d"} {
				name, key := b.failPartly(t, names, `,"idempotency_key":"key of NAME"`)
				again := s.fails(t, "root", "transact", b.steps(name, key), "unavailable")
				if message := fmt.Sprint(again["error"]); !strings.Contains(message, "its outcome is not known") {
					t.Errorf("the repetition is answered %v", again)
				}
				b.hasFirstShard(t, name)
			}
		})
	})
}

// serveItems serves a table of items on two shards, with keys and without a journal, whose rows lie on any shard. parameters are added to
// the database's URI.
func serveItems(t *testing.T, engine harness.Engine, parameters string) *suite {
	t.Helper()
	database, plain := engine.Open(t, `create table item (id int primary key, name varchar(20) not null);
insert into item (id, name) values (1, 'one'), (2, 'two'), (3, 'three'), (4, 'four'), (5, 'five'), (6, 'six'), (7, 'seven'), (8, 'eight')`)
	database.Connection["uri"] = append(database.Connection["uri"], parameters...)
	keys := func(c *contract.Config) { c.Endpoint.Idempotency = &contract.AuditTable{Name: "mcp_answers"} }
	return &suite{engine, harness.Serve(t, database, []contract.Model{{Name: "item", Table: "item", Expose: true}}, tokens(), keys), plain}
}

// brokenShards breaks the second of two shards before it commits, on the server behind the gateway.
type brokenShards struct {
	*suite
	behind *sql.DB
	// keyspace is the database as clients know it. first and third lie on one shard, and second on the other.
	keyspace             string
	first, second, third int
}

func findShards(t *testing.T, s *suite) *brokenShards {
	t.Helper()
	b := &brokenShards{suite: s, behind: openBehind(t, s.Engine)}
	if err := s.plain.QueryRow("select database()").Scan(&b.keyspace); err != nil {
		t.Fatal(err)
	}
	ids := func(shard string) (found []int) {
		rows, err := b.behind.Query("select id from `" + b.database(shard) + "`.item order by id")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var id int
			if err := rows.Scan(&id); err != nil {
				t.Fatal(err)
			}
			found = append(found, id)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		return found
	}
	low, high := ids("-80"), ids("80-")
	if len(low) < 2 || len(high) < 1 {
		t.Fatalf("the shards have the rows %v and %v", low, high)
	}
	b.first, b.second, b.third = low[0], high[0], low[1]
	return b
}

// openBehind opens the server behind a gateway.
func openBehind(t *testing.T, engine harness.Engine) *sql.DB {
	t.Helper()
	behind, err := sql.Open("mysql", databasetest.MySQLName(databasetest.MySQLOn(t, engine.Behind[0])))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = behind.Close() })
	return behind
}

// database returns the name of the database that has a shard's rows, on the server behind the gateway.
func (b *brokenShards) database(shard string) string { return "vt_" + b.keyspace + "_" + shard }

// steps are a call that changes the first row, then the second, then the third.
func (b *brokenShards) steps(name, key string) string {
	step := func(id int) string {
		return fmt.Sprintf(`{"tool":"update_item","arguments":{"id":%d,"data":{"name":%q}}}`, id, name)
	}
	return `{"steps":[` + step(b.first) + "," + step(b.second) + "," + step(b.third) + `]` + key + `}`
}

// failPartly makes calls of which the second shard fails until one has the first shard commit before it. The gateway commits them in the
// order in which it first used them, and that is any: it asks one of them for the columns. If the second comes first, nothing is
// committed, and all is run again. It returns the name that the call gave to the rows, and its key.
func (b *brokenShards) failPartly(t *testing.T, names, keys string) (name, key string) {
	t.Helper()
	for n := range 64 {
		name = fmt.Sprint(names, n)
		key = strings.Replace(keys, "NAME", name, 1)
		answer := b.failSecond(t, name, key)
		if strings.Contains(answer, `"success":true`) {
			continue
		}
		if !strings.Contains(answer, "a part of it stays") || !strings.Contains(answer, `"code":"unavailable"`) {
			t.Errorf("the call is answered %s", answer)
		}
		b.hasFirstShard(t, name)
		return name, key
	}
	t.Fatal("no call had the first shard commit first")
	return "", ""
}

// failSecond makes the call, ends the connection of the second shard's part while the call waits for the third row, and returns the answer.
func (b *brokenShards) failSecond(t *testing.T, name, key string) string {
	t.Helper()
	lock, err := b.behind.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Rollback() }()
	if _, err := lock.Exec("select id from `"+b.database("-80")+"`.item where id = ? for update", b.third); err != nil {
		t.Fatal(err)
	}
	done := make(chan string, 1)
	go func() {
		answer, _ := b.endpoint.Call(secret("root"), "transact", b.steps(name, key))
		done <- answer
	}()
	for !b.killWriter(t) {
		select {
		case answer := <-done:
			t.Fatalf("the call does not wait for the third row: %s", answer)
		case <-time.After(200 * time.Millisecond): // asked more often, InnoDB does not look again
		}
	}
	if err := lock.Rollback(); err != nil {
		t.Fatal(err)
	}
	return <-done
}

// killWriter ends the connection that has changed the second shard, if a transaction of the first one waits for the lock.
func (b *brokenShards) killWriter(t *testing.T) bool {
	t.Helper()
	const transactions = "information_schema.innodb_trx t join information_schema.processlist p on p.id = t.trx_mysql_thread_id where p.db = ? and "
	const writer = "select coalesce(max(p.id), 0) from " + transactions + "t.trx_rows_modified > 0 and exists (select 1 from " + transactions + "t.trx_state = 'LOCK WAIT')"
	var id int
	err := b.behind.QueryRow(writer, b.database("80-"), b.database("-80")).Scan(&id)
	if err == nil && id != 0 {
		_, err = b.behind.Exec(fmt.Sprintf("kill %d", id))
	}
	if err != nil {
		t.Fatal(err)
	}
	return id != 0
}

// hasFirstShard expects the first shard alone to have what a call changed.
func (b *brokenShards) hasFirstShard(t *testing.T, name string) {
	t.Helper()
	for id, want := range map[int]bool{b.first: true, b.second: false, b.third: true} {
		var now string
		if err := b.plain.QueryRow("select name from item where id = ?", id).Scan(&now); err != nil {
			t.Fatal(err)
		}
		if (now == name) != want {
			t.Errorf("row %d has the name %q after a call that set %q on the first shard alone", id, now, name)
		}
	}
}
