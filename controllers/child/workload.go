package child

import (
	"cmp"
	"crypto/ed25519"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/memlimit"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	applyapps "k8s.io/client-go/applyconfigurations/apps/v1"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	applymeta "k8s.io/client-go/applyconfigurations/meta/v1"
)

// Where things lie in the server's pod. The server gets every path on its command line.
const (
	stateDir          = "/run/mcp-admin"
	connectionDir     = "/etc/mcp-admin/connection"
	replicasDir       = "/etc/mcp-admin/replicas"
	caDir             = "/etc/mcp-admin/ca"
	clientDir         = "/etc/mcp-admin/client-certificate"
	tracingDir        = "/etc/mcp-admin/tracing-headers"
	auditHeadersDir   = "/etc/mcp-admin/audit-headers"
	tlsDir            = "/etc/mcp-admin/tls"
	sqliteInitDir     = "/etc/mcp-admin/sqlite-init"
	databaseDir       = "/var/lib/mcp-admin"
	auditDir          = "/var/log/mcp-admin"
	serverCommand     = "/mcp-admin-server"
	serviceAccountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

	httpPort, httpsPort, adminPort = 8080, 8443, 8081
	// tmpSize bounds the files that the server makes for a moment.
	tmpSize = "512Mi"
	// stateSize bounds the copy of its Config that the server keeps in memory, for when its container restarts while the
	// API cannot be reached.
	stateSize = "64Mi"
	// serverGroup is the group of the image's user; a claim's files are made writable to it.
	serverGroup = 65532
)

// PodOptions are the manager's settings for the server's pods.
type PodOptions struct {
	// Image is the image of the pods of an endpoint that names no other; Allowed are the images that an endpoint may name.
	Image   string
	Allowed []string
	// DuckDBImage is the same for an endpoint over DuckDB, whose server needs C; "" if there is none.
	DuckDBImage string
	// PullPolicy is when they pull it, "" as Kubernetes decides; with PullSecrets, besides the Secrets that the endpoint
	// names.
	PullPolicy  corev1.PullPolicy
	PullSecrets []string
	// ConfigKey is the public half of the key that signs Configs.
	ConfigKey ed25519.PublicKey
	// ManagerNamespace is where the manager's pods run, which a NetworkPolicy must let through.
	ManagerNamespace string
}

// ConfigKeyArgument tells a pod whose Configs to take.
func (o PodOptions) ConfigKeyArgument() string {
	return "--config-key=" + contract.FormatPublicKey(o.ConfigKey)
}

// imageOf is the image of an endpoint's pods.
func (o PodOptions) imageOf(e *v1alpha1.MCPEndpoint) string {
	if e.Spec.Database.DuckDB != nil {
		return cmp.Or(e.Spec.Server.Image, o.DuckDBImage)
	}
	return cmp.Or(e.Spec.Server.Image, o.Image)
}

// HasImage reports whether somebody named an image for an endpoint's pods.
func (o PodOptions) HasImage(e *v1alpha1.MCPEndpoint) bool { return o.imageOf(e) != "" }

// Allows reports whether an endpoint may have the image that it names.
func (o PodOptions) Allows(e *v1alpha1.MCPEndpoint) bool {
	return e.Spec.Server.Image == "" || o.allowsImage(e.Spec.Server.Image)
}

// allowsImage reports whether an endpoint's pods may run an image.
func (o PodOptions) allowsImage(image string) bool {
	return image != "" && (image == o.Image || image == o.DuckDBImage) || len(o.Allowed) == 0 || slices.ContainsFunc(o.Allowed, func(allowed string) bool {
		prefix, isPrefix := strings.CutSuffix(allowed, "*")
		return image == allowed || isPrefix && strings.HasPrefix(image, prefix)
	})
}

// deployment is the endpoint's Deployment. Replicas are left out if the spec leaves them to whoever scales it.
func deployment(e *v1alpha1.MCPEndpoint, template *applycore.PodTemplateSpecApplyConfiguration) *applyapps.DeploymentApplyConfiguration {
	spec := applyapps.DeploymentSpec().
		WithSelector(applymeta.LabelSelector().WithMatchLabels(cluster.SelectorLabels(e))).
		WithStrategy(applyapps.DeploymentStrategy().WithType(appsv1.RollingUpdateDeploymentStrategyType)).
		WithTemplate(template)
	switch d := &e.Spec.Database; {
	case d.SQLite != nil:
		// Two pods must never have the file open at once.
		spec.WithStrategy(applyapps.DeploymentStrategy().WithType(appsv1.RecreateDeploymentStrategyType))
	case d.DuckDB != nil:
		// A claim may be for one node, or for one pod: a new pod could wait for the old one for ever. So the old one goes first.
		spec.WithStrategy(applyapps.DeploymentStrategy().WithType(appsv1.RollingUpdateDeploymentStrategyType).
			WithRollingUpdate(applyapps.RollingUpdateDeployment().WithMaxSurge(intstr.FromInt32(0)).WithMaxUnavailable(intstr.FromInt32(1))))
	}
	if replicas := e.Spec.EffectiveReplicas(); replicas != nil {
		spec.WithReplicas(*replicas)
	}
	return applyapps.Deployment(e.ServiceName(), e.Namespace).
		WithLabels(cluster.ChildLabels(e, cluster.ComponentServer)).
		WithOwnerReferences(cluster.OwnerReference(e, "MCPEndpoint")).
		WithSpec(spec)
}

// portOf is the port at which a server's pod and its Service answer agents.
type portOf struct {
	name           string
	number, before int32
}

// endpointPort has another name and number if the server speaks TLS. So, while pods are replaced, the Service leads only
// to pods that speak the protocol of its port.
func endpointPort(e *v1alpha1.MCPEndpoint) portOf {
	if e.Spec.Server.TLS != nil {
		return portOf{name: "https", number: httpsPort, before: 443}
	}
	return portOf{name: "http", number: httpPort, before: 80}
}

// ownTemplate is the template of an endpoint's pods before anything that the endpoint adds to it.
func ownTemplate(e *v1alpha1.MCPEndpoint, options PodOptions) *applycore.PodTemplateSpecApplyConfiguration {
	return applycore.PodTemplateSpec().WithLabels(cluster.ChildLabels(e, cluster.ComponentServer)).WithSpec(podSpec(e, options))
}

func podSpec(e *v1alpha1.MCPEndpoint, options PodOptions) *applycore.PodSpecApplyConfiguration {
	security := applycore.PodSecurityContext().
		WithRunAsNonRoot(true).
		WithSeccompProfile(applycore.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))
	files := e.Spec.Observability.Audit.Files
	if sqlite := e.Spec.Database.SQLite; sqlite != nil && sqlite.Claim != nil || files != nil {
		security.WithFSGroup(serverGroup)
	}
	port := endpointPort(e)
	container := applycore.Container().
		WithName(ServerContainer).
		WithImage(options.imageOf(e)).
		WithCommand(serverCommand).
		WithArgs("serve",
			// "kubectl port-forward" leads to localhost. The pod's address is in brackets, as it may be IPv4 or IPv6.
			fmt.Sprintf("--listen=127.0.0.1:%d", port.number), fmt.Sprintf("--listen=[$(POD_IP)]:%d", port.number),
			"--admin-listen=127.0.0.1:8081", "--admin-listen=[$(POD_IP)]:8081",
			"--namespace=$(POD_NAMESPACE)",
			"--config-secret="+e.ConfigSecretName(),
			"--state-dir="+stateDir,
			options.ConfigKeyArgument(),
			"--service-account-dir="+serviceAccountDir).
		WithEnv(fromField("POD_IP", "status.podIP"), fromField("POD_IPS", "status.podIPs"),
			fromField("POD_NAMESPACE", "metadata.namespace"), fromField("POD_NAME", "metadata.name"), memoryLimit()).
		WithPorts(
			applycore.ContainerPort().WithName(port.name).WithContainerPort(port.number).WithProtocol(corev1.ProtocolTCP),
			applycore.ContainerPort().WithName("admin").WithContainerPort(adminPort).WithProtocol(corev1.ProtocolTCP)).
		WithStartupProbe(probe("/healthz", 1, wholeSeconds[int32](e.Spec.Server.EffectiveStartupTimeout()))).
		WithReadinessProbe(probe("/readyz", 2, 2)).
		WithLivenessProbe(probe("/healthz", 10, 3)).
		WithResources(resources(e)).
		WithSecurityContext(applycore.SecurityContext().
			WithAllowPrivilegeEscalation(false).
			WithReadOnlyRootFilesystem(true).
			WithCapabilities(applycore.Capabilities().WithDrop("ALL")))
	if options.PullPolicy != "" {
		container.WithImagePullPolicy(options.PullPolicy)
	}
	pod := applycore.PodSpec().
		WithImagePullSecrets(imagePullSecrets(e, options.PullSecrets)...).
		WithServiceAccountName(e.ServiceName()).
		WithAutomountServiceAccountToken(true).
		WithSecurityContext(security)

	// The root file system is read-only: large sorts of SQLite and large request bodies go here.
	pod.WithVolumes(applycore.Volume().WithName("tmp").
		WithEmptyDir(applycore.EmptyDirVolumeSource().WithSizeLimit(resource.MustParse(tmpSize))))
	container.WithVolumeMounts(applycore.VolumeMount().WithName("tmp").WithMountPath("/tmp"))
	pod.WithVolumes(applycore.Volume().WithName("state").
		WithEmptyDir(applycore.EmptyDirVolumeSource().WithMedium(corev1.StorageMediumMemory).WithSizeLimit(resource.MustParse(stateSize))))
	container.WithVolumeMounts(applycore.VolumeMount().WithName("state").WithMountPath(stateDir))
	mountDatabase(pod, container, &e.Spec.Database)
	if files != nil {
		pod.WithVolumes(applycore.Volume().WithName("audit").
			WithPersistentVolumeClaim(applycore.PersistentVolumeClaimVolumeSource().WithClaimName(files.ClaimRef.Name)))
		container.WithVolumeMounts(applycore.VolumeMount().WithName("audit").WithMountPath(auditDir)).
			WithArgs("--audit-dir=" + auditDir + "/" + e.Name)
	}
	if tls := e.Spec.Server.TLS; tls != nil {
		mountSecret(pod, container, "tls", tls.CertificateSecretRef.Name, tlsDir)
		container.WithArgs("--tls-secret="+tls.CertificateSecretRef.Name, "--tls-dir="+tlsDir)
	}
	if name := e.Spec.Observability.Tracing.HeadersSecret(); name != "" {
		mountSecret(pod, container, "tracing-headers", name, tracingDir)
		container.WithArgs("--tracing-headers-secret="+name, "--tracing-headers-dir="+tracingDir)
	}
	if name := e.Spec.Observability.Audit.OTLP.HeadersSecret(); name != "" {
		mountSecret(pod, container, "audit-headers", name, auditHeadersDir)
		container.WithArgs("--audit-headers-secret="+name, "--audit-headers-dir="+auditHeadersDir)
	}
	return pod.WithContainers(container)
}

// imagePullSecrets are the endpoint's, and then the manager's, each once.
func imagePullSecrets(e *v1alpha1.MCPEndpoint, managers []string) []*applycore.LocalObjectReferenceApplyConfiguration {
	var names []string
	for _, ref := range e.Spec.Server.ImagePullSecrets {
		names = append(names, ref.Name)
	}
	for _, name := range managers {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var references []*applycore.LocalObjectReferenceApplyConfiguration
	for _, name := range names {
		references = append(references, applycore.LocalObjectReference().WithName(name))
	}
	return references
}

// mountDatabase gives the server what it needs to reach its database, and tells it where.
func mountDatabase(pod *applycore.PodSpecApplyConfiguration, container *applycore.ContainerApplyConfiguration, d *v1alpha1.DatabaseSpec) {
	if ref := d.ConnectionSecretRef; ref != nil {
		mountSecret(pod, container, "connection", ref.Name, connectionDir)
		container.WithArgs("--connection-secret="+ref.Name, "--connection-dir="+connectionDir)
	}
	if d.TLS != nil && d.TLS.CASecretRef != nil {
		mountSecret(pod, container, "ca", d.TLS.CASecretRef.Name, caDir)
		container.WithArgs("--ca-secret="+d.TLS.CASecretRef.Name, "--ca-dir="+caDir)
	}
	if d.TLS != nil && d.TLS.ClientCertificateSecretRef != nil {
		name := d.TLS.ClientCertificateSecretRef.Name
		mountSecret(pod, container, "client-certificate", name, clientDir)
		container.WithArgs("--client-certificate-secret="+name, "--client-certificate-dir="+clientDir)
	}
	if d.Replicas != nil {
		name := d.Replicas.ConnectionSecretRef.Name
		mountSecret(pod, container, "replicas", name, replicasDir)
		container.WithArgs("--replicas-secret="+name, "--replicas-dir="+replicasDir)
	}
	if d.SQLite != nil {
		mountSQLite(pod, container, d.SQLite)
	}
	if d.DuckDB != nil {
		mountDuckDB(pod, container, d.DuckDB)
	}
}

func mountSQLite(pod *applycore.PodSpecApplyConfiguration, container *applycore.ContainerApplyConfiguration, sqlite *v1alpha1.SQLiteSpec) {
	volume := applycore.Volume().WithName("database")
	if sqlite.Claim != nil {
		volume.WithPersistentVolumeClaim(applycore.PersistentVolumeClaimVolumeSource().WithClaimName(sqlite.Claim.Name))
	} else {
		volume.WithEmptyDir(applycore.EmptyDirVolumeSource())
	}
	pod.WithVolumes(volume)
	container.WithVolumeMounts(applycore.VolumeMount().WithName("database").WithMountPath(databaseDir)).
		WithArgs("--sqlite-file=" + databaseDir + "/database.sqlite")
	if ref := sqlite.InitConfigMapRef; ref != nil {
		// It is not optional: a new file must not stay empty because its ConfigMap came late.
		pod.WithVolumes(applycore.Volume().WithName("sqlite-init").
			WithConfigMap(applycore.ConfigMapVolumeSource().WithName(ref.Name)))
		container.WithVolumeMounts(applycore.VolumeMount().WithName("sqlite-init").WithMountPath(sqliteInitDir).WithReadOnly(true)).
			WithArgs("--sqlite-init-dir=" + sqliteInitDir)
	}
}

// mountDuckDB mounts the files that DuckDB reads. The volume itself is read-only too: so the kubelet leaves the owners of its
// files as they are, and a claim that many nodes may only read can be mounted.
func mountDuckDB(pod *applycore.PodSpecApplyConfiguration, container *applycore.ContainerApplyConfiguration, duckdb *v1alpha1.DuckDBSpec) {
	pod.WithVolumes(applycore.Volume().WithName("database").
		WithPersistentVolumeClaim(applycore.PersistentVolumeClaimVolumeSource().WithClaimName(duckdb.Claim.Name).WithReadOnly(true)))
	container.WithVolumeMounts(applycore.VolumeMount().WithName("database").WithMountPath(databaseDir).WithReadOnly(true)).
		WithArgs("--duckdb=" + path.Join(databaseDir, duckdb.Path))
}

// mountSecret mounts a Secret that may be missing. The server then starts without it, and says so in its status.
func mountSecret(pod *applycore.PodSpecApplyConfiguration, container *applycore.ContainerApplyConfiguration, name, secret, dir string) {
	pod.WithVolumes(applycore.Volume().WithName(name).WithSecret(applycore.SecretVolumeSource().WithSecretName(secret).WithOptional(true)))
	container.WithVolumeMounts(applycore.VolumeMount().WithName(name).WithMountPath(dir).WithReadOnly(true))
}

func fromField(name, path string) *applycore.EnvVarApplyConfiguration {
	return applycore.EnvVar().WithName(name).
		WithValueFrom(applycore.EnvVarSource().WithFieldRef(applycore.ObjectFieldSelector().WithFieldPath(path)))
}

// memoryLimit tells the server how much memory it has.
func memoryLimit() *applycore.EnvVarApplyConfiguration {
	return applycore.EnvVar().WithName(memlimit.Variable).
		WithValueFrom(applycore.EnvVarSource().WithResourceFieldRef(applycore.ResourceFieldSelector().WithResource("limits.memory").WithDivisor(resource.MustParse("1"))))
}

// probe asks the admin port every so many seconds, and gives up after so many failures.
func probe(path string, periodSeconds, failures int32) *applycore.ProbeApplyConfiguration {
	return applycore.Probe().
		WithHTTPGet(applycore.HTTPGetAction().WithPath(path).WithPort(intstr.FromString("admin"))).
		WithPeriodSeconds(periodSeconds).WithTimeoutSeconds(2).WithFailureThreshold(failures)
}

// resources are the endpoint's resources, or the defaults. A SQLite file in an emptyDir counts as ephemeral storage, and
// its size is not known. So such a pod has no limit of ephemeral storage by default.
func resources(e *v1alpha1.MCPEndpoint) *applycore.ResourceRequirementsApplyConfiguration {
	given := e.Spec.Server.Resources
	if given == nil {
		given = &v1alpha1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("256Mi")},
		}
		if e.Spec.Database.DuckDB != nil { // it sorts and joins in memory
			given.Requests[corev1.ResourceMemory], given.Limits[corev1.ResourceMemory] = resource.MustParse("256Mi"), resource.MustParse("1Gi")
		}
		if sqlite := e.Spec.Database.SQLite; sqlite == nil || sqlite.EmptyDir == nil {
			given.Limits[corev1.ResourceEphemeralStorage] = resource.MustParse("1Gi")
		}
	}
	r := applycore.ResourceRequirements()
	if len(given.Requests) > 0 {
		r.WithRequests(given.Requests)
	}
	if len(given.Limits) > 0 {
		r.WithLimits(given.Limits)
	}
	return r
}

// WorkloadChildren are the objects that run an endpoint's server, in the order in which they are applied. parts is how
// many token parts there may be. An error is a TemplateFault.
func WorkloadChildren(e *v1alpha1.MCPEndpoint, parts int, options PodOptions) ([]Object, error) {
	template, err := podTemplate(e, options)
	if err != nil {
		return nil, err
	}
	meta := metav1.ObjectMeta{Namespace: e.Namespace, Name: e.ServiceName()}
	return []Object{
		{&corev1.ServiceAccount{ObjectMeta: meta}, serviceAccount(e)},
		{&rbacv1.Role{ObjectMeta: meta}, role(e, parts)},
		{&rbacv1.RoleBinding{ObjectMeta: meta}, roleBinding(e)},
		// It comes before the pods: they are never reachable without it.
		{&networkingv1.NetworkPolicy{ObjectMeta: meta}, networkPolicy(e, options.ManagerNamespace)},
		{&corev1.Service{ObjectMeta: meta}, service(e)},
		{&appsv1.Deployment{ObjectMeta: meta}, deployment(e, template)},
		{&autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: meta}, autoscaler(e)},
		{&policyv1.PodDisruptionBudget{ObjectMeta: meta}, disruptionBudget(e)},
	}, nil
}
