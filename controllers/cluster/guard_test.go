package cluster

import (
	"context"
	"maps"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func newInstallationsTest(t *testing.T) (client.Client, *time.Time) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := coordinationv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithIndex(&coordinationv1.Lease{}, "metadata.name", func(o client.Object) []string {
		return []string{o.GetName()}
	}).Build()
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	return c, &now
}

func TestAClaimThatIsNotRenewedRunsOut(t *testing.T) {
	c, now := newInstallationsTest(t)
	clock := func() time.Time { return *now }
	ours, theirs := NewInstallations(c, c, "ours", []string{"shop"}, clock), NewInstallations(c, c, "theirs", []string{"shop"}, clock)
	expect := func(leases *Installations, want map[string]string) {
		t.Helper()
		if others, err := leases.round(context.Background()); err != nil || !maps.Equal(others, want) {
			t.Fatalf("%v, %v; want %v", others, err, want)
		}
	}
	expect(theirs, nil)
	expect(ours, map[string]string{"shop": "theirs"})
	*now = now.Add(leaseDuration - time.Second)
	expect(theirs, nil) // renewed
	expect(ours, map[string]string{"shop": "theirs"})
	*now = now.Add(leaseDuration - time.Second)
	expect(ours, map[string]string{"shop": "theirs"})
	*now = now.Add(time.Second)
	expect(ours, nil) // taken over
	expect(theirs, map[string]string{"shop": "ours"})
}

func TestAClaimThatWasGivenUpIsFreeAtOnce(t *testing.T) {
	c, now := newInstallationsTest(t)
	clock := func() time.Time { return *now }
	few, all := NewInstallations(c, c, "few", []string{"shop"}, clock), NewInstallations(c, c, "all", nil, clock)
	if _, err := few.round(context.Background()); err != nil {
		t.Fatal(err)
	}
	if others, err := all.round(context.Background()); err != nil || !maps.Equal(others, map[string]string{"shop": "few"}) {
		t.Fatalf("%v, %v", others, err)
	}
	if err := few.release(); err != nil {
		t.Fatal(err)
	}
	if others, err := all.round(context.Background()); err != nil || len(others) != 0 {
		t.Fatalf("%v, %v", others, err)
	}
}

func TestAReconcileThatNeverEndsIsNotHealthy(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	g := NewGuard(nil, func() time.Time { return now })
	blocked, release := make(chan struct{}), make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = g.Before("MCPToken", reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
			close(blocked)
			<-release
			return reconcile.Result{}, nil
		})).Reconcile(context.Background(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "shop", Name: "agent"}})
	}()
	<-blocked
	if err := g.check(nil); err != nil {
		t.Errorf("at once: %v", err)
	}
	now = now.Add(stuckAfter + time.Second)
	if err := g.check(nil); err == nil || err.Error() != "the reconcile of MCPToken shop/agent does not end: it has run for 3m1s" {
		t.Errorf("after a while: %v", err)
	}
	close(release)
	<-ended
	if err := g.check(nil); err != nil {
		t.Errorf("when it ended: %v", err)
	}
}
