// Program values writes the table of a chart's values, from the comments of its values.yaml, to the end of its README:
// values CHART_FOLDER.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

const tableHead = "| Value | Default | Meaning |\n|---|---|---|\n"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "values: name the chart's folder, and nothing else")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "values:", err)
		os.Exit(1)
	}
}

func write(chart string) error {
	text, err := os.ReadFile(filepath.Join(chart, "values.yaml"))
	if err != nil {
		return err
	}
	rows, err := table(text)
	if err != nil {
		return fmt.Errorf("values.yaml: %w", err)
	}
	name := filepath.Join(chart, "README.md")
	readme, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	before, _, found := strings.Cut(string(readme), tableHead)
	if !found {
		return fmt.Errorf("README.md has no table of values: it begins with %q", tableHead)
	}
	return os.WriteFile(name, []byte(before+tableHead+rows), 0o644)
}

// table is a row for each value: its path, its default and the comment above it. A value that holds others has its row
// only if it has a comment; then theirs are left out.
func table(values []byte) (string, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(values, &document); err != nil {
		return "", err
	}
	var rows strings.Builder
	err := describe(&rows, "", document.Content[0])
	return rows.String(), err
}

func describe(rows *strings.Builder, path string, parent *yaml.Node) error {
	for i := 0; i+1 < len(parent.Content); i += 2 {
		key, value := parent.Content[i], parent.Content[i+1]
		name := strings.TrimPrefix(path+"."+key.Value, ".")
		comment := strings.Join(strings.Fields(strings.ReplaceAll(key.HeadComment, "#", " ")), " ")
		switch {
		case comment != "":
			shown, err := inOneLine(value)
			if err != nil {
				return err
			}
			fmt.Fprintf(rows, "| `%s` | `%s` | %s |\n", name, shown, strings.ReplaceAll(comment, "|", `\|`))
		case value.Kind == yaml.MappingNode && len(value.Content) > 0:
			if err := describe(rows, name, value); err != nil {
				return err
			}
		default:
			return fmt.Errorf("%s has no comment", name)
		}
	}
	return nil
}

// inOneLine is a value as YAML's flow style writes it.
func inOneLine(value *yaml.Node) (string, error) {
	flow := *value
	if value.Kind != yaml.ScalarNode {
		flow.Style = yaml.FlowStyle
	}
	flow.HeadComment, flow.LineComment, flow.FootComment = "", "", ""
	text, err := yaml.Marshal(&flow)
	return strings.TrimSpace(string(text)), err
}
