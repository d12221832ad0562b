package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mcp-admin/mcp-admin-operator/hack/platform"
)

// chartVersion is the packed chart's version; the images have it as their tag.
const chartVersion = "v0.0.1-e2e-dirty"

// The chart as a release packs it, on a cluster of its own: the other one has the CustomResourceDefinitions of config/default.
var _ = Describe("the packed chart", Ordered, func() {
	var (
		own *platform.Platform
		// older is the chart with another column in a definition.
		chart, older string
	)
	helm := func(ctx context.Context, args ...string) string {
		GinkgoHelper()
		root, err := filepath.Abs("../..")
		Expect(err).NotTo(HaveOccurred())
		command := exec.CommandContext(ctx, filepath.Join(root, "bin", "helm"), append(args, "--namespace", "mcp-admin-system", "--timeout", "10m")...)
		home := filepath.Join(own.Dir(), "helm")
		command.Env = append(os.Environ(), "KUBECONFIG="+own.Kubeconfig(), "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
		said, err := command.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), "helm %v: %s", args, said)
		return string(said)
	}
	kubectl := func(ctx context.Context, args ...string) string {
		GinkgoHelper()
		said, err := own.Kubectl(ctx, args...)
		Expect(err).NotTo(HaveOccurred())
		return said
	}
	ready := func(ctx context.Context) {
		GinkgoHelper()
		kubectl(ctx, "-n", "bookshop", "wait", "--timeout=10m", "--for=condition=Ready", "mcpe,mcpm,mcptoken", "--all")
	}

	BeforeAll(func(ctx SpecContext) {
		root, err := filepath.Abs("../..")
		Expect(err).NotTo(HaveOccurred())
		folder := filepath.Join(GinkgoT().TempDir(), "dist")
		pack := exec.CommandContext(ctx, "go", "run", "./hack/release", "-only", "chart", "-version", chartVersion, "-dist", folder)
		pack.Dir, pack.Env = root, append(os.Environ(), "SOURCE_DATE_EPOCH=1700000000") // there may be no git
		said, err := pack.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(said))
		chart = filepath.Join(folder, "mcp-admin-operator-"+strings.TrimPrefix(chartVersion, "v")+".tgz")

		older = filepath.Join(folder, "mcp-admin-operator")
		said, err = exec.CommandContext(ctx, "tar", "-xzf", chart, "-C", folder).CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(said))
		definition := filepath.Join(older, "files", "crds", "mcpadmin.dev_mcptokens.yaml")
		text, err := os.ReadFile(definition)
		Expect(err).NotTo(HaveOccurred())
		without := strings.Replace(string(text), "name: Endpoint\n", "name: Older\n", 1)
		Expect(without).NotTo(Equal(string(text)))
		Expect(os.WriteFile(definition, []byte(without), 0o600)).To(Succeed())

		images := map[string]string{}
		for _, program := range []string{"manager", "server"} {
			images["ghcr.io/mcp-admin/"+program+":"+chartVersion] = filepath.Join(root, "bin", "mcp-admin-"+program)
		}
		own, err = platform.StartCluster(ctx, root, filepath.Join(root, ".local", "e2e-chart"), images, GinkgoWriter)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { Expect(own.Stop()).To(Succeed()) })
	})

	It("installs, and its test finds that it works", func(ctx SpecContext) {
		said := helm(ctx, "install", "mcp-admin", older, "--create-namespace", "--wait")
		Expect(said).To(ContainSubstring("mcp-admin-operator " + chartVersion + " runs in the namespace mcp-admin-system"))
		Expect(helm(ctx, "test", "mcp-admin", "--logs")).To(And(ContainSubstring("Succeeded"), ContainSubstring("The installation works")))
		Expect(helm(ctx, "test", "mcp-admin")).To(ContainSubstring("Succeeded"), "a second time")
		kubectl(ctx, "apply", "--server-side", "-k", "../../config/samples")
		ready(ctx)
	})

	It("upgrades the manager and the CustomResourceDefinitions, and no endpoint is touched", func(ctx SpecContext) {
		pods := []string{"-n", "bookshop", "get", "pods", "-o", "jsonpath={.items[*].metadata.uid}"}
		before := kubectl(ctx, pods...)
		columns := []string{"get", "crd", "mcptokens.mcpadmin.dev", "-o", "jsonpath={.spec.versions[0].additionalPrinterColumns[*].name}"}
		Expect(kubectl(ctx, columns...)).To(And(ContainSubstring("Older"), Not(ContainSubstring("Endpoint"))))
		helm(ctx, "upgrade", "mcp-admin", chart, "--set", "replicas=2", "--set", "podDisruptionBudget.enabled=true", "--wait")
		Expect(kubectl(ctx, columns...)).To(And(ContainSubstring("Endpoint"), Not(ContainSubstring("Older"))))
		Expect(kubectl(ctx, "-n", "mcp-admin-system", "get", "deployment", "-o", "jsonpath={.items[0].status.readyReplicas}")).To(Equal("2"))
		ready(ctx)
		Expect(kubectl(ctx, pods...)).To(Equal(before))
	})

	It("leaves the CustomResourceDefinitions and all objects when it is uninstalled, and takes them back", func(ctx SpecContext) {
		helm(ctx, "uninstall", "mcp-admin", "--wait")
		Expect(kubectl(ctx, "-n", "mcp-admin-system", "get", "deployments,services,roles,rolebindings", "-o", "name")).To(BeEmpty())
		Expect(kubectl(ctx, "get", "clusterroles,clusterrolebindings", "-l", "app.kubernetes.io/instance=mcp-admin", "-o", "name")).To(BeEmpty())
		left := kubectl(ctx, "get", "mcp", "-n", "bookshop", "-o", "name")
		Expect(strings.Fields(left)).To(ContainElements(HavePrefix("mcpendpoint."), HavePrefix("mcpmodelexposure."), HavePrefix("mcptoken.")))
		helm(ctx, "install", "mcp-admin", chart, "--wait")
		ready(ctx)
		Expect(kubectl(ctx, "get", "mcp", "-n", "bookshop", "-o", "name")).To(Equal(left))
	})
})
