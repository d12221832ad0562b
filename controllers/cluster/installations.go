package cluster

import (
	"context"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// leaseName is the Lease by which an installation says that it looks after a namespace, or the whole cluster. It has
	// one name for all installations, so that they find each other's.
	leaseName = "installation.mcpadmin.dev"
	// clusterNamespace is the namespace of the Lease on the whole cluster.
	clusterNamespace = metav1.NamespaceSystem
	// leaseDuration is how long a lease counts that is not renewed; leasePeriod is how often it is.
	leaseDuration = 15 * time.Second
	leasePeriod   = 5 * time.Second
)

// The rights that leases need; RBAC cannot limit create to a name.
//
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=create
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,resourceNames=installation.mcpadmin.dev,verbs=get;list;update

// Installations keep two installations from working on the same objects (docs/design/managers.md, "Two installations"). The
// leader of each installation renews its own Leases and reads the others. It is safe for concurrent use.
type Installations struct {
	client client.Client
	live   client.Reader
	// installation is this one's name: all its managers have the same.
	installation string
	// namespaces are the namespaces that it looks after; none is the whole cluster.
	namespaces []string
	now        func() time.Time

	// decided is closed when the others' leases were read once.
	decided chan struct{}
	// seen is when each Lease was seen in its present version. Clocks of two machines are never compared.
	seen map[string]sighting

	mu sync.Mutex
	// others are the installations that look after a namespace; "" stands for the whole cluster.
	others map[string]string
}

type sighting struct {
	resourceVersion string
	at              time.Time
}

// NewInstallations returns the leases of an installation on the namespaces that it watches; none is all of them.
func NewInstallations(c client.Client, live client.Reader, installation string, namespaces []string, now func() time.Time) *Installations {
	return &Installations{
		client: c, live: live, installation: installation, namespaces: namespaces, now: now,
		decided: make(chan struct{}), seen: map[string]sighting{}, others: map[string]string{},
	}
}

// Start implements manager.Runnable: it runs in the leader, until that one ends.
func (c *Installations) Start(ctx context.Context) error {
	log := ctrl.LoggerFrom(ctx).WithName("installations")
	for first := true; ctx.Err() == nil; {
		others, err := c.round(ctx)
		switch {
		case err == nil:
			c.tell(ctx, others)
			if first {
				close(c.decided)
				first = false
			}
		case ctx.Err() == nil:
			log.Error(err, "The leases of other installations could not be read, or this one's not written; it is tried again")
		}
		pause := leasePeriod
		if first {
			pause = time.Second
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	return c.release()
}

// round renews this installation's leases, where no other has one, and returns the other installations by namespace.
func (c *Installations) round(ctx context.Context) (map[string]string, error) {
	others := map[string]string{}
	for _, namespace := range c.namespaces {
		other, err := c.take(ctx, namespace)
		if err != nil {
			return nil, err
		}
		if other != "" {
			others[namespace] = other
		}
	}
	if len(c.namespaces) > 0 {
		return others, nil
	}
	other, err := c.take(ctx, clusterNamespace)
	if err != nil {
		return nil, err
	}
	if other != "" {
		others[""] = other
	}
	// An installation for some namespaces has them for itself: one for the whole cluster leaves them out.
	var narrower coordinationv1.LeaseList
	// Each node has a Lease: the API server looks through the Leases in its memory, and does not read all from etcd.
	inMemory := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "0"}}
	if err := c.live.List(ctx, &narrower, inMemory, client.MatchingFields{"metadata.name": leaseName}); err != nil {
		return nil, err
	}
	for i := range narrower.Items {
		lease := &narrower.Items[i]
		if other := c.holder(lease); lease.Namespace != clusterNamespace && other != "" {
			others[lease.Namespace] = other
		}
	}
	return others, nil
}

// take gets or renews the Lease of a namespace, unless another installation has it, which is then returned.
func (c *Installations) take(ctx context.Context, namespace string) (other string, err error) {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: leaseName}}
	err = c.live.Get(ctx, client.ObjectKeyFromObject(lease), lease)
	if client.IgnoreNotFound(err) != nil {
		return "", err
	}
	missing := err != nil
	if other = c.holder(lease); other != "" {
		return other, nil
	}
	lease.Spec.HolderIdentity = &c.installation
	lease.Spec.RenewTime = &metav1.MicroTime{Time: c.now()}
	lease.Spec.LeaseDurationSeconds = new(int32(leaseDuration / time.Second))
	if missing {
		err = c.client.Create(ctx, lease, FieldOwner)
	} else {
		err = c.client.Update(ctx, lease, FieldOwner)
	}
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return "another installation", nil // who it was is read in the next round
	}
	return "", err
}

// holder is the other installation that a Lease is held by; "" if it is ours, was given up, or was not renewed in time.
func (c *Installations) holder(lease *coordinationv1.Lease) string {
	if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" || *lease.Spec.HolderIdentity == c.installation {
		return ""
	}
	last := c.seen[lease.Namespace]
	if last.resourceVersion != lease.ResourceVersion {
		last = sighting{lease.ResourceVersion, c.now()}
		c.seen[lease.Namespace] = last
	}
	if c.now().Sub(last.at) >= leaseDuration {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// tell remembers who else looks after what, and logs what changed.
func (c *Installations) tell(ctx context.Context, others map[string]string) {
	log := ctrl.LoggerFrom(ctx).WithName("installations")
	c.mu.Lock()
	defer c.mu.Unlock()
	for namespace, other := range others {
		if c.others[namespace] != other {
			log.Info("Another installation looks after these objects, and this one leaves them alone", "namespace", orAll(namespace), "installation", other)
		}
	}
	for namespace, other := range c.others {
		if others[namespace] == "" {
			log.Info("Another installation no longer looks after these objects", "namespace", orAll(namespace), "installation", other)
		}
	}
	c.others = others
	yieldedNamespaces.Reset()
	for namespace, other := range others {
		yieldedNamespaces.WithLabelValues(orAll(namespace), other).Set(1)
	}
}

func orAll(namespace string) string {
	if namespace == "" {
		return "all"
	}
	return namespace
}

// yields reports whether another installation looks after a namespace. It waits until the leases were read once.
func (c *Installations) yields(ctx context.Context, namespace string) (bool, error) {
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-c.decided:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.others[""] != "" || c.others[namespace] != "", nil
}

// release gives this installation's leases up, if nobody has taken them. Its other managers take them again at once.
func (c *Installations) release() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	namespaces := c.namespaces
	if len(namespaces) == 0 {
		namespaces = []string{clusterNamespace}
	}
	for _, namespace := range namespaces {
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: leaseName}}
		if err := c.live.Get(ctx, client.ObjectKeyFromObject(lease), lease); err != nil {
			continue
		}
		if holder := lease.Spec.HolderIdentity; holder != nil && *holder == c.installation {
			lease.Spec.HolderIdentity = new("")
			_ = c.client.Update(ctx, lease, FieldOwner) // if not, the lease runs out
		}
	}
	return nil
}
