package sqlscan_test

import (
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract/sqlscan"
)

func TestQueries(t *testing.T) {
	for _, good := range []string{
		"SELECT 1",
		"select id, rank() over (partition by team order by score desc) from player;",
		"WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < :most) SELECT n FROM t",
		"SELECT * FROM orders WHERE owner = :token AND team IN (:groups) AND region = :attribute_region",
		"SELECT 'INTO the wild; FOR UPDATE' AS title -- into\nFROM book",
		"SELECT substring(name FROM 1 FOR 3), \"into\" FROM book",
		"SELECT replace(name, 'a', 'b') FROM book WHERE (replace(name, 'a', 'b')) <> ''",
	} {
		if _, err := sqlscan.ScanQuery(good, []string{"most"}); err != nil {
			t.Errorf("%s: %s", good, err)
		}
	}
	for _, tc := range []struct{ statement, complaint string }{
		{"", "is empty"},
		{"  -- nothing", "is empty"},
		{"UPDATE t SET a = 1", "begins with UPDATE"},
		{"TABLE t", "begins with TABLE"},
		{"(SELECT 1)", "begins with ("},
		{"SELECT 1; SELECT 2", "one statement"},
		{"SELECT 1; DROP TABLE t", "one statement"},
		{"SELECT a INTO b FROM c", "must not store"},
		{"SELECT a FROM c INTO OUTFILE '/tmp/x'", "must not store"},
		{"SELECT * FROM c FOR UPDATE", "must not lock"},
		{"SELECT * FROM c FOR NO KEY UPDATE", "must not lock"},
		{"SELECT * FROM c FOR SHARE", "must not lock"},
		{"SELECT * FROM c LOCK IN SHARE MODE", "must not lock"},
		{"WITH gone AS (DELETE FROM c RETURNING id) SELECT * FROM gone", "changes rows"},
		{"WITH a AS (SELECT 1) DELETE FROM c", "begins with DELETE"},
		{"WITH a AS (SELECT 1)", "no statement follows"},
		{"SELECT :other", "not a parameter"},
		{"SELECT :ids", "not a parameter"},
		{"SELECT * FROM c WHERE team = :groups", "alone between brackets"},
		{"SELECT @@version", "variables"},
		{"SELECT (1", "lacks a )"},
	} {
		_, err := sqlscan.ScanQuery(tc.statement, []string{"most"})
		if err == nil || !strings.Contains(err.Error(), tc.complaint) {
			t.Errorf("%s: %v, want %q", tc.statement, err, tc.complaint)
		}
	}
}
