package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/controllers/observe"
	"github.com/mcp-admin/mcp-admin-operator/hack/nodeagent/process"
)

// maxPods is the most pods: each has an address of 127.0.0.0/8, all of which is local on Linux.
const maxPods = 50

// addressOf is a pod's address.
func addressOf(index int) string { return fmt.Sprintf("127.79.0.%d", index+1) }

// server is a pod: its object, and the process that the kubelet would run.
type server struct {
	object  *corev1.Pod
	process *process.Process
	url     string
}

// scale runs so many pods, as the Deployment's controller and the kubelet would, and returns once the manager has told them how many
// they are.
func (s *shop) scale(ctx context.Context, n int) error {
	for len(s.pods) > n {
		last := s.pods[len(s.pods)-1]
		s.pods = s.pods[:len(s.pods)-1]
		if err := s.remove(ctx, last); err != nil {
			return err
		}
	}
	for len(s.pods) < n {
		pod, err := s.startPod(ctx, len(s.pods))
		if err != nil {
			return err
		}
		s.pods = append(s.pods, pod)
	}
	return until(ctx, "every pod has its share", func() (bool, error) {
		config, err := s.storedConfig(ctx)
		if err != nil || config.Pods.Running != n || config.Pods.Answering != n {
			return false, err
		}
		return s.applied(ctx, config)
	})
}

// replicaSet is the ReplicaSet of the endpoint's Deployment.
func (s *shop) replicaSet(ctx context.Context) (*appsv1.ReplicaSet, *appsv1.Deployment, error) {
	d := &appsv1.Deployment{}
	err := until(ctx, "there is a Deployment", func() (bool, error) {
		err := s.lab.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name + "-mcp"}, d)
		return err == nil, client.IgnoreNotFound(err)
	})
	if err != nil {
		return nil, nil, err
	}
	set := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: d.Name + "-1", Labels: d.Spec.Template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(d, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
		},
		Spec: appsv1.ReplicaSetSpec{Selector: d.Spec.Selector, Template: d.Spec.Template},
	}
	if err := s.lab.client.Create(ctx, set); apierrors.IsAlreadyExists(err) {
		err = s.lab.client.Get(ctx, client.ObjectKeyFromObject(set), set)
		return set, d, err
	} else if err != nil {
		return nil, nil, err
	}
	return set, d, nil
}

// startPod makes the object of a pod, then its process, and the object Ready once that is.
func (s *shop) startPod(ctx context.Context, index int) (*server, error) {
	set, d, err := s.replicaSet(ctx)
	if err != nil {
		return nil, err
	}
	address := addressOf(index)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("%s-%d", set.Name, index), Labels: d.Spec.Template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))}},
		Spec: *d.Spec.Template.Spec.DeepCopy(),
	}
	pod.Spec.NodeName = "node"
	if err := s.lab.client.Create(ctx, pod); err != nil {
		return nil, err
	}
	if err := s.setStatus(ctx, pod, address, corev1.ConditionFalse); err != nil {
		return nil, err
	}
	account, err := s.serviceAccount(ctx)
	if err != nil {
		return nil, err
	}
	key := slices.IndexFunc(pod.Spec.Containers[0].Args, func(a string) bool { return strings.HasPrefix(a, "--config-key=") })
	if key < 0 {
		return nil, errors.New("the Deployment names no key of the manager")
	}
	host, port, err := net.SplitHostPort(strings.TrimPrefix(s.lab.config.Host, "https://"))
	if err != nil {
		return nil, err
	}
	admin := net.JoinHostPort(address, observe.AdminPort)
	running, err := s.lab.run("server", []string{"KUBERNETES_SERVICE_HOST=" + host, "KUBERNETES_SERVICE_PORT=" + port, "POD_NAME=" + pod.Name, "CONTAINER_MEMORY_LIMIT=268435456"},
		"serve", "--listen="+net.JoinHostPort(address, "8080"), "--admin-listen="+admin, "--namespace="+namespace, "--config-secret="+name+"-mcp-config",
		pod.Spec.Containers[0].Args[key], "--connection-secret=database", "--connection-dir="+filepath.Join(s.lab.dir, "not-mounted"), "--service-account-dir="+account,
		"--drain-delay=0s", "--log-level=WARN")
	if err != nil {
		return nil, err
	}
	made := &server{object: pod, process: running, url: "http://" + net.JoinHostPort(address, "8080") + "/mcp/"}
	if err := await(ctx, running, "http://"+admin+"/readyz"); err != nil {
		return nil, err
	}
	return made, s.setStatus(ctx, pod, address, corev1.ConditionTrue)
}

func (s *shop) setStatus(ctx context.Context, pod *corev1.Pod, address string, ready corev1.ConditionStatus) error {
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: address, PodIPs: []corev1.PodIP{{IP: address}}, StartTime: &metav1.Time{Time: time.Now()},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready, LastTransitionTime: metav1.Now()}},
	}
	return s.lab.client.Status().Update(ctx, pod)
}

// remove ends a pod as the kubelet does: the object terminates, then the process ends, then the object is gone.
func (s *shop) remove(ctx context.Context, p *server) error {
	if err := s.lab.client.Delete(ctx, p.object); err != nil {
		return err
	}
	end(p.process, syscall.SIGTERM)
	return client.IgnoreNotFound(s.lab.client.Delete(ctx, p.object, client.GracePeriodSeconds(0)))
}

// stop ends the pods' processes.
func (s *shop) stop() {
	for _, p := range s.pods {
		end(p.process, syscall.SIGKILL)
	}
}

// serviceAccount is the folder of the pods' service account.
func (s *shop) serviceAccount(ctx context.Context) (string, error) {
	folder := filepath.Join(s.lab.dir, "serviceaccount")
	if _, err := os.Stat(folder); err == nil {
		return folder, nil
	}
	token, err := s.lab.tokenOf(ctx, namespace, name+"-mcp")
	if err != nil {
		return "", err
	}
	return folder, errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, "token"), []byte(token), 0o600),
		os.WriteFile(filepath.Join(folder, "ca.crt"), s.lab.config.CAData, 0o600))
}
