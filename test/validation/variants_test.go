package validation

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// variant is an object with one change.
type variant struct {
	kind, name string
	object     object
	// refused reports whether the change goes beyond a marker; at, whether it is at the bound that a marker just
	// allows.
	refused, at bool
}

// nasty are texts that rules refuse somewhere.
var nasty = []string{"", " ", "A B", "a\tb", "-a", "a-", "..", ".", "A", "1a", "ä", "30d", "-1h", "1ns", "999999h", "10.1.2.3/8", "10.0.0.0/33", "fd00::1/8",
	"ftp://a.example", "https://", "https://me@a.example", "https://a.example/?q", "https://a.example/#x", "http://a.example", "null", "kubernetes.io/tls",
	"delete_selected", "confirm", "token", "attribute_x", "{{define \"x\"}}{{end}}", "{{range .}}", "-----BEGIN PRIVATE KEY-----", "mcpadmin.dev/x",
	"2036-01-01T00:00:00z", "2036-01-01", "1e1.5", "x-mcp-config", "x-mcp-config-v3", "101%", "range", "isnull", "in"}

// variants are the changes of one place: below, at and beyond each of its markers.
func variants(kind string, root *schema, base object, p place) []variant {
	var all []variant
	add := func(what string, value any, refused, at bool) {
		o := put(base, root, p.path, value).(object)
		all = append(all, variant{kind: kind, name: fmt.Sprintf("%s %s: %s", kind, p, what), object: o, refused: refused, at: at})
	}
	s := p.schema
	if s.Type != "object" && s.Type != "array" {
		add("as it is", example(s), false, true)
	}
	switch {
	case s.XIntOrString:
		for _, value := range []any{int64(-1), int64(0), "1", "50%", "101%", "x", "1e1.5", "1e5", 1.5} {
			add(fmt.Sprintf("%v", value), value, value == "x", false)
		}
	case s.Type == "string":
		textVariants(s, add)
	case s.Type == "integer":
		numberVariants(s, add)
	case s.Type == "boolean":
		add("a text", "true", true, false)
	case s.Type == "array":
		listVariants(s, add)
	case s.Type == "object":
		objectVariants(s, add)
	}
	return all
}

func textVariants(s *schema, add func(string, any, bool, bool)) {
	add("a number", int64(17), true, false)
	for _, e := range s.Enum {
		var value string
		_ = json.Unmarshal(e.Raw, &value) // as the definition has it
		add("the value "+value, value, false, false)
	}
	if len(s.Enum) > 0 {
		add("no value of the enum", "none-of-these", true, false)
	}
	if s.MinLength != nil && *s.MinLength > 0 {
		add("shorter", strings.Repeat("a", int(*s.MinLength)-1), true, false)
	}
	if s.MaxLength != nil {
		add("longest", text(s, *s.MaxLength), false, false)
		add("longer", text(s, *s.MaxLength+1), true, false)
		add("longest of another script", strings.Repeat("ж", int(*s.MaxLength)), false, false)
	}
	if s.Pattern != "" || len(s.XValidations) > 0 || s.Format != "" {
		pattern := regexp.MustCompile(s.Pattern)
		for _, value := range nasty {
			add(fmt.Sprintf("%q", value), value, !pattern.MatchString(value), false)
		}
	}
}

func numberVariants(s *schema, add func(string, any, bool, bool)) {
	add("a text", "17", true, false)
	add("a fraction", 2.5, true, false)
	add("a whole fraction", 2.0, false, false)
	add("more than an integer has", 1e19, s.Maximum != nil, false)
	add("more than 32 bits have", int64(1)<<31, s.Maximum != nil && *s.Maximum < 1<<31, false)
	if s.Minimum != nil {
		add("the least", int64(*s.Minimum), false, true)
		add("less than the least", int64(*s.Minimum)-1, true, false)
		add("far less", int64(*s.Minimum)-1000, true, false)
	}
	if s.Maximum != nil {
		add("the most", int64(*s.Maximum), false, false)
		add("more than the most", int64(*s.Maximum)+1, true, false)
	}
}

func listVariants(s *schema, add func(string, any, bool, bool)) {
	add("an object", object{}, true, false)
	add("null", []any{nil}, false, false)
	add("no items", []any{}, number(s.MinItems, 0) > 0, false)
	if s.MaxItems != nil {
		add("as many as may be", items(s, int(*s.MaxItems)), false, false)
		add("one more", items(s, int(*s.MaxItems)+1), true, false)
	}
	twice := []any{example(s.Items.Schema), example(s.Items.Schema)}
	add("one twice", twice, s.XListType != nil && *s.XListType != "atomic", false)
}

func objectVariants(s *schema, add func(string, any, bool, bool)) {
	add("a list", []any{}, true, false)
	add("nothing in it", object{}, len(s.Required) > 0, false)
	whole, _ := example(s).(object)
	for _, name := range s.Required {
		add("without "+name, with(whole, name, nil), true, false)
	}
	if len(s.Properties) > 0 && (s.XPreserveUnknownFields == nil || !*s.XPreserveUnknownFields) {
		add("with a field that does not exist", with(whole, "nonsense", int64(1)), true, false)
	}
	if values := s.AdditionalProperties; values != nil {
		entries := func(n int64) object {
			o := object{}
			for i := range n {
				o[fmt.Sprintf("k%d", i)] = example(values.Schema)
			}
			return o
		}
		if s.MaxProperties != nil {
			add("as many as may be", entries(*s.MaxProperties), false, false)
			add("one more", entries(*s.MaxProperties+1), true, false)
		}
		for _, key := range append(nasty, strings.Repeat("k", 64), strings.Repeat("k", 129), "/a~2") {
			if len(s.XValidations) > 0 {
				add(fmt.Sprintf("the key %q", key), object{key: example(values.Schema)}, false, false)
			}
		}
		if long := values.Schema.MaxLength; len(s.XValidations) > 0 && long != nil {
			full := object{}
			for i := range 16 {
				full[fmt.Sprintf("k%d", i)] = strings.Repeat("a", int(*long))
			}
			add("long values", full, false, false)
		}
	}
}

// toggles are objects with each optional member of a place once more, and once less: the rules that hold members against each
// other look at these.
func toggles(kind string, root *schema, base object, p place) []variant {
	var all []variant
	now, _ := get(base, p.path).(object)
	for _, name := range slices.Sorted(maps.Keys(p.schema.Properties)) {
		inner := p.schema.Properties[name]
		value, what := any(nil), "without "
		if _, there := now[name]; !there {
			value, what = example(&inner), "with "
		}
		o := put(base, root, p.path, with(now, name, value)).(object)
		all = append(all, variant{kind: kind, name: fmt.Sprintf("%s %s: %s%s", kind, p, what, name), object: o})
	}
	return all
}

// get returns an object's value at a path; nil if it has nothing there.
func get(o any, path []string) any {
	for _, step := range path {
		switch v := o.(type) {
		case object:
			if step == "{}" {
				step = mapKey
			}
			o = v[step]
		case []any:
			if len(v) == 0 {
				return nil
			}
			o = v[0]
		default:
			return nil
		}
	}
	return o
}
