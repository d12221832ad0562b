package localcluster_test

import (
	"context"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const (
	namespace = corev1.NamespaceDefault
	image     = "example.org/greeter:v1"
)

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: map[string]string{"app": name}}
}

func secret(name, greeting string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: named(name), StringData: map[string]string{"greeting": greeting}}
}

func service(name string) *corev1.Service {
	return &corev1.Service{ObjectMeta: named(name), Spec: corev1.ServiceSpec{
		Selector: map[string]string{"app": name},
		Ports:    []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromString("web")}},
	}}
}

func claim(name string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: named(name), Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}
}

// greeter is a pod that shows the greeting in the Secret of the same name.
func greeter(name string) corev1.PodSpec {
	from := func(path string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
	}
	return corev1.PodSpec{
		Containers: []corev1.Container{{
			Name: "greeter", Image: image, Command: []string{"/greeter"}, Args: []string{"--file=$(DIR)/greeting"},
			Ports: []corev1.ContainerPort{{Name: "web", ContainerPort: 8080}},
			Env: []corev1.EnvVar{
				{Name: "POD_NAME", ValueFrom: from("metadata.name")},
				{Name: "POD_IP", ValueFrom: from("status.podIP")},
				{Name: "DIR", Value: "/etc/greeter"},
			},
			ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: intstr.FromString("web")}}},
			VolumeMounts:   []corev1.VolumeMount{{Name: "secret", MountPath: "/etc/greeter"}},
		}},
		Volumes: []corev1.Volume{{Name: "secret", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: name}}}},
	}
}

func deployment(name string, replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{ObjectMeta: named(name), Spec: appsv1.DeploymentSpec{
		Replicas: &replicas,
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: greeter(name)},
	}}
}

// create creates objects of the kinds above.
func create(ctx context.Context, objects ...any) {
	for _, object := range objects {
		var err error
		core := client.CoreV1()
		switch o := object.(type) {
		case *corev1.Secret:
			_, err = core.Secrets(namespace).Create(ctx, o, metav1.CreateOptions{})
		case *corev1.Service:
			_, err = core.Services(namespace).Create(ctx, o, metav1.CreateOptions{})
		case *corev1.PersistentVolumeClaim:
			_, err = core.PersistentVolumeClaims(namespace).Create(ctx, o, metav1.CreateOptions{})
		case *corev1.Pod:
			_, err = core.Pods(namespace).Create(ctx, o, metav1.CreateOptions{})
		case *appsv1.Deployment:
			_, err = client.AppsV1().Deployments(namespace).Create(ctx, o, metav1.CreateOptions{})
		}
		Expect(err).NotTo(HaveOccurred())
	}
}
