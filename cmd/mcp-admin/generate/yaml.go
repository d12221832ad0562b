package generate

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
)

// maxLine is how long a line may be before a list or mapping is written in several.
const maxLine = 100

// encode writes an object as a YAML document, in the order of its type's fields, with reasons as comments beside what they
// explain. A place in reasons begins below "spec".
func encode(object any, reasons map[string]string) ([]byte, error) {
	encoded, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var document yaml.Node // JSON is YAML, and a node keeps its order
	if err := yaml.Unmarshal(encoded, &document); err != nil {
		return nil, err
	}
	root := document.Content[0]
	remove(root, "status")
	for i := 0; i < len(root.Content); i += 2 {
		if root.Content[i].Value == "spec" {
			lay(root.Content[i+1], "", reasons, 2)
			root.Content[i+1].Style = 0
			lay(root.Content[i], "", nil, 0)
			continue
		}
		lay(root.Content[i], "", nil, 0)
		lay(root.Content[i+1], "", nil, 0)
	}
	root.Style = 0
	c := root.Content
	c[0], c[1], c[2], c[3] = c[2], c[3], c[0], c[1] // apiVersion before kind, as people write it
	text, err := write(root)
	// The encoder leaves marks as they are that turn the direction of writing. They stand between double quotes, where
	// their escapes mean the same.
	return []byte(output.PrintableBut(string(text), "\n")), err
}

// write writes a node in the style of the project's manifests.
func write(node *yaml.Node) ([]byte, error) {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := encoder.Encode(node); err != nil {
		return nil, err
	}
	return out.Bytes(), encoder.Close()
}

func remove(mapping *yaml.Node, key string) {
	for i := 0; i < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			mapping.Content = append(mapping.Content[:i], mapping.Content[i+2:]...)
			return
		}
	}
}

// lay chooses the style of a node at a place, and puts the comments of what is below it: short values stand on one line.
func lay(node *yaml.Node, place string, reasons map[string]string, indent int) {
	switch node.Kind {
	case yaml.ScalarNode:
		node.Style = 0
		if node.Tag == "!!str" && !unquoted.MatchString(node.Value) || ambiguous[strings.ToLower(node.Value)] && node.Tag == "!!str" {
			node.Style = yaml.DoubleQuotedStyle
		}
		return
	case yaml.MappingNode:
		for i := 0; i < len(node.Content); i += 2 {
			key, value := node.Content[i], node.Content[i+1]
			below := join(place, key.Value)
			lay(key, "", nil, 0)
			lay(value, below, reasons, indent+2)
			comment(key, value, reasons[below])
		}
	case yaml.SequenceNode:
		for _, item := range node.Content {
			below := join(place, nameOf(item))
			lay(item, below, reasons, indent+2)
			if item.Kind == yaml.MappingNode && item.Style != yaml.FlowStyle {
				item.HeadComment = commentOf(reasons[below])
			} else {
				item.LineComment = commentOf(reasons[below])
			}
		}
	}
	if node.Style = 0; width(node)+indent <= maxLine && !commented(node) {
		node.Style = yaml.FlowStyle
	}
}

// unquoted are texts that every reader of YAML takes for a text, unless they are ambiguous.
var (
	unquoted  = regexp.MustCompile(`^[A-Za-z_^/][A-Za-z0-9_./^ -]*$`)
	ambiguous = map[string]bool{"y": true, "n": true, "yes": true, "no": true, "on": true, "off": true, "true": true, "false": true, "null": true}
)

func join(place, name string) string {
	if place == "" {
		return name
	}
	return place + "." + name
}

// nameOf returns the name that identifies an item of a list.
func nameOf(item *yaml.Node) string {
	if item.Kind != yaml.MappingNode {
		return item.Value
	}
	for i := 0; i < len(item.Content); i += 2 {
		if key := item.Content[i].Value; key == "name" || key == "model" || key == "ask" {
			return item.Content[i+1].Value
		}
	}
	return ""
}

// comment puts a reason behind a value that stands on its key's line, or else above the key.
func comment(key, value *yaml.Node, reason string) {
	switch {
	case reason == "":
	case value.Kind == yaml.ScalarNode || value.Style == yaml.FlowStyle:
		value.LineComment = commentOf(reason)
	default:
		key.HeadComment = commentOf(reason)
	}
}

func commentOf(reason string) string {
	if reason == "" {
		return ""
	}
	return "# " + output.Printable(reason)
}

func commented(node *yaml.Node) bool {
	for _, child := range node.Content {
		if child.LineComment != "" || child.HeadComment != "" || commented(child) {
			return true
		}
	}
	return false
}

// width is how many characters a node takes on one line, about.
func width(node *yaml.Node) int {
	n := len(node.Value) + 2
	for _, child := range node.Content {
		n += width(child)
	}
	return n
}
