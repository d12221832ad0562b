package nodeagent

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestExpand(t *testing.T) {
	lookup := func(name string) (string, bool) {
		value, ok := map[string]string{"A": "one", "B": "$(A)", "EMPTY": ""}[name]
		return value, ok
	}
	for name, test := range map[string]struct{ text, want string }{
		"a variable":                    {"x=$(A)!", "x=one!"},
		"two":                           {"$(A)$(A)", "oneone"},
		"an empty one":                  {"[$(EMPTY)]", "[]"},
		"a value is not expanded again": {"$(B)", "$(A)"},
		"an unknown one stays":          {"$(NO)", "$(NO)"},
		"an escaped one":                {"$$(A)", "$(A)"},
		"a dollar sign":                 {"5$ a$b $", "5$ a$b $"},
		"an open parenthesis":           {"$(A", "$(A"},
		"none":                          {"plain", "plain"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := expand(test.text, lookup); got != test.want {
				t.Errorf("expand(%q) = %q, want %q", test.text, got, test.want)
			}
		})
	}
}

// fakeLookups has Secrets and ConfigMaps by name.
type fakeLookups struct {
	secrets    map[string]map[string][]byte
	configMaps map[string]map[string]string
}

func (f fakeLookups) secret(_, name string) (*corev1.Secret, error) {
	data, ok := f.secrets[name]
	if !ok {
		return nil, notFoundError("secret " + name)
	}
	return &corev1.Secret{Data: data}, nil
}

func (f fakeLookups) configMap(_, name string) (*corev1.ConfigMap, error) {
	data, ok := f.configMaps[name]
	if !ok {
		return nil, notFoundError("configmap " + name)
	}
	return &corev1.ConfigMap{Data: data}, nil
}

func (f fakeLookups) token(*corev1.Pod, *corev1.ServiceAccountTokenProjection) (string, error) {
	return "a-token", nil
}

var (
	yes     = true
	objs    = fakeLookups{secrets: map[string]map[string][]byte{"s": {"k": []byte("/data/secret")}}, configMaps: map[string]map[string]string{"c": {"a": "1", "b": "/data/b"}}}
	testPod = &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "n", UID: "u", Labels: map[string]string{"app": "x"}},
		Status:     corev1.PodStatus{PodIP: "127.77.0.9"},
	}
)

func field(path string) *corev1.EnvVarSource {
	return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
}

func secretKey(name, key string, optional *bool) *corev1.EnvVarSource {
	return &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key, Optional: optional}}
}

func TestResourceFields(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{
		{Name: "limited", Resources: corev1.ResourceRequirements{
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("256Mi"), corev1.ResourceCPU: resource.MustParse("1500m")},
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m")},
		}},
		{Name: "free"},
	}}}
	for name, test := range map[string]struct {
		container string
		field     corev1.ResourceFieldSelector
		want      string
	}{
		"bytes":                       {"limited", corev1.ResourceFieldSelector{Resource: "limits.memory"}, "268435456"},
		"in units, rounded up":        {"limited", corev1.ResourceFieldSelector{Resource: "limits.memory", Divisor: resource.MustParse("100Mi")}, "3"},
		"whole CPUs":                  {"limited", corev1.ResourceFieldSelector{Resource: "limits.cpu"}, "2"},
		"thousandths of a CPU":        {"limited", corev1.ResourceFieldSelector{Resource: "requests.cpu", Divisor: resource.MustParse("1m")}, "50"},
		"no request":                  {"free", corev1.ResourceFieldSelector{Resource: "requests.memory"}, "0"},
		"no limit: what the node has": {"free", corev1.ResourceFieldSelector{Resource: "limits.cpu"}, "64"},
		"another container's":         {"free", corev1.ResourceFieldSelector{ContainerName: "limited", Resource: "limits.memory"}, "268435456"},
		"no container":                {"none", corev1.ResourceFieldSelector{Resource: "limits.memory"}, ""},
		"no such field":               {"free", corev1.ResourceFieldSelector{Resource: "limits.wings"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := resourceValue(pod, test.container, &test.field)
			if got != test.want || (err != nil) != (test.want == "") {
				t.Errorf("got %q, %v; want %q", got, err, test.want)
			}
		})
	}
}

func TestEnvironment(t *testing.T) {
	m := mounts{}.add("/data", "/pod/data")
	for name, test := range map[string]struct {
		container corev1.Container
		want      []string
		fails     bool
	}{
		"fields of the pod": {
			container: corev1.Container{Env: []corev1.EnvVar{
				{Name: "IP", ValueFrom: field("status.podIP")}, {Name: "APP", ValueFrom: field("metadata.labels['app']")}, {Name: "URL", Value: "http://$(IP)/"},
			}},
			want: []string{"BASE=0", "IP=127.77.0.9", "APP=x", "URL=http://127.77.0.9/"},
		},
		"a path is rewritten, a Secret's value is not": {
			container: corev1.Container{Env: []corev1.EnvVar{{Name: "DIR", Value: "/data"}, {Name: "PASSWORD", ValueFrom: secretKey("s", "k", nil)}}},
			want:      []string{"BASE=0", "DIR=/pod/data", "PASSWORD=/data/secret"},
		},
		"the pod's value replaces ours": {
			container: corev1.Container{Env: []corev1.EnvVar{{Name: "BASE", Value: "1"}}},
			want:      []string{"BASE=1"},
		},
		"a whole ConfigMap with a prefix": {
			container: corev1.Container{EnvFrom: []corev1.EnvFromSource{{Prefix: "C_", ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}}}}},
			want:      []string{"BASE=0", "C_a=1", "C_b=/pod/data/b"},
		},
		"an optional key that is missing": {
			container: corev1.Container{Env: []corev1.EnvVar{{Name: "X", ValueFrom: secretKey("s", "none", &yes)}}},
			want:      []string{"BASE=0"},
		},
		"a key that is missing":    {container: corev1.Container{Env: []corev1.EnvVar{{Name: "X", ValueFrom: secretKey("s", "none", nil)}}}, fails: true},
		"a Secret that is missing": {container: corev1.Container{Env: []corev1.EnvVar{{Name: "X", ValueFrom: secretKey("none", "k", nil)}}}, fails: true},
		"an unknown field":         {container: corev1.Container{Env: []corev1.EnvVar{{Name: "X", ValueFrom: field("spec.none")}}}, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			base := &variables{}
			base.set("BASE", "0")
			err := environment(base, testPod, &test.container, objs, m)
			if (err != nil) != test.fails {
				t.Fatalf("error %v, want one: %v", err, test.fails)
			}
			if got := base.list(); err == nil && !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
