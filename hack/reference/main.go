// Command reference writes what the definitions of the kinds say: docs/reference.md for people, and docs/schemas for
// editors. hack/generate.sh runs it.
//
//	go run ./hack/reference [FOLDER]     the project's folder, or a copy of it
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	folder := "."
	if len(os.Args) > 1 {
		folder = os.Args[1]
	}
	if err := run(folder); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

func run(folder string) error {
	files, err := filepath.Glob(filepath.Join(folder, "config/crd/bases/*.yaml"))
	if err != nil {
		return err
	}
	schemas := filepath.Join(folder, "docs", "schemas")
	if err := os.MkdirAll(schemas, 0o755); err != nil {
		return err
	}
	var page strings.Builder
	page.WriteString(preface)
	for _, file := range files {
		d, err := readDefinition(file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		page.WriteString(d.page())
		schema, err := d.editorSchema()
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := os.WriteFile(filepath.Join(schemas, strings.ToLower(d.kind)+".json"), schema, 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(folder, "docs", "reference.md"), []byte(page.String()), 0o644)
}

// definition has the part of a CustomResourceDefinition that is read.
type definition struct {
	kind, apiVersion string
	schema           *apiextensionsv1.JSONSchemaProps
}

func readDefinition(file string) (*definition, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(content, &crd); err != nil {
		return nil, err
	}
	for _, version := range crd.Spec.Versions {
		if version.Storage {
			return &definition{
				kind: crd.Spec.Names.Kind, apiVersion: crd.Spec.Group + "/" + version.Name, schema: version.Schema.OpenAPIV3Schema,
			}, nil
		}
	}
	return nil, fmt.Errorf("no version is stored")
}
