package cluster

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A manager renews its Lease on the namespaces that it looks after (docs/design/managers.md, "Two installations").
const (
	leaseName     = "installation.mcpadmin.dev"
	leaseDuration = 15 * time.Second
	// leaseLook is how long a lease is watched that looks old: this machine's clock may be wrong.
	leaseLook = 7 * time.Second
)

// Managed reports whether a manager runs that looks after a namespace. It may take some seconds if none does.
func (c *Cluster) Managed(ctx context.Context, namespace string) (bool, error) {
	var old []coordinationv1.Lease
	for _, of := range []string{metav1.NamespaceSystem, namespace} {
		var lease coordinationv1.Lease
		err := c.Get(ctx, client.ObjectKey{Namespace: of, Name: leaseName}, &lease)
		switch {
		case client.IgnoreNotFound(err) != nil:
			return false, err
		case err == nil && renewed(&lease):
			return true, nil
		case err == nil:
			old = append(old, lease)
		}
	}
	return c.renewsSoon(ctx, old)
}

func renewed(lease *coordinationv1.Lease) bool {
	return lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity != "" && lease.Spec.RenewTime != nil &&
		time.Since(lease.Spec.RenewTime.Time).Abs() < leaseDuration
}

// renewsSoon reports whether one of the leases is renewed within a while.
func (c *Cluster) renewsSoon(ctx context.Context, leases []coordinationv1.Lease) (bool, error) {
	if len(leases) == 0 {
		return false, nil
	}
	if !pause(ctx, leaseLook) {
		return false, ctx.Err()
	}
	for i := range leases {
		before := leases[i].ResourceVersion
		if err := c.Get(ctx, Key(&leases[i]), &leases[i]); err != nil {
			return false, err
		}
		if holder := leases[i].Spec.HolderIdentity; leases[i].ResourceVersion != before && holder != nil && *holder != "" {
			return true, nil
		}
	}
	return false, nil
}
