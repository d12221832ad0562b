package packaging

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	approvalpolicy "github.com/mcp-admin/mcp-admin-operator/config/approval-policy"
)

func TestChartHasNoLint(t *testing.T) {
	if out, failure := run(tool(t, "helm"), "lint", "--strict", chart); failure != "" {
		t.Errorf("%s%s", out, failure)
	}
}

func TestChartHoldsTheGeneratedFiles(t *testing.T) {
	copies := map[string]string{
		"role.yaml":                   "config/rbac/role.yaml",
		"leader_election_role.yaml":   "config/rbac/leader_election_role.yaml",
		"editor_role.yaml":            "config/rbac/editor_role.yaml",
		"viewer_role.yaml":            "config/rbac/viewer_role.yaml",
		"admission_policies.yaml":     "config/admission-policy/policies.yaml",
		"approval_policy.yaml":        "config/approval-policy/policy.yaml",
		"approval_policy_reader.yaml": "config/approval-policy/reader_role.yaml",
		"approver_role.yaml":          "config/approval-policy/approver_role.yaml",
		"rules.yaml":                  "config/monitoring/rules.yaml",
		"dashboards/fleet.json":       "config/monitoring/dashboards/fleet.json",
		"dashboards/endpoint.json":    "config/monitoring/dashboards/endpoint.json",
		"dashboards/token.json":       "config/monitoring/dashboards/token.json",
	}
	paths, err := filepath.Glob(root + "/config/crd/bases/*.yaml")
	if err != nil || len(paths) != 4 {
		t.Fatalf("%d generated CRDs, want 4: %v", len(paths), err)
	}
	for _, path := range paths {
		copies["crds/"+filepath.Base(path)] = "config/crd/bases/" + filepath.Base(path)
	}
	for name, source := range copies {
		want, err := os.ReadFile(filepath.Join(root, source))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(chart, "files", name))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("the chart's files/%s differs from %s; run \"make generate\"", name, source)
		}
	}
	if found, _ := filepath.Glob(chart + "/files/crds/*"); len(found) != len(paths) {
		t.Errorf("the chart has %d files of CRDs, want %d", len(found), len(paths))
	}
}

func TestChartInstallsTheSameCRDs(t *testing.T) {
	want := map[string]object{}
	for _, crd := range renderKustomization(t, root+"/config/crd") {
		want[crd.GetName()] = crd
	}
	crds := ofKind(renderChart(t, "crds.keep=false"), "CustomResourceDefinition")
	if len(crds) != len(want) {
		t.Errorf("%d CRDs, want %d", len(crds), len(want))
	}
	for _, crd := range crds {
		if diff := cmp.Diff(want[crd.GetName()].Object, crd.Object); diff != "" {
			t.Errorf("%s is not the generated one (-want +got):\n%s", crd.GetName(), diff)
		}
	}
	for _, crd := range ofKind(renderChart(t), "CustomResourceDefinition") {
		if got := crd.GetAnnotations()["helm.sh/resource-policy"]; got != "keep" {
			t.Errorf("an uninstall would delete %s and all its objects: the resource policy is %q, want keep", crd.GetName(), got)
		}
	}
	if left := ofKind(renderChart(t, "crds.install=false"), "CustomResourceDefinition"); len(left) != 0 {
		t.Errorf("%d CRDs with crds.install=false, want none", len(left))
	}
}

func TestChartGrantsTheSameRights(t *testing.T) {
	rules := func(name string) any {
		return nested(t, readObject(t, root+"/config/rbac/"+name+".yaml"), "rules")
	}
	tests := []struct {
		name   string
		values []string
		// want is the rules of each role, by kind, namespace and name.
		want map[string]any
	}{
		{
			name: "the whole cluster",
			want: map[string]any{
				"ClusterRole//mcp-admin-system:mcp-admin-mcp-admin-operator":         rules("role"),
				"ClusterRole//mcp-admin-system:mcp-admin-mcp-admin-operator:editor":  rules("editor_role"),
				"ClusterRole//mcp-admin-system:mcp-admin-mcp-admin-operator:viewer":  rules("viewer_role"),
				"Role/mcp-admin-system/mcp-admin-mcp-admin-operator-leader-election": rules("leader_election_role"),
			},
		},
		{
			name:   "two namespaces",
			values: []string{"watchNamespaces={shop,crm}", "rbac.aggregate=false"},
			want: map[string]any{
				"Role/shop/mcp-admin-mcp-admin-operator":                             rules("role"),
				"Role/crm/mcp-admin-mcp-admin-operator":                              rules("role"),
				"Role/mcp-admin-system/mcp-admin-mcp-admin-operator-leader-election": rules("leader_election_role"),
			},
		},
		{
			name:   "approvals",
			values: []string{"approvals.policy=true", "rbac.aggregate=false", "watchNamespaces={shop}"},
			want: map[string]any{
				"Role/shop/mcp-admin-mcp-admin-operator":                                            rules("role"),
				"Role/mcp-admin-system/mcp-admin-mcp-admin-operator-leader-election":                rules("leader_election_role"),
				"ClusterRole//mcp-admin-system:mcp-admin-mcp-admin-operator:approver":               rules("../approval-policy/approver_role"),
				"ClusterRole//mcp-admin-system:mcp-admin-mcp-admin-operator:approval-policy-reader": rules("../approval-policy/reader_role"),
			},
		},
		{
			name:   "rights made by someone else",
			values: []string{"rbac.create=false", "rbac.aggregate=false"},
			want:   map[string]any{},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			objects := renderChart(t, tt.values...)
			got := map[string]any{}
			for _, role := range slices.Concat(ofKind(objects, "ClusterRole"), ofKind(objects, "Role")) {
				got[role.GetKind()+"/"+role.GetNamespace()+"/"+role.GetName()] = nested(t, role, "rules")
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("the roles differ (-want +got):\n%s", diff)
			}
			checkBindings(t, objects)
		})
	}
}

// The chart and config/default start the same pod, but for names and images.
func TestChartRunsTheSameManager(t *testing.T) {
	pod := func(objects []object) map[string]any {
		spec := nested(t, the(t, objects, "Deployment"), "spec", "template", "spec").(map[string]any)
		container := spec["containers"].([]any)[0].(map[string]any)
		for _, field := range []string{"image", "imagePullPolicy"} {
			unstructured.RemoveNestedField(container, field)
		}
		unstructured.RemoveNestedField(spec, "serviceAccountName")
		return spec
	}
	want := pod(renderKustomization(t, root+"/config/default"))
	got := pod(renderChart(t))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the pods differ (-config/default +chart):\n%s", diff)
	}
}

func TestChartValuesReachTheManager(t *testing.T) {
	objects := renderChart(t, "replicas=2", "watchNamespaces={shop,crm}", "image.registry=r.example.com", "image.repository=m",
		"image.tag=v9", "serverImage.registry=r.example.com", "serverImage.repository=s", "serverImage.tag=v9", "nodeSelector.disk=ssd",
		"podLabels.team=data", "podLabels.app\\.kubernetes\\.io/name=mine", "imagePullSecrets[0].name=pull",
		"tolerations[0].operator=Exists", "priorityClassName=high", "serviceAccount.name=operator", "metrics.service=false")
	deployment := the(t, objects, "Deployment")
	container := managerContainer(t, objects)
	if got := container["image"]; got != "r.example.com/m:v9" {
		t.Errorf("the image is %v", got)
	}
	if got := environment(container)["MCP_ADMIN_SERVER_IMAGE"]; got != "r.example.com/s:v9" {
		t.Errorf("the server's image is %v", got)
	}
	for _, want := range []any{"--namespace=shop", "--namespace=crm", "--leader-elect"} {
		if !slices.Contains(container["args"].([]any), want) {
			t.Errorf("the arguments lack %v: %v", want, container["args"])
		}
	}
	want := map[string]any{
		"nodeSelector":       map[string]any{"disk": "ssd"},
		"imagePullSecrets":   []any{map[string]any{"name": "pull"}},
		"tolerations":        []any{map[string]any{"operator": "Exists"}},
		"priorityClassName":  "high",
		"serviceAccountName": "operator",
	}
	for field, value := range want {
		if diff := cmp.Diff(value, nested(t, deployment, "spec", "template", "spec", field)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", field, diff)
		}
	}
	selected := nested(t, deployment, "spec", "selector", "matchLabels").(map[string]any)
	labels := nested(t, deployment, "spec", "template", "metadata", "labels").(map[string]any)
	for key, value := range selected {
		if labels[key] != value {
			t.Errorf("the Deployment does not select its own pods: label %s is %v, want %v", key, labels[key], value)
		}
	}
	if labels["team"] != "data" {
		t.Errorf("the pod's labels are %v", labels)
	}
	if services := ofKind(objects, "Service"); len(services) != 0 {
		t.Errorf("%d Services with metrics.service=false, want none", len(services))
	}
}

// policiesOf are the specs of the admission policies and their bindings, by kind and name.
func policiesOf(t *testing.T, objects []object) map[string]any {
	t.Helper()
	specs := map[string]any{}
	for _, o := range slices.Concat(ofKind(objects, "ValidatingAdmissionPolicy"), ofKind(objects, "ValidatingAdmissionPolicyBinding")) {
		specs[o.GetKind()+"/"+o.GetName()] = nested(t, o, "spec")
	}
	return specs
}

// The policy names the manager's ServiceAccount, so that it is the policy that this manager looks for.
func TestChartHasTheApprovalPolicyOnRequest(t *testing.T) {
	shipped := strings.ReplaceAll(string(approvalpolicy.Policy), approvalpolicy.Manager, "system:serviceaccount:mcp-admin-system:mcp-admin-mcp-admin-operator")
	want := policiesOf(t, decode(t, []byte(shipped)))
	if diff := cmp.Diff(want, policiesOf(t, renderChart(t, "approvals.policy=true"))); diff != "" || len(want) != 2 {
		t.Errorf("the policies differ (-config/approval-policy +chart):\n%s", diff)
	}
	if diff := cmp.Diff(policiesOf(t, decode(t, approvalpolicy.Policy)), policiesOf(t, renderKustomization(t, root+"/config/approval-policy"))); diff != "" {
		t.Errorf("the kustomization has another policy:\n%s", diff)
	}
}

func TestChartHasTheAdmissionPoliciesOnRequest(t *testing.T) {
	if got := policiesOf(t, renderChart(t)); len(got) != 0 {
		t.Errorf("without admissionPolicy.enabled there are %v", got)
	}
	want := policiesOf(t, renderKustomization(t, root+"/config/admission-policy"))
	if diff := cmp.Diff(want, policiesOf(t, renderChart(t, "admissionPolicy.enabled=true"))); diff != "" || len(want) != 6 {
		t.Errorf("the policies differ (-config/admission-policy +chart):\n%s", diff)
	}
}
