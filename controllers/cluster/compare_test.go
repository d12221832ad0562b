package cluster

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const wantedDeployment = `
metadata: {labels: {a: b}, ownerReferences: [{uid: "1", name: shop, kind: MCPEndpoint, apiVersion: v1, controller: true}]}
spec:
  template:
    spec:
      containers:
      - name: server
        args: [serve, --x]
        env: [{name: A, value: a}, {name: B, value: b}]
        ports: [{containerPort: 8080, name: http}]
      tolerations: [{key: a}]
      volumes: [{name: tmp, emptyDir: {}}]
`

func TestAdditionsOfOthersAreNoDifference(t *testing.T) {
	for name, row := range map[string]struct{ change, want string }{
		"nothing":            {"", ""},
		"a label":            {"{a: b}=>{a: b, c: d}", ""},
		"a label changed":    {"{a: b}=>{a: c}", `metadata.labels.a="c"`},
		"a label removed":    {"{a: b}=>{}", "metadata.labels=null"},
		"no owner":           {`[{uid: "1", name: shop, kind: MCPEndpoint, apiVersion: v1, controller: true}]=>[]`, "metadata.ownerReferences=null"},
		"a sidecar before":   {"- name: server=>- {name: proxy}\n      - name: server", ""},
		"our container gone": {"- name: server=>- name: other", "spec.template.spec.containers[server] is missing"},
		"an argument":        {"[serve, --x]=>[serve, --x, --y]", `spec.template.spec.containers[server].args=["serve","--x","--y"]`},
		"a variable":         {"[{name: A, value: a}, {name: B, value: b}]=>[{name: Z, value: z}, {name: B, value: b}, {name: A, value: a}]", ""},
		"our variable":       {"{name: B, value: b}=>{name: B, value: c}", `spec.template.spec.containers[server].env[B].value="c"`},
		"a volume":           {"[{name: tmp, emptyDir: {}}]=>[{name: x, emptyDir: {}}, {name: tmp, emptyDir: {}}]", ""},
		"a port of ours":     {"containerPort: 8080=>containerPort: 8082", "spec.template.spec.containers[server].ports[8080] is missing"},
		"a toleration":       {"[{key: a}]=>[{key: a}, {key: b}]", `spec.template.spec.tolerations=[{"key":"a"},{"key":"b"}]`},
		"a toleration's end": {"[{key: a}]=>[]", `spec.template.spec.tolerations=null`},
	} {
		t.Run(name, func(t *testing.T) {
			text := wantedDeployment
			if from, to, changed := strings.Cut(row.change, "=>"); changed {
				if text = strings.Replace(text, from, to, 1); text == wantedDeployment {
					t.Fatal("nothing is changed")
				}
			}
			have, wanted := &appsv1.Deployment{}, &unstructured.Unstructured{}
			if err := yaml.UnmarshalStrict([]byte(text), have); err != nil {
				t.Fatal(err)
			}
			if err := yaml.Unmarshal([]byte(wantedDeployment), &wanted.Object); err != nil {
				t.Fatal(err)
			}
			intoNumbers(wanted.Object)
			got, err := differences(have, wanted)
			if err != nil || got != row.want {
				t.Errorf("got %q, %v; want %q", got, err, row.want)
			}
		})
	}
}

// intoNumbers makes whole numbers of YAML what they are in an apply configuration.
func intoNumbers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			v[key] = intoNumbers(v[key])
		}
	case []any:
		for i := range v {
			v[i] = intoNumbers(v[i])
		}
	case float64:
		return int64(v)
	}
	return value
}

func TestListsOfUnknownKindsAreComparedAsAWhole(t *testing.T) {
	have := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"rules": []any{"a", "b"}}}}
	wanted := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"rules": []any{"a"}}}}
	if got, err := differences(have, wanted); err != nil || got != `spec.rules=["a","b"]` {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestOneOfTwoManagersGivesWay(t *testing.T) {
	for _, row := range []struct {
		a, b ManagerMark
		want bool
	}{
		{"v1.2.0 b", "v1.10.0 a", true},
		{"v1.10.0 a", "v1.2.0 b", false},
		{"v1.2.0 a", "v1.2.0 b", true},
		{"v1.2.0 b", "v1.2.0 a", false},
		{"v1.2.0 a", "v1.2.0 a", false},
		{"unknown a", "v1.2.0 a", true},
		{"v1.2.0 a", "unknown a", false},
	} {
		if got := row.a.before(row.b); got != row.want {
			t.Errorf("%s before %s: %v", row.a, row.b, got)
		}
	}
}
