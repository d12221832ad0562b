package localcluster_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/kubernetes"

	"github.com/mcp-admin/mcp-admin-operator/hack/localcluster"
	"github.com/mcp-admin/mcp-admin-operator/test/apiserver"
)

var (
	cluster *localcluster.Cluster
	client  *kubernetes.Clientset
	dir     string
)

// childDir names the directory if the test program started itself, to run a cluster there and nothing else.
const childDir = "LOCALCLUSTER_TEST_CHILD_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if _, err := localcluster.Start(context.Background(), localcluster.Options{Dir: dir, Assets: assets()}); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("up")
		select {}
	}
	os.Exit(m.Run())
}

func assets() string {
	if dir := os.Getenv("KUBEBUILDER_ASSETS"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "bin", "k8s")
}

func TestLocalCluster(t *testing.T) {
	apiserver.Assets(t, "kube-controller-manager", "kube-scheduler")
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(10 * time.Minute)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	RunSpecs(t, "local cluster")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	dir = filepath.Join(GinkgoT().TempDir(), "cluster")
	program := filepath.Join(GinkgoT().TempDir(), "greeter")
	output, err := exec.CommandContext(ctx, "go", "build", "-o", program, "./testdata/greeter").CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(output))

	leaveAKilledClusterIn(ctx, dir)
	cluster, err = localcluster.Start(ctx, localcluster.Options{
		Dir: dir, Assets: assets(), Images: map[string]string{image: program}, Out: GinkgoWriter,
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(cluster.Stop()).To(Succeed()) })
	client, err = kubernetes.NewForConfig(cluster.RESTConfig())
	Expect(err).NotTo(HaveOccurred())
})

// leaveAKilledClusterIn starts a cluster in another process and kills that.
func leaveAKilledClusterIn(ctx context.Context, dir string) {
	program, err := os.Executable()
	Expect(err).NotTo(HaveOccurred())
	child := exec.CommandContext(ctx, program)
	child.Env = append(os.Environ(), childDir+"="+dir)
	output, err := child.StdoutPipe()
	Expect(err).NotTo(HaveOccurred())
	Expect(child.Start()).To(Succeed())
	line, err := bufio.NewReader(output).ReadString('\n')
	Expect(err).NotTo(HaveOccurred())
	Expect(strings.TrimSpace(line)).To(Equal("up"))
	_, err = localcluster.Start(ctx, localcluster.Options{Dir: dir, Assets: assets()})
	Expect(err).To(MatchError(ContainSubstring("another local cluster runs in")))
	Expect(child.Process.Signal(syscall.SIGKILL)).To(Succeed())
	_ = child.Wait()
}

// kubectl runs kubectl and returns all that it printed.
func kubectl(ctx context.Context, input string, args ...string) (string, error) {
	command := kubectlCommand(ctx, args...)
	command.Stdin = strings.NewReader(input)
	output, err := command.CombinedOutput()
	if err != nil {
		return string(output), fmt.Errorf("%w: %s", err, output)
	}
	return string(output), nil
}

func kubectlCommand(ctx context.Context, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, filepath.Join(assets(), "kubectl"), args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+cluster.Kubeconfig(), "KUBECACHEDIR="+filepath.Join(dir, "kubectl-cache"))
	return command
}

// portForward starts "kubectl port-forward" to a pod's port, and returns the local URL.
func portForward(ctx context.Context, pod, port string) string {
	GinkgoHelper()
	command := kubectlCommand(ctx, "port-forward", "pod/"+pod, ":"+port)
	output, err := command.StdoutPipe()
	Expect(err).NotTo(HaveOccurred())
	Expect(command.Start()).To(Succeed())
	DeferCleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	line, err := bufio.NewReader(output).ReadString('\n')
	Expect(err).NotTo(HaveOccurred())
	address, _, _ := strings.Cut(strings.TrimPrefix(line, "Forwarding from "), " ")
	return "http://" + address
}
