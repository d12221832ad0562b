package packaging

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Whoever installs Argo CD by kustomize names config/gitops/argocd under components, and its ConfigMap has the health check
// of every kind then, beside what was in it.
func TestArgoCDLearnsTheHealthOfTheKinds(t *testing.T) {
	component, err := filepath.Abs(filepath.Join(root, "config", "gitops", "argocd"))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	relative, err := filepath.Rel(folder, component)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"kustomization.yaml": "resources: [argocd-cm.yaml]\ncomponents: [" + relative + "]\n",
		"argocd-cm.yaml":     "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm}\ndata: {other: kept}\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(filepath.Join(component, "health.lua"))
	if err != nil {
		t.Fatal(err)
	}
	objects := renderKustomization(t, folder)
	if len(objects) != 1 || objects[0].GetName() != "argocd-cm" {
		t.Fatalf("%v", objects)
	}
	data, _, _ := unstructured.NestedStringMap(objects[0].Object, "data")
	for _, kind := range []string{"MCPEndpoint", "MCPModelExposure", "MCPToken"} {
		if data["resource.customizations.health.mcpadmin.dev_"+kind] != string(want) {
			t.Errorf("the health of %s is %q", kind, data["resource.customizations.health.mcpadmin.dev_"+kind])
		}
	}
	if len(data) != 4 || data["other"] != "kept" {
		t.Errorf("the ConfigMap holds %v", data)
	}
}
