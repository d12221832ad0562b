package child

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// beyondRestricted names the first thing of a pod that the Pod Security level restricted forbids; "" if nothing is. An
// endpoint may not ask for more, whatever its namespace enforces: the manager makes the pods with its own rights, and
// those who write endpoints may have no right to make such pods themselves.
func beyondRestricted(pod *corev1.PodSpec) (field, detail string) {
	const leaveOut = "goes beyond the Pod Security level restricted; leave it out"
	for _, host := range []struct {
		field string
		used  bool
	}{
		{"spec.hostNetwork", pod.HostNetwork}, {"spec.hostPID", pod.HostPID}, {"spec.hostIPC", pod.HostIPC},
	} {
		if host.used {
			return host.field, leaveOut
		}
	}
	for i := range pod.Volumes {
		if v := &pod.Volumes[i].VolumeSource; v.ConfigMap == nil && v.DownwardAPI == nil && v.EmptyDir == nil && v.Projected == nil && v.Secret == nil &&
			v.CSI == nil && v.PersistentVolumeClaim == nil && v.Ephemeral == nil && v.Image == nil {
			return "spec.volumes[" + pod.Volumes[i].Name + "]", "is of a kind that goes beyond the Pod Security level restricted; use a claim or another kind"
		}
	}
	shared := pod.SecurityContext
	if shared == nil {
		shared = &corev1.PodSecurityContext{}
	}
	if field, detail := podBeyondRestricted(shared); field != "" {
		return "spec.securityContext." + field, detail
	}
	for _, containers := range []struct {
		field string
		list  []corev1.Container
	}{{"spec.containers", pod.Containers}, {"spec.initContainers", pod.InitContainers}} {
		for i := range containers.list {
			c := &containers.list[i]
			if field, detail := containerBeyondRestricted(c, shared); field != "" {
				return containers.field + "[" + c.Name + "]." + field, detail
			}
		}
	}
	return "", ""
}

// safeSysctls are the kernel parameters that do not reach beyond a pod.
var safeSysctls = []string{
	"kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_unprivileged_port_start", "net.ipv4.tcp_syncookies",
	"net.ipv4.ping_group_range", "net.ipv4.ip_local_reserved_ports", "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout",
	"net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem",
}

func podBeyondRestricted(s *corev1.PodSecurityContext) (field, detail string) {
	for _, sysctl := range s.Sysctls {
		if !slices.Contains(safeSysctls, sysctl.Name) {
			return "sysctls[" + sysctl.Name + "]", "reaches beyond the pod; leave it out"
		}
	}
	return contextBeyondRestricted(s.RunAsNonRoot, s.RunAsUser, s.SeccompProfile, s.AppArmorProfile, s.SELinuxOptions, s.WindowsOptions)
}

func containerBeyondRestricted(c *corev1.Container, shared *corev1.PodSecurityContext) (field, detail string) {
	for _, port := range c.Ports {
		if port.HostPort != 0 {
			return "ports[" + port.Name + "].hostPort", "takes a port of the node; leave it out"
		}
	}
	s := c.SecurityContext
	if s == nil {
		s = &corev1.SecurityContext{}
	}
	const at = "securityContext."
	switch {
	case s.Privileged != nil && *s.Privileged:
		return at + "privileged", "must be false or absent"
	case s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation:
		return at + "allowPrivilegeEscalation", "must be false"
	case s.ProcMount != nil && *s.ProcMount != corev1.DefaultProcMount:
		return at + "procMount", "must be Default or absent"
	case s.Capabilities == nil || !slices.Contains(s.Capabilities.Drop, "ALL"):
		return at + "capabilities.drop", "must be [ALL]"
	case slices.ContainsFunc(s.Capabilities.Add, func(c corev1.Capability) bool { return c != "NET_BIND_SERVICE" }):
		return at + "capabilities.add", "may have NET_BIND_SERVICE alone"
	case s.RunAsNonRoot == nil && (shared.RunAsNonRoot == nil || !*shared.RunAsNonRoot):
		return at + "runAsNonRoot", "must be true, here or for the pod"
	case s.SeccompProfile == nil && shared.SeccompProfile == nil:
		return at + "seccompProfile", "must be of type RuntimeDefault or Localhost, here or for the pod"
	}
	if field := asksAnotherHost(c); field != "" {
		return field, "lets the node ask another host; leave out the host"
	}
	if field, detail = contextBeyondRestricted(s.RunAsNonRoot, s.RunAsUser, s.SeccompProfile, s.AppArmorProfile, s.SELinuxOptions, s.WindowsOptions); field != "" {
		return at + field, detail
	}
	return "", ""
}

// asksAnotherHost names the first probe or hook of a container that asks another host than its own pod.
func asksAnotherHost(c *corev1.Container) string {
	type asking struct {
		field string
		http  *corev1.HTTPGetAction
		tcp   *corev1.TCPSocketAction
	}
	handlers := []asking{
		{"startupProbe", asks(c.StartupProbe).HTTPGet, asks(c.StartupProbe).TCPSocket},
		{"readinessProbe", asks(c.ReadinessProbe).HTTPGet, asks(c.ReadinessProbe).TCPSocket},
		{"livenessProbe", asks(c.LivenessProbe).HTTPGet, asks(c.LivenessProbe).TCPSocket},
	}
	if l := c.Lifecycle; l != nil && l.PostStart != nil {
		handlers = append(handlers, asking{"lifecycle.postStart", l.PostStart.HTTPGet, l.PostStart.TCPSocket})
	}
	if l := c.Lifecycle; l != nil && l.PreStop != nil {
		handlers = append(handlers, asking{"lifecycle.preStop", l.PreStop.HTTPGet, l.PreStop.TCPSocket})
	}
	for _, h := range handlers {
		switch {
		case h.http != nil && h.http.Host != "":
			return h.field + ".httpGet.host"
		case h.tcp != nil && h.tcp.Host != "":
			return h.field + ".tcpSocket.host"
		}
	}
	return ""
}

// contextBeyondRestricted is about what security contexts of pods and of containers have in common.
func contextBeyondRestricted(nonRoot *bool, user *int64, seccomp *corev1.SeccompProfile, appArmor *corev1.AppArmorProfile,
	selinux *corev1.SELinuxOptions, windows *corev1.WindowsSecurityContextOptions,
) (field, detail string) {
	types := []string{"", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"}
	switch {
	case nonRoot != nil && !*nonRoot:
		return "runAsNonRoot", "must be true"
	case user != nil && *user == 0:
		return "runAsUser", "must not be 0, which is root"
	case seccomp != nil && seccomp.Type != corev1.SeccompProfileTypeRuntimeDefault && seccomp.Type != corev1.SeccompProfileTypeLocalhost:
		return "seccompProfile.type", "must be RuntimeDefault or Localhost"
	case appArmor != nil && appArmor.Type != corev1.AppArmorProfileTypeRuntimeDefault && appArmor.Type != corev1.AppArmorProfileTypeLocalhost:
		return "appArmorProfile.type", "must be RuntimeDefault or Localhost"
	case selinux != nil && (!slices.Contains(types, selinux.Type) || selinux.User != "" || selinux.Role != ""):
		return "seLinuxOptions", "may have a container's type and a level, no user or role"
	case windows != nil && windows.HostProcess != nil && *windows.HostProcess:
		return "windowsOptions.hostProcess", "must be false or absent"
	}
	return "", ""
}
