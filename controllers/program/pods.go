package program

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	"github.com/mcp-admin/mcp-admin-operator/controllers/condition"
	"github.com/mcp-admin/mcp-admin-operator/controllers/observe"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// PodReport is a server pod's last report, with what is known about the pod.
type PodReport struct {
	uid types.UID
	// counted reports whether the pod answers agents: it is Ready and not terminating.
	counted bool
	// Status is nil if the pod has not reported yet.
	Status *contract.Status
}

// PodReports are in the order of the pods' names, so that messages do not depend on the order of events.
type PodReports []PodReport

// maxPods is the most pods of one endpoint that are asked: twice as many as it may have, for a rollout.
const maxPods = 200

// PodsOf are the pods of an endpoint's Deployment that are not terminating, and how many of its pods run, these included. A pod must
// belong to a ReplicaSet of the Deployment. Labels are not enough, because anybody can put them on a pod.
func PodsOf(ctx context.Context, cached client.Reader, e *v1alpha1.MCPEndpoint, d *appsv1.Deployment) (living []corev1.Pod, counted contract.Pods, err error) {
	if d == nil {
		return nil, counted, nil
	}
	ours := []client.ListOption{client.InNamespace(e.Namespace), client.MatchingLabels(cluster.SelectorLabels(e))}
	var replicaSets metav1.PartialObjectMetadataList
	replicaSets.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("ReplicaSetList"))
	if err := cached.List(ctx, &replicaSets, ours...); err != nil {
		return nil, counted, err
	}
	owners := map[types.UID]bool{}
	for i := range replicaSets.Items {
		if metav1.IsControlledBy(&replicaSets.Items[i], d) {
			owners[replicaSets.Items[i].UID] = true
		}
	}
	var pods corev1.PodList
	if err := cached.List(ctx, &pods, ours...); err != nil {
		return nil, counted, err
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if owner := metav1.GetControllerOfNoCopy(pod); owner == nil || !owners[owner.UID] {
			continue
		}
		if mayConnect(pod) {
			counted.Running++
		}
		if !pod.DeletionTimestamp.IsZero() {
			continue
		}
		if observe.IsReady(pod) {
			counted.Answering++
		}
		living = append(living, *pod)
	}
	slices.SortFunc(living, func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return living[:min(len(living), maxPods)], counted, nil
}

// mayConnect reports whether a pod may hold connections to the database, or will before long: it has a place to run, and has not ended.
// One that terminates still answers the last calls.
func mayConnect(pod *corev1.Pod) bool {
	placed := pod.Spec.NodeName != "" || pod.Status.PodIP != ""
	return placed && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

// Unreported are the reports of pods that have said nothing yet.
func Unreported(pods []corev1.Pod) PodReports {
	reports := make(PodReports, len(pods))
	for i := range pods {
		reports[i] = PodReport{uid: pods[i].UID, counted: observe.IsReady(&pods[i])}
	}
	return reports
}

// Newest returns the newest reports of the same pods, and how long to wait for pods that were never asked yet.
func (reports PodReports) Newest(poller *observe.Poller, endpoint types.NamespacedName) (PodReports, time.Duration) {
	next := slices.Clone(reports)
	var longest time.Duration
	for i := range next {
		var wait time.Duration
		next[i].Status, wait = poller.Report(endpoint, next[i].uid)
		longest = max(longest, wait)
	}
	return next, longest
}

// Counted returns how many pods there are whose reports count.
func (reports PodReports) Counted() int {
	n := 0
	for _, r := range reports {
		if r.counted {
			n++
		}
	}
	return n
}

// applied holds what all counted pods have applied.
type applied struct {
	// pods is how many count.
	pods int
	// unheard reports whether one of them has not reported, refused is a part that one of them refuses.
	unheard bool
	refused *contract.Refusal
	// main is the least revision of the main part; tokens are the least revisions of the token parts, as many as the pod
	// with the most parts has.
	main   int64
	tokens []int64
	// parts is the number of token parts of the pod with the fewest; 0 if one has not reported.
	parts int
}

// ofToken is the least revision of the part that holds a token; 0 if a pod has fewer parts than it needs to know the token.
func (a applied) ofToken(token types.NamespacedName, needsParts int) int64 {
	if len(a.tokens) == 0 || a.parts < needsParts {
		return 0
	}
	return a.tokens[contract.PartOf(token.Namespace, token.Name, len(a.tokens))]
}

// sameWords reports whether the same is said of what has not been applied.
func (a applied) sameWords(b applied) bool {
	return (a.pods == 0) == (b.pods == 0) && a.unheard == b.unheard && reflect.DeepEqual(a.refused, b.refused)
}

// applied returns what all counted pods have applied. A pod that has not reported has applied nothing.
func (reports PodReports) applied() applied {
	var a applied
	parts := 1
	for _, r := range reports {
		if r.counted && r.Status != nil {
			parts = max(parts, len(r.Status.TokenParts))
		}
	}
	for _, r := range reports {
		if !r.counted {
			continue
		}
		first := a.pods == 0
		a.pods++
		status := r.Status
		if status == nil {
			a.unheard, status = true, &contract.Status{Version: contract.Version}
		}
		if status.Refused != nil && a.refused == nil {
			a.refused = status.Refused
		}
		if first {
			a.main, a.tokens, a.parts = status.Revision, make([]int64, parts), len(status.TokenParts)
		}
		a.main, a.parts = min(a.main, status.Revision), min(a.parts, len(status.TokenParts))
		for i := range a.tokens {
			if of := status.RevisionOfPart(i); first || of < a.tokens[i] {
				a.tokens[i] = of
			}
		}
	}
	return a
}

// haveAll reports whether every pod that may answer agents has applied a revision of a part: pods that count, and pods that
// have reported before.
func (reports PodReports) haveAll(part int, revision int64) bool {
	unheard := slices.ContainsFunc(reports, func(r PodReport) bool { return r.Status == nil && r.counted })
	return !unheard && !reports.lacks(part, revision)
}

// lacks reports whether a pod says that it has an older revision of a part. A pod without the part lets nobody in by it.
func (reports PodReports) lacks(part int, revision int64) bool {
	return slices.ContainsFunc(reports, func(r PodReport) bool {
		if r.Status == nil {
			return false
		}
		has := r.Status.Revision
		if part != compile.MainPart && has > 0 {
			has = r.Status.RevisionOfPart(part)
		}
		return has > 0 && has < revision
	})
}

// maxRevision bounds what is believed of a pod's word.
const maxRevision = 1 << 53

// highest is the highest revision that a pod has had.
func (reports PodReports) highest() int64 {
	var highest int64
	for _, r := range reports {
		if r.Status == nil {
			continue
		}
		highest = max(highest, r.Status.Revision)
		for _, revision := range r.Status.TokenParts {
			highest = max(highest, revision)
		}
		if r.Status.Refused != nil {
			highest = max(highest, r.Status.Refused.Highest)
		}
	}
	return min(highest, maxRevision)
}

// haveLayout reports whether every counted pod has its tokens in so many parts, and there is one.
func (reports PodReports) haveLayout(parts int) bool {
	counted := 0
	for _, r := range reports {
		if !r.counted {
			continue
		}
		if counted++; r.Status == nil || len(r.Status.TokenParts) != parts {
			return false
		}
	}
	return counted > 0
}

// sameNews reports whether two reports of the same pods say the same but for the revisions of token parts.
func sameNews(a, b PodReports) bool {
	return slices.EqualFunc(a, b, func(x, y PodReport) bool {
		if x.counted != y.counted || (x.Status == nil) != (y.Status == nil) {
			return false
		}
		if x.Status == y.Status {
			return true
		}
		left, right := *x.Status, *y.Status
		left.Serial, right.Serial, left.TokenParts, right.TokenParts = "", "", nil, nil
		left.ApprovalsSerial, right.ApprovalsSerial = "", ""
		return reflect.DeepEqual(left, right)
	})
}

// Database is the state of the database. It is the report of the first pod with a problem; else of the first pod that
// reported.
func (reports PodReports) Database() *contract.DatabaseStatus {
	var found *contract.DatabaseStatus
	for _, r := range reports {
		if r.Status == nil {
			continue
		}
		d := &r.Status.Database
		switch {
		case d.Reason != contract.ReasonConnected && d.Reason != contract.ReasonConnecting && d.Reason != "":
			return d
		case found == nil, d.Reason == contract.ReasonConnected && (found.Reason != contract.ReasonConnected || d.AuditProblem != "" && found.AuditProblem == ""):
			found = d
		}
	}
	return found
}

// Problem is the first problem of a kind that a pod tells of; "" if none does.
func (reports PodReports) Problem(of func(*contract.Status) string) string {
	for _, r := range reports {
		if r.counted && r.Status != nil && of(r.Status) != "" {
			return of(r.Status)
		}
	}
	return ""
}

// AuditLinesProblem is why a pod cannot write its audit lines; "" if each can.
func (reports PodReports) AuditLinesProblem() string {
	return reports.Problem(func(s *contract.Status) string { return s.AuditLinesProblem })
}

// Model is the state of a model in the pods that have applied at least a revision. It is the report of the first pod that
// withholds the model; else of a pod that answers agents and has not seen the schema; else of the first that serves it;
// else of one that has not seen the schema. Nil means not known.
func (reports PodReports) Model(exposure, uid string, revision int64) *contract.ModelStatus {
	if revision == 0 {
		return nil // the Config does not have it
	}
	var found *contract.ModelStatus
	before := 0
	for _, r := range reports {
		if r.Status == nil || r.Status.Revision < revision {
			continue
		}
		i := slices.IndexFunc(r.Status.Models, func(m contract.ModelStatus) bool { return m.Exposure == exposure && m.UID == uid })
		if i < 0 {
			continue
		}
		m := &r.Status.Models[i]
		if weight := weightOf(m, r.counted); weight > before {
			found, before = m, weight
		}
	}
	return found
}

// weightOf is how much what a pod says of a model counts beside what others say.
func weightOf(m *contract.ModelStatus, counted bool) int {
	switch {
	case m.Served():
		return 2
	case m.Known():
		return 4
	case counted:
		return 3
	}
	return 1
}

// Servable returns what the pods found about a model, or that it is not served because the database refuses its user.
func (reports PodReports) Servable(m *contract.ModelStatus) *contract.ModelStatus {
	d := reports.Database()
	if m == nil || d == nil || !m.Served() || !slices.Contains(condition.Refusals, d.Reason) {
		return m
	}
	withheld := *m
	withheld.Reason, withheld.Message = d.Reason, d.Message
	return &withheld
}

// ApprovalProblems are what the counted pods say of policies that cannot be judged, without doubles.
func (reports PodReports) ApprovalProblems() (problems []string) {
	for _, r := range reports {
		if r.counted && r.Status != nil {
			problems = append(problems, r.Status.ApprovalProblems[:min(len(r.Status.ApprovalProblems), 50)]...)
		}
	}
	slices.Sort(problems)
	return slices.Compact(problems)
}

// ServedModels is the number of models that the pod with the newest Config serves; -1 is not known.
func (reports PodReports) ServedModels() int32 {
	var newest *contract.Status
	for _, r := range reports {
		if r.Status != nil && r.Status.Revision > 0 && (newest == nil || r.Status.Revision > newest.Revision) {
			newest = r.Status
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
