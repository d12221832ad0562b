package sqlite

import (
	"context"
	"database/sql/driver"
	"path/filepath"
	"strings"
	"testing"
)

func TestLongStatementsAreNotKept(t *testing.T) {
	c, err := openConn(fileURI(filepath.Join(t.TempDir(), "data.sqlite"), nil))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	long := "SELECT 1 WHERE 7 IN (" + strings.Repeat("1, ", maxKept/3) + "7)"
	for _, text := range []string{"SELECT 1", long, "SELECT 1", long} {
		rows := 0
		if err := c.each(context.Background(), text, nil, func([]driver.Value) { rows++ }); err != nil || rows != 1 {
			t.Fatalf("%.30s: %d rows and %v", text, rows, err)
		}
	}
	if len(c.statements) != 1 {
		t.Errorf("%d statements are kept, want the short one only", len(c.statements))
	}
}
