package endpoint

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestWhatKeepsPodsFromRunningIsTold(t *testing.T) {
	waiting := func(reason, message string) corev1.PodStatus {
		return corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
			Name: "server", Image: "ghcr.io/x/server:1",
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
		}}}
	}
	crashed := waiting("CrashLoopBackOff", "back-off 20s restarting failed container")
	crashed.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 3}
	unscheduled := func(message string) corev1.PodStatus {
		return corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: message}}}
	}
	e := &v1alpha1.MCPEndpoint{}
	e.Spec.Observability.Audit.Files = &v1alpha1.AuditFilesSpec{ClaimRef: v1alpha1.ClaimReference{Name: "logs"}}
	e.Spec.Database.SQLite = &v1alpha1.SQLiteSpec{Claim: &v1alpha1.DatabaseClaim{Name: "file"}}
	e.Spec.Database.DuckDB = &v1alpha1.DuckDBSpec{Claim: v1alpha1.DatabaseClaim{Name: "parquet"}}
	ready := waiting("ImagePullBackOff", "")
	ready.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	for name, row := range map[string]struct {
		deployment appsv1.DeploymentStatus
		pod        corev1.PodStatus
		want       string
	}{
		"nothing is wrong":           {want: ""},
		"the pod is being made":      {pod: waiting("ContainerCreating", ""), want: ""},
		"the pod is Ready":           {pod: ready, want: ""},
		"the image does not exist":   {pod: waiting("ErrImagePull", "attempt 1"), want: `: the image "ghcr.io/x/server:1" cannot be pulled`},
		"and is waited for":          {pod: waiting("ImagePullBackOff", "back-off 20s"), want: `: the image "ghcr.io/x/server:1" cannot be pulled`},
		"the program ends":           {pod: crashed, want: `: container "server" of a pod ended with exit code 3; its log says why`},
		"a ConfigMap has no key":     {pod: waiting("CreateContainerConfigError", "no key x"), want: ": CreateContainerConfigError: no key x"},
		"there is no room for a pod": {pod: unscheduled("0/3 nodes are available"), want: ": no node takes a pod: 0/3 nodes are available"},
		"there is no audit claim": {
			pod:  unscheduled(`0/1 nodes are available: persistentvolumeclaim "logs" not found.`),
			want: `: no node takes a pod: 0/1 nodes are available: persistentvolumeclaim "logs" not found. (spec.observability.audit.files.claimRef)`,
		},
		"there is no SQLite claim": {
			pod:  unscheduled(`persistentvolumeclaim "file" not found`),
			want: `: no node takes a pod: persistentvolumeclaim "file" not found (spec.database.sqlite.claim)`,
		},
		"there is no claim of DuckDB's files": {
			pod:  unscheduled(`persistentvolumeclaim "parquet" not found`),
			want: `: no node takes a pod: persistentvolumeclaim "parquet" not found (spec.database.duckdb.claim)`,
		},
		"another claim is missing": {pod: unscheduled(`persistentvolumeclaim "lo" not found`), want: `: no node takes a pod: persistentvolumeclaim "lo" not found`},
		"no pod may be made": {
			deployment: appsv1.DeploymentStatus{Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Message: "exceeded quota: few"}}},
			want:       ": exceeded quota: few",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := podProblem(e, &appsv1.Deployment{Status: row.deployment}, []corev1.Pod{{Status: row.pod}}); got != row.want {
				t.Errorf("told %q, want %q", got, row.want)
			}
		})
	}
}

func TestWhyAnObjectWasNotTakenIsToldInWordsThatStay(t *testing.T) {
	for _, row := range []struct {
		err  error
		want string
	}{
		{apierrors.NewForbidden(corev1.Resource("pods"), "x", errors.New("exceeded quota: few")), `: pods "x" is forbidden: exceeded quota: few`},
		{
			apierrors.NewInternalError(errors.New(`failed calling webhook "guard.example.com": Post "https://10.0.0.1": read tcp 10.0.0.2:40123: i/o timeout`)),
			`: failed calling webhook "guard.example.com"`,
		},
		{apierrors.NewServiceUnavailable("attempt 17"), ": the API server answers 503 ServiceUnavailable"},
		{fmt.Errorf("applying: %w", &url.Error{Op: "Patch", URL: "https://10.0.0.1:6443", Err: errors.New("connection refused")}), ": the API server does not answer"},
		{context.DeadlineExceeded, ": the API server does not answer"},
		{apierrors.NewConflict(corev1.Resource("pods"), "x", errors.New("changed")), ""},
		{errors.New("anything else"), ""},
	} {
		if got := refusal(row.err); got != row.want {
			t.Errorf("%v: told %q, want %q", row.err, got, row.want)
		}
	}
}
