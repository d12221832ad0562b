package cluster

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func podOf(name string, age time.Duration, ready, ending bool) corev1.Pod {
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(time.Unix(1e9, 0).Add(-age))}}
	if ready {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	if ending {
		pod.DeletionTimestamp = &metav1.Time{Time: time.Unix(1e9, 0)}
	}
	return pod
}

func TestTheYoungestReadyPodIsChosenAndKept(t *testing.T) {
	old, young := podOf("old", time.Hour, true, false), podOf("young", time.Minute, true, false)
	starting, ending := podOf("starting", 0, false, false), podOf("ending", 0, true, true)
	for name, c := range map[string]struct {
		pods   []corev1.Pod
		before string
		want   string
	}{
		"no pod":                        {nil, "", ""},
		"none is Ready":                 {[]corev1.Pod{starting, ending}, "", ""},
		"the youngest":                  {[]corev1.Pod{old, young, starting, ending}, "", "young"},
		"the one from before":           {[]corev1.Pod{old, young}, "old", "old"},
		"the one from before is ending": {[]corev1.Pod{old, young, ending}, "ending", "young"},
	} {
		got := ""
		if pod := choosePod(c.pods, c.before); pod != nil {
			got = pod.Name
		}
		if got != c.want {
			t.Errorf("%s: %q is chosen, want %q", name, got, c.want)
		}
	}
}
