package docs

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// others are the projects whose kinds the documents show: the Go module that holds their definitions, in a release that this
// project's Go can read, the sum of its content, and its files.
var others = []struct {
	group, module, sum string
	files              []string
}{
	{
		"argoproj.io", "github.com/argoproj/argo-cd/v3@v3.2.0", "h1:m2eGAV+nXQGgzZbH5SyJD5laaPW27mzWXBrgisUHY/0=",
		[]string{"manifests/crds/application-crd.yaml"},
	},
	{
		"cert-manager.io", "github.com/cert-manager/cert-manager@v1.21.2", "h1:UWgoYM+KLNtRlqmoWOKjKBOBUPVHeepQ6/ac3ERJW68=",
		[]string{"deploy/crds/cert-manager.io_certificates.yaml"},
	},
	{
		"external-secrets.io", "github.com/external-secrets/external-secrets@v1.3.2", "h1:u2J8RjlHIeF0oZCqtl92adI/uZWUwOesJIDkfql6LqQ=",
		[]string{"config/crds/bases/external-secrets.io_externalsecrets.yaml", "config/crds/bases/external-secrets.io_pushsecrets.yaml"},
	},
	{
		"gateway.networking.k8s.io", "sigs.k8s.io/gateway-api@v1.5.0", "h1:duoo14Ky/fJXpjpmyMISE2RTBGnfCg8zICfTYLTnBJA=",
		[]string{"config/crd/standard/gateway.networking.k8s.io_gateways.yaml"},
	},
	{
		"kustomize.toolkit.fluxcd.io", "github.com/fluxcd/kustomize-controller@v1.7.3", "h1:SzNnGn/4ObAPEHHleM5U7y/AKxKXph3Vj6ZhteeXw8M=",
		[]string{"config/crd/bases/kustomize.toolkit.fluxcd.io_kustomizations.yaml"},
	},
	{
		"monitoring.coreos.com", "github.com/prometheus-operator/prometheus-operator@v0.85.0", "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=",
		[]string{"example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml"},
	},
	{
		"postgresql.cnpg.io", "github.com/cloudnative-pg/cloudnative-pg@v1.27.1", "h1:w+bbtXyEPoaa7sZGXxbb8qJ+/bUGWQ3M48kbNUEpKlk=",
		[]string{"config/crd/bases/postgresql.cnpg.io_clusters.yaml"},
	},
}

// definitionsOfOthers are the files with the definitions of other projects' kinds, from the cache of Go modules. What is not
// there is downloaded. missing are the groups whose definitions cannot be had, with the reason.
func definitionsOfOthers(ctx context.Context) (files []string, missing map[string]error) {
	missing = map[string]error{}
	for _, o := range others {
		folder, err := download(ctx, o.module, o.sum)
		if err != nil {
			missing[o.group] = err
			continue
		}
		for _, file := range o.files {
			files = append(files, filepath.Join(folder, file))
		}
	}
	return files, missing
}

// download returns the folder of a module's content.
func download(ctx context.Context, module, sum string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	output, err := exec.CommandContext(ctx, "go", "mod", "download", "-json", module).Output()
	var told struct{ Dir, Sum, Error string }
	if bad := json.Unmarshal(output, &told); bad != nil {
		return "", fmt.Errorf("go mod download %s: %w, %w", module, err, bad)
	}
	switch {
	case told.Error != "":
		return "", fmt.Errorf("go mod download %s: %s", module, told.Error)
	case told.Sum != sum:
		return "", fmt.Errorf("%s has the sum %s in place of %s", module, told.Sum, sum)
	}
	return told.Dir, nil
}

// Each definition is there to be held against something.
func TestEveryDefinitionOfAnotherProjectIsOfAKindThatADocumentShows(t *testing.T) {
	shown := map[string]bool{}
	for _, path := range documents(t) {
		whole, _ := manifests(t, path)
		for _, b := range whole {
			for _, o := range objects(t, path, b) {
				group, _, _ := strings.Cut(o.GetAPIVersion(), "/")
				shown[group+" "+strings.ToLower(o.GetKind())] = true
			}
		}
	}
	for _, o := range others {
		for _, file := range o.files {
			name := strings.NewReplacer("-crd.yaml", "", ".yaml", "", o.group+"_", "").Replace(filepath.Base(file))
			if !shown[o.group+" "+strings.TrimSuffix(name, "s")] {
				t.Errorf("no document shows an object of %s", file)
			}
		}
	}
}
