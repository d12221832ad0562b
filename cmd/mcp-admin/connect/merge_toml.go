package connect

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

const codexServers = "mcp_servers"

// mergeCodex puts a configuration into Codex's config.toml: in the place of the tables of that server, or at the end. The
// file is read before and after, and refused unless all else in it is the same.
func mergeCodex(held, configuration []byte, s server) ([]byte, error) {
	before, err := decodeTOML(held)
	if err != nil {
		return nil, fmt.Errorf("it is no TOML: %w", err)
	}
	var kept bytes.Buffer
	dropping := false
	for line := range strings.Lines(string(held)) {
		if header := strings.TrimSpace(line); strings.HasPrefix(header, "[") {
			dropping = isTableOf(header, s.name)
		}
		if !dropping {
			kept.WriteString(line)
		}
	}
	merged := bytes.TrimRight(kept.Bytes(), "\n")
	if len(merged) > 0 {
		merged = append(merged, "\n\n"...)
	}
	merged = append(merged, configuration...)
	after, err := decodeTOML(merged)
	if err != nil || !reflect.DeepEqual(without(before, s.name), without(after, s.name)) {
		return nil, errors.New("it cannot be changed without touching something else in it; add the lines by hand")
	}
	return merged, nil
}

func decodeTOML(text []byte) (map[string]any, error) {
	decoded := map[string]any{}
	return decoded, toml.Unmarshal(text, &decoded)
}

// isTableOf reports whether a line opens the table of a server, or one within it.
func isTableOf(header, name string) bool {
	table, err := decodeTOML([]byte(header + "\n"))
	servers, _ := table[codexServers].(map[string]any)
	_, has := servers[name]
	return err == nil && has
}

// without is a file's content but for one server.
func without(content map[string]any, name string) map[string]any {
	if servers, ok := content[codexServers].(map[string]any); ok {
		delete(servers, name)
		if len(servers) == 0 {
			delete(content, codexServers)
		}
	}
	return content
}
