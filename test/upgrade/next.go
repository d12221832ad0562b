package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// The next release is this one with what a release may add: each entry of a Config has a member more, so all parts are
// written anew and servers of this release read what they do not know; and each kind has a field more.

// addedField is the name of the field that each kind has in the next release.
const addedField = "next"

// edits are the changes of the next release's code: what stands in a file, and what takes its place.
var edits = []struct{ file, old, new string }{
	{"contract/config.go", "// Endpoint is the server's own settings.\ntype Endpoint struct {\n", "type Endpoint struct {\n\tNext string `json:\"next,omitempty\"`\n"},
	{"contract/config.go", "\t// PublicID is the token's name in logs.\n", "\tNext string `json:\"next,omitempty\"`\n"},
	{"controllers/compile/token.go", "entry := contract.Token{Namespace: ", "entry := contract.Token{Next: \"new\", Namespace: "},
	{"controllers/compile/compile.go", "contract.Endpoint{\n", "contract.Endpoint{\n\t\tNext: \"new\",\n"},
}

// nextRelease builds the release that follows this one.
func nextRelease(ctx context.Context, root, dir string) (*release, error) {
	r := &release{tag: "next", config: filepath.Join(dir, "next", "config"), programs: filepath.Join(dir, "next")}
	if err := os.RemoveAll(r.programs); err != nil {
		return nil, err
	}
	if err := os.CopyFS(r.config, os.DirFS(filepath.Join(root, "config"))); err != nil {
		return nil, err
	}
	if err := addFields(filepath.Join(r.config, "crd", "bases")); err != nil {
		return nil, err
	}
	overlay, err := writeEdits(root, r.programs)
	if err != nil {
		return nil, err
	}
	return r, r.build(ctx, root, "-overlay", overlay)
}

// addFields gives the spec of each kind whose definition lies in a folder the field more.
func addFields(folder string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var crd apiextensions.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(text, &crd); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties[addedField] = apiextensions.JSONSchemaProps{Type: "string"}
		if text, err = yaml.Marshal(&crd); err != nil {
			return err
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// writeEdits writes the edited files into a folder, and the overlay that has go build use them.
func writeEdits(root, folder string) (overlay string, err error) {
	edited := map[string]string{}
	for _, e := range edits {
		path := filepath.Join(root, filepath.FromSlash(e.file))
		text, known := edited[path]
		if !known {
			content, err := os.ReadFile(path)
			if err != nil {
				return "", err
			}
			text = string(content)
		}
		if strings.Count(text, e.old) != 1 {
			return "", fmt.Errorf("%s does not have %q once: change what test/upgrade edits", e.file, e.old)
		}
		edited[path] = strings.Replace(text, e.old, e.new, 1)
	}
	replaced := map[string]string{}
	for path, text := range edited {
		file := filepath.Join(folder, fmt.Sprintf("edited-%d.go", len(replaced)))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return "", err
		}
		replaced[path] = file
	}
	list, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(folder, "overlay.json")
	return overlay, os.WriteFile(overlay, list, 0o600)
}
