package engines

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// With transaction_mode=TWOPC in the URI all shards commit a transaction, or none does. A failed commit is told by the phase in which it
// failed: before the decision nothing was changed, and after it nobody knows yet.
func TestACommitOnAllShardsOrNone(t *testing.T) {
	onShards(t, func(t *testing.T, engine harness.Engine) {
		s := serveItems(t, engine, "?transaction_mode=twopc")
		behind := openBehind(t, engine)
		var keyspace string
		if err := s.plain.QueryRow("select database()").Scan(&keyspace); err != nil {
			t.Fatal(err)
		}
		// fails makes the gateway's own table for this fail while a call renames all rows.
		fails := func(t *testing.T, when, row, name, key string) string {
			t.Helper()
			trigger := "_vt.stop_" + keyspace
			create := fmt.Sprintf("create trigger %s before %s for each row begin if %s.dtid like '%s:%%' then signal sqlstate '45000'; end if; end", trigger, when, row, keyspace)
			if _, err := behind.Exec(create); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if _, err := behind.Exec("drop trigger " + trigger); err != nil {
					t.Error(err)
				}
			}()
			answer, _ := s.endpoint.Call(secret("root"), "transact", renames(name, key))
			return answer
		}
		s.check(t, "the status has no note about parts", func(t *testing.T) {
			if notes := fmt.Sprint(s.endpoint.Status().Database.Notes); strings.Contains(notes, "shards") {
				t.Errorf("the status notes %s", notes)
			}
		})
		s.check(t, "all shards commit", func(t *testing.T) {
			s.ok(t, "root", "transact", renames("a", "the key of a"))
			s.haveName(t, "a", 8)
		})
		for i, when := range []string{"insert on _vt.dt_state", "insert on _vt.redo_state"} {
			s.check(t, fmt.Sprintf("a failure in phase %d changes nothing", i+1), func(t *testing.T) {
				name := fmt.Sprint("b", i)
				answer := fails(t, when, "new", name, "the key of "+name)
				if !strings.Contains(answer, "nothing was changed") || strings.Contains(answer, "stays") {
					t.Errorf("the call is answered %s", answer)
				}
				s.haveName(t, name, 0)
				s.ok(t, "root", "transact", renames(name, "the key of "+name))
				s.haveName(t, name, 8)
			})
		}
		s.check(t, "if the decision cannot be written, a key tells what became of it", func(t *testing.T) {
			answer := fails(t, "update on _vt.dt_state", "new", "c", "the key of c")
			if !strings.Contains(answer, "it is not known whether it took hold; if this call has an idempotency_key, send it again as it is") {
				t.Errorf("the call is answered %s", answer)
			}
			s.ok(t, "root", "transact", renames("c", "the key of c"))
			s.haveName(t, "c", 8)
		})
		s.check(t, "if a shard does not commit what was decided, a part is there and the rest may follow", func(t *testing.T) {
			answer := fails(t, "delete on _vt.redo_state", "old", "d", "the key of d")
			if !strings.Contains(answer, "a part of it stays") {
				t.Errorf("the call is answered %s", answer)
			}
			again, _ := s.endpoint.Call(secret("root"), "transact", renames("d", "the key of d"))
			if strings.Contains(again, `"replayed":true`) {
				t.Errorf("its repetition is answered %s", again)
			}
		})
	})
}

// With transaction_mode=SINGLE a transaction over several shards is refused, and the caller learns why.
func TestATransactionOverShardsThatIsRefused(t *testing.T) {
	onShards(t, func(t *testing.T, engine harness.Engine) {
		s := serveItems(t, engine, "?transaction_mode=SINGLE")
		if notes := fmt.Sprint(s.endpoint.Status().Database.Notes); !strings.Contains(notes, "it refuses a transaction over several shards (SINGLE)") {
			t.Errorf("the status notes %s", notes)
		}
		refused := s.fails(t, "root", "transact", renames("a", "the key of a"), "invalid_argument")
		if message := fmt.Sprint(refused["error"]); !strings.Contains(message, "no transaction over several of its servers, and nothing was changed") {
			t.Errorf("the call is answered %v", refused)
		}
		s.fails(t, "root", "bulk_item", `{"operation":"update","items":[{"id":1,"data":{"name":"a"}},{"id":2,"data":{"name":"a"}},{"id":3,"data":{"name":"a"}},`+
			`{"id":4,"data":{"name":"a"}},{"id":5,"data":{"name":"a"}},{"id":6,"data":{"name":"a"}},{"id":7,"data":{"name":"a"}},{"id":8,"data":{"name":"a"}}]}`, "invalid_argument")
		s.haveName(t, "a", 0)
		s.ok(t, "root", "update_item", `{"id":1,"data":{"name":"b"}}`)
		s.haveName(t, "b", 1)
	})
}

// renames is a call that gives all eight items a name.
func renames(name, key string) string {
	var steps []string
	for id := 1; id <= 8; id++ {
		steps = append(steps, fmt.Sprintf(`{"tool":"update_item","arguments":{"id":%d,"data":{"name":%q}}}`, id, name))
	}
	return fmt.Sprintf(`{"steps":[%s],"idempotency_key":%q}`, strings.Join(steps, ","), key)
}

// haveName expects so many items to have a name.
func (s *suite) haveName(t *testing.T, name string, want int) {
	t.Helper()
	var n int
	if err := s.plain.QueryRow("select count(*) from item where name = ?", name).Scan(&n); err != nil {
		t.Fatal(err)
	}
	if n != want {
		t.Errorf("%d items have the name %s, want %d", n, name, want)
	}
}
