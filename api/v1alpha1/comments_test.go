package v1alpha1_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// These are the API linter's rules that only the Go source can tell: how fields are described, and that what is
// required or optional says so and cannot be confused with a zero value.

// apiField is a field of an API type.
type apiField struct {
	place, json string
	options     []string // of the json tag
	typ         ast.Expr
	comment     string   // without its markers
	markers     []string // without the +
}

// fieldRule says what is wrong with a field; "" if nothing is. types are the package's own types by name.
type fieldRule func(f apiField, types map[string]*ast.TypeSpec) string

var fieldRules = map[string]fieldRule{
	"comment": func(f apiField, _ map[string]*ast.TypeSpec) string {
		first, _, _ := strings.Cut(strings.TrimSpace(f.comment), " ")
		return complain(strings.TrimRight(first, ":,") != f.json, "its comment must start with "+f.json)
	},
	"presence": func(f apiField, _ map[string]*ast.TypeSpec) string {
		return complain(f.marked("required") == f.marked("optional"), "it must have one of +required and +optional")
	},
	"omitted when absent": func(f apiField, types map[string]*ast.TypeSpec) string {
		option := "omitempty"
		if isStruct(f.typ, types) && f.json != "metadata" {
			option = "omitzero"
		}
		return complain(!slices.Contains(f.options, option), "its json tag lacks "+option+": an absent field must stay absent")
	},
	"zero is not a value": func(f apiField, types map[string]*ast.TypeSpec) string {
		name, basic := f.typ.(*ast.Ident)
		if !basic {
			return ""
		}
		text := strings.Join(append(slices.Clone(f.markers), markersOf(types, name.Name)...), "\n")
		switch underlying(name.Name, types) {
		case "bool":
			return "a bool must be a pointer: false is a value"
		case "string":
			return complain(!strings.Contains(text, "validation:Enum=") && !minLength.MatchString(text),
				`a string needs MinLength (or an enum), or must be a pointer: "" is a value`)
		case "int32", "int64":
			return complain(!positiveMinimum.MatchString(text), "an integer needs a Minimum above 0, or must be a pointer: 0 is a value")
		case "int", "uint", "uint32", "uint64", "float32", "float64":
			return "numbers are int32 or int64"
		}
		return ""
	},
	"reference": func(f apiField, _ map[string]*ast.TypeSpec) string {
		typ := f.typ
		if pointer, ok := typ.(*ast.StarExpr); ok {
			typ = pointer.X
		}
		name, ok := typ.(*ast.Ident)
		isReference := ok && strings.HasSuffix(name.Name, "Reference")
		return complain(isReference != strings.HasSuffix(f.json, "Ref"), "a field named …Ref has a type named …Reference, and the other way")
	},
	"duration": func(f apiField, _ map[string]*ast.TypeSpec) string {
		name := typeName(f.typ)
		return complain(durationName.MatchString(f.json) != strings.HasSuffix(name, "metav1.Duration"),
			"a duration is a *metav1.Duration, and named so (…Timeout, …Interval, …)")
	},
}

var (
	minLength       = regexp.MustCompile(`(?m)validation:MinLength=[1-9]`)
	positiveMinimum = regexp.MustCompile(`(?m)validation:Minimum=[1-9]`)
)

var fieldExceptions = []exception{
	{"zero is not a value", `MCP[A-Za-z]+Status\.observedGeneration`, "generations begin at 1, and -1 is none"},
	{"reference", `(MCPModelExposureSpec|AuditSpec|IdempotencySpec)\.table`, "it names a table of the database, not an object of the API"},
}

func TestFieldsFollowTheAPIRules(t *testing.T) {
	fields, types := sourceFields(t, parsePackage(t))
	if len(fields) < 50 {
		t.Fatalf("only %d fields found", len(fields))
	}
	used := make([]bool, len(fieldExceptions))
	for _, f := range fields {
		for name, rule := range fieldRules {
			complaint := rule(f, types)
			if complaint == "" {
				continue
			}
			i := slices.IndexFunc(fieldExceptions, func(e exception) bool {
				return e.rule == name && regexp.MustCompile("^("+e.path+")$").MatchString(f.place)
			})
			if i >= 0 {
				used[i] = true
				continue
			}
			t.Errorf("%s: %s: %s", f.place, name, complaint)
		}
	}
	for i, e := range fieldExceptions {
		if !used[i] {
			t.Errorf("nothing needs the exception from %q at %s (%s) any more", e.rule, e.path, e.reason)
		}
	}
}

// Each rule must notice what it is there for: a field that breaks it, and nothing else.
func TestFieldRulesNotice(t *testing.T) {
	tests := map[string]string{
		"comment":             "// Name of it.\n// +optional\n// +kubebuilder:validation:MinLength=1\nF string `json:\"name,omitempty\"`",
		"presence":            "// f is it.\n// +kubebuilder:validation:MinLength=1\nF string `json:\"f,omitempty\"`",
		"omitted when absent": "// f is it.\n// +required\n// +kubebuilder:validation:MinLength=1\nF string `json:\"f\"`",
		"zero is not a value": "// f is it.\n// +optional\n// +kubebuilder:validation:Minimum=0\nF int32 `json:\"f,omitempty\"`",
		"reference":           "// f is it.\n// +optional\nF *SecretKeyReference `json:\"f,omitempty\"`",
		"duration":            "// interval is it.\n// +optional\n// +kubebuilder:validation:Minimum=1\nInterval int32 `json:\"interval,omitempty\"`",
	}
	for rule := range fieldRules {
		if _, ok := tests[rule]; !ok {
			t.Errorf("no field breaks the rule %q", rule)
		}
	}
	for broken, field := range tests {
		t.Run(broken, func(t *testing.T) {
			file, err := parser.ParseFile(token.NewFileSet(), "t.go", "package t\ntype T struct {\n"+field+"\n}", parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			fields, types := sourceFields(t, []*ast.File{file})
			for name, rule := range fieldRules {
				if complaint := rule(fields[0], types); (complaint != "") != (name == broken) {
					t.Errorf("rule %q says %q", name, complaint)
				}
			}
		})
	}
}

func (f apiField) marked(marker string) bool { return slices.Contains(f.markers, marker) }

func parsePackage(t *testing.T) []*ast.File {
	t.Helper()
	paths, err := filepath.Glob("*_types.go")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no types: %v", err)
	}
	var files []*ast.File
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// sourceFields lists the fields of all types but the list types, which no one writes.
func sourceFields(t *testing.T, files []*ast.File) ([]apiField, map[string]*ast.TypeSpec) {
	t.Helper()
	var fields []apiField
	types := map[string]*ast.TypeSpec{}
	for _, file := range files {
		for _, declaration := range file.Decls {
			general, ok := declaration.(*ast.GenDecl)
			if !ok || general.Tok != token.TYPE {
				continue
			}
			spec := general.Specs[0].(*ast.TypeSpec)
			spec.Doc = general.Doc
			types[spec.Name.Name] = spec
			structure, ok := spec.Type.(*ast.StructType)
			if !ok || strings.HasSuffix(spec.Name.Name, "List") {
				continue
			}
			for _, field := range structure.Fields.List {
				if field.Tag == nil {
					t.Fatalf("%s has a field without a json tag", spec.Name.Name)
				}
				tag := reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json")
				options := strings.Split(tag, ",")
				if slices.Contains(options, "inline") {
					continue
				}
				f := apiField{place: spec.Name.Name + "." + options[0], json: options[0], options: options[1:], typ: field.Type}
				f.comment, f.markers = splitComment(field.Doc)
				fields = append(fields, f)
			}
		}
	}
	return fields, types
}

func splitComment(group *ast.CommentGroup) (comment string, markers []string) {
	if group == nil {
		return "", nil
	}
	for _, line := range group.List {
		text := strings.TrimSpace(strings.TrimPrefix(line.Text, "//"))
		if marker, ok := strings.CutPrefix(text, "+"); ok {
			markers = append(markers, marker)
		} else {
			comment += text + " "
		}
	}
	return comment, markers
}

func markersOf(types map[string]*ast.TypeSpec, name string) []string {
	if spec, ok := types[name]; ok {
		_, markers := splitComment(spec.Doc)
		return markers
	}
	return nil
}

// underlying follows the package's own type names down to a basic type or "struct".
func underlying(name string, types map[string]*ast.TypeSpec) string {
	spec, ok := types[name]
	if !ok {
		return name
	}
	switch typ := spec.Type.(type) {
	case *ast.Ident:
		return underlying(typ.Name, types)
	case *ast.StructType:
		return "struct"
	}
	return fmt.Sprintf("%T", spec.Type)
}

func isStruct(typ ast.Expr, types map[string]*ast.TypeSpec) bool {
	switch typ := typ.(type) {
	case *ast.Ident:
		return underlying(typ.Name, types) == "struct"
	case *ast.SelectorExpr:
		return true // of the API machinery: those used by value are structs
	}
	return false
}

// typeName is a field's type as written, for names and pointers to them.
func typeName(typ ast.Expr) string {
	switch typ := typ.(type) {
	case *ast.Ident:
		return typ.Name
	case *ast.SelectorExpr:
		return typeName(typ.X) + "." + typ.Sel.Name
	case *ast.StarExpr:
		return "*" + typeName(typ.X)
	}
	return ""
}
