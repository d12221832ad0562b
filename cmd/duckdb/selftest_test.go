package duckdb_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/doctor"
)

func TestASelfTestNamesNoFileThatIsLeftOut(t *testing.T) {
	folder := oneFile(t)
	for _, name := range []string{"patients.parquet", "illness.parquet", "cure.duckdb"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("no parquet"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, format := range []string{"text", "json"} {
		var out bytes.Buffer
		command := doctor.Command()
		command.SetArgs([]string{"--engine", "--duckdb", folder, "-o", format})
		command.SetOut(&out)
		command.SetErr(&bytes.Buffer{})
		if err := command.ExecuteContext(t.Context()); err != nil {
			t.Errorf("%v", err)
		}
		for _, name := range []string{folder, "patients", "illness", "cure"} {
			if strings.Contains(out.String(), name) {
				t.Errorf("it names %s:\n%s", name, out.String())
			}
		}
		for _, want := range []string{"a file or folder is not served: ", " (2 in all)", "a file is not served: a DuckDB database must be named itself, not its folder (1 in all)"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q is not in\n%s", want, out.String())
			}
		}
	}
}
