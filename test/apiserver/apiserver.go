// Package apiserver starts a real API server for a test.
package apiserver

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// patience is for busy machines.
const patience = 2 * time.Minute

// Start starts etcd and an API server with the CustomResourceDefinitions of some folders, and ends them with the test. The
// test is skipped if there is no API server to start.
func Start(t testing.TB, crds ...string) (*envtest.Environment, *rest.Config) {
	t.Helper()
	environment := &envtest.Environment{
		BinaryAssetsDirectory: assets(t), CRDDirectoryPaths: crds, ErrorIfCRDPathMissing: true,
		ControlPlaneStartTimeout: patience, ControlPlaneStopTimeout: patience,
	}
	config, err := environment.Start()
	t.Cleanup(func() {
		if err := environment.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return environment, config
}

// assets is the folder of the programs.
func assets(t testing.TB) string {
	t.Helper()
	folder := os.Getenv("KUBEBUILDER_ASSETS")
	if folder == "" {
		folder = filepath.Join("..", "..", "bin", "k8s")
	}
	if _, err := os.Stat(filepath.Join(folder, "kube-apiserver")); err != nil {
		t.Skipf("no kube-apiserver and etcd: set KUBEBUILDER_ASSETS, or have them built into bin/k8s (%v)", err)
	}
	return folder
}
