package child

import (
	"encoding/json"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	strictjson "sigs.k8s.io/json"
)

// ServerContainer is the name of the server's container.
const ServerContainer = "server"

// TemplateFault says which field of an endpoint makes a template of pods that cannot be used, and why.
type TemplateFault struct{ field, detail string }

func (f TemplateFault) Error() string { return f.field + " " + f.detail }

// podTemplate is the template of an endpoint's pods: our own, with the endpoint's fields and then its podTemplate merged
// over it (docs/design/workload.md, "One template, three layers"). An error is a TemplateFault.
func podTemplate(e *v1alpha1.MCPEndpoint, options PodOptions) (*applycore.PodTemplateSpecApplyConfiguration, error) {
	encoded, err := json.Marshal(ownTemplate(e, options))
	if err != nil {
		return nil, err
	}
	own := corev1.PodTemplateSpec{}
	if err := json.Unmarshal(encoded, &own); err != nil {
		return nil, err
	}
	fields, err := json.Marshal(fieldsTemplate(e))
	if err != nil {
		return nil, err
	}
	if encoded, err = merge(encoded, fields, &own, options, fieldOf); err != nil {
		return nil, err
	}
	if given := e.Spec.Server.PodTemplate; given != nil {
		if err := decodes(given.Raw); err != nil {
			return nil, err
		}
		if encoded, err = merge(encoded, given.Raw, &own, options, templateFieldOf); err != nil {
			return nil, err
		}
	}
	template := &applycore.PodTemplateSpecApplyConfiguration{}
	return template, json.Unmarshal(encoded, template)
}

const templateField = "spec.server.podTemplate"

// templateFieldOf and fieldOf name the field of an endpoint that a field of the pod comes from.
func templateFieldOf(field string) string { return templateField + "." + field }

func fieldOf(field string) string {
	for _, known := range [][2]string{
		{"spec.containers[" + ServerContainer + "].", ""}, {"metadata.labels", "podLabels"}, {"metadata.annotations", "podAnnotations"},
		{"spec.securityContext", "podSecurityContext"}, {"spec.", ""},
	} {
		if rest, found := strings.CutPrefix(field, known[0]); found {
			return "spec.server." + known[1] + rest
		}
	}
	return "spec.server." + field
}

// decodes checks that a podTemplate has only fields that a PodTemplateSpec has.
func decodes(given []byte) error {
	unknown, err := strictjson.UnmarshalStrict(given, &corev1.PodTemplateSpec{})
	if err != nil {
		return TemplateFault{templateField, "is no PodTemplateSpec: " + err.Error()}
	}
	if len(unknown) > 0 {
		return TemplateFault{templateField, "is no PodTemplateSpec: " + unknown[0].Error() + "; check its name and its place"}
	}
	return nil
}

// merge merges a layer over a template, and refuses a result that the server cannot run in, or that goes beyond what an
// endpoint may ask for.
func merge(under, layer []byte, own *corev1.PodTemplateSpec, options PodOptions, fieldOf func(string) string) ([]byte, error) {
	encoded, err := strategicpatch.StrategicMergePatch(under, layer, corev1.PodTemplateSpec{})
	if err != nil {
		return nil, TemplateFault{templateField, "cannot be merged: " + err.Error()}
	}
	merged := &corev1.PodTemplateSpec{}
	if err := json.Unmarshal(encoded, merged); err != nil {
		return nil, TemplateFault{templateField, "cannot be merged: " + err.Error()}
	}
	for _, check := range []func() (field, detail string){
		func() (string, string) { return changedFor(own, merged) },
		func() (string, string) { return inTheWay(own, merged) },
		func() (string, string) { return beyondRestricted(&merged.Spec) },
		func() (string, string) { return imageNotAllowed(own, merged, options) },
	} {
		if field, detail := check(); field != "" {
			return nil, TemplateFault{fieldOf(field), detail}
		}
	}
	return encoded, nil
}

// fieldsTemplate is the pod template that an endpoint's fields ask for.
func fieldsTemplate(e *v1alpha1.MCPEndpoint) *corev1.PodTemplateSpec {
	s := &e.Spec.Server
	template := &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: plain(s.PodLabels), Annotations: plain(s.PodAnnotations)},
		Spec: corev1.PodSpec{
			NodeSelector:              plain(s.NodeSelector),
			Tolerations:               s.Tolerations,
			Affinity:                  s.Affinity,
			TopologySpreadConstraints: spreadConstraints(e),
			PriorityClassName:         s.PriorityClassName,
			SecurityContext:           s.PodSecurityContext,
			Containers: []corev1.Container{{
				Name: ServerContainer, Env: s.Env, VolumeMounts: s.VolumeMounts, SecurityContext: s.SecurityContext,
			}},
		},
	}
	if s.RuntimeClassName != "" {
		template.Spec.RuntimeClassName = &s.RuntimeClassName
	}
	if s.TerminationGracePeriod != nil {
		template.Spec.TerminationGracePeriodSeconds = new(wholeSeconds[int64](s.TerminationGracePeriod.Duration))
	}
	for _, v := range s.Volumes {
		template.Spec.Volumes = append(template.Spec.Volumes, corev1.Volume{Name: v.Name, VolumeSource: corev1.VolumeSource{
			ConfigMap: v.ConfigMap, Secret: v.Secret, Projected: v.Projected, EmptyDir: v.EmptyDir,
			PersistentVolumeClaim: v.PersistentVolumeClaim, CSI: v.CSI,
		}})
	}
	return template
}

// spreadConstraints are an endpoint's topology spread constraints. One without a selector is about the endpoint's own pods;
// for Kubernetes it would be about none.
func spreadConstraints(e *v1alpha1.MCPEndpoint) []corev1.TopologySpreadConstraint {
	constraints := slices.Clone(e.Spec.Server.TopologySpreadConstraints)
	for i := range constraints {
		if constraints[i].LabelSelector == nil {
			constraints[i].LabelSelector = &metav1.LabelSelector{MatchLabels: cluster.SelectorLabels(e)}
		}
	}
	return constraints
}

// plain is a map of texts as Kubernetes's types have it.
func plain[V ~string](m map[string]V) map[string]string {
	if len(m) == 0 {
		return nil
	}
	texts := make(map[string]string, len(m))
	for key, value := range m {
		texts[key] = string(value)
	}
	return texts
}

// wholeSeconds rounds up.
func wholeSeconds[N int32 | int64](d time.Duration) N { return N(math.Ceil(d.Seconds())) }

// changedFor names the first thing that the server needs and that is not as we made it; "" if nothing is.
func changedFor(own, merged *corev1.PodTemplateSpec) (field, detail string) {
	const ours = "is the server's own; leave it out"
	for key, value := range own.Labels {
		if strings.HasPrefix(key, v1alpha1.GroupVersion.Group+"/") && merged.Labels[key] != value {
			return "metadata.labels[" + key + "]", ours
		}
	}
	i := slices.IndexFunc(merged.Spec.Containers, named(ServerContainer))
	if i < 0 {
		return "spec.containers[" + ServerContainer + "]", "is missing; keep the server's container"
	}
	mine, theirs := &own.Spec.Containers[0], &merged.Spec.Containers[i]
	at := "spec.containers[" + ServerContainer + "]."
	for _, thing := range []struct {
		field         string
		mine, theirs  any
		otherwiseSays string
	}{
		{"spec.serviceAccountName", own.Spec.ServiceAccountName, merged.Spec.ServiceAccountName, "is the server's own: it may read the endpoint's Secrets alone; leave it out, and set spec.server.serviceAccount.annotations for a cloud's IAM"},
		{"spec.automountServiceAccountToken", own.Spec.AutomountServiceAccountToken, merged.Spec.AutomountServiceAccountToken, ""},
		{"spec.serviceAccount", true, merged.Spec.DeprecatedServiceAccount == "" || merged.Spec.DeprecatedServiceAccount == own.Spec.ServiceAccountName, ""},
		{"spec.restartPolicy", true, merged.Spec.RestartPolicy == "" || merged.Spec.RestartPolicy == corev1.RestartPolicyAlways, "must be Always"},
		{"spec.activeDeadlineSeconds", true, merged.Spec.ActiveDeadlineSeconds == nil, "ends the server; leave it out"},
		{at + "image", mine.Image, theirs.Image, "is set by spec.server.image"},
		{at + "command", mine.Command, theirs.Command, ""},
		{at + "args", mine.Args, theirs.Args, ""},
		{at + "workingDir", mine.WorkingDir, theirs.WorkingDir, ""},
		{at + "startupProbe.httpGet", asks(mine.StartupProbe), asks(theirs.StartupProbe), ""},
		{at + "readinessProbe.httpGet", asks(mine.ReadinessProbe), asks(theirs.ReadinessProbe), ""},
		{at + "livenessProbe.httpGet", asks(mine.LivenessProbe), asks(theirs.LivenessProbe), ""},
	} {
		if !equality.Semantic.DeepEqual(thing.mine, thing.theirs) {
			if thing.otherwiseSays == "" {
				thing.otherwiseSays = ours
			}
			return thing.field, thing.otherwiseSays
		}
	}
	for _, list := range []func() (string, string){
		missing("spec.volumes", own.Spec.Volumes, merged.Spec.Volumes, func(v corev1.Volume) string { return v.Name }),
		missing(at+"env", mine.Env, theirs.Env, func(v corev1.EnvVar) string { return v.Name }),
		missing(at+"volumeMounts", mine.VolumeMounts, theirs.VolumeMounts, func(m corev1.VolumeMount) string { return m.MountPath }),
		missing(at+"ports", mine.Ports, theirs.Ports, func(p corev1.ContainerPort) string { return p.Name }),
	} {
		if field, key := list(); field != "" {
			return field + "[" + key + "]", ours
		}
	}
	return "", ""
}

// asks is the request of a probe. How often it does is free.
func asks(p *corev1.Probe) corev1.ProbeHandler {
	if p == nil {
		return corev1.ProbeHandler{}
	}
	return p.ProbeHandler
}

func named(name string) func(corev1.Container) bool {
	return func(c corev1.Container) bool { return c.Name == name }
}

// missing finds the first of our items that is not in the merged list as it was.
func missing[T any](field string, own, merged []T, key func(T) string) func() (string, string) {
	return func() (string, string) {
		for _, item := range own {
			if !slices.ContainsFunc(merged, func(other T) bool { return equality.Semantic.DeepEqual(item, other) }) {
				return field, key(item)
			}
		}
		return "", ""
	}
}

// inTheWay names the first thing that was added and takes the server's folders or ports; "" if nothing does.
func inTheWay(own, merged *corev1.PodTemplateSpec) (field, detail string) {
	for _, containers := range []struct {
		field string
		list  []corev1.Container
	}{{"spec.containers", merged.Spec.Containers}, {"spec.initContainers", merged.Spec.InitContainers}} {
		for i := range containers.list {
			c := &containers.list[i]
			at := containers.field + "[" + c.Name + "]."
			if c.Name == ServerContainer {
				if mount := hides(own.Spec.Containers[0].VolumeMounts, c.VolumeMounts); mount != "" {
					return at + "volumeMounts[" + mount + "]", "covers a folder of the server's; mount it elsewhere"
				}
			} else if port := takes(c.Ports); port != 0 {
				return at + fmt.Sprintf("ports[%d]", port), "is the server's: it has http 8080, https 8443 and admin 8081; use another number and name"
			}
		}
	}
	return "", ""
}

// hides is the first mount that was added and covers what the server needs, or lies within it.
func hides(own, merged []corev1.VolumeMount) string {
	needed := []string{serverCommand, serviceAccountDir}
	for _, mount := range own {
		needed = append(needed, mount.MountPath)
	}
	for _, mount := range merged {
		if slices.ContainsFunc(own, func(m corev1.VolumeMount) bool { return m.MountPath == mount.MountPath }) {
			continue
		}
		if slices.ContainsFunc(needed, func(place string) bool { return covers(mount.MountPath, place) || covers(place, mount.MountPath) }) {
			return mount.MountPath
		}
	}
	return ""
}

// takes is the first port that is one of the server's, by number or by name; 0 if none is.
func takes(ports []corev1.ContainerPort) int32 {
	for _, port := range ports {
		if slices.Contains([]int32{httpPort, httpsPort, adminPort}, port.ContainerPort) || slices.Contains([]string{"http", "https", "admin"}, port.Name) {
			return port.ContainerPort
		}
	}
	return 0
}

// covers reports whether a mount at a folder hides what is at a place.
func covers(folder, place string) bool {
	folder, place = path.Clean(folder), path.Clean(place)
	return folder == place || strings.HasPrefix(place, strings.TrimSuffix(folder, "/")+"/")
}

// imageNotAllowed names the first image that was added and that the manager does not allow; "" if each is.
func imageNotAllowed(own, merged *corev1.PodTemplateSpec, options PodOptions) (field, detail string) {
	const detailNotAllowed = "is not allowed by the manager's --allow-server-image; use an allowed image"
	for _, containers := range [][]corev1.Container{merged.Spec.Containers, merged.Spec.InitContainers} {
		for _, c := range containers {
			if c.Image != own.Spec.Containers[0].Image && !options.allowsImage(c.Image) {
				return "spec.containers[" + c.Name + "].image", detailNotAllowed
			}
		}
	}
	for _, v := range merged.Spec.Volumes {
		if v.Image != nil && !options.allowsImage(v.Image.Reference) {
			return "spec.volumes[" + v.Name + "].image.reference", detailNotAllowed
		}
	}
	return "", ""
}
