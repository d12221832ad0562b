package docs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const root = "../.."

// schema has the part of a field's schema that the test reads.
type schema struct {
	Properties map[string]schema
	Items      *schema
}

// ofKubernetes are the fields that have a pod's own form; its own documents tell of what is below them.
var ofKubernetes = []string{
	"resources", "affinity", "env", "podSecurityContext", "securityContext", "tolerations", "topologySpreadConstraints", "volumes", "volumeMounts",
}

// fields calls visit with the path of each field below a schema, as docs/reference.md writes it.
func (s schema) fields(path string, visit func(path string)) {
	for name, field := range s.Properties {
		at := path + "." + name
		visit(at)
		if slices.Contains(ofKubernetes, name) {
			continue
		}
		field.fields(at, visit)
		if field.Items != nil {
			field.Items.fields(at+"[]", visit)
		}
	}
}

func TestEveryFieldOfTheKindsIsInTheReference(t *testing.T) {
	page := read(t, "docs/reference.md")
	files, err := filepath.Glob(filepath.Join(root, "config/crd/bases/*.yaml"))
	if err != nil || len(files) != 4 {
		t.Fatalf("the definitions are %v, %v", files, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var definition struct {
			Spec struct {
				Names    struct{ Kind string }
				Versions []struct {
					Schema struct{ OpenAPIV3Schema schema }
				}
			}
		}
		if err := yaml.Unmarshal(content, &definition); err != nil {
			t.Fatal(err)
		}
		kind := definition.Spec.Names.Kind
		for _, part := range []string{"spec", "status"} {
			_, rows, ok := strings.Cut(page, "\n### "+part+" of "+kind+"\n")
			if !ok {
				t.Fatalf("docs/reference.md has no list of the %s of %s", part, kind)
			}
			rows, _, _ = strings.Cut(rows, "\n#")
			definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties[part].fields(part, func(path string) {
				_, row, ok := strings.Cut(rows, "\n| `"+path+"` |")
				row, _, _ = strings.Cut(row, "\n")
				if _, says, _ := strings.Cut(row, "|"); !ok || len(strings.Fields(says)) < 5 {
					t.Errorf("docs/reference.md does not tell what %s of %s is for: %q", path, kind, row)
				}
			})
		}
	}
}

// maxWords is how long a page may be: it is read with one need in mind.
const maxWords = 1500

// listed are the pages that are generated, and list what they are about.
var listed = []string{"docs/reference.md", "docs/metrics.md"}

func TestAPageIsShort(t *testing.T) {
	found := 0
	for _, path := range documents(t) {
		if !strings.HasPrefix(path, "docs/") || slices.Contains(listed, path) {
			continue
		}
		found++
		if words := len(strings.Fields(read(t, path))); words > maxWords {
			t.Errorf("%s has %d words, of at most %d: split it by need", path, words, maxWords)
		}
	}
	if found < 100 {
		t.Errorf("only %d pages were found", found)
	}
}

// read returns a file of the repository.
func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
