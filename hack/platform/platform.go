// Package platform is the local cluster with the operator installed in it, as config/default installs it: what the demo
// shows and what the end-to-end tests ask. It is for development only.
package platform

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"sigs.k8s.io/yaml"

	"github.com/mcp-admin/mcp-admin-operator/hack/localcluster"
)

// Platform is a local cluster with a running manager.
type Platform struct {
	*localcluster.Cluster
	root, kubectl string
	out           io.Writer
}

// Start starts a cluster in dir and installs the operator. root is the repository, whose bin folder must hold the
// manager and the server. Progress goes to out.
func Start(ctx context.Context, root, dir string, out io.Writer) (*Platform, error) {
	images, err := executables(root)
	if err != nil {
		return nil, err
	}
	p, err := StartCluster(ctx, root, dir, images, out)
	if err != nil {
		return nil, err
	}
	if err := p.install(ctx); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return p, nil
}

// executables are the programs in bin that the local cluster runs for the images that config/default names.
func executables(root string) (map[string]string, error) {
	text, err := os.ReadFile(filepath.Join(root, "config", "default", "kustomization.yaml"))
	if err != nil {
		return nil, err
	}
	var kustomization struct {
		Images []struct{ Name, NewTag string }
	}
	if err := yaml.Unmarshal(text, &kustomization); err != nil {
		return nil, fmt.Errorf("config/default/kustomization.yaml: %w", err)
	}
	images := map[string]string{}
	for _, image := range kustomization.Images {
		images[image.Name+":"+image.NewTag] = filepath.Join(root, "bin", "mcp-admin-"+path.Base(image.Name))
	}
	return images, nil
}

// StartCluster is Start without the operator. images maps references to executables.
func StartCluster(ctx context.Context, root, dir string, images map[string]string, out io.Writer) (*Platform, error) {
	// The node agent's client reports broken connections, which do not help a reader of the progress.
	klog.SetLogger(logr.Discard())
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		assets = filepath.Join(root, "bin", "k8s")
	}
	cluster, err := localcluster.Start(ctx, localcluster.Options{Dir: dir, Assets: assets, Images: images, Out: out})
	if err != nil {
		return nil, err
	}
	return &Platform{Cluster: cluster, root: root, kubectl: filepath.Join(assets, "kubectl"), out: out}, nil
}

func (p *Platform) install(ctx context.Context) error {
	fmt.Fprintln(p.out, "installing the operator: kubectl apply --server-side -k config/default")
	if _, err := p.Kubectl(ctx, "apply", "--server-side", "-k", filepath.Join(p.root, "config", "default")); err != nil {
		return err
	}
	if _, err := p.Kubectl(ctx, "-n", "mcp-admin-system", "rollout", "status", "deployment", "--timeout=5m"); err != nil {
		return fmt.Errorf("the manager does not start; its log is below %s: %w", filepath.Join(p.Dir(), "pods"), err)
	}
	return nil
}

// Kubectl runs kubectl with all rights and returns what it printed; an error holds what it printed to stderr.
func (p *Platform) Kubectl(ctx context.Context, args ...string) (string, error) {
	return p.KubectlInput(ctx, "", args...)
}

// KubectlInput is Kubectl with a standard input.
func (p *Platform) KubectlInput(ctx context.Context, input string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, p.kubectl, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+p.Kubeconfig(), "KUBECACHEDIR="+filepath.Join(p.Dir(), "kubectl-cache"))
	cmd.Stdin = strings.NewReader(input)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}

// Print runs kubectl and shows the command and what it printed.
func (p *Platform) Print(ctx context.Context, args ...string) error {
	shown := strings.ReplaceAll(strings.Join(args, " "), p.root+"/", "")
	fmt.Fprintln(p.out, "$ kubectl", shown)
	output, err := p.Kubectl(ctx, args...)
	fmt.Fprint(p.out, output)
	return err
}

// Assets is the folder of kubectl and the control plane's programs.
func (p *Platform) Assets() string { return filepath.Dir(p.kubectl) }

// Secret returns the data of a Secret.
func (p *Platform) Secret(ctx context.Context, namespace, name string) (map[string][]byte, error) {
	output, err := p.Kubectl(ctx, "-n", namespace, "get", "secret", name, "-o", "json")
	if err != nil {
		return nil, err
	}
	var secret struct{ Data map[string][]byte }
	err = json.Unmarshal([]byte(output), &secret)
	return secret.Data, err
}
