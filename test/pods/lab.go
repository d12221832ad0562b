package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/mcp-admin/mcp-admin-operator/controllers"
	"github.com/mcp-admin/mcp-admin-operator/hack/nodeagent/process"
	"github.com/mcp-admin/mcp-admin-operator/hack/pki"
	"github.com/mcp-admin/mcp-admin-operator/test/project"
)

// lab is a real API server with the operator installed, and the manager as a process.
type lab struct {
	dir     string
	env     *envtest.Environment
	config  *rest.Config
	client  client.Client
	core    *kubernetes.Clientset
	kubectl []string
	manager *process.Process
}

const managerNamespace, managerName = "mcp-admin-system", "mcp-admin-manager"

func newLab(ctx context.Context, dir string) (*lab, error) {
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return nil, err
	}
	l := &lab{dir: dir}
	for _, name := range []string{"manager", "server"} {
		if err := project.Build(ctx, "./cmd/"+name, l.program(name)); err != nil {
			return nil, err
		}
	}
	if err := l.start(ctx); err != nil {
		return nil, errors.Join(err, l.stop())
	}
	return l, nil
}

// program is the path of a program of this repository.
func (l *lab) program(name string) string { return filepath.Join(l.dir, "mcp-admin-"+name) }

func (l *lab) start(ctx context.Context) error {
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		assets = filepath.Join(project.Root(), "bin", "k8s")
	}
	l.env = &envtest.Environment{BinaryAssetsDirectory: assets}
	var err error
	if l.config, err = l.env.Start(); err != nil {
		return err
	}
	l.config.QPS = -1
	admin := filepath.Join(l.dir, "admin.kubeconfig")
	if err := os.WriteFile(admin, l.env.KubeConfig, 0o600); err != nil {
		return err
	}
	l.kubectl = []string{filepath.Join(assets, "kubectl"), "--kubeconfig", admin, "apply", "--server-side"}
	for _, folder := range []string{"default", "approval-policy"} {
		if err := l.applied(ctx, "", "-k", filepath.Join(project.Root(), "config", folder)); err != nil {
			return err
		}
	}
	scheme, err := controllers.NewScheme()
	if err != nil {
		return err
	}
	if l.client, err = client.New(l.config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	if l.core, err = kubernetes.NewForConfig(l.config); err != nil {
		return err
	}
	return l.startManager(ctx)
}

// apply applies manifests.
func (l *lab) apply(ctx context.Context, manifests string) error {
	return l.applied(ctx, manifests, "-f", "-")
}

func (l *lab) applied(ctx context.Context, input string, what ...string) error {
	c := exec.CommandContext(ctx, l.kubectl[0], append(l.kubectl[1:len(l.kubectl):len(l.kubectl)], what...)...)
	c.Stdin = strings.NewReader(input)
	if text, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl apply %s: %w\n%s", what[1], err, text)
	}
	return nil
}

// tokenOf is a token of a service account.
func (l *lab) tokenOf(ctx context.Context, namespace, name string) (string, error) {
	seconds := int64(24 * 3600)
	made, err := l.core.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return made.Status.Token, nil
}

// startManager starts the manager with its own rights, and returns once it answers.
func (l *lab) startManager(ctx context.Context) error {
	token, err := l.tokenOf(ctx, managerNamespace, managerName)
	if err != nil {
		return err
	}
	kubeconfig := filepath.Join(l.dir, "manager.kubeconfig")
	if err := pki.WriteTokenKubeconfig(kubeconfig, l.config.Host, l.config.CAData, token); err != nil {
		return err
	}
	metrics, err := project.FreeAddress()
	if err != nil {
		return err
	}
	if l.manager, err = l.run("manager", nil, "--kubeconfig="+kubeconfig, "--manager-namespace="+managerNamespace,
		"--metrics-bind-address="+metrics, "--server-image=mcp-admin/server:pods"); err != nil {
		return err
	}
	return await(ctx, l.manager, "http://"+metrics+"/metrics")
}

// run starts a program, whose output goes to a file of its name.
func (l *lab) run(name string, environment []string, arguments ...string) (*process.Process, error) {
	log, err := os.OpenFile(filepath.Join(l.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	return process.Start(process.Spec{Path: l.program(name), Args: arguments, Output: log, Dir: l.dir, Env: append(environment, "HOME="+l.dir)})
}

// patience ends a wait for what does not come.
const patience = 2 * time.Minute

// await waits until a page of a process answers.
func await(ctx context.Context, p *process.Process, page string) error {
	return until(ctx, page+" answers", func() (bool, error) {
		select {
		case <-p.Done():
			return false, errors.New("the process of " + page + " ended; its log is in .local/pods")
		default:
		}
		if response, err := http.Get(page); err == nil {
			return response.StatusCode == http.StatusOK, response.Body.Close()
		}
		return false, nil
	})
}

// until waits until something is so.
func until(ctx context.Context, what string, is func() (bool, error)) error {
	for deadline := time.Now().Add(patience); ; {
		if ok, err := is(); ok || err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return errors.New("it never comes that " + what)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(2 * time.Millisecond):
		}
	}
}

func (l *lab) stop() error {
	if l.manager != nil {
		end(l.manager, syscall.SIGKILL)
	}
	return l.env.Stop()
}

// end ends a process, and waits until it is gone.
func end(p *process.Process, signal syscall.Signal) {
	p.Signal(signal)
	<-p.Done()
}
