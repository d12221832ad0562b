package packaging

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestKustomizationHoldsEverything(t *testing.T) {
	objects := renderKustomization(t, root+"/config/default")
	want := map[string]int{
		"Namespace": 1, "CustomResourceDefinition": 4, "ServiceAccount": 1, "ClusterRole": 3, "ClusterRoleBinding": 1,
		"Role": 1, "RoleBinding": 1, "Deployment": 1, "Service": 1,
	}
	for kind, number := range want {
		if got := len(ofKind(objects, kind)); got != number {
			t.Errorf("%d objects of kind %s, want %d", got, kind, number)
		}
	}
	for _, o := range objects {
		if _, ok := want[o.GetKind()]; !ok {
			t.Errorf("unexpected %s %s", o.GetKind(), o.GetName())
		}
		switch o.GetKind() {
		case "ServiceAccount", "Role", "RoleBinding", "Deployment", "Service":
			if o.GetNamespace() != namespace {
				t.Errorf("%s %s is in namespace %q, want %q", o.GetKind(), o.GetName(), o.GetNamespace(), namespace)
			}
		}
	}
}

func TestKustomizationBindsItsRolesToItsServiceAccount(t *testing.T) {
	objects := renderKustomization(t, root+"/config/default")
	checkBindings(t, objects)
}

// For some namespaces alone nothing may reach beyond them.
func TestNamespacedKustomizationHasNoClusterRole(t *testing.T) {
	objects := renderKustomization(t, root+"/config/namespaced")
	for _, kind := range []string{"ClusterRole", "ClusterRoleBinding"} {
		if got := ofKind(objects, kind); len(got) != 0 {
			t.Errorf("%d objects of kind %s, want none", len(got), kind)
		}
	}
	checkBindings(t, objects)
	want := nested(t, readObject(t, root+"/config/rbac/role.yaml"), "rules")
	watched := slices.DeleteFunc(ofKind(objects, "Role"), func(o object) bool { return o.GetNamespace() == namespace })
	if len(watched) != 1 || !reflect.DeepEqual(nested(t, watched[0], "rules"), want) {
		t.Fatalf("the watched namespace's Roles are %v", watched)
	}
	if args := managerContainer(t, objects)["args"].([]any); !slices.Contains(args, any("--namespace="+watched[0].GetNamespace())) {
		t.Errorf("the manager's arguments are %v", args)
	}
}

// The server's image stands in an environment variable; "images" in a kustomization must reach it all the same.
func TestKustomizationImagesCanBeReplaced(t *testing.T) {
	overlay := t.TempDir()
	base, err := filepath.Abs(root + "/config")
	if err != nil {
		t.Fatal(err)
	}
	// Kustomize takes only relative paths, and refuses files from outside, so the base is copied.
	if err := os.CopyFS(filepath.Join(overlay, "config"), os.DirFS(base)); err != nil {
		t.Fatal(err)
	}
	text := `resources: [config/default]
images:
- {name: ghcr.io/mcp-admin/manager, newName: registry.example.com/manager, newTag: v9}
- {name: ghcr.io/mcp-admin/server, newName: registry.example.com/server, newTag: v9}
configurations: [config/default/server_image.yaml]
`
	if err := os.WriteFile(filepath.Join(overlay, "kustomization.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	container := managerContainer(t, renderKustomization(t, overlay))
	if got, want := container["image"], "registry.example.com/manager:v9"; got != want {
		t.Errorf("the manager's image is %v, want %s", got, want)
	}
	if got, want := environment(container)["MCP_ADMIN_SERVER_IMAGE"], "registry.example.com/server:v9"; got != want {
		t.Errorf("the server's image is %v, want %s", got, want)
	}
}

// checkBindings checks that every binding leads from the Deployment's ServiceAccount to a role that is there.
func checkBindings(t *testing.T, objects []object) {
	t.Helper()
	deployment := the(t, objects, "Deployment")
	account := nested(t, deployment, "spec", "template", "spec", "serviceAccountName")
	for _, binding := range slices.Concat(ofKind(objects, "RoleBinding"), ofKind(objects, "ClusterRoleBinding")) {
		subject := nested(t, binding, "subjects").([]any)[0].(map[string]any)
		if subject["name"] != account || subject["namespace"] != deployment.GetNamespace() {
			t.Errorf("%s %s binds %v, not the manager's ServiceAccount %v", binding.GetKind(), binding.GetName(), subject, account)
		}
		kind, name := nested(t, binding, "roleRef", "kind").(string), nested(t, binding, "roleRef", "name").(string)
		if !slices.ContainsFunc(ofKind(objects, kind), func(o object) bool {
			return o.GetName() == name && o.GetNamespace() == binding.GetNamespace()
		}) {
			t.Errorf("%s %s refers to %s %s, which is not there", binding.GetKind(), binding.GetName(), kind, name)
		}
	}
}

func managerContainer(t *testing.T, objects []object) map[string]any {
	t.Helper()
	containers := nested(t, the(t, objects, "Deployment"), "spec", "template", "spec", "containers").([]any)
	if len(containers) != 1 {
		t.Fatalf("%d containers, want 1", len(containers))
	}
	return containers[0].(map[string]any)
}

// environment is a container's variables with a plain value.
func environment(container map[string]any) map[string]string {
	variables := map[string]string{}
	list, _, _ := unstructured.NestedSlice(container, "env")
	for _, item := range list {
		variable := item.(map[string]any)
		if value, ok := variable["value"].(string); ok {
			variables[variable["name"].(string)] = value
		}
	}
	return variables
}
