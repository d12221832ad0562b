package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/mcp-admin/mcp-admin-operator/test/lastrelease"
)

// The managers of two releases that follow each other read the same objects: neither could read a field of another type.
// And the API server refuses a status with a field that it does not know, so the last release's manager could write none.
func TestTheLastReleaseWorksWithTheseDefinitions(t *testing.T) {
	for _, crd := range readCRDs(t) {
		path := "config/crd/bases/" + crd.Spec.Group + "_" + crd.Spec.Names.Plural + ".yaml"
		is := typesOf(crd)
		for field, was := range typesOf(definitionOfLastRelease(t, path)) {
			switch now, known := is[field]; {
			case known && now != was:
				t.Errorf("%s: %s was of type %q and is of type %q: give it another name", crd.Spec.Names.Kind, field, was, now)
			case !known && strings.HasPrefix(field, ".status"):
				t.Errorf("%s: %s is gone: keep it for one release", crd.Spec.Names.Kind, field)
			}
		}
	}
}

func definitionOfLastRelease(t *testing.T, path string) *apiextensions.CustomResourceDefinition {
	t.Helper()
	root, err := filepath.Abs("../..")
	must(t, err)
	commit, err := lastrelease.Commit(t.Context(), root)
	if err != nil {
		t.Skip(err)
	}
	content, err := exec.CommandContext(t.Context(), "git", "-C", root, "show", commit+":"+path).Output()
	must(t, err)
	crd := &apiextensions.CustomResourceDefinition{}
	must(t, yaml.Unmarshal(content, crd))
	return crd
}

// typesOf is the type of each field of a definition's one version, by its path.
func typesOf(crd *apiextensions.CustomResourceDefinition) map[string]string {
	types := map[string]string{}
	var add func(path string, of *apiextensions.JSONSchemaProps)
	add = func(path string, of *apiextensions.JSONSchemaProps) {
		types[path] = of.Type
		for name, property := range of.Properties {
			add(path+"."+name, &property)
		}
		if of.Items != nil && of.Items.Schema != nil {
			add(path+"[]", of.Items.Schema)
		}
		if of.AdditionalProperties != nil && of.AdditionalProperties.Schema != nil {
			add(path+"{}", of.AdditionalProperties.Schema)
		}
	}
	add("", crd.Spec.Versions[0].Schema.OpenAPIV3Schema)
	return types
}
