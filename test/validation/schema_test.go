package validation

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/mcp-admin/mcp-admin-operator/config/crd"
)

type (
	schema = apiextensionsv1.JSONSchemaProps
	object = map[string]any
)

// place is a part of a kind's schema, and the way to it: names of members, "[]" for the items of a list, "{}" for the values
// of a map.
type place struct {
	path   []string
	schema *schema
}

func (p place) String() string {
	return strings.NewReplacer(".[]", "[]", ".{}", "{}").Replace(strings.Join(p.path, "."))
}

// definitions are the schemas, by kind.
func definitions(t *testing.T) map[string]*schema {
	t.Helper()
	all := map[string]*schema{}
	files, err := fs.Glob(crd.Bases, "bases/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := crd.Bases.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var definition apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(content, &definition); err != nil {
			t.Fatal(err)
		}
		all[definition.Spec.Names.Kind] = definition.Spec.Versions[0].Schema.OpenAPIV3Schema
	}
	return all
}

// places are all parts of a schema, from the top down.
func places(s *schema, path ...string) []place {
	all := []place{{slices.Clone(path), s}}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		inner := s.Properties[name]
		all = append(all, places(&inner, append(path, name)...)...)
	}
	if s.Items != nil {
		all = append(all, places(s.Items.Schema, append(path, "[]")...)...)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		all = append(all, places(s.AdditionalProperties.Schema, append(path, "{}")...)...)
	}
	return all
}

// mapKey is the key that a map gets.
const mapKey = "region"

// put returns a copy of an object with a value at a path. What is missing on the way is made; nil takes away what is there.
func put(o any, s *schema, path []string, value any) any {
	if len(path) == 0 {
		return value
	}
	switch step := path[0]; step {
	case "[]":
		list, _ := o.([]any)
		list = slices.Clone(list)
		if len(list) == 0 {
			list = []any{example(s.Items.Schema)}
		}
		list[0] = put(list[0], s.Items.Schema, path[1:], value)
		return list
	case "{}":
		return with(o, mapKey, put(example(s.AdditionalProperties.Schema), s.AdditionalProperties.Schema, path[1:], value))
	default:
		inner := s.Properties[step]
		members, _ := o.(object)
		now, there := members[step]
		if !there && len(path) > 1 {
			now = example(&inner)
		}
		return with(o, step, put(now, &inner, path[1:], value))
	}
}

// with is a copy of an object with a member, or without it if the value is nil.
func with(o any, name string, value any) object {
	members, _ := o.(object)
	members = maps.Clone(members)
	if members == nil {
		members = object{}
	}
	if members[name] = value; value == nil {
		delete(members, name)
	}
	return members
}

// examples are texts that patterns and rules may want; the first that a pattern matches is taken.
var examples = []string{"a", "abc", "https://a.example", "2036-01-01T00:00:00Z", "/a", "a.b", "app_x.a", "50%", "action:a"}

// example is a small value that a schema allows, as far as can be told without its rules.
func example(s *schema) any {
	switch {
	case len(s.Enum) > 0:
		var value any
		_ = json.Unmarshal(s.Enum[0].Raw, &value) // as the definition has it
		return value
	case s.XIntOrString:
		return int64(1)
	}
	switch s.Type {
	case "string":
		return text(s, max(1, number(s.MinLength, 1)))
	case "integer", "number":
		if s.Minimum != nil {
			return int64(*s.Minimum)
		}
		return int64(1)
	case "boolean":
		return true
	case "array":
		return items(s, int(number(s.MinItems, 1)))
	case "object":
		o := object{}
		for _, name := range s.Required {
			inner := s.Properties[name]
			o[name] = example(&inner)
		}
		if s.AdditionalProperties != nil {
			for i := range number(s.MinProperties, 0) {
				o[fmt.Sprintf("k%d", i)] = example(s.AdditionalProperties.Schema)
			}
		}
		return o
	}
	return object{}
}

func number(n *int64, absent int64) int64 {
	if n == nil {
		return absent
	}
	return *n
}

// text is a text of at least so many characters that a schema allows, if one is found.
func text(s *schema, length int64) string {
	pattern := regexp.MustCompile(s.Pattern)
	for _, e := range append(ruled(s), examples...) {
		for _, filler := range []string{"a", "1", ".a", "/a", "0"} {
			grown := e
			for int64(len(grown)) < length {
				grown += filler
			}
			if grown = grown[:max(int64(len(e)), min(length, int64(len(grown))))]; pattern.MatchString(grown) {
				return grown
			}
		}
	}
	return strings.Repeat("a", int(length))
}

// longest is the upper bound of a rule about a duration.
var longest = regexp.MustCompile(`<= duration\('(\w+)'\)`)

// ruled are examples for the rules of a text.
func ruled(s *schema) []string {
	for _, rule := range s.XValidations {
		if bound := longest.FindStringSubmatch(rule.Rule); bound != nil {
			return bound[1:]
		}
		for part, e := range map[string]string{
			"isCIDR": "10.1.0.0/16", "https'": "https://a.example/", "BEGIN CERTIFICATE": certificate, "://": "https://a.example",
		} {
			if strings.Contains(rule.Rule, part) {
				return []string{e}
			}
		}
	}
	return nil
}

// items are so many different items of a list.
func items(s *schema, n int) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = distinct(s.Items.Schema, s.XListMapKeys, i)
	}
	return list
}

func distinct(s *schema, keys []string, i int) any {
	value := example(s)
	switch v := value.(type) {
	case string:
		if len(s.Enum) > i {
			_ = json.Unmarshal(s.Enum[i].Raw, &value) // as the definition has it
			return value
		}
		for _, other := range []string{v + fmt.Sprint(i), fmt.Sprintf("10.0.%d.0/24", i), v + fmt.Sprint("/", i), v + "." + fmt.Sprint(i)} {
			if i > 0 && regexp.MustCompile(s.Pattern).MatchString(other) && (len(ruled(s)) == 0 || strings.HasPrefix(other, v) == !strings.Contains(v, "/16")) {
				return other
			}
		}
	case int64:
		return v + int64(i)
	case object:
		for _, name := range append(keys, "name", "url") {
			if inner, has := s.Properties[name]; has {
				v[name] = distinct(&inner, nil, i)
			}
		}
	}
	return value
}
