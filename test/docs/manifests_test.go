package docs

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/jsonschema-go/jsonschema"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	kustomize "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/test/apiserver"
	"github.com/mcp-admin/mcp-admin-operator/test/docs/pages"
)

// manifests are the blocks of whole objects; pieces are blocks with a part of one.
func manifests(t *testing.T, path string) (whole, pieces []pages.Block) {
	for _, b := range blocksOf(t, path) {
		switch {
		case b.Language != "yaml" || b.NotRun != "" || ofPrograms[b.File] != nil:
		case strings.Contains(b.Text(), "apiVersion:"):
			whole = append(whole, b)
		default:
			pieces = append(pieces, b)
		}
	}
	return whole, pieces
}

func TestAnAPIServerTakesEveryObjectOfTheDocuments(t *testing.T) {
	log.SetLogger(logr.Discard())
	ofOthers, missing := definitionsOfOthers(t.Context())
	_, config := apiserver.Start(t, append(ofOthers, filepath.Join(root, "config/crd/bases"))...)
	api, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	strict := client.WithFieldValidation(api, metav1.FieldValidationStrict)
	for _, path := range documents(t) {
		whole, _ := manifests(t, path)
		for _, b := range whole {
			all := objects(t, path, b)
			if len(all) == 0 {
				continue // it was told
			}
			if group, _, _ := strings.Cut(all[0].GetAPIVersion(), "/"); missing[group] != nil {
				t.Logf("%s, line %d is not checked: %v", path, b.Line, missing[group])
				done.notRun["the definition of its kind cannot be downloaded: "+group]++
				continue
			}
			done.checked++
			for _, o := range all {
				o.SetNamespace(metav1.NamespaceDefault) // a dry run makes no Namespaces for the objects that follow
				if err := strict.Create(t.Context(), o, client.DryRunAll); err != nil {
					t.Errorf("%s, line %d: %s %s: %v", path, b.Line, o.GetKind(), o.GetName(), err)
				}
			}
		}
	}
}

// objects returns the objects of a block.
func objects(t *testing.T, path string, b pages.Block) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for _, document := range strings.Split("\n"+b.Text(), "\n---\n") {
		o := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict([]byte(document), &o.Object); err != nil {
			t.Errorf("%s, line %d: %v", path, b.Line, err)
			continue
		}
		all = append(all, o)
	}
	return all
}

// ofPrograms are the files of other programs that the documents show, and what holds them against what the program reads.
var ofPrograms = map[string]func(t *testing.T, text []byte) error{
	"kustomization.yaml": func(_ *testing.T, text []byte) error {
		return yaml.UnmarshalStrict(text, &kustomize.Kustomization{})
	},
	"values.yaml": func(t *testing.T, text []byte) error {
		var schema jsonschema.Schema
		if err := json.Unmarshal([]byte(read(t, "charts/mcp-admin-operator/values.schema.json")), &schema); err != nil {
			return err
		}
		resolved, err := schema.Resolve(nil)
		if err != nil {
			return err
		}
		var values any
		return errors.Join(yaml.UnmarshalStrict(text, &values), resolved.Validate(values))
	},
}

func TestEveryFileForAnotherProgramCanBeReadByIt(t *testing.T) {
	for _, path := range documents(t) {
		for _, b := range blocksOf(t, path) {
			if check := ofPrograms[b.File]; check != nil {
				done.checked++
				if err := check(t, []byte(b.Text())); err != nil {
					t.Errorf("%s, line %d: %v", path, b.Line, err)
				}
			}
		}
	}
}

// A piece of an object, or of a pod, may lack what is required, but must have no field that its kind has not.
func TestEveryPieceOfAnObjectHasFieldsOfAKind(t *testing.T) {
	for _, path := range documents(t) {
		_, pieces := manifests(t, path)
		for _, b := range pieces {
			done.checked++
			text := []byte(b.Text())
			problems := []error{
				yaml.UnmarshalStrict(text, &v1alpha1.MCPEndpoint{}), yaml.UnmarshalStrict(text, &v1alpha1.MCPModelExposure{}),
				yaml.UnmarshalStrict(text, &v1alpha1.MCPToken{}), yaml.UnmarshalStrict(text, &corev1.PodSpec{}),
			}
			if !slices.Contains(problems, nil) {
				t.Errorf("%s, line %d: it is a piece of none of the kinds:\n%v", path, b.Line, errors.Join(problems...))
			}
		}
	}
}

func TestEveryJSONOfTheDocumentsIsJSON(t *testing.T) {
	for _, path := range documents(t) {
		for _, b := range blocksOf(t, path) {
			if b.Language != "json" || b.NotRun != "" {
				continue
			}
			done.checked++
			var value any
			if err := json.Unmarshal([]byte(b.Text()), &value); err != nil {
				t.Errorf("%s, line %d: %v", path, b.Line, err)
			}
		}
	}
}
