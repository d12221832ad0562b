package dev

import (
	"os"
	"path/filepath"
	"testing"
)

// write puts files into a new folder and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range files {
		file := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

const endpointYAML = `apiVersion: mcpadmin.dev/v1alpha1
kind: MCPEndpoint
metadata: {name: notes}
spec: {database: {sqlite: {emptyDir: {}, initConfigMapRef: {name: sql}}}}
`
