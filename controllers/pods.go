package controllers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/observe"
)

// podReport is what a server's pod says of itself.
type podReport struct {
	// counted reports whether the pod answers agents: it is Ready and not terminating.
	counted bool
	// status is nil if the pod has not reported yet.
	status *contract.Status
}

// podReports are in the order of the pods' names, so that messages do not depend on the order of events.
type podReports []podReport

// maxPods is the most pods of one endpoint that are asked: twice as many as it may have, for a rollout.
const maxPods = 200

// livingPods are the pods of an endpoint's Deployment that are not terminating. A pod must belong to a ReplicaSet of the
// Deployment. Labels are not enough, because anybody can put them on a pod.
func livingPods(ctx context.Context, cached client.Reader, e *v1alpha1.MCPEndpoint, d *appsv1.Deployment) ([]corev1.Pod, error) {
	if d == nil {
		return nil, nil
	}
	ours := []client.ListOption{client.InNamespace(e.Namespace), client.MatchingLabels(selectorLabels(e))}
	var replicaSets appsv1.ReplicaSetList
	if err := cached.List(ctx, &replicaSets, ours...); err != nil {
		return nil, err
	}
	owners := map[types.UID]bool{}
	for i := range replicaSets.Items {
		if metav1.IsControlledBy(&replicaSets.Items[i], d) {
			owners[replicaSets.Items[i].UID] = true
		}
	}
	var pods corev1.PodList
	if err := cached.List(ctx, &pods, ours...); err != nil {
		return nil, err
	}
	living := slices.DeleteFunc(pods.Items, func(p corev1.Pod) bool {
		owner := metav1.GetControllerOfNoCopy(&p)
		return !p.DeletionTimestamp.IsZero() || owner == nil || !owners[owner.UID]
	})
	slices.SortFunc(living, func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return living[:min(len(living), maxPods)], nil
}

// reportsOf returns the newest report of each pod, and how long to wait for those that were never asked yet.
func reportsOf(poller *observe.Poller, e *v1alpha1.MCPEndpoint, pods []corev1.Pod) (podReports, time.Duration) {
	reports := make(podReports, len(pods))
	var longest time.Duration
	for i := range pods {
		status, wait := poller.Report(keyOf(e), pods[i].UID)
		reports[i] = podReport{isReady(&pods[i]), status}
		longest = max(longest, wait)
	}
	return reports, longest
}

func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func (reports podReports) counted() int {
	n := 0
	for _, r := range reports {
		if r.counted {
			n++
		}
	}
	return n
}

// programmed reports whether every counted pod has applied at least a revision, and there is one
// (docs/design/controllers.md, "Revision and Programmed"). The message counts no pods, so that a status does not change
// with every pod that comes and goes.
func (reports podReports) programmed(revision int64) finding {
	if reports.counted() == 0 {
		return fails(v1alpha1.ReasonWaitingForPods, "no server pod is ready")
	}
	waiting, unheard := false, false
	for _, r := range reports {
		if !r.counted || r.status != nil && r.status.Revision >= revision {
			continue
		}
		waiting, unheard = true, unheard || r.status == nil
		if r.status != nil && r.status.Refused != nil {
			return fails(v1alpha1.ReasonConfigRefused, fmt.Sprintf("a server pod refuses the Config: %s", r.status.Refused.Message))
		}
	}
	if unheard {
		return fails(v1alpha1.ReasonWaitingForPods, "a server pod does not tell what it has applied: the manager must reach its port "+observe.AdminPort)
	}
	if waiting {
		return fails(v1alpha1.ReasonWaitingForPods, fmt.Sprintf("not every server pod has applied revision %d yet", revision))
	}
	return applied(revision)
}

// applied is the finding about a revision that every counted pod has.
func applied(revision int64) finding {
	return holds(v1alpha1.ReasonProgrammed, fmt.Sprintf("every server pod has applied revision %d", revision))
}

// applied is the least revision that a counted pod has applied; 0 if there is no such pod, or one has not reported.
func (reports podReports) applied() int64 {
	lowest := int64(0)
	for _, r := range reports {
		switch {
		case !r.counted:
		case r.status == nil:
			return 0
		case lowest == 0 || r.status.Revision < lowest:
			lowest = r.status.Revision
		}
	}
	return lowest
}

// database is the state of the database. It is that of the first pod with a problem; else of the first pod that
// reported.
func (reports podReports) database() *contract.DatabaseStatus {
	var found *contract.DatabaseStatus
	for _, r := range reports {
		if r.status == nil {
			continue
		}
		d := &r.status.Database
		switch {
		case d.Reason != contract.ReasonConnected && d.Reason != contract.ReasonConnecting && d.Reason != "":
			return d
		case found == nil, d.Reason == contract.ReasonConnected && (found.Reason != contract.ReasonConnected || d.AuditProblem != "" && found.AuditProblem == ""):
			found = d
		}
	}
	return found
}

// model is the state of a model in the pods that have applied at least a revision. It is that of the first pod that
// withholds the model; else of the first that serves it; else of one that has not seen the schema. Nil means not known.
func (reports podReports) model(exposure, uid string, revision int64) *contract.ModelStatus {
	var best *contract.ModelStatus
	if revision == 0 {
		return nil // the Config does not have it
	}
	for _, r := range reports {
		if r.status == nil || r.status.Revision < revision {
			continue
		}
		i := slices.IndexFunc(r.status.Models, func(m contract.ModelStatus) bool { return m.Exposure == exposure && m.UID == uid })
		if i < 0 {
			continue
		}
		m := &r.status.Models[i]
		switch {
		case !m.Served() && m.Reason != contract.ReasonSchemaUnknown:
			return m
		case best == nil || !best.Served() && m.Served():
			best = m
		}
	}
	return best
}

// refusals are the reasons for which a database refuses its user. They do not pass with time: an administrator must act.
var refusals = []string{
	contract.ReasonSecretIncomplete, contract.ReasonAuthenticationFailed, contract.ReasonDatabaseNotFound,
	contract.ReasonTLSFailed,
}

// servable is what the pods found of a model, or that it is not served because the database refuses its user.
func (reports podReports) servable(m *contract.ModelStatus) *contract.ModelStatus {
	d := reports.database()
	if m == nil || d == nil || !m.Served() || !slices.Contains(refusals, d.Reason) {
		return m
	}
	withheld := *m
	withheld.Reason, withheld.Message = d.Reason, d.Message
	return &withheld
}

// servedModels is the number of models that the pod with the newest Config serves; -1 is not known.
func (reports podReports) servedModels() int32 {
	var newest *contract.Status
	for _, r := range reports {
		if r.status != nil && r.status.Revision > 0 && (newest == nil || r.status.Revision > newest.Revision) {
			newest = r.status
		}
	}
	if newest == nil {
		return -1
	}
	served := int32(0)
	for _, m := range newest.Models {
		if m.Served() {
			served++
		}
	}
	return served
}
