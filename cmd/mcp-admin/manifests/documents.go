package manifests

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
)

// document is one YAML document of a file.
type document struct {
	file string
	// before is the number of lines before the document.
	before int
	// root is its content with the lines; nil if they are not known.
	root *yamlv3.Node
}

// parse notes the lines of a document's content.
func (d *document) parse(text []byte) {
	var node yamlv3.Node
	if err := yamlv3.Unmarshal(text, &node); err == nil && len(node.Content) > 0 {
		d.root = node.Content[0]
	}
}

// piece is the text of a document.
type piece struct {
	text   []byte
	before int
}

// split divides a file at its document markers.
func split(content []byte) []piece {
	pieces := []piece{{}}
	line := 0
	for text := range bytes.Lines(content) {
		line++
		if trimmed := bytes.TrimRight(text, " \t\r\n"); bytes.Equal(trimmed, []byte("---")) || bytes.HasPrefix(text, []byte("--- #")) {
			pieces = append(pieces, piece{before: line})
			continue
		}
		last := &pieces[len(pieces)-1]
		last.text = append(last.text, text...)
	}
	return pieces
}

var (
	lineNumber = regexp.MustCompile(`line (\d+)`)
	// readerPlace matches the YAML reader's own name and the place in its messages; the place is reported as one in the
	// file.
	readerPlace = regexp.MustCompile(`error converting YAML to JSON: |yaml: |unmarshal errors:\s*|line \d+: `)
)

// placeOf is the line that an error of the YAML reader names, as one of the file.
func (d *document) placeOf(err error) Place {
	line := 1
	if found := lineNumber.FindStringSubmatch(err.Error()); found != nil {
		line, _ = strconv.Atoi(found[1]) // digits only
	}
	return Place{d.file, d.before + line}
}

// place is the line of a field, or of what is there of its path.
func (d *document) place(path string) Place {
	node := d.root
	if node == nil {
		return Place{d.file, d.before + 1}
	}
	line := node.Line
	for _, step := range steps(path) {
		key, value := child(node, step)
		if value == nil {
			break
		}
		node, line = value, value.Line
		if key != nil {
			line = key.Line
		}
	}
	return Place{d.file, d.before + line}
}

// child returns the node that a step leads to: a member of a mapping with its key, or an item of a list.
func child(node *yamlv3.Node, step string) (key, value *yamlv3.Node) {
	switch node.Kind {
	case yamlv3.AliasNode:
		return child(node.Alias, step)
	case yamlv3.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == step {
				return node.Content[i], node.Content[i+1]
			}
		}
	case yamlv3.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(node.Content) {
			return nil, node.Content[i]
		}
	}
	return nil, nil
}

// steps divides a path such as spec.groups[0].name or spec.attributes[a.b].
func steps(path string) []string {
	var all []string
	for path != "" {
		if inner, rest, bracket := strings.Cut(path, "]"); bracket && strings.HasPrefix(inner, "[") {
			all, path = append(all, strings.Trim(inner[1:], `"`)), strings.TrimPrefix(rest, ".")
			continue
		}
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			return append(all, path)
		}
		all = append(all, path[:end])
		path = strings.TrimPrefix(path[end:], ".")
	}
	return all
}
