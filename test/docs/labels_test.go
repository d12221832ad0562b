package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

var (
	// metadataName is the name of a label or annotation, ours or of Kubernetes' recommended ones.
	metadataName = regexp.MustCompile(`^(?:[a-z]+\.)?mcpadmin\.dev/[A-Za-z-]+$|^app\.kubernetes\.io/[a-z-]+$`)
	// metadataRow is a row of the page that begins with such a name.
	metadataRow = regexp.MustCompile("(?m)^\\| `([^` ]+/[^`]+)` \\|")
)

// notOfMetadata are texts of that form which are no labels or annotations.
var notOfMetadata = []string{
	v1alpha1.GroupVersion.String(), // what apiVersion says
	"mcpadmin.dev/functions",       // a rule's name for the library of CEL
}

func TestThePageOfLabelsHasTheLabelsOfTheCodeAndNoOther(t *testing.T) {
	inCode := map[string]string{}
	for _, file := range productFiles(t) {
		for _, text := range textsOf(t, file) {
			if metadataName.MatchString(text) && !slices.Contains(notOfMetadata, text) {
				inCode[text] = file
			}
		}
	}
	onPage := map[string]bool{}
	for _, match := range metadataRow.FindAllStringSubmatch(read(t, "docs/labels.md"), -1) {
		onPage[match[1]] = true
	}
	for _, name := range slices.Sorted(maps.Keys(inCode)) {
		if !onPage[name] {
			t.Errorf("docs/labels.md has no row for %s of %s", name, inCode[name])
		}
	}
	for name := range onPage {
		if inCode[name] == "" {
			t.Errorf("docs/labels.md has a row for %s, which no program reads or writes", name)
		}
	}
	if len(inCode) < 15 {
		t.Errorf("only %d names were found in the code", len(inCode))
	}
}

func TestNothingSetsAFinalizer(t *testing.T) {
	for _, file := range productFiles(t) {
		ast.Inspect(parsed(t, file), func(n ast.Node) bool {
			set := ""
			switch n := n.(type) {
			case *ast.Ident: // those of others may be read
				if strings.Contains(n.Name, "Finalizer") && n.Name != "Finalizers" {
					set = n.Name
				}
			case *ast.AssignStmt:
				for _, left := range n.Lhs {
					if to, ok := left.(*ast.SelectorExpr); ok && to.Sel.Name == "Finalizers" {
						set = "an assignment to Finalizers"
					}
				}
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Finalizers" {
					set = "Finalizers in a literal"
				}
			}
			if set != "" {
				t.Errorf("%s has %s, and docs/labels.md says that there are no finalizers", file, set)
			}
			return true
		})
	}
}

// productFiles are the files of the programs, without tests and what is generated.
func productFiles(t *testing.T) []string {
	return slices.DeleteFunc(filesOf(t, ".go"), func(file string) bool {
		top, _, _ := strings.Cut(file, "/")
		return !slices.Contains([]string{"api", "cmd", "contract", "controllers", "server"}, top) ||
			strings.HasSuffix(file, "_test.go") || strings.Contains(file, "/applyconfiguration/")
	})
}

func parsed(t *testing.T, file string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, read(t, file), parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// textsOf are the string literals of a Go file.
func textsOf(t *testing.T, file string) []string {
	t.Helper()
	var texts []string
	ast.Inspect(parsed(t, file), func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil {
				texts = append(texts, text)
			}
		}
		return true
	})
	return texts
}
