package nodeagent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// keepVolumes writes the pod's volumes and keeps them up to date until the pod ends. It closes mounted when all exist.
func (w *worker) keepVolumes(mounted chan<- struct{}) {
	written := map[string]files{}
	logged := ""
	for first := true; ; {
		problem := w.writeVolumes(written)
		pending := errors.Is(problem, errNotYetKnown)
		if problem == nil {
			logged = ""
		} else if text := problem.Error(); !pending && text != logged {
			w.logf("volumes: %v", problem)
			logged = text
		}
		if first && !pending {
			w.update(func() { w.mountProblem = problem })
			if problem == nil {
				first = false
				close(mounted)
			}
		}
		// If no object changes, only a token's renewal is left to wait for. After a problem it tries again.
		next := time.NewTimer(time.Hour)
		if problem != nil {
			next.Reset(time.Second)
		} else if at := w.tokens.renewAt(); !at.IsZero() {
			next.Reset(time.Until(at))
		}
		select {
		case <-w.sources:
		case <-next.C:
		case <-w.ended:
			next.Stop()
			return
		}
		next.Stop()
	}
}

// writeVolumes writes what is missing or has changed. Each volume is independent: one whose source is gone does not
// stop the update of another.
func (w *worker) writeVolumes(written map[string]files) error {
	pod := w.current()
	for _, key := range references(pod) { // the environment's too: it is read next
		if _, err := w.agent.objects.get(key); errors.Is(err, errNotYetKnown) {
			return err
		}
	}
	var problem error
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if err := w.writeVolume(pod, v, written); err != nil && problem == nil {
			problem = fmt.Errorf("MountVolume.SetUp failed for volume %q : %w", v.Name, err)
		}
	}
	return problem
}

func (w *worker) writeVolume(pod *corev1.Pod, v *corev1.Volume, written map[string]files) error {
	dir := w.volumeDir(v.Name)
	switch {
	case v.EmptyDir != nil:
		return os.MkdirAll(dir, 0o755)
	case v.HostPath != nil:
		return linkTo(dir, v.HostPath.Path)
	case v.PersistentVolumeClaim != nil:
		if _, err := os.Lstat(dir); err == nil {
			return nil
		}
		path, err := w.agent.claimPath(w.killed, pod.Namespace, v.PersistentVolumeClaim.ClaimName)
		if err != nil {
			return err
		}
		return linkTo(dir, path)
	}
	content, err := volumeFiles(pod, v, w)
	if err != nil {
		return err
	}
	if old, ok := written[v.Name]; ok && old.equal(content) {
		return nil
	}
	if err := writeAtomically(dir, content); err != nil {
		return err
	}
	written[v.Name] = content
	return nil
}

func linkTo(link, path string) error {
	if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
		return err
	}
	if old, err := os.Readlink(link); err == nil && old == path {
		return nil
	}
	return os.Symlink(path, link)
}

func (w *worker) volumeDir(name string) string { return filepath.Join(w.dir, "volumes", name) }

// mounts returns the folders of the container's volumes.
func (w *worker) mounts(c *corev1.Container) (mounts, error) {
	var m mounts
	for _, mount := range c.VolumeMounts {
		if mount.SubPathExpr != "" {
			return nil, fmt.Errorf("the node agent does not know subPathExpr (volume mount %s)", mount.Name)
		}
		if !filepath.IsLocal(filepath.Join(".", mount.SubPath)) {
			return nil, fmt.Errorf("subPath %q leaves the volume", mount.SubPath)
		}
		m = m.add(mount.MountPath, filepath.Join(w.volumeDir(mount.Name), mount.SubPath))
	}
	return m, nil
}

// claimPath finds the folder of a claim: the API server knows the bound volume, which is a path on this machine.
func (a *Agent) claimPath(ctx context.Context, namespace, name string) (string, error) {
	claim, err := a.client.CoreV1().PersistentVolumeClaims(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	if claim.Spec.VolumeName == "" {
		return "", fmt.Errorf("claim %s is not bound", name)
	}
	volume, err := a.client.CoreV1().PersistentVolumes().Get(ctx, claim.Spec.VolumeName, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	if volume.Spec.HostPath == nil {
		return "", fmt.Errorf("volume %s of claim %s is no hostPath", volume.Name, name)
	}
	return volume.Spec.HostPath.Path, nil
}

// tokenPath returns the path of the container's service account token, or "".
func (w *worker) tokenPath(c *corev1.Container) string {
	for _, v := range w.current().Spec.Volumes {
		if v.Projected == nil {
			continue
		}
		for _, source := range v.Projected.Sources {
			// a token for another audience is of no use at the API server
			if source.ServiceAccountToken == nil || source.ServiceAccountToken.Audience != "" {
				continue
			}
			for _, mount := range c.VolumeMounts {
				if mount.Name == v.Name {
					return filepath.Join(w.volumeDir(v.Name), source.ServiceAccountToken.Path)
				}
			}
		}
	}
	return ""
}
