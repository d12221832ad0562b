package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const root = "../.."

// schema is what the test reads of a field's schema.
type schema struct {
	Properties map[string]schema
	Items      *schema
}

// ofKubernetes are the fields that have a pod's own form; its own documents tell of what is below them.
var ofKubernetes = []string{
	"resources", "affinity", "env", "podSecurityContext", "securityContext", "tolerations", "topologySpreadConstraints", "volumes", "volumeMounts",
}

// fields calls visit with the path of each field below a schema.
func (s schema) fields(path string, visit func(path, name string)) {
	for name, field := range s.Properties {
		visit(path+"."+name, name)
		if !slices.Contains(ofKubernetes, name) {
			field.fields(path+"."+name, visit)
		}
	}
	if s.Items != nil {
		s.Items.fields(path+"[]", visit)
	}
}

func TestEveryFieldOfTheKindsIsInTheDocuments(t *testing.T) {
	page := read(t, "docs/objects.md")
	code := strings.Join(regexp.MustCompile("(?s)```.*?```|`[^`\n]+`").FindAllString(page, -1), "\n")
	files, err := filepath.Glob(filepath.Join(root, "config/crd/bases/*.yaml"))
	if err != nil || len(files) != 3 {
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
		spec := definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		spec.fields(definition.Spec.Names.Kind+".spec", func(path, name string) {
			if !regexp.MustCompile(`\b` + name + `\b`).MatchString(code) {
				t.Errorf("docs/objects.md does not tell of %s", path)
			}
		})
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
