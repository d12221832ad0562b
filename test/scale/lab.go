package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/mcp-admin/mcp-admin-operator/controllers"
	"github.com/mcp-admin/mcp-admin-operator/hack/pki"
)

// lab is a real etcd and API server with the operator's objects installed, the manager as a process of its own, and
// simulated pods. It lasts for one scenario, so that no scenario pays for another.
type lab struct {
	dir string
	env *envtest.Environment
	// config has all rights; its writes are counted in written.
	config  *rest.Config
	written *atomic.Int64
	// client and core use config; asManager has the manager's rights.
	client    client.Client
	core      *kubernetes.Clientset
	asManager client.Client

	audit   *auditLog
	watched *watchedObjects
	pods    *pods
	manager *manager
	end     context.CancelFunc
}

const managerNamespace = "mcp-admin-system"

// newLab starts everything but the manager. root is the repository; the files of the run go to dir.
func newLab(ctx context.Context, root, dir, assets, program string) (*lab, error) {
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	l := &lab{dir: dir, written: &atomic.Int64{}}
	background, end := context.WithCancel(context.WithoutCancel(ctx))
	l.end = end
	if err := l.start(ctx, background, root, assets, program); err != nil {
		return nil, errors.Join(err, l.stop())
	}
	return l, nil
}

func (l *lab) start(ctx, background context.Context, root, assets, program string) error {
	if err := l.startControlPlane(assets); err != nil {
		return err
	}
	install := exec.CommandContext(ctx, filepath.Join(assets, "kubectl"), "--kubeconfig", filepath.Join(l.dir, "admin.kubeconfig"),
		"apply", "--server-side", "-k", filepath.Join(root, "config", "default"))
	if output, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl apply -k config/default: %w\n%s", err, output)
	}
	if err := l.connect(ctx, program); err != nil {
		return err
	}
	l.audit = followAudit(background, filepath.Join(l.dir, "audit.log"))
	var err error
	if l.watched, err = watchObjects(background, l.config); err != nil {
		return err
	}
	l.pods, err = runPods(background, l.core)
	return err
}

// auditPolicy records the requests of the manager alone.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- {level: None, verbs: [watch]}
- {level: Metadata, users: ["system:serviceaccount:mcp-admin-system:mcp-admin-manager"], omitManagedFields: true}
- {level: None}
`

func (l *lab) startControlPlane(assets string) error {
	l.env = &envtest.Environment{BinaryAssetsDirectory: assets}
	policy := filepath.Join(l.dir, "audit-policy.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return err
	}
	l.env.ControlPlane.GetAPIServer().Configure().
		Set("service-cluster-ip-range", "10.0.0.0/16"). // there are as many Services as endpoints
		Set("audit-policy-file", policy).
		Set("audit-log-path", filepath.Join(l.dir, "audit.log")).
		Set("audit-log-maxsize", "1000000") // a new file after the usual 100 MB would go unread
	l.env.ControlPlane.Etcd = &envtest.Etcd{}
	l.env.ControlPlane.Etcd.Configure().Set("quota-backend-bytes", "8589934592")
	config, err := l.env.Start()
	if err != nil {
		return err
	}
	l.config = rest.CopyConfig(config)
	l.config.QPS = -1
	l.config.Wrap(func(next http.RoundTripper) http.RoundTripper { return countWrites{next, l.written} })
	return os.WriteFile(filepath.Join(l.dir, "admin.kubeconfig"), l.env.KubeConfig, 0o600)
}

// connect makes the clients, and the manager's kubeconfig with a token of its service account.
func (l *lab) connect(ctx context.Context, program string) error {
	scheme, err := controllers.NewScheme()
	if err != nil {
		return err
	}
	if l.client, err = client.New(l.config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	protobuf := rest.CopyConfig(l.config)
	protobuf.ContentType = "application/vnd.kubernetes.protobuf"
	if l.core, err = kubernetes.NewForConfig(protobuf); err != nil {
		return err
	}
	var installed appsv1.Deployment
	if err := l.client.Get(ctx, client.ObjectKey{Namespace: managerNamespace, Name: "mcp-admin-manager"}, &installed); err != nil {
		return err
	}
	pod := installed.Spec.Template.Spec
	token, err := l.core.CoreV1().ServiceAccounts(managerNamespace).CreateToken(ctx, pod.ServiceAccountName,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(24 * 3600))}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	kubeconfig := filepath.Join(l.dir, "manager.kubeconfig")
	if err := pki.WriteTokenKubeconfig(kubeconfig, l.config.Host, l.config.CAData, token.Status.Token); err != nil {
		return err
	}
	as, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	as.QPS = -1
	if l.asManager, err = client.New(as, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	l.manager = &manager{
		program: program, kubeconfig: kubeconfig, log: filepath.Join(l.dir, "manager.log"),
		memoryLimit: pod.Containers[0].Resources.Limits.Memory().Value(),
	}
	for _, env := range pod.Containers[0].Env {
		if env.Name == "GOGC" {
			l.manager.garbage = env.Value
		}
	}
	return nil
}

func (l *lab) stop() error {
	l.end()
	if l.manager != nil {
		l.manager.kill()
	}
	if l.pods != nil {
		l.pods.stop()
	}
	return l.env.Stop()
}

// countWrites counts the requests that change something.
type countWrites struct {
	next    http.RoundTripper
	written *atomic.Int64
}

func (c countWrites) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet {
		c.written.Add(1)
	}
	return c.next.RoundTrip(r)
}

// quietTime is how long nothing may happen until the manager counts as quiet.
const quietTime = 2 * time.Second

// settle waits until the manager has written and reconciled nothing for quietTime, and returns when that began. A manager
// that has reconciled less than a number of times is not quiet yet: it may still be reading. settle gives up after
// settleLimit, and returns false.
func (l *lab) settle(ctx context.Context, atLeast int) (time.Time, bool) {
	began, last, reconciles := time.Now(), time.Now(), -1.0
	for ctx.Err() == nil && time.Since(began) < settleLimit {
		if now, err := l.manager.scrape(); err == nil && now.sum("controller_runtime_reconcile_total") != reconciles {
			last, reconciles = time.Now(), now.sum("controller_runtime_reconcile_total")
		}
		if at := l.audit.lastWrite(); at.After(last) {
			last = at
		}
		if reconciles >= float64(atLeast) && time.Since(last) > quietTime {
			return last, true
		}
		pause(ctx, 50*time.Millisecond)
	}
	return last, false
}

// pause sleeps, unless the context ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
