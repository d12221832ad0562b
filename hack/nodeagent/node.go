package nodeagent

import (
	"context"
	"fmt"
	"runtime"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const heartbeat = 10 * time.Second

// register makes the node known and Ready.
func (a *Agent) register(ctx context.Context) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: a.o.NodeName,
		Labels: map[string]string{
			corev1.LabelHostname:   a.o.NodeName,
			corev1.LabelOSStable:   runtime.GOOS,
			corev1.LabelArchStable: runtime.GOARCH,
		},
	}}
	a.describe(node)
	_, err := a.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("register node %s: %w", a.o.NodeName, err)
	}
	return a.reportNode(ctx)
}

// reportNode writes the node's status.
func (a *Agent) reportNode(ctx context.Context) error {
	node, err := a.client.CoreV1().Nodes().Get(ctx, a.o.NodeName, metav1.GetOptions{})
	if err != nil {
		return err
	}
	a.describe(node)
	_, err = a.client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
	return err
}

func (a *Agent) describe(node *corev1.Node) {
	now := metav1.Now()
	ready := corev1.NodeCondition{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "NodeAgentReady",
		Message: "pods run as local processes", LastHeartbeatTime: now, LastTransitionTime: now,
	}
	for _, c := range node.Status.Conditions {
		if c.Type == ready.Type && c.Status == ready.Status {
			ready.LastTransitionTime = c.LastTransitionTime
		}
	}
	node.Status.Capacity, node.Status.Allocatable = capacity.DeepCopy(), capacity.DeepCopy()
	node.Status.Conditions = []corev1.NodeCondition{ready}
	node.Status.Addresses = []corev1.NodeAddress{
		{Type: corev1.NodeInternalIP, Address: hostIP},
		{Type: corev1.NodeHostName, Address: a.o.NodeName},
	}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(a.kubeletPort)
	node.Status.NodeInfo.OperatingSystem, node.Status.NodeInfo.Architecture = runtime.GOOS, runtime.GOARCH
	node.Status.NodeInfo.ContainerRuntimeVersion = "process://local"
	node.Status.NodeInfo.KubeletVersion = "nodeagent"
}

// keepAlive renews the node's lease and status until the context ends.
func (a *Agent) keepAlive(ctx context.Context) {
	for {
		if err := a.renewLease(ctx); err != nil && ctx.Err() == nil {
			a.logf("lease: %v", err)
		}
		if !sleep(ctx, heartbeat) {
			return
		}
		if err := a.reportNode(ctx); err != nil && ctx.Err() == nil {
			a.logf("node status: %v", err)
		}
	}
}

func (a *Agent) renewLease(ctx context.Context) error {
	leases := a.client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	seconds := int32(4 * heartbeat / time.Second)
	now := metav1.NowMicro()
	lease, err := leases.Get(ctx, a.o.NodeName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = leases.Create(ctx, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: a.o.NodeName},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: &a.o.NodeName, LeaseDurationSeconds: &seconds, RenewTime: &now},
		}, metav1.CreateOptions{})
		return err
	}
	if err != nil {
		return err
	}
	lease.Spec.RenewTime = &now
	_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	return err
}
