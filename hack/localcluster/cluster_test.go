package localcluster_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/mcp-admin/mcp-admin-operator/hack/localcluster"
	"github.com/mcp-admin/mcp-admin-operator/hack/nodeagent/process"
)

var _ = Describe("A Deployment", Ordered, func() {
	const name = "greeter"
	var url string

	BeforeAll(func(ctx SpecContext) {
		create(ctx, secret(name, "hello"), service(name), deployment(name, 2))
		address, err := cluster.Forward(namespace+"/"+name+":http", "127.0.0.1:0")
		Expect(err).NotTo(HaveOccurred())
		url = "http://" + address
		Eventually(readyPods).WithArguments(ctx, name).Should(HaveLen(2))
	})

	It("gives each pod an address of its own", func(ctx SpecContext) {
		pods := readyPods(ctx, name)
		Expect(pods[0].Status.PodIP).To(HavePrefix("127.77."))
		Expect(pods[0].Status.PodIP).NotTo(Equal(pods[1].Status.PodIP))
		Expect(pods[0].Status.HostIP).To(Equal("127.0.0.1"))
	})

	It("answers through its Service, each pod in turn", func() {
		names := map[string]bool{}
		for range 4 {
			name, greeting, _ := strings.Cut(get(url), " ")
			Expect(greeting).To(Equal("hello"))
			names[name] = true
		}
		Expect(names).To(HaveLen(2))
	})

	It("sees a changed Secret, and is not started again for it", func(ctx SpecContext) {
		before := pids(ctx, name)
		_, err := client.CoreV1().Secrets(namespace).Update(ctx, secret(name, "good day"), metav1.UpdateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(get).WithArguments(url).Should(HaveSuffix(" good day"))
		Expect(pids(ctx, name)).To(Equal(before))
	})

	It("shows its log through the API server", func(ctx SpecContext) {
		pod := readyPods(ctx, name)[0]
		shown, err := client.CoreV1().Pods(namespace).GetLogs(pod.Name, &corev1.PodLogOptions{}).DoRaw(ctx)
		Expect(err).NotTo(HaveOccurred())
		written, err := os.ReadFile(cluster.PodLog(&pod, name))
		Expect(err).NotTo(HaveOccurred())
		Expect(written).NotTo(BeEmpty())
		Expect(string(shown)).To(Equal(string(written)))

		_, err = client.CoreV1().Pods(namespace).GetLogs(pod.Name, &corev1.PodLogOptions{Previous: true}).Stream(ctx)
		Expect(err).To(MatchError(ContainSubstring("has no log of such a run")))
		_, err = client.CoreV1().Pods(namespace).GetLogs(pod.Name, &corev1.PodLogOptions{Timestamps: true}).Stream(ctx)
		Expect(err).To(MatchError(ContainSubstring("does not know when a line was written")))
	})

	It("is reached by port-forward, at its own address", func(ctx SpecContext) {
		pod := readyPods(ctx, name)[0]
		Eventually(get).WithArguments(portForward(ctx, pod.Name, "8080")).Should(Equal(pod.Name + " good day"))
		refused := portForward(ctx, pod.Name, "8099")
		_, err := http.Get(refused)
		Expect(err).To(HaveOccurred(), "nobody listens there")
	})

	It("runs a command in its environment and folder", func(ctx SpecContext) {
		pod := readyPods(ctx, name)[0]
		run := func(input string, command ...string) (string, error) {
			return kubectl(ctx, input, append([]string{"exec", "-i", pod.Name, "--"}, command...)...)
		}
		Expect(run("", "sh", "-c", "echo $POD_NAME; pwd; echo problem >&2")).To(And(ContainSubstring(pod.Name+"\n"), ContainSubstring(dir), ContainSubstring("problem\n")))
		Expect(run("some text", "cat")).To(Equal("some text"))
		Expect(run("", "/anywhere/greeter", "-help")).Error().NotTo(HaveOccurred(), "the image's own program")
		_, err := run("", "sh", "-c", "exit 7")
		Expect(err).To(MatchError(ContainSubstring("7")))
		_, err = run("", "no-such-program")
		Expect(err).To(HaveOccurred())
		_, err = kubectl(ctx, "", "exec", "no-such-pod", "--", "true")
		Expect(err).To(MatchError(ContainSubstring("not found")))
	})

	It("gives a command a terminal, as large as the client's", func(ctx SpecContext) {
		ours, theirs, err := process.OpenTerminal()
		Expect(err).NotTo(HaveOccurred())
		defer ours.Close()
		Expect(process.ResizeTerminal(ours, 101, 33)).To(Succeed())
		command := kubectlCommand(ctx, "exec", "-it", readyPods(ctx, name)[0].Name, "--",
			"sh", "-c", "until [ \"$(stty size)\" = '33 101' ]; do sleep 0.05; done; tty; read line; echo got $line; exit 7")
		command.Stdin, command.Stdout, command.Stderr = theirs, theirs, theirs
		Expect(command.Start()).To(Succeed())
		Expect(theirs.Close()).To(Succeed())
		_, err = ours.WriteString("a line\r")
		Expect(err).NotTo(HaveOccurred())
		shown, _ := io.ReadAll(ours) // ends with an error when kubectl has ended
		Expect(string(shown)).To(And(ContainSubstring("/dev/pts/"), ContainSubstring("got a line\r\n")))
		_ = command.Wait()
		Expect(command.ProcessState.ExitCode()).To(Equal(7), string(shown))
	})

	It("has its service account's rights, by KUBECONFIG", func(ctx SpecContext) {
		pod := readyPods(ctx, name)[0]
		config, err := clientcmd.BuildConfigFromFlags("", environ(pid(pod.Name))["KUBECONFIG"])
		Expect(err).NotTo(HaveOccurred())
		own, err := kubernetes.NewForConfig(config)
		Expect(err).NotTo(HaveOccurred())
		self, err := own.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(self.Status.UserInfo.Username).To(Equal("system:serviceaccount:default:default"))
		_, err = own.CoreV1().Secrets(namespace).List(ctx, metav1.ListOptions{})
		Expect(err).To(MatchError(ContainSubstring("forbidden")))
	})

	It("has no more of an environment than its pod says", func(ctx SpecContext) {
		vars := environ(pid(readyPods(ctx, name)[0].Name))
		Expect(vars).To(HaveLen(9), "%v", vars)
		Expect(vars).To(HaveKey("KUBERNETES_SERVICE_HOST"))
		Expect(vars["DIR"]).To(HavePrefix(dir))
	})

	It("goes on with the other pod when one is killed, which is restarted", func(ctx SpecContext) {
		pod := readyPods(ctx, name)[0]
		before := pid(pod.Name)
		Eventually(answersBeforeRestart).WithArguments(url, pod.Name).Should(BeTrue())
		Eventually(status).WithArguments(ctx, pod.Name).Should(And(
			HaveField("RestartCount", BeNumerically(">=", 1)), HaveField("Ready", BeTrue()),
			HaveField("LastTerminationState.Terminated.ExitCode", BeEquivalentTo(137)),
		))
		Expect(pid(pod.Name)).NotTo(Equal(before))
		Expect(filepath.Join(filepath.Dir(cluster.PodLog(&pod, "greeter")), "greeter.previous.log")).To(BeAnExistingFile())
	})

	It("serves, and is restarted, while the API server is away", func(ctx SpecContext) {
		pod := readyPods(ctx, name)[0]
		before := pid(pod.Name)
		Expect(cluster.StopAPIServer()).To(Succeed())
		Expect(get(url)).To(HaveSuffix(" good day"))
		Eventually(answersBeforeRestart).WithArguments(url, pod.Name).Should(BeTrue())
		Eventually(func() bool { now, ok := cluster.PodProcess(namespace, pod.Name); return ok && now != before }).Should(BeTrue())

		Expect(cluster.StartAPIServer(ctx)).To(Succeed())
		Eventually(status).WithArguments(ctx, pod.Name).Should(And(
			HaveField("RestartCount", BeNumerically(">=", 1)), HaveField("Ready", BeTrue()), HaveField("State.Running", Not(BeNil()))))
		Expect(pids(ctx, name)).To(HaveLen(2))
	})

	It("scales after the outage", func(ctx SpecContext) {
		scale, err := client.AppsV1().Deployments(namespace).GetScale(ctx, name, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		scale.Spec.Replicas = 3
		_, err = client.AppsV1().Deployments(namespace).UpdateScale(ctx, name, scale, metav1.UpdateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(readyPods).WithArguments(ctx, name).Should(HaveLen(3))
	})

	It("leaves no process, pod or connection when it is deleted", func(ctx SpecContext) {
		running := pids(ctx, name)
		pod := readyPods(ctx, name)[0]
		Expect(client.AppsV1().Deployments(namespace).Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
		Eventually(pods).WithArguments(ctx, name).Should(BeEmpty())
		for _, pid := range running {
			Expect(syscall.Kill(pid, 0)).To(MatchError(syscall.ESRCH))
		}
		_, err := http.Get(url) //nolint:noctx // it fails
		Expect(err).To(HaveOccurred())
		Eventually(filepath.Join(filepath.Dir(cluster.PodLog(&pod, "greeter")), "volumes")).ShouldNot(BeADirectory())
		Expect(cluster.PodLog(&pod, "greeter")).To(BeAnExistingFile())
	})
})

var _ = Describe("A second cluster", func() {
	It("runs beside the first and ends with all that it started", func(ctx SpecContext) {
		second, err := localcluster.Start(ctx, localcluster.Options{Dir: filepath.Join(GinkgoT().TempDir(), "second"), Assets: assets(), Out: GinkgoWriter})
		Expect(err).NotTo(HaveOccurred())
		host := strings.TrimPrefix(second.RESTConfig().Host, "https://")
		Expect(second.Stop()).To(Succeed())
		Expect(second.Stop()).To(Succeed(), "again")
		_, err = net.Dial("tcp", host) //nolint:noctx // it fails
		Expect(err).To(MatchError(syscall.ECONNREFUSED))
		Expect(filepath.Glob(filepath.Join(second.Dir(), "run", "*"))).To(BeEmpty())
	})

	It("refuses a folder with other things in it", func(ctx SpecContext) {
		other := GinkgoT().TempDir()
		Expect(os.WriteFile(filepath.Join(other, "thesis.txt"), nil, 0o600)).To(Succeed())
		_, err := localcluster.Start(ctx, localcluster.Options{Dir: other, Assets: assets()})
		Expect(err).To(MatchError(ContainSubstring("not a local cluster's directory")))
	})
})

func pods(ctx context.Context, app string) []corev1.Pod {
	list, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=" + app})
	Expect(err).NotTo(HaveOccurred())
	return list.Items
}

func readyPods(ctx context.Context, app string) []corev1.Pod {
	var ready []corev1.Pod
	for _, pod := range pods(ctx, app) {
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue && pod.DeletionTimestamp == nil {
				ready = append(ready, pod)
			}
		}
	}
	return ready
}

// status returns the status of a pod's first container, or an empty one.
func status(ctx context.Context, pod string) corev1.ContainerStatus {
	found, err := client.CoreV1().Pods(namespace).Get(ctx, pod, metav1.GetOptions{})
	if err != nil || len(found.Status.ContainerStatuses) == 0 {
		return corev1.ContainerStatus{}
	}
	return found.Status.ContainerStatuses[0]
}

func phase(ctx context.Context, app string) corev1.PodPhase {
	if found := pods(ctx, app); len(found) > 0 {
		return found[0].Status.Phase
	}
	return ""
}

func pid(pod string) int {
	id, ok := cluster.PodProcess(namespace, pod)
	Expect(ok).To(BeTrue(), "pod %s has no process", pod)
	return id
}

func pids(ctx context.Context, app string) []int {
	var ids []int
	for _, pod := range pods(ctx, app) {
		ids = append(ids, pid(pod.Name))
	}
	return ids
}

// review asks the API server about a token.
func review(ctx context.Context, token string, audiences ...string) authenticationv1.TokenReviewStatus {
	answer, err := client.AuthenticationV1().TokenReviews().Create(ctx,
		&authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: audiences}}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return answer.Status
}

// life is how long a token was issued for.
func life(token string) time.Duration {
	var claims struct{ Exp, Iat int64 }
	text, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	Expect(err).NotTo(HaveOccurred())
	Expect(json.Unmarshal(text, &claims)).To(Succeed())
	return time.Duration(claims.Exp-claims.Iat) * time.Second
}

// environ reads the environment that a process was started with.
func environ(pid int) map[string]string {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	Expect(err).NotTo(HaveOccurred())
	vars := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(text), "\x00"), "\x00") {
		name, value, _ := strings.Cut(line, "=")
		vars[name] = value
	}
	return vars
}

// answersBeforeRestart kills a pod's process, and reports whether its Service answers before the process is started again. If
// the test was too slow to see that, the next pause before a start is longer.
func answersBeforeRestart(url, pod string) bool {
	killed, ok := cluster.PodProcess(namespace, pod)
	if !ok {
		return false
	}
	_ = syscall.Kill(killed, syscall.SIGKILL) // it fails if the process has just ended
	// The kernel may still accept a connection for a process that it is ending.
	Eventually(get).WithArguments(url).Should(HaveSuffix(" good day"))
	now, started := cluster.PodProcess(namespace, pod)
	return !started || now == killed
}

// get makes a connection of its own for each request, because it is connections that are distributed among the pods.
func get(url string) string {
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}).Get(url) //nolint:noctx // has a timeout
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	Expect(err).NotTo(HaveOccurred())
	return string(text)
}
