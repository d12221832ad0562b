package child

import (
	"slices"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
)

func overDuckDB(path string) *v1alpha1.MCPEndpoint {
	e := &v1alpha1.MCPEndpoint{}
	e.Namespace, e.Name = "shop", "sales"
	e.Spec.Database.DuckDB = &v1alpha1.DuckDBSpec{Claim: v1alpha1.DatabaseClaim{Name: "files"}, Path: path}
	return e
}

func TestFilesForDuckDBAreMountedToBeRead(t *testing.T) {
	for path, want := range map[string]string{
		"":                 "--duckdb=/var/lib/mcp-admin",
		"sales.duckdb":     "--duckdb=/var/lib/mcp-admin/sales.duckdb",
		"orders/2026 (EU)": "--duckdb=/var/lib/mcp-admin/orders/2026 (EU)",
	} {
		pod := podSpec(overDuckDB(path), PodOptions{DuckDBImage: "server:duckdb"})
		container := pod.Containers[0]
		i := slices.IndexFunc(pod.Volumes, func(v applycore.VolumeApplyConfiguration) bool { return *v.Name == "database" })
		if i < 0 || *pod.Volumes[i].PersistentVolumeClaim.ClaimName != "files" || !*pod.Volumes[i].PersistentVolumeClaim.ReadOnly {
			t.Fatalf("got the volumes %v, want the claim, read-only", pod.Volumes)
		}
		j := slices.IndexFunc(container.VolumeMounts, func(m applycore.VolumeMountApplyConfiguration) bool { return *m.Name == "database" })
		if j < 0 || *container.VolumeMounts[j].MountPath != databaseDir || !*container.VolumeMounts[j].ReadOnly {
			t.Errorf("got the mounts %v, want the claim's, read-only", container.VolumeMounts)
		}
		if !slices.Contains(container.Args, want) {
			t.Errorf("got the arguments %v, want %s", container.Args, want)
		}
		if pod.SecurityContext.FSGroup != nil {
			t.Error("the pod has a group for its volumes: the kubelet would change the files' owners")
		}
	}
}

func TestAnEndpointOverDuckDBHasAnImageOfItsOwn(t *testing.T) {
	const none = ""
	for _, row := range []struct{ named, managers, want string }{
		{"", "server:duckdb", "server:duckdb"},
		{"mine:1", "server:duckdb", "mine:1"},
		{"mine:1", "", "mine:1"},
		{"", "", none},
	} {
		e := overDuckDB("")
		e.Spec.Server.Image = row.named
		options := PodOptions{Image: "server:test", DuckDBImage: row.managers}
		if got := options.imageOf(e); got != row.want || options.HasImage(e) != (row.want != none) {
			t.Errorf("the endpoint names %q, the manager %q: got %q, and that there is one: %v; want %q", row.named, row.managers, got, options.HasImage(e), row.want)
		}
	}
	other := &v1alpha1.MCPEndpoint{}
	options := PodOptions{Image: "server:test", DuckDBImage: "server:duckdb", Allowed: []string{"registry/a"}}
	if got := options.imageOf(other); got != "server:test" {
		t.Errorf("an endpoint without DuckDB has the image %s", got)
	}
	other.Spec.Server.Image = "server:duckdb"
	if !options.Allows(other) {
		t.Error("an endpoint may not name the manager's own image")
	}
	if NewManagerMark("v1", PodOptions{Image: "server:test"}) == NewManagerMark("v1", options) {
		t.Error("managers with different images have the same mark")
	}
}

// A claim may be for one node or one pod.
func TestAPodOverDuckDBGoesBeforeTheNextOneComes(t *testing.T) {
	e := overDuckDB("")
	e.Spec.Server.Replicas = new(int32(3))
	strategy, replicas := deployment(e, nil).Spec.Strategy, deployment(e, nil).Spec.Replicas
	if strategy.RollingUpdate == nil || strategy.RollingUpdate.MaxSurge.IntValue() != 0 || strategy.RollingUpdate.MaxUnavailable.IntValue() != 1 {
		t.Errorf("got the strategy %+v, want one pod less, and none more", strategy)
	}
	if *replicas != 3 {
		t.Errorf("got %d pods, want 3", *replicas)
	}
	e.Spec.Server.Replicas, e.Spec.Server.Autoscaling = nil, &v1alpha1.AutoscalingSpec{MaxReplicas: 5}
	if deployment(e, nil).Spec.Replicas != nil || autoscaler(e) == nil {
		t.Error("an endpoint over DuckDB is not scaled by an autoscaler")
	}
}

func TestDuckDBHasMoreMemory(t *testing.T) {
	e := overDuckDB("")
	memory := func() string {
		r := resources(e)
		requested, limit := (*r.Requests)[corev1.ResourceMemory], (*r.Limits)[corev1.ResourceMemory]
		return requested.String() + "/" + limit.String()
	}
	if got := memory(); got != "256Mi/1Gi" {
		t.Errorf("got %s", got)
	}
	e.Spec.Database = v1alpha1.DatabaseSpec{SQLite: &v1alpha1.SQLiteSpec{}}
	if got := memory(); got != "64Mi/256Mi" {
		t.Errorf("SQLite got %s", got)
	}
}
