package endpoint

import (
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

func endpointKeys(n int) []types.NamespacedName {
	keys := make([]types.NamespacedName, n)
	for i := range keys {
		keys[i] = types.NamespacedName{Namespace: "shop", Name: fmt.Sprintf("e-%02d", i)}
	}
	return keys
}

var (
	replacing = &appsv1.Deployment{Status: appsv1.DeploymentStatus{Replicas: 2, UpdatedReplicas: 1, AvailableReplicas: 1}}
	replaced  = &appsv1.Deployment{Status: appsv1.DeploymentStatus{Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1}}
	stuck     = &appsv1.Deployment{Status: appsv1.DeploymentStatus{Replicas: 2, UpdatedReplicas: 1, AvailableReplicas: 1, Conditions: []appsv1.DeploymentCondition{
		{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded"},
	}}}
)

// Whoever is woken begins; how many are under way grows by one with each that ends well, and begins anew with one that fails.
func TestRolloutsBeginSlowlyAndAreBounded(t *testing.T) {
	var woken []types.NamespacedName
	r := NewRollouts(func(keys ...types.NamespacedName) { woken = append(woken, keys...) })
	all := endpointKeys(60)
	var under []types.NamespacedName
	for _, key := range all {
		if r.begin(key) {
			under = append(under, key)
		}
	}
	end := func(d *appsv1.Deployment) {
		t.Helper()
		if failed := r.saw(under[0], d); failed != (d == stuck) {
			t.Fatalf("failed: %v", failed)
		}
		under = under[1:]
		for _, key := range slices.Compact(woken) {
			if !r.begin(key) {
				t.Fatalf("%s is woken and may not begin", key)
			}
			under = append(under, key)
		}
		woken = nil
	}
	if len(under) != 1 || !r.begin(under[0]) {
		t.Fatalf("%d begin", len(under))
	}
	r.saw(under[0], replacing)
	r.saw(all[59], replaced) // it has not begun
	for want := 2; want <= maxRollouts+3; want++ {
		end(replaced)
		if len(under) != min(want, maxRollouts) {
			t.Fatalf("%d are under way, want %d", len(under), want)
		}
	}
	for range maxRollouts - 1 {
		end(stuck)
	}
	if len(under) != 1 {
		t.Errorf("after failures %d are under way", len(under))
	}
	for len(under) > 0 {
		end(replaced)
	}
	if len(r.waiting) > 0 {
		t.Errorf("%v still wait", r.waiting)
	}
}

func TestNobodyWaitsForAnEndpointThatIsGone(t *testing.T) {
	var woken []types.NamespacedName
	r := NewRollouts(func(keys ...types.NamespacedName) { woken = append(woken, keys...) })
	keys := endpointKeys(4)
	for i, key := range keys {
		if r.begin(key) != (i == 0) {
			t.Fatalf("%s", key)
		}
	}
	r.notWaiting(keys[1]) // it was edited, say
	if len(woken) > 0 || slices.Contains(r.waiting, keys[1]) {
		t.Fatalf("woken %v, waiting %v", woken, r.waiting)
	}
	r.forget(keys[0])
	if !slices.Equal(woken, keys[2:3]) {
		t.Fatalf("woken %v", woken)
	}
	woken = nil
	r.forget(keys[2]) // it was woken, and is gone before it begins
	if !slices.Equal(woken, keys[3:]) {
		t.Fatalf("woken %v", woken)
	}
}

func TestADeploymentIsReplacedWhenItRunsItsNewestPodsAlone(t *testing.T) {
	two := int32(2)
	for name, row := range map[string]struct {
		change func(*appsv1.Deployment)
		want   bool
	}{
		"all new":             {func(*appsv1.Deployment) {}, true},
		"not looked at yet":   {func(d *appsv1.Deployment) { d.Generation = 2 }, false},
		"an old pod is left":  {func(d *appsv1.Deployment) { d.Status.Replicas = 2 }, false},
		"too few":             {func(d *appsv1.Deployment) { d.Spec.Replicas = &two }, false},
		"one is not there":    {func(d *appsv1.Deployment) { d.Status.AvailableReplicas = 0 }, false},
		"scaled to zero pods": {func(d *appsv1.Deployment) { d.Spec.Replicas, d.Status = new(int32), appsv1.DeploymentStatus{} }, true},
	} {
		d := replaced.DeepCopy()
		row.change(d)
		if got := isReplaced(d); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
