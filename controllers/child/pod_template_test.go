package child

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/yaml"
)

// endpointWith is an endpoint over a connection, with the spec.server that a text says.
func endpointWith(t *testing.T, server string) *v1alpha1.MCPEndpoint {
	t.Helper()
	e := &v1alpha1.MCPEndpoint{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "shop"}}
	e.Spec.Database.ConnectionSecretRef = &v1alpha1.ConnectionSecretReference{Name: "db"}
	if err := yaml.UnmarshalStrict([]byte(server), &e.Spec.Server); err != nil {
		t.Fatal(err)
	}
	return e
}

// templateOf is the template of the pods of an endpoint with that spec.server, as a Deployment has it.
func templateOf(t *testing.T, server string) *corev1.PodTemplateSpec {
	t.Helper()
	made, err := podTemplate(endpointWith(t, server), PodOptions{Image: "server:test"})
	if err != nil {
		t.Fatal(err)
	}
	return typed(t, made)
}

func typed(t *testing.T, made *applycore.PodTemplateSpecApplyConfiguration) *corev1.PodTemplateSpec {
	t.Helper()
	encoded, err := json.Marshal(made)
	if err != nil {
		t.Fatal(err)
	}
	template := &corev1.PodTemplateSpec{}
	if err := json.Unmarshal(encoded, template); err != nil {
		t.Fatal(err)
	}
	return template
}

func TestFieldsAndPodTemplateAreMergedOverOurTemplate(t *testing.T) {
	template := templateOf(t, `
podLabels: {team: a}
podAnnotations: {note: any text}
nodeSelector: {disk: ssd}
tolerations: [{key: agents, operator: Exists}]
affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: zone}}]}}
topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]
priorityClassName: high
runtimeClassName: gvisor
env: [{name: SSL_CERT_DIR, value: /etc/ssl/certs:/ca}]
volumes: [{name: company-ca, configMap: {name: company-ca}}]
volumeMounts: [{name: company-ca, mountPath: /ca, readOnly: true}]
podSecurityContext: {runAsUser: 1000}
securityContext: {runAsGroup: 1000}
startupTimeout: 90s
terminationGracePeriod: 45s
podTemplate:
  metadata: {labels: {team: b}}
  spec:
    dnsPolicy: ClusterFirst
    nodeSelector: {zone: a}
    containers:
    - name: server
      readinessProbe: {failureThreshold: 7}
    - name: proxy
      image: proxy:1
      securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
`)
	pod := &template.Spec
	if len(pod.Containers) != 2 {
		t.Fatalf("got %d containers", len(pod.Containers))
	}
	server := &pod.Containers[0]
	if server.Name != "server" {
		server = &pod.Containers[1]
	}
	for _, row := range []struct {
		name      string
		got, want any
	}{
		{"the template's label", template.Labels["team"], "b"},
		{"our label", template.Labels[cluster.ComponentLabel], cluster.ComponentServer},
		{"annotation", template.Annotations["note"], "any text"},
		{"the field's node", pod.NodeSelector["disk"], "ssd"},
		{"the template's node", pod.NodeSelector["zone"], "a"},
		{"toleration", pod.Tolerations[0].Key, "agents"},
		{"affinity", len(pod.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution), 1},
		{"spread selects our pods", pod.TopologySpreadConstraints[0].LabelSelector.MatchLabels[cluster.EndpointLabel], "shop"},
		{"priority", pod.PriorityClassName, "high"},
		{"runtime", *pod.RuntimeClassName, "gvisor"},
		{"our user is kept from root", *pod.SecurityContext.RunAsNonRoot, true},
		{"user", *pod.SecurityContext.RunAsUser, int64(1000)},
		{"group", *server.SecurityContext.RunAsGroup, int64(1000)},
		{"our read-only root", *server.SecurityContext.ReadOnlyRootFilesystem, true},
		{"grace", *pod.TerminationGracePeriodSeconds, int64(45)},
		{"startup", server.StartupProbe.FailureThreshold, int32(90)},
		{"readiness asks as before", server.ReadinessProbe.HTTPGet.Path, "/readyz"},
		{"readiness", server.ReadinessProbe.FailureThreshold, int32(7)},
		{"DNS", pod.DNSPolicy, corev1.DNSClusterFirst},
		{"our environment", len(server.Env), 6},
		{"mounts", len(server.VolumeMounts), 4},
		{"volumes", len(pod.Volumes), 4},
	} {
		if row.got != row.want {
			t.Errorf("%s: got %v, want %v", row.name, row.got, row.want)
		}
	}
}

func TestATemplateThatBreaksTheServerNamesItsField(t *testing.T) {
	sidecar := func(more string) string {
		return `podTemplate: {spec: {containers: [{name: proxy, image: "proxy:1", securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}, ` + more + `}]}}`
	}
	server := func(more string) string { return `podTemplate: {spec: {containers: [{name: server, ` + more + `}]}}` }
	for name, row := range map[string]struct{ server, want string }{
		"an unknown field":               {`podTemplate: {spec: {contaners: []}}`, `unknown field "spec.contaners"`},
		"a field in the wrong place":     {`podTemplate: {containers: []}`, `unknown field "containers"`},
		"a wrong type":                   {`podTemplate: {spec: {containers: {}}}`, "spec.server.podTemplate is no PodTemplateSpec"},
		"a directive":                    {`podTemplate: {spec: {$patch: replace}}`, `unknown field "spec.$patch"`},
		"no containers":                  {`podTemplate: {spec: {containers: null}}`, "podTemplate.spec.containers[server] is missing"},
		"a command":                      {server(`command: [sh]`), "podTemplate.spec.containers[server].command is the server's own"},
		"arguments":                      {server(`args: [serve]`), "containers[server].args is the server's own"},
		"an image":                       {server(`image: "evil:1"`), "containers[server].image is set by spec.server.image"},
		"a port":                         {server(`ports: [{containerPort: 8080, name: web}]`), "containers[server].ports[http]"},
		"a probe's port":                 {server(`livenessProbe: {httpGet: {port: 1}}`), "containers[server].livenessProbe.httpGet"},
		"a probe of another kind":        {server(`readinessProbe: {exec: {command: ["true"]}}`), "containers[server].readinessProbe.httpGet"},
		"no probe":                       {server(`startupProbe: null`), "containers[server].startupProbe.httpGet"},
		"our environment":                {server(`env: [{name: POD_IP, value: x}]`), "containers[server].env[POD_IP]"},
		"our environment by a field":     {`env: [{name: POD_NAME, value: x}]`, "spec.server.env[POD_NAME] is the server's own"},
		"our volume":                     {`podTemplate: {spec: {volumes: [{name: state, configMap: {name: x}}]}}`, "podTemplate.spec.volumes[state]"},
		"our volume by a field":          {`volumes: [{name: tmp, configMap: {name: x}}]`, "spec.server.volumes[tmp] is the server's own"},
		"our mount by a field":           {`volumeMounts: [{name: x, mountPath: /tmp}]`, "spec.server.volumeMounts[/tmp]"},
		"a mount over our folder":        {`volumeMounts: [{name: x, mountPath: /etc/mcp-admin}]`, "spec.server.volumeMounts[/etc/mcp-admin] covers"},
		"a mount within our folder":      {`volumeMounts: [{name: x, mountPath: /run/mcp-admin/1/..}]`, "covers a folder"},
		"a mount over everything":        {`volumeMounts: [{name: x, mountPath: /}]`, "spec.server.volumeMounts[/] covers"},
		"a mount over the program":       {`volumeMounts: [{name: x, mountPath: /mcp-admin-server}]`, "covers"},
		"a selector's label":             {`podTemplate: {metadata: {labels: {mcpadmin.dev/endpoint: other}}}`, "podTemplate.metadata.labels[mcpadmin.dev/endpoint]"},
		"another account":                {`podTemplate: {spec: {serviceAccountName: admin}}`, "podTemplate.spec.serviceAccountName"},
		"another account by alias":       {`podTemplate: {spec: {serviceAccount: admin}}`, "podTemplate.spec.serviceAccount "},
		"no token":                       {`podTemplate: {spec: {automountServiceAccountToken: false}}`, "automountServiceAccountToken"},
		"a restart policy":               {`podTemplate: {spec: {restartPolicy: Never}}`, "restartPolicy must be Always"},
		"a deadline":                     {`podTemplate: {spec: {activeDeadlineSeconds: 5}}`, "activeDeadlineSeconds"},
		"the node's network":             {`podTemplate: {spec: {hostNetwork: true}}`, "podTemplate.spec.hostNetwork goes beyond"},
		"the node's files":               {`podTemplate: {spec: {volumes: [{name: node, hostPath: {path: /}}]}}`, "podTemplate.spec.volumes[node]"},
		"root":                           {`podSecurityContext: {runAsUser: 0}`, "spec.server.podSecurityContext.runAsUser must not be 0"},
		"root in the container":          {`securityContext: {runAsNonRoot: false}`, "spec.server.securityContext.runAsNonRoot must be true"},
		"no security context":            {`podTemplate: {spec: {securityContext: null}}`, "podTemplate.spec.containers[server].securityContext.runAsNonRoot"},
		"privilege":                      {`securityContext: {privileged: true}`, "spec.server.securityContext.privileged"},
		"escalation":                     {`securityContext: {allowPrivilegeEscalation: true}`, "allowPrivilegeEscalation must be false"},
		"a capability":                   {`securityContext: {capabilities: {add: [NET_ADMIN]}}`, "capabilities.add"},
		"no seccomp":                     {`podSecurityContext: {seccompProfile: {type: Unconfined}}`, "podSecurityContext.seccompProfile.type"},
		"a sysctl":                       {`podSecurityContext: {sysctls: [{name: kernel.msgmax, value: "1"}]}`, "sysctls[kernel.msgmax]"},
		"SELinux":                        {`securityContext: {seLinuxOptions: {type: spc_t}}`, "seLinuxOptions"},
		"a sidecar without a context":    {`podTemplate: {spec: {containers: [{name: proxy, image: "proxy:1"}]}}`, "containers[proxy].securityContext.allowPrivilegeEscalation must be false"},
		"a sidecar at our port":          {sidecar(`ports: [{containerPort: 8081}]`), "containers[proxy].ports[8081] is the server's"},
		"a sidecar with our port's name": {sidecar(`ports: [{containerPort: 9, name: http}]`), "containers[proxy].ports[9] is the server's"},
		"a sidecar at the node's port":   {sidecar(`ports: [{containerPort: 9, hostPort: 9}]`), "hostPort"},
		"a probe elsewhere":              {sidecar(`livenessProbe: {httpGet: {host: 169.254.169.254, port: 80}}`), "containers[proxy].livenessProbe.httpGet.host"},
		"a hook elsewhere":               {sidecar(`lifecycle: {preStop: {tcpSocket: {host: db, port: 80}}}`), "lifecycle.preStop.tcpSocket.host"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := podTemplate(endpointWith(t, row.server), PodOptions{Image: "server:test"})
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
		})
	}
}

func TestWhatATemplateRunsMustBeAllowed(t *testing.T) {
	options := PodOptions{Image: "server:test", Allowed: []string{"proxy:*"}}
	sidecar := `podTemplate: {spec: {initContainers: [{name: x, image: "IMAGE", securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]}}`
	if _, err := podTemplate(endpointWith(t, strings.Replace(sidecar, "IMAGE", "proxy:1", 1)), options); err != nil {
		t.Error(err)
	}
	_, err := podTemplate(endpointWith(t, strings.Replace(sidecar, "IMAGE", "evil:1", 1)), options)
	if err == nil || !strings.Contains(err.Error(), "[x].image is not allowed") {
		t.Errorf("got %v", err)
	}
	_, err = podTemplate(endpointWith(t, `podTemplate: {spec: {volumes: [{name: x, image: {reference: "evil:1"}}]}}`), options)
	if err == nil || !strings.Contains(err.Error(), "volumes[x].image.reference is not allowed") {
		t.Errorf("got %v", err)
	}
}

func TestTheSecretsOfATemplateAreKnown(t *testing.T) {
	e := endpointWith(t, `
env: [{name: A, valueFrom: {secretKeyRef: {name: a, key: k}}}, {name: B, value: b}]
volumes:
- {name: b, secret: {secretName: b}}
- {name: c, projected: {sources: [{secret: {name: c}}]}}
podTemplate: {spec: {containers: [{name: server, envFrom: [{secretRef: {name: d}}]}], volumes: [{name: e, csi: {driver: x, nodePublishSecretRef: {name: e}}}]}}
`)
	if got := strings.Join(AddedSecrets(e), " "); got != "a b c d e" {
		t.Errorf("got %s", got)
	}
	e.Spec.Server.PodTemplate = &runtime.RawExtension{Raw: []byte(`{"spec": 1}`)}
	if got := strings.Join(AddedSecrets(e), " "); got != "a b c" {
		t.Errorf("got %s of a template that is none", got)
	}
}

func TestHalfASecondIsASecond(t *testing.T) {
	if got := wholeSeconds[int32](1500 * time.Millisecond); got != 2 {
		t.Errorf("got %d", got)
	}
}
