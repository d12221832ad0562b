// Package apiserver starts a real API server for a test.
package apiserver

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/mcp-admin/mcp-admin-operator/test/project"
)

// patience ends the wait for a program that hangs.
const patience = 10 * time.Minute

// A client gives up a connection on which it hears nothing for 45 seconds, which on a very busy machine says nothing.
func init() {
	if err := os.Setenv("HTTP2_PING_TIMEOUT_SECONDS", strconv.Itoa(int(patience.Seconds()))); err != nil {
		panic(err)
	}
}

// Start starts etcd and an API server with the CustomResourceDefinitions of some folders, and ends them with the test. The
// test is skipped if there is no API server to start. The client's configuration is an administrator's.
func Start(t testing.TB, crds ...string) (*envtest.Environment, *rest.Config) {
	t.Helper()
	environment := &envtest.Environment{
		BinaryAssetsDirectory: Assets(t), CRDDirectoryPaths: crds, ErrorIfCRDPathMissing: true,
		ControlPlaneStartTimeout: patience, ControlPlaneStopTimeout: patience,
	}
	text := rand.Text()
	configure(t, environment, text)
	_, err := environment.Start()
	t.Cleanup(func() {
		if err := environment.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	environment.Config.CertData, environment.Config.KeyData, environment.Config.BearerToken = nil, nil, text
	return environment, environment.Config
}

// configure leaves out what a test has no use for and each request pays for: queues for fairness, and the proof of a client's
// certificate. The administrator has a token instead.
func configure(t testing.TB, environment *envtest.Environment, token string) {
	file := filepath.Join(t.TempDir(), "tokens.csv")
	if err := os.WriteFile(file, []byte(token+",admin,admin,system:masters\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	environment.ControlPlane.GetAPIServer().Configure().
		Set("token-auth-file", file).
		Set("enable-priority-and-fairness", "false")
}

// Assets returns the folder with the programs of the control plane: KUBEBUILDER_ASSETS, else the project's bin/k8s. The test
// is skipped if kube-apiserver, or one of the further programs that it names, is not there, and by "go test -short".
func Assets(t testing.TB, further ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: no control plane is started")
	}
	folder := os.Getenv("KUBEBUILDER_ASSETS")
	if folder == "" {
		folder = filepath.Join(project.Root(), "bin", "k8s")
	}
	for _, program := range append([]string{"kube-apiserver"}, further...) {
		if _, err := os.Stat(filepath.Join(folder, program)); err != nil {
			t.Skipf("no %s: set KUBEBUILDER_ASSETS, or have make kube-cluster build it into bin/k8s (%v)", program, err)
		}
	}
	return folder
}
