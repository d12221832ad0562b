package intern_test

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"github.com/mcp-admin/mcp-admin-operator/controllers/intern"
)

// described is an object with a value of each kind, as a decoder makes it.
func described(t *testing.T) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{}
	if err := yaml.Unmarshal([]byte(`
metadata:
  name: shop-1
  creationTimestamp: "2026-01-02T03:04:05Z"
  labels: {app.kubernetes.io/name: shop, app.kubernetes.io/component: server}
  annotations: {}
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: shop, uid: u1, controller: true}]
spec:
  containers:
  - name: server
    args: ["--config=/config", "--port=8080"]
    env: [{name: A, value: a}, {name: B, valueFrom: {secretKeyRef: {name: s, key: k}}}]
    resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {cpu: "1", memory: 128Mi}}
    readinessProbe: {httpGet: {path: /readyz, port: 8081}}
    securityContext: {readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
status:
  startTime: "2026-01-02T03:04:05Z"
  conditions: [{type: Ready, status: "True", lastTransitionTime: "2026-01-02T03:04:06Z"}]
`), pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

func TestWhatIsKeptOnceIsWhatItWas(t *testing.T) {
	for range 3 {
		pod, want := described(t), described(t)
		intern.Within(pod)
		if !reflect.DeepEqual(pod, want) {
			t.Fatalf("it became\n%+v, want\n%+v", pod, want)
		}
	}
	if got := intern.Text("shop"); got != "shop" || intern.Text("") != "" {
		t.Errorf("%q", got)
	}
}

// A value loses its place to another one with the same slot. Which values have one is another matter for other values.
func TestEqualValuesAreKeptOnce(t *testing.T) {
	once := map[string]bool{}
	for n := range 8 {
		a, b := described(t), described(t)
		for _, pod := range []*corev1.Pod{a, b} {
			vary(pod, n)
			intern.Within(pod)
		}
		x, y := &a.Spec.Containers[0], &b.Spec.Containers[0]
		for what, pair := range map[string][2]any{
			"labels":           {a.Labels, b.Labels},
			"owners":           {a.OwnerReferences, b.OwnerReferences},
			"a boolean":        {a.OwnerReferences[0].Controller, b.OwnerReferences[0].Controller},
			"a moment":         {a.Status.StartTime, b.Status.StartTime},
			"conditions":       {a.Status.Conditions, b.Status.Conditions},
			"arguments":        {x.Args, y.Args},
			"environment":      {x.Env, y.Env},
			"requests":         {x.Resources.Requests, y.Resources.Requests},
			"limits":           {x.Resources.Limits, y.Resources.Limits},
			"a probe":          {x.ReadinessProbe, y.ReadinessProbe},
			"a security entry": {x.SecurityContext, y.SecurityContext},
		} {
			once[what] = once[what] || reflect.ValueOf(pair[0]).Pointer() == reflect.ValueOf(pair[1]).Pointer()
		}
		kind := string(a.Status.Conditions[0].Type)
		for what, pair := range map[string][2]string{
			"a text of another type": {kind, intern.Text(strings.Clone(kind))},
			"a name":                 {a.Name, b.Name},
		} {
			once[what] = once[what] || unsafe.StringData(pair[0]) == unsafe.StringData(pair[1])
		}
	}
	for what, so := range once {
		if !so {
			t.Errorf("%s: kept twice", what)
		}
	}
}

// vary makes each value of a pod another one.
func vary(pod *corev1.Pod, n int) {
	text := fmt.Sprint("n", n)
	pod.Name, pod.Labels["n"], pod.OwnerReferences[0].Name = text, text, text
	*pod.Status.StartTime = metav1.NewTime(pod.Status.StartTime.Add(time.Duration(n) * time.Second))
	pod.Status.Conditions[0].Type = corev1.PodConditionType("type " + text)
	server := &pod.Spec.Containers[0]
	server.Args[0], server.Env[0].Value = text, text
	for _, list := range []corev1.ResourceList{server.Resources.Requests, server.Resources.Limits} {
		list[corev1.ResourceCPU] = *resource.NewQuantity(int64(n), resource.DecimalSI)
	}
	server.ReadinessProbe.PeriodSeconds = int32(n)
	server.SecurityContext.RunAsUser = new(int64(n))
}

// Values that differ in one place alone stay different, also where two of them have one hash.
func TestWhatDiffersIsKeptApart(t *testing.T) {
	at := metav1.NewTime(time.Unix(1, 0))
	for _, change := range []func(*corev1.Pod){
		func(p *corev1.Pod) { p.Labels["app.kubernetes.io/name"] = "crm" },
		func(p *corev1.Pod) { p.Labels = nil },
		func(p *corev1.Pod) { p.Annotations = nil },
		func(p *corev1.Pod) { *p.OwnerReferences[0].Controller = false },
		func(p *corev1.Pod) { p.Status.Conditions[0].LastTransitionTime = at },
		func(p *corev1.Pod) { p.Spec.Containers[0].Args = []string{} },
		func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Limits["cpu"] = resource.MustParse("2") },
		func(p *corev1.Pod) { p.Spec.Containers[0].ReadinessProbe.HTTPGet.Port = intstr.FromString("admin") },
		func(p *corev1.Pod) { p.Spec.Containers[0].ReadinessProbe.HTTPGet.Port = intstr.FromInt32(8082) },
	} {
		pod, want, usual := described(t), described(t), described(t)
		change(pod)
		change(want)
		intern.Within(usual)
		intern.Within(pod)
		intern.Within(usual)
		if !reflect.DeepEqual(pod, want) || !reflect.DeepEqual(usual, described(t)) {
			t.Errorf("it became\n%+v, want\n%+v", pod, want)
		}
	}
}

func TestListsHaveNoRoomForMore(t *testing.T) {
	list := append(make([]string, 0, 16), "id", "created_at")
	large := make([][64]byte, 100, 128)
	of := struct {
		List  []string
		Large [][64]byte
	}{list, large}
	intern.Within(&of)
	if cap(of.List) != 2 || cap(of.Large) != 100 {
		t.Errorf("there is room for %d and %d", cap(of.List), cap(of.Large))
	}
}

// What points to much is not remembered: nobody but the table might have it, soon.
func TestLargeValuesAreNotRemembered(t *testing.T) {
	type status struct{ Message string }
	var kept [2][]status
	for i := range kept {
		kept[i] = []status{{strings.Repeat("x", 1<<20)}}
		intern.Within(&kept[i])
	}
	if &kept[0][0] == &kept[1][0] {
		t.Error("a list with a text of 1 MiB is remembered")
	}
}

// An object may come twice, and have by then what others have, who read it meanwhile (go test -race).
func TestWhatOthersHaveIsNotWrittenTo(t *testing.T) {
	read, again := described(t), described(t)
	intern.Within(read)
	intern.Within(again)
	var reading sync.WaitGroup
	reading.Go(func() {
		for range 100 {
			_ = read.DeepCopy()
		}
	})
	for range 100 {
		intern.Within(again)
	}
	reading.Wait()
	if !reflect.DeepEqual(read, described(t)) {
		t.Errorf("it became %+v", read)
	}
}

func BenchmarkWithin(b *testing.B) {
	t := &testing.T{}
	pod := described(t)
	b.ReportAllocs()
	for b.Loop() {
		intern.Within(pod.DeepCopy())
	}
}
