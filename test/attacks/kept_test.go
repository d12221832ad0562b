package attacks

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// What one caller may have kept in a day: docs/design/transact.md, "Once".
const keptBytes = 32 << 20

func TestAttackByKeys(t *testing.T) {
	if os.Getenv("MCP_TEST_ATTACKS") == "" {
		t.Skip("MCP_TEST_ATTACKS is not set: make test-attacks sets it")
	}
	for _, engine := range harness.Engines {
		t.Run(engine.Title, func(t *testing.T) {
			served, plain := engine.Open(t, script())
			s := start(t, served)
			kept := func() (rows, bytes int) {
				if err := plain.QueryRow("select count(*), coalesce(sum(length(answer)), 0) from "+answersTable).Scan(&rows, &bytes); err != nil {
					t.Fatal(err)
				}
				return rows, bytes
			}
			for i := range 40 {
				text, _ := s.call("greedy", "transact", fmt.Sprintf(`{"steps":[{"tool":"list_wide","arguments":{"limit":1000,"max_bytes":1048576}}],"idempotency_key":"%d"}`, i))
				if !strings.Contains(text, "none of the steps changes anything") {
					t.Fatalf("a token that may not write: %.300s", text)
				}
			}
			if rows, bytes := kept(); rows != 0 {
				t.Errorf("for a token that may not write, %d rows with %d bytes are kept", rows, bytes)
			}
			// Pages of 60,000 bytes are kept until there are enough, pages of 900,000 never.
			calls := 0
			for _, page := range []struct{ calls, bytes int }{{keptBytes/60_000 + 50, 60_000}, {40, 900_000}} {
				for range page.calls {
					arguments := fmt.Sprintf(`{"steps":[{"tool":"list_wide","arguments":{"limit":1000,"max_bytes":%d}},{"tool":"update_book","arguments":{"id":1,"data":{"even":1}}}],"idempotency_key":"%d"}`, page.bytes, calls)
					if text, _ := s.call("writing", "transact", arguments); !strings.HasPrefix(text, `{"success":true,"results"`) {
						t.Fatalf("call %d: %.300s", calls, text)
					}
					calls++
				}
			}
			rows, bytes := kept()
			if most := keptBytes*4/3 + calls*100; rows != calls || bytes > most || bytes < keptBytes {
				t.Errorf("of %d calls %d rows with %d bytes are kept, want at most %d bytes", calls, rows, bytes, most)
			}
			fmt.Printf("attacks: %d calls with a key and %d MiB of answers left %d MiB in %s\n", calls, ((calls-40)*60_000+40*900_000)>>20, bytes>>20, engine.Title)
		})
	}
}
