// Package packaging tests what the project is installed with: the kustomization, the Helm chart, the Dockerfile, and the
// linter's walls. It renders them with the tools under bin/, and skips what a missing tool would be needed for. Nothing
// imports it.
package packaging

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

const (
	root  = "../.."
	chart = root + "/charts/mcp-admin-operator"
	// namespace is where config/default installs the manager, and where the tests render the chart to.
	namespace = "mcp-admin-system"
)

// object is one rendered manifest.
type object = unstructured.Unstructured

// tool is the path of a program that make builds; the test is skipped if it was not built.
func tool(t *testing.T, name string) string {
	t.Helper()
	for _, folder := range []string{root + "/bin", root + "/bin/k8s", os.Getenv("KUBEBUILDER_ASSETS")} {
		path, err := filepath.Abs(filepath.Join(folder, name))
		if err == nil {
			if info, err := os.Stat(path); err == nil && !info.IsDir() {
				return path
			}
		}
	}
	t.Skipf("%s was not built; \"make tools\" does", name)
	return ""
}

// run runs a program and returns its standard output, and what it wrote to standard error if it fails.
func run(program string, args ...string) (stdout []byte, failure string) {
	command := exec.Command(program, args...)
	var out, problems bytes.Buffer
	command.Stdout, command.Stderr = &out, &problems
	if err := command.Run(); err != nil {
		return nil, err.Error() + "\n" + out.String() + problems.String()
	}
	return out.Bytes(), ""
}

// renderChart renders what the chart installs, with values of the form "key=value"; it leaves out the test's objects.
func renderChart(t *testing.T, values ...string) []object {
	t.Helper()
	args := []string{"template", "mcp-admin", chart, "--namespace", namespace, "--no-hooks"}
	for _, value := range values {
		args = append(args, "--set", value)
	}
	out, failure := run(tool(t, "helm"), args...)
	if failure != "" {
		t.Fatal(failure)
	}
	return decode(t, out)
}

// renderKustomization renders a folder as kubectl apply -k would.
func renderKustomization(t *testing.T, folder string) []object {
	t.Helper()
	out, failure := run(tool(t, "kubectl"), "kustomize", folder)
	if failure != "" {
		t.Fatal(failure)
	}
	return decode(t, out)
}

func readObject(t *testing.T, path string) object {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	objects := decode(t, text)
	if len(objects) != 1 {
		t.Fatalf("%s holds %d objects, want 1", path, len(objects))
	}
	return objects[0]
}

func decode(t *testing.T, text []byte) []object {
	t.Helper()
	var objects []object
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 1<<20)
	for {
		var o object
		switch err := decoder.Decode(&o.Object); {
		case errors.Is(err, io.EOF):
			return objects
		case err != nil:
			t.Fatalf("not YAML: %v\n%s", err, text)
		case len(o.Object) > 0:
			objects = append(objects, o)
		}
	}
}

func ofKind(objects []object, kind string) []object {
	var found []object
	for _, o := range objects {
		if o.GetKind() == kind {
			found = append(found, o)
		}
	}
	return found
}

// the returns the one object of a kind.
func the(t *testing.T, objects []object, kind string) object {
	t.Helper()
	found := ofKind(objects, kind)
	if len(found) != 1 {
		t.Fatalf("%d objects of kind %s, want 1", len(found), kind)
	}
	return found[0]
}

func nested(t *testing.T, o object, fields ...string) any {
	t.Helper()
	value, found, err := unstructured.NestedFieldNoCopy(o.Object, fields...)
	if err != nil || !found {
		t.Fatalf("%s %s has no %v: %v", o.GetKind(), o.GetName(), fields, err)
	}
	return value
}
