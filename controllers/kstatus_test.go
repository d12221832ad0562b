package controllers_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// conditionsOf are the conditions that each kind has besides Ready.
var conditionsOf = map[string][]string{
	"MCPEndpoint":      {"DatabaseReady", "WorkloadAvailable", "Programmed"},
	"MCPModelExposure": {"Accepted", "Resolved", "Programmed"},
	"MCPToken":         {"Accepted", "Issued", "Programmed"},
}

// versionRecorder sees every version of every object of the three kinds, and notes which of them break a rule.
type versionRecorder struct {
	judge *judge
	stop  context.CancelFunc

	mu sync.Mutex
	// observed is the observedGeneration of each object's last version.
	observed map[types.UID]int64
	verdicts map[status.Status]int
	// breaches are by namespace.
	breaches map[string][]string
}

func startRecorder(config *rest.Config) *versionRecorder {
	GinkgoHelper()
	r := &versionRecorder{observed: map[types.UID]int64{}, verdicts: map[status.Status]int{}, breaches: map[string][]string{}}
	var err error
	r.judge, err = newJudge()
	Expect(err).NotTo(HaveOccurred())
	client, err := dynamic.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())
	var ctx context.Context
	ctx, r.stop = context.WithCancel(context.Background())
	for _, plural := range []string{"mcpendpoints", "mcpmodelexposures", "mcptokens"} {
		resource := client.Resource(v1alpha1.GroupVersion.WithResource(plural))
		none, err := resource.List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		versions, err := toolswatch.NewRetryWatcherWithContext(ctx, none.GetResourceVersion(), &cache.ListWatch{
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				return resource.Watch(ctx, o)
			},
			ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return resource.List(ctx, o) },
		})
		Expect(err).NotTo(HaveOccurred())
		go func() {
			for event := range versions.ResultChan() {
				if o, ok := event.Object.(*unstructured.Unstructured); ok && event.Type != watch.Deleted {
					r.note(o)
				}
			}
		}()
	}
	return r
}

func (r *versionRecorder) note(o *unstructured.Unstructured) {
	verdict, err := r.judge.verdict(o)
	r.mu.Lock()
	defer r.mu.Unlock()
	before, known := r.observed[o.GetUID()]
	if !known {
		before = -1
	}
	breach := brokenRule(o, verdict, before, !known)
	if err != nil {
		breach = err.Error()
	}
	r.observed[o.GetUID()], _, _ = unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	r.verdicts[verdict]++
	if breach != "" {
		r.breaches[o.GetNamespace()] = append(r.breaches[o.GetNamespace()],
			fmt.Sprintf("%s %s, version %s: %s: %v", o.GetKind(), o.GetName(), o.GetResourceVersion(), breach, o.Object["status"]))
	}
}

// forgiveOlder forgets that a namespace's objects had a status of an older generation for a moment. Two managers that are at
// work at once do that if the cache of one is behind.
func (r *versionRecorder) forgiveOlder(namespace string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := slices.DeleteFunc(r.breaches[namespace], func(breach string) bool { return strings.Contains(breach, wentBack) })
	if r.breaches[namespace] = left; len(left) == 0 {
		delete(r.breaches, namespace)
	}
}

// in returns what was broken in a namespace.
func (r *versionRecorder) in(namespace string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.breaches[namespace])
}

// finish stops the recorder, and tells what it saw.
func (r *versionRecorder) finish() {
	GinkgoHelper()
	r.stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	Expect(r.breaches).To(BeEmpty(), "%d breaches in %v", len(r.breaches), slices.Sorted(maps.Keys(r.breaches)))
	_, _ = fmt.Fprintf(GinkgoWriter, "kstatus: %v versions of %d objects\n", r.verdicts, len(r.observed))
}

const wentBack = "observedGeneration went back"

// brokenRule returns which rule a version of an object breaks; "" is none. observedBefore is the observedGeneration of
// the version before.
func brokenRule(o *unstructured.Unstructured, verdict status.Status, observedBefore int64, first bool) string {
	conditions := readConditions(o)
	observed, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	ready, reconciling, stalled := conditions["Ready"], conditions["Reconciling"], conditions["Stalled"]
	switch {
	case verdict == status.TerminatingStatus:
		return ""
	case first && verdict != status.InProgressStatus:
		return "nobody has looked, and it is " + verdict.String()
	case observed > o.GetGeneration():
		return "observedGeneration is ahead of the generation"
	case observed < observedBefore:
		return wentBack
	case observed == -1:
		return unless(len(conditions) == 0, "it has conditions, and was never observed")
	case observed < 1:
		return "observedGeneration is neither -1 nor a generation"
	case reconciling.status != "" && stalled.status != "":
		return "it is Reconciling and Stalled"
	case reconciling.status+stalled.status != "" && reconciling.status+stalled.status != "True":
		return "Reconciling or Stalled is there, and not True"
	case ready.status == "True" && reconciling.status+stalled.status != "":
		return "it is Ready, and Reconciling or Stalled"
	case ready.status != "True" && reconciling.status+stalled.status == "":
		return "it is not Ready, and neither Reconciling nor Stalled"
	case ready.status != "True" && ready.message == "":
		return "it is not Ready, and does not say why"
	}
	for name, c := range conditions {
		if c.observed != observed {
			return name + " is about another generation"
		}
	}
	for _, name := range conditionsOf[o.GetKind()] {
		c, there := conditions[name]
		byPlan := name == "Issued" && (ready.reason == "Inactive" || ready.reason == "Expired")
		if !there {
			return "there is no condition " + name
		}
		if verdict == status.CurrentStatus && c.status != "True" && !byPlan {
			return "it is Current, and " + name + " is " + c.status
		}
	}
	return ""
}

type condition struct {
	status, reason, message string
	observed                int64
}

func readConditions(o *unstructured.Unstructured) map[string]condition {
	all, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	conditions := map[string]condition{}
	for _, item := range all {
		c := item.(map[string]any)
		observed, _ := c["observedGeneration"].(int64)
		message, _ := c["message"].(string)
		conditions[c["type"].(string)] = condition{c["status"].(string), c["reason"].(string), message, observed}
	}
	return conditions
}

func unless(holds bool, breach string) string {
	if holds {
		return ""
	}
	return breach
}

var _ = Describe("The rules of kstatus", func() {
	It("are noticed when one is broken", func() {
		for want, text := range map[string]string{
			"nobody has looked, and it is Current": `{"conditions": [{"type": "Ready", "status": "True", "reason": "Ready"}]}`,
			"ahead of the generation":              `{"observedGeneration": 3}`,
			"went back":                            `{"observedGeneration": 1}`,
		} {
			o := &unstructured.Unstructured{}
			Expect(o.UnmarshalJSON([]byte(`{"apiVersion": "mcpadmin.dev/v1alpha1", "kind": "MCPToken", "metadata": {"generation": 2}, "status": ` + text + `}`))).To(Succeed())
			first := strings.HasPrefix(want, "nobody")
			result, err := status.Compute(o)
			Expect(err).NotTo(HaveOccurred())
			Expect(brokenRule(o, result.Status, 2, first)).To(ContainSubstring(want))
		}
	})
})
