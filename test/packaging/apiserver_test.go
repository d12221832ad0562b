package packaging

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/test/apiserver"
)

const fieldOwner = client.FieldOwner("packaging-test")

// What is rendered must be accepted by an API server that checks every field, twice over; and the manager's pod must be
// admitted where the Pod Security Standard "restricted" is enforced, as config/default's namespace does.
func TestAnAPIServerAcceptsWhatIsRendered(t *testing.T) {
	api, config := startAPIServer(t)
	ctx := t.Context()
	for _, name := range []string{"shop", "crm", "monitoring", "grafana"} {
		if err := api.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
	rendered := []struct {
		name    string
		objects []object
	}{
		{"config/default", renderKustomization(t, root+"/config/default")},
		{"config/default with config/monitoring", slices.Concat(renderKustomization(t, root+"/config/default"), renderKustomization(t, root+"/config/monitoring"))},
		{"config/namespaced", renderKustomization(t, root+"/config/namespaced")},
		{"config/default with every component", renderComponents(t, "default", slices.Collect(maps.Keys(components))...)},
		{"the chart", renderChart(t)},
		{"the chart for two namespaces", renderChart(t, "watchNamespaces={shop,crm}", "fullnameOverride=few")},
		{"the chart with everything", renderWith(t, "testdata/everything.yaml")},
		{"the chart with everything, for two namespaces", renderWith(t, "testdata/everything.yaml", "watchNamespaces={shop,crm}", "fullnameOverride=all")},
		{"the chart with the admission policies", renderChart(t, "admissionPolicy.enabled=true")},
		{"the chart of few rights", renderChart(t, "rbac.aggregate=false", "crds.install=false", "metrics.service=false", "replicas=0")},
	}
	for _, r := range rendered {
		t.Run(r.name, func(t *testing.T) {
			for range 2 {
				for _, o := range r.objects {
					if err := applyStrictly(ctx, api, o); err != nil {
						t.Fatalf("%s %s: %v", o.GetKind(), o.GetName(), err)
					}
				}
			}
			pod := podOf(t, the(t, r.objects, "Deployment"))
			if err := api.Create(ctx, pod, client.DryRunAll); err != nil {
				t.Errorf("the manager's pod was not admitted: %v", err)
			}
			nested(t, *pod, "spec", "securityContext").(map[string]any)["runAsNonRoot"] = false
			if err := api.Create(ctx, pod, client.DryRunAll); !apierrors.IsForbidden(err) {
				t.Errorf("a pod that may run as root was not refused: %v", err)
			}
		})
	}
	t.Run("the chart with the page", func(t *testing.T) { testPage(t, api, config) })
	t.Run("an unknown field in one of the kinds is refused", func(t *testing.T) {
		waitForKind(t, api, "MCPToken")
		token := object{Object: map[string]any{
			"apiVersion": "mcpadmin.dev/v1alpha1", "kind": "MCPToken",
			"metadata": map[string]any{"name": "t", "namespace": "shop"},
			"spec":     map[string]any{"endpointRef": map[string]any{"name": "e"}, "expires": "2030-01-01T00:00:00Z"},
		}}
		if err := applyStrictly(ctx, api, token); err == nil || !strings.Contains(err.Error(), "spec.expires") {
			t.Errorf("the answer is %v, want one that names spec.expires", err)
		}
		unstructured.RemoveNestedField(token.Object, "spec", "expires")
		if err := applyStrictly(ctx, api, token); err != nil {
			t.Errorf("without it: %v", err)
		}
	})
}

func startAPIServer(t *testing.T) (client.Client, *rest.Config) {
	t.Helper()
	_, config := apiserver.Start(t, "testdata/crds")
	api, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return api, config
}

// applyStrictly applies o server-side, with unknown and repeated fields refused.
func applyStrictly(ctx context.Context, api client.Client, o object) error {
	strict := client.WithFieldValidation(api, metav1.FieldValidationStrict)
	return strict.Apply(ctx, client.ApplyConfigurationFromUnstructured(o.DeepCopy()), fieldOwner, client.ForceOwnership)
}

// podOf is a pod as the Deployment would make it.
func podOf(t *testing.T, deployment object) *object {
	t.Helper()
	template := runtime.DeepCopyJSON(nested(t, deployment, "spec", "template").(map[string]any))
	pod := &object{Object: template}
	pod.SetAPIVersion("v1")
	pod.SetKind("Pod")
	pod.SetNamespace(namespace)
	pod.SetName("manager")
	return pod
}

func waitForKind(t *testing.T, api client.Client, kind string) {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("mcpadmin.dev/v1alpha1")
	list.SetKind(kind + "List")
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 10*time.Minute, true, func(ctx context.Context) (bool, error) {
		return api.List(ctx, list) == nil, nil
	})
	if err != nil {
		t.Fatalf("%s was not served: %v", kind, err)
	}
}
