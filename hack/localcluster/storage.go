package localcluster

import (
	"context"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/mcp-admin/mcp-admin-operator/hack/nodeagent/watch"
)

const (
	storageClass = "local"
	provisioner  = "localcluster/folder"

	// The controller manager sets the first on a claim that waits for a provisioner; a provisioner sets the other on
	// its volumes.
	claimProvisioner  = "volume.kubernetes.io/storage-provisioner"
	volumeProvisioner = "pv.kubernetes.io/provisioned-by"
)

// storage is the provisioner of the default storage class: a claim gets a folder in the cluster's directory. Without it
// no pod with a claim would be scheduled. The controller manager binds the claims.
type storage struct {
	client kubernetes.Interface
	layout layout
	logf   func(format string, args ...any)
}

func (s *storage) createClass(ctx context.Context) error {
	reclaim, binding := corev1.PersistentVolumeReclaimDelete, storagev1.VolumeBindingImmediate
	_, err := s.client.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{
		ObjectMeta:        metav1.ObjectMeta{Name: storageClass, Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}},
		Provisioner:       provisioner,
		ReclaimPolicy:     &reclaim,
		VolumeBindingMode: &binding,
	}, metav1.CreateOptions{})
	return err
}

// run provides volumes and removes released ones until the context ends.
func (s *storage) run(ctx context.Context) {
	core := s.client.CoreV1().RESTClient()
	go watch.Run(ctx, watch.Resource{Client: core, Name: "persistentvolumeclaims"}, &corev1.PersistentVolumeClaim{},
		watch.Handler[*corev1.PersistentVolumeClaim]{Set: func(claim *corev1.PersistentVolumeClaim) {
			if err := s.provide(ctx, claim); err != nil && ctx.Err() == nil {
				s.logf("claim %s/%s: %v", claim.Namespace, claim.Name, err)
			}
		}})
	watch.Run(ctx, watch.Resource{Client: core, Name: "persistentvolumes"}, &corev1.PersistentVolume{},
		watch.Handler[*corev1.PersistentVolume]{Set: func(volume *corev1.PersistentVolume) {
			if err := s.reclaim(ctx, volume); err != nil && ctx.Err() == nil {
				s.logf("volume %s: %v", volume.Name, err)
			}
		}})
}

func (s *storage) provide(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	if claim.Annotations[claimProvisioner] != provisioner || claim.Spec.VolumeName != "" || claim.DeletionTimestamp != nil {
		return nil
	}
	path := s.layout.path("claims", fmt.Sprintf("%s_%s_%s", claim.Namespace, claim.Name, claim.UID))
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	_, err := s.client.CoreV1().PersistentVolumes().Create(ctx, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pvc-" + string(claim.UID), Annotations: map[string]string{volumeProvisioner: provisioner}},
		Spec: corev1.PersistentVolumeSpec{
			StorageClassName:              storageClass,
			AccessModes:                   claim.Spec.AccessModes,
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: claim.Spec.Resources.Requests[corev1.ResourceStorage]},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
			PersistentVolumeSource:        corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path}},
			ClaimRef: &corev1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
			},
		},
	}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func (s *storage) reclaim(ctx context.Context, volume *corev1.PersistentVolume) error {
	if volume.Annotations[volumeProvisioner] != provisioner || volume.Status.Phase != corev1.VolumeReleased || volume.DeletionTimestamp != nil {
		return nil
	}
	if err := os.RemoveAll(volume.Spec.HostPath.Path); err != nil {
		return err
	}
	return s.client.CoreV1().PersistentVolumes().Delete(ctx, volume.Name, metav1.DeleteOptions{})
}
