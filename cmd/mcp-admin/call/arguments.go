package call

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-admin/mcp-admin-operator/contract/spelling"
)

// schema has the needed parts of a tool's input schema.
type schema struct {
	// Type is a text, or a list of texts.
	Type       any                `json:"type"`
	Properties map[string]*schema `json:"properties"`
	Items      *schema            `json:"items"`
	AnyOf      []*schema          `json:"anyOf"`
}

// findTool is the tool of a name. One that is not listed may be there all the same: a list leaves out the tools of models that are
// not exposed, and of all models if it is generic.
func findTool(tools []*mcp.Tool, name string) *mcp.Tool {
	if i := slices.IndexFunc(tools, func(t *mcp.Tool) bool { return t.Name == name }); i >= 0 {
		return tools[i]
	}
	return &mcp.Tool{Name: name}
}

// nearest adds to the error of a call the listed tool with the nearest name, if the tool is not listed.
func nearest(err error, tools []*mcp.Tool, name string) error {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	if i := spelling.Nearest(name, names); i >= 0 && names[i] != name {
		return fmt.Errorf("%w; the nearest is %q", err, names[i])
	}
	return err
}

// argumentsOf returns the arguments of a call: from --json, and over them each KEY=VALUE.
func argumentsOf(tool *mcp.Tool, pairs []string, whole string) (map[string]any, error) {
	arguments, err := ReadArguments(whole)
	if err != nil {
		return nil, fmt.Errorf("--json: %w", err)
	}
	input, err := schemaOf(tool)
	if err != nil {
		return nil, err
	}
	for _, pair := range pairs {
		key, text, found := strings.Cut(pair, "=")
		if !found || key == "" {
			return nil, fmt.Errorf("%q: arguments are KEY=VALUE", pair)
		}
		if err := set(arguments, input, strings.Split(key, "."), text); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
	}
	return arguments, nil
}

// ReadArguments reads the arguments of a call, a JSON object; "" is none.
func ReadArguments(whole string) (map[string]any, error) {
	arguments := map[string]any{}
	if whole == "" {
		return arguments, nil
	}
	decoder := json.NewDecoder(strings.NewReader(whole))
	decoder.UseNumber()
	if err := decoder.Decode(&arguments); err != nil {
		return nil, fmt.Errorf("it must be a JSON object: %w", err)
	}
	if arguments == nil || decoder.More() {
		return nil, errors.New("it must be one JSON object")
	}
	return arguments, nil
}

func schemaOf(tool *mcp.Tool) (*schema, error) {
	input := &schema{}
	if tool.InputSchema == nil {
		return input, nil
	}
	encoded, err := json.Marshal(tool.InputSchema)
	if err != nil {
		return nil, err
	}
	return input, json.Unmarshal(encoded, input)
}

// set gives a value to the argument at a path. A value for a list that has one already is added to it. An argument that the
// schema does not have is passed on: a list of tools may leave out rare ones, and the server knows best which it takes.
func set(object map[string]any, s *schema, path []string, text string) error {
	name := path[0]
	of := s.property(name)
	if len(path) > 1 {
		inner, ok := object[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			object[name] = inner
		}
		return set(inner, of, path[1:], text)
	}
	value, err := of.value(text)
	if err != nil {
		return err
	}
	if held, ok := object[name].([]any); ok && of.takes("array") {
		if added, isList := value.([]any); isList {
			value = slices.Concat(held, added)
		}
	}
	object[name] = value
	return nil
}

func (s *schema) property(name string) *schema {
	if s == nil {
		return nil
	}
	return s.Properties[name]
}

// takes reports whether a value of a JSON type fits.
func (s *schema) takes(jsonType string) bool {
	if s == nil {
		return false
	}
	switch t := s.Type.(type) {
	case string:
		return t == jsonType
	case []any:
		return slices.Contains(t, any(jsonType))
	}
	return slices.ContainsFunc(s.AnyOf, func(one *schema) bool { return one.takes(jsonType) })
}

// value reads a text as what the schema says. Where it takes texts, a text stays one, unless it takes numbers or objects, too,
// and the text is one. Without a schema what is JSON is JSON.
func (s *schema) value(text string) (any, error) {
	var decoded any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	isJSON := decoder.Decode(&decoded) == nil && !decoder.More()
	known := s != nil && (s.Type != nil || len(s.AnyOf) > 0)
	switch {
	case !known && isJSON, isJSON && s.takes(typeOf(decoded)):
		return decoded, nil
	case isJSON && typeOf(decoded) == "number" && s.takes("integer"):
		return decoded, nil
	case s.takes("array"):
		item, err := s.Items.value(text)
		return []any{item}, err
	case !known, s.takes("string"):
		return text, nil
	}
	return nil, fmt.Errorf("%q is not what the tool takes: %v", text, s.Type)
}

// typeOf is the JSON type of a decoded value.
func typeOf(value any) string {
	switch value.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case json.Number:
		return "number"
	case bool:
		return "boolean"
	case string:
		return "quoted" // a text in quotation marks is a text with quotation marks
	}
	return "null"
}
