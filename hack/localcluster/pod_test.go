package localcluster_test

import (
	"os"
	"path/filepath"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
)

var _ = Describe("A Pod", func() {
	It("has a token of its service account for another audience, beside the one for the API", func(ctx SpecContext) {
		const name, audience = "caller", "http://shop-mcp.shop.svc/mcp/"
		spec := greeter(name)
		spec.Containers[0].Env = append(spec.Containers[0].Env, corev1.EnvVar{Name: "TOKEN_FILE", Value: "/var/run/secrets/shop/agent/token"})
		spec.Containers[0].VolumeMounts = append(spec.Containers[0].VolumeMounts, corev1.VolumeMount{Name: "shop", MountPath: "/var/run/secrets/shop"})
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "shop", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
			Sources: []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{
				Audience: audience, ExpirationSeconds: new(int64(1200)), Path: "agent/token"}}}}}})
		create(ctx, secret(name, "hello"), &corev1.Pod{ObjectMeta: named(name), Spec: spec})
		Eventually(readyPods).WithArguments(ctx, name).Should(HaveLen(1))

		token, err := os.ReadFile(environ(pid(name))["TOKEN_FILE"])
		Expect(err).NotTo(HaveOccurred())
		reviewed := review(ctx, string(token), audience)
		Expect(reviewed.Authenticated).To(BeTrue(), reviewed.Error)
		Expect(reviewed.User.Username).To(Equal("system:serviceaccount:default:default"))
		Expect(reviewed.User.Extra).To(HaveKeyWithValue("authentication.kubernetes.io/pod-name", authenticationv1.ExtraValue{name}))
		Expect(review(ctx, string(token), "http://another-mcp.shop.svc/mcp/").Authenticated).To(BeFalse())
		Expect(life(string(token))).To(Equal(1200 * time.Second))

		config, err := clientcmd.BuildConfigFromFlags("", environ(pid(name))["KUBECONFIG"])
		Expect(err).NotTo(HaveOccurred())
		own, err := os.ReadFile(config.BearerTokenFile)
		Expect(err).NotTo(HaveOccurred())
		Expect(own).NotTo(Equal(token))
		Expect(review(ctx, string(own)).Authenticated).To(BeTrue(), "the API's own audience")

		now := int64(0)
		Expect(client.CoreV1().Pods(namespace).Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &now})).To(Succeed())
		Eventually(func() bool { return review(ctx, string(token), audience).Authenticated }).Should(BeFalse(), "of a pod that is gone")
	})

	It("waits for a Secret, and says so", func(ctx SpecContext) {
		const name = "early"
		create(ctx, &corev1.Pod{ObjectMeta: named(name), Spec: greeter(name)})
		Eventually(status).WithArguments(ctx, name).Should(HaveField("State.Waiting", And(
			HaveField("Reason", "ContainerCreating"), HaveField("Message", ContainSubstring(`secret "early" not found`)))))
		create(ctx, secret(name, "late"))
		Eventually(readyPods).WithArguments(ctx, name).Should(HaveLen(1))
	})

	It("says what to pass for an image that is not known", func(ctx SpecContext) {
		const name = "stranger"
		spec := greeter(name)
		spec.Containers[0].Image = "example.org/stranger:v1"
		create(ctx, secret(name, "hello"), &corev1.Pod{ObjectMeta: named(name), Spec: spec})
		Eventually(status).WithArguments(ctx, name).Should(HaveField("State.Waiting", And(
			HaveField("Reason", "ErrImagePull"), HaveField("Message", ContainSubstring("--image example.org/stranger:v1=PATH")))))
	})

	It("says what is not supported", func(ctx SpecContext) {
		const name = "demanding"
		spec := greeter(name)
		spec.Containers[0].LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}}}
		create(ctx, secret(name, "hello"), &corev1.Pod{ObjectMeta: named(name), Spec: spec})
		Eventually(status).WithArguments(ctx, name).Should(HaveField("State.Waiting", And(
			HaveField("Reason", "CreateContainerConfigError"), HaveField("Message", ContainSubstring("liveness probe")))))
		Expect(client.CoreV1().Pods(namespace).Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
		Eventually(pods).WithArguments(ctx, name).Should(BeEmpty())
	})

	It("keeps the data of its claim for the next one", func(ctx SpecContext) {
		const name = "keeper"
		spec := greeter(name)
		spec.Containers[0].Args = append(spec.Containers[0].Args, "--count", "/data")
		spec.Containers[0].VolumeMounts = append(spec.Containers[0].VolumeMounts, corev1.VolumeMount{Name: "data", MountPath: "/data"})
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}})
		create(ctx, secret(name, "hello"), claim(name))
		for range 2 {
			create(ctx, &corev1.Pod{ObjectMeta: named(name), Spec: spec})
			Eventually(readyPods).WithArguments(ctx, name).Should(HaveLen(1))
			Expect(client.CoreV1().Pods(namespace).Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
			Eventually(pods).WithArguments(ctx, name).Should(BeEmpty())
		}
		starts := filepath.Join(dir, "claims", "default_keeper_*", "start-*")
		Expect(filepath.Glob(starts)).To(HaveLen(2))
		Expect(client.CoreV1().PersistentVolumeClaims(namespace).Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
		Eventually(func() ([]string, error) { return filepath.Glob(starts) }).Should(BeEmpty())
	})

	It("is ended at once when it is deleted by force", func(ctx SpecContext) {
		const name = "forced"
		create(ctx, secret(name, "hello"), &corev1.Pod{ObjectMeta: named(name), Spec: greeter(name)})
		Eventually(readyPods).WithArguments(ctx, name).Should(HaveLen(1))
		process := pid(name)
		now := int64(0)
		Expect(client.CoreV1().Pods(namespace).Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &now})).To(Succeed())
		Eventually(func() error { return syscall.Kill(process, 0) }).Should(MatchError(syscall.ESRCH))
	})

	It("runs its init containers first, and completes", func(ctx SpecContext) {
		const name = "job"
		Expect(cluster.SetImage("sh", "/bin/sh")).To(Succeed())
		mount := []corev1.VolumeMount{{Name: "shared", MountPath: "/shared"}}
		create(ctx, &corev1.Pod{ObjectMeta: named(name), Spec: corev1.PodSpec{
			RestartPolicy:  corev1.RestartPolicyNever,
			InitContainers: []corev1.Container{{Name: "init", Image: "sh", Args: []string{"-c", "echo from init > $0", "/shared/x"}, VolumeMounts: mount}},
			Containers:     []corev1.Container{{Name: "main", Image: "sh", Args: []string{"-c", "cat $0", "/shared/x"}, VolumeMounts: mount}},
			Volumes:        []corev1.Volume{{Name: "shared", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		}})
		Eventually(phase).WithArguments(ctx, name).Should(Equal(corev1.PodSucceeded))
		log, err := os.ReadFile(cluster.PodLog(&pods(ctx, name)[0], "main"))
		Expect(err).NotTo(HaveOccurred())
		Expect(string(log)).To(Equal("from init\n"))
	})

	It("is restarted when its liveness probe fails", func(ctx SpecContext) {
		const name = "hung"
		spec := greeter(name)
		// The pod answers /ready while the file exists, and the file goes away with the Secret's key.
		spec.Containers[0].LivenessProbe, spec.Containers[0].ReadinessProbe = spec.Containers[0].ReadinessProbe, nil
		spec.Containers[0].LivenessProbe.PeriodSeconds, spec.Containers[0].LivenessProbe.FailureThreshold = 1, 1
		create(ctx, secret(name, "hello"), &corev1.Pod{ObjectMeta: named(name), Spec: spec})
		Eventually(readyPods).WithArguments(ctx, name).Should(HaveLen(1))
		_, err := client.CoreV1().Secrets(namespace).Patch(ctx, name, types.JSONPatchType, []byte(`[{"op":"remove","path":"/data/greeting"}]`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(status).WithArguments(ctx, name).Should(HaveField("RestartCount", BeNumerically(">=", 1)))
	})
})
