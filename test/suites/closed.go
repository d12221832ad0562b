package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

const module = "github.com/mcp-admin/mcp-admin-operator"

// doors lead to what the go command does not see: database servers and API servers.
var doors = []string{"github.com/jackc/pgx/v5", "github.com/go-sql-driver/mysql", "sigs.k8s.io/controller-runtime/pkg/envtest"}

// closed returns the packages whose tests can start no program and reach no server beside their own process. The go command
// knows all that such a test reads, which are files and variables, so it may give its earlier result as long as these are the
// same, and need not link the test again.
func closed(ctx context.Context) ([]string, error) {
	c := exec.CommandContext(ctx, "go", "list", "-test", "-deps", "-f", `{{if not .Standard}}{{.ImportPath}}|{{join .Imports "|"}}{{end}}`, "./...")
	c.Stderr = os.Stderr
	text, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	imports := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		names := strings.Split(strings.TrimSpace(line), "|")
		imports[names[0]] = names[1:]
	}
	open := map[string]bool{}
	var found []string
	for name := range imports {
		if tested, is := strings.CutSuffix(name, ".test"); is && strings.HasPrefix(name, module+"/") && !isOpen(name, imports, open) {
			found = append(found, tested)
		}
	}
	return found, nil
}

// isOpen reports whether a package leads outside its process, itself or by what it imports. It keeps its answers in known.
func isOpen(name string, imports map[string][]string, known map[string]bool) bool {
	answer, is := known[name]
	if is {
		return answer
	}
	answer = slices.Contains(doors, name) || strings.HasPrefix(name, module) && slices.Contains(imports[name], "os/exec") ||
		slices.ContainsFunc(imports[name], func(used string) bool { return isOpen(used, imports, known) })
	known[name] = answer
	return answer
}
