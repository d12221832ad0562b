package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

func (w *world) testDoctorWithoutPods(t *testing.T) {
	w.eventually("the endpoint says what is wrong", func() bool {
		out, err := w.command("doctor", "shop", "-n", "shop")
		return err != nil && strings.Contains(out, "MCPEndpoint shop/shop") && strings.Contains(out, "\n    kubectl ")
	})
}

func (w *world) testDoctor(t *testing.T) {
	w.eventually("nothing is wrong", func() bool {
		out, err := w.command("doctor", "-n", "shop")
		return err == nil && strings.Contains(out, "nothing is wrong\n")
	})
	x := &v1alpha1.MCPModelExposure{ObjectMeta: objectMeta("wrong")}
	x.Spec.EndpointRef.Name, x.Spec.Table.Name = "shop", "order"
	w.create(x)
	w.eventually("a table that does not exist is told", func() bool {
		out, err := w.command("doctor", "shop", "-n", "shop", "-o", "json")
		var d struct {
			Problems []struct{ Object, Reason, Command string }
		}
		return json.Unmarshal([]byte(out), &d) == nil && err != nil && len(d.Problems) == 1 && d.Problems[0].Reason == "TableNotFound" &&
			d.Problems[0].Command == "kubectl edit mcpmodelexposure wrong -n shop"
	})
	w.check(w.k8s.Delete(context.Background(), x))
	w.eventually("nothing is wrong again", func() bool {
		_, err := w.command("doctor", "-n", "shop")
		return err == nil
	})
}

func (w *world) testDoctorWithoutRights(t *testing.T) {
	w.create(&rbacv1.Role{ObjectMeta: objectMeta("endpoints"), Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"mcpadmin.dev"}, Resources: []string{"mcpendpoints"}, Verbs: []string{"get", "list"}},
	}}, &rbacv1.RoleBinding{ObjectMeta: objectMeta("endpoints"), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "endpoints"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: "ann", APIGroup: rbacv1.GroupName}}})
	w.eventually("the Role counts", func() bool {
		out, err := w.command("doctor", "-n", "shop", "--as", "ann")
		return err == nil && strings.Contains(out, "nothing is wrong with what could be looked at") &&
			strings.Contains(out, "pods: you may not list pods in namespace shop") && !strings.Contains(out, "list mcpendpoints")
	})
	w.expect(t, true, []string{"ask an administrator of the cluster for that right"}, "can", "agent", "-n", "shop", "--as", "ann")
}

func (w *world) testDoctorWithoutManager(t *testing.T) {
	w.expect(t, true, []string{"no manager looks after namespace shop"}, "doctor", "-n", "shop")
}

// The cause that keeps a pod from running comes with the command that shows more of it.
func (w *world) testDoctorAboutPods(t *testing.T) {
	waiting := func(reason, message string) corev1.ContainerState {
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
	}
	for name, c := range map[string]struct {
		phase      corev1.PodPhase
		conditions []corev1.PodCondition
		container  corev1.ContainerStatus
		wants      []string
	}{
		"crashed": {
			corev1.PodRunning, nil,
			corev1.ContainerStatus{LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 2}}},
			[]string{`container "server" of a pod ended with exit code 2`, "kubectl logs --previous shop-crashed -n shop"},
		},
		"no-image": {
			corev1.PodPending, nil, corev1.ContainerStatus{State: waiting("ImagePullBackOff", "Back-off pulling image")},
			[]string{`the image "server:test" cannot be pulled`, "kubectl describe pod shop-no-image -n shop"},
		},
		"no-node": {
			corev1.PodPending,
			[]corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes are available: 3 Insufficient memory."}},
			corev1.ContainerStatus{},
			[]string{"no node takes a pod: 0/3 nodes are available: 3 Insufficient memory.", "kubectl describe pod shop-no-node -n shop"},
		},
		"no-secret": {
			corev1.PodPending, nil, corev1.ContainerStatus{State: waiting("CreateContainerConfigError", `secret "x" not found`)},
			[]string{`CreateContainerConfigError: secret "x" not found`, "kubectl describe pod shop-no-secret -n shop"},
		},
		"not-ready": {
			corev1.PodRunning, nil, corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
			[]string{"it runs and is not Ready", "kubectl logs shop-not-ready -n shop"},
		},
	} {
		pod := w.podOf("shop", "shop", "shop-"+name)
		w.create(pod)
		c.container.Name, c.container.Image = "server", "server:test"
		pod.Status.Phase, pod.Status.Conditions, pod.Status.ContainerStatuses = c.phase, c.conditions, []corev1.ContainerStatus{c.container}
		w.check(w.k8s.Status().Update(context.Background(), pod))
		w.expect(t, true, append(c.wants, "✗ Pod shop/shop-"+name), "doctor", "shop", "-n", "shop")
		w.check(w.k8s.Delete(context.Background(), pod, client.GracePeriodSeconds(0)))
	}
}

func (w *world) testDoctorAboutTheAuditTable(t *testing.T) {
	e := &v1alpha1.MCPEndpoint{ObjectMeta: objectMeta("shop")}
	audit := func(spec *v1alpha1.AuditSpec) {
		w.check(w.k8s.Get(t.Context(), client.ObjectKeyFromObject(e), e))
		changed := e.DeepCopy()
		changed.Spec.Audit = spec
		w.check(w.k8s.Patch(t.Context(), changed, client.MergeFrom(e)))
	}
	audit(&v1alpha1.AuditSpec{Table: v1alpha1.TableReference{Name: "other_log"}})
	w.eventually("an audit table that is none is told", func() bool {
		out, err := w.command("doctor", "-n", "shop")
		return err != nil && strings.Contains(out, "✗ MCPEndpoint shop/shop: ") && strings.Contains(out, "other_log") &&
			strings.Contains(out, "(DatabaseReady AuditUnavailable)\n    kubectl logs deployment/shop-mcp -n shop\n")
	})
	audit(nil)
	w.eventually("nothing is wrong again", func() bool {
		_, err := w.command("doctor", "-n", "shop")
		return err == nil
	})
}

// An endpoint without its Secret does not hide what is wrong with a token of another endpoint, and is reported once.
func (w *world) testDoctorNamesCauses(t *testing.T) {
	e := &v1alpha1.MCPEndpoint{ObjectMeta: objectMeta("lost")}
	e.Spec.Database.ConnectionSecretRef = &v1alpha1.ConnectionSecretReference{Name: "nowhere"}
	x := &v1alpha1.MCPModelExposure{ObjectMeta: objectMeta("lost-order")}
	x.Spec.EndpointRef.Name, x.Spec.Model, x.Spec.Table.Name = "lost", "order", "orders"
	of := func(name, endpoint string) *v1alpha1.MCPToken {
		token := &v1alpha1.MCPToken{ObjectMeta: objectMeta(name)}
		token.Spec.EndpointRef.Name = endpoint
		token.Spec.Permissions = []v1alpha1.PermissionRule{{Models: []string{"order"}, Verbs: []v1alpha1.Verb{"view"}}}
		return token
	}
	given, idle := of("given", "shop"), of("idle", "shop")
	given.Spec.TokenSecretRef = &v1alpha1.SecretKeyReference{Name: "missing", Key: "token"}
	idle.Spec.Active = new(false)
	all := []client.Object{e, x, of("waiting", "lost"), given, idle}
	w.create(all...)
	type told struct {
		Object, Reason, Command string
		Effects                 []string
	}
	var d struct{ Problems, Notes []told }
	w.eventually("both causes are told, each once", func() bool {
		d.Problems, d.Notes = nil, nil
		out, err := w.command("doctor", "-A", "-o", "json")
		return json.Unmarshal([]byte(out), &d) == nil && err != nil && len(d.Problems) == 2 &&
			d.Problems[0].Object == "MCPEndpoint shop/lost" && d.Problems[0].Reason == "SecretNotFound" && len(d.Problems[0].Effects) > 0 &&
			d.Problems[1].Object == "MCPToken shop/given" && d.Problems[1].Reason == "SecretNotFound"
	})
	w.expect(t, true, []string{"! MCPEndpoint shop/lost: 2 of its MCPModelExposures and MCPTokens wait for it",
		"! MCPToken shop/idle: the token is not active", "    from this follows: "}, "doctor", "-n", "shop")
	w.expect(t, true, []string{"leave out the ENDPOINT, or -A"}, "doctor", "shop", "-A")
	for _, o := range all {
		w.check(w.k8s.Delete(context.Background(), o))
	}
	w.eventually("nothing is wrong again", func() bool {
		_, err := w.command("doctor", "-n", "shop")
		return err == nil
	})
}
