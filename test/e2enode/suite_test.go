// Package e2enode asks the whole product its main questions on a real node: images, chart, pods in namespaces that enforce Pod
// Security restricted, Services, cluster DNS, and what happens to clusters. "make e2e" runs it.
package e2enode

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mcp-admin/mcp-admin-operator/hack/node"
)

// The images' names: the charts' and the agent's. The node gets them from archives.
const (
	managerImage = "ghcr.io/mcp-admin/manager"
	serverImage  = "ghcr.io/mcp-admin/server"
	agentImage   = "mcp-admin.test/agent:1"
	// beforeTag is the tag of the same programs in other images, from which the product is upgraded.
	beforeTag = "before"
)

var (
	cluster *node.Node
	// api asks the API server without the time that kubectl takes to start.
	api dynamic.Interface
	// root is the repository.
	root string
	// thisTag is the tag of this release's images, which is their version.
	thisTag string
	// told is reported by the suite in the end.
	told report
)

func TestRealNode(t *testing.T) {
	dir := os.Getenv("MCP_TEST_NODE")
	if dir == "" {
		t.Skip("MCP_TEST_NODE is not set: make e2e sets it, and builds what a node needs")
	}
	if err := node.Check(); err != nil {
		told.skipped(err)
		t.Skip("this machine cannot run a node: ", err)
	}
	RegisterFailHandler(Fail)
	log.SetLogger(GinkgoLogr)
	SetDefaultEventuallyTimeout(10 * time.Minute)
	SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	told.began = time.Now()
	defer func() { told.write(t.Failed()) }()
	RunSpecs(t, "a real node")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	var err error
	root, err = filepath.Abs("../..")
	Expect(err).NotTo(HaveOccurred())
	dir := os.Getenv("MCP_TEST_NODE")
	archives := packImages(ctx, GinkgoT().TempDir())
	cluster, err = node.Start(ctx, node.Options{
		Dir: dir, Kubernetes: filepath.Join(root, "bin", "k8s"), Programs: filepath.Join(root, "bin", "node"), Images: archives, Out: os.Stdout,
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(cluster.Stop()).To(Succeed()) })
	api, err = dynamic.NewForConfig(cluster.RESTConfig())
	Expect(err).NotTo(HaveOccurred())
})

var _ = ReportAfterEach(func(spec SpecReport) {
	if !spec.Failed() || cluster == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, args := range [][]string{
		{"get", "mcp,pods,deployments", "-A", "-o", "wide"}, {"get", "events", "-A", "--sort-by=.lastTimestamp"},
		{"-n", "mcp-admin-system", "logs", "deployment/mcp-admin-manager", "--tail=40"},
	} {
		text, err := cluster.Kubectl(ctx, args...)
		fmt.Println("$ kubectl", args, "\n"+text, err)
	}
	fmt.Println("the components' logs are in", cluster.Logs())
})

// isTold reports whether STEPS asks for a step.
func isTold(step string) bool {
	suite, _ := GinkgoConfiguration()
	return len(suite.FocusStrings) == 0 || slices.ContainsFunc(suite.FocusStrings, func(focus string) bool {
		matched, err := regexp.MatchString(focus, step)
		return err == nil && matched
	})
}

// packImages returns the archives of the images: this release's, as "make images" writes them, and images that it packs
// itself: the same programs under another tag, and the tests' agent.
func packImages(ctx context.Context, dir string) []string {
	GinkgoHelper()
	manager, server := findImage("manager"), findImage("server")
	thisTag = strings.TrimSuffix(strings.TrimPrefix(filepath.Base(server), "server-"), ".oci.tar")
	archives := []string{manager, server}
	for _, packed := range []struct{ image, program, source string }{
		{agentImage, "agent", "./test/e2enode/agent"},
		{managerImage + ":" + beforeTag, "mcp-admin-manager", "./cmd/manager"},
		{serverImage + ":" + beforeTag, "mcp-admin-server", "./cmd/server"},
	} {
		program := filepath.Join(dir, packed.program)
		build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-ldflags", "-s -w", "-o", program, packed.source)
		build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
		said, err := build.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(said))
		Expect(node.Pack(packed.image, program, program+".tar")).To(Succeed())
		archives = append(archives, program+".tar")
	}
	return archives
}

// findImage finds the archive of an image of this release.
func findImage(name string) string {
	GinkgoHelper()
	found, err := filepath.Glob(filepath.Join(os.Getenv("MCP_TEST_IMAGES"), name+"-v*.oci.tar"))
	Expect(err).NotTo(HaveOccurred())
	Expect(found).To(HaveLen(1), "MCP_TEST_IMAGES must be a folder with the image %s: make e2e makes it", name)
	return found[0]
}

func kubectl(ctx context.Context, args ...string) string {
	GinkgoHelper()
	output, err := cluster.Kubectl(ctx, args...)
	Expect(err).NotTo(HaveOccurred())
	return output
}

func apply(ctx context.Context, manifest string) {
	GinkgoHelper()
	_, err := cluster.KubectlInput(ctx, manifest, "apply", "--server-side", "-f", "-")
	Expect(err).NotTo(HaveOccurred())
}

// helm runs helm against the node. On a busy machine the API server may take longer than it waits: it is tried again.
func helm(ctx context.Context, args ...string) {
	GinkgoHelper()
	Eventually(func() error {
		if output, err := cluster.Command(ctx, filepath.Join(root, "bin", "helm"), args...).CombinedOutput(); err != nil {
			return fmt.Errorf("helm %v: %w: %s", args, err, output)
		}
		return nil
	}).Should(Succeed())
}

// install installs the chart or upgrades it to the images of this tag, and waits until its manager works.
func install(ctx context.Context, tag string) {
	GinkgoHelper()
	helm(ctx, "upgrade", "--install", "mcp-admin", filepath.Join(root, "charts", "mcp-admin-operator"), "--namespace", "mcp-admin-system",
		"--set", "fullnameOverride=mcp-admin-manager", "--set", "image.tag="+tag, "--set", "serverImage.tag="+tag)
	kubectl(ctx, "-n", "mcp-admin-system", "rollout", "status", "deployment/mcp-admin-manager", "--timeout=600s")
}

// followQuickStart follows docs/start/cluster.md from the installed operator to an answer, and returns what that took.
func followQuickStart(ctx context.Context) string {
	GinkgoHelper()
	follow := exec.CommandContext(ctx, "go", "test", "-count=1", "-v", "-run", "^TestFiveMinutes$/^real_cluster$", "./test/fiveminutes")
	follow.Dir = root
	follow.Env = append(os.Environ(), "MCP_TEST_FIVE_MINUTES=1", "MCP_TEST_CLUSTER="+cluster.Kubeconfig(), "MCP_TEST_CLUSTER_HOST="+cluster.Address())
	output, err := follow.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(output))
	_, took, found := strings.Cut(string(output), "five minutes: real cluster: ")
	Expect(found).To(BeTrue(), string(output))
	took, _, _ = strings.Cut(took, "\n")
	Expect(took).To(ContainSubstring("to the answer"))
	return took
}
