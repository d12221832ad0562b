package page

import (
	"cmp"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/status"
)

// health is one endpoint: its chain, what is wrong by cause, and its pods.
type health struct {
	*status.Status
	Chain    []link
	Pictures []picture
	Causes   *causes
	PodRows  []podRow
	MorePods int
}

type podRow struct {
	status.Pod
	Age string
	// Behind reports whether the pod answers from an older Config than the newest.
	Behind bool
}

func (q *request) endpoint() (any, error) {
	q.Title = q.key().Name
	s, err := q.source().Status(q.Context(), q.key())
	if err != nil {
		return nil, err
	}
	q.Unseen = s.Unseen
	q.command("status")
	q.command("doctor")
	h := &health{Status: s, Chain: chainOf(s), Causes: byCause(s.Problems, s.Notes)}
	h.Pictures = pictures(h.Chain)
	for i := range s.Pods[:min(len(s.Pods), perPage)] {
		row := podRow{Pod: s.Pods[i], Age: "–"}
		if !row.Started.IsZero() {
			row.Age = duration.HumanDuration(q.page.now().Sub(row.Started))
		}
		row.Behind = row.Revision != nil && *row.Revision < s.Revision
		h.PodRows = append(h.PodRows, row)
	}
	h.MorePods = len(s.Pods) - len(h.PodRows)
	return h, nil
}

// Lacks says what is not served though the endpoint is Ready; "" if that is nothing.
func (h *health) Lacks() string {
	if !h.Ready {
		return ""
	}
	return lacking(h.Status)
}

// State is Ready, or why it is not.
func (h *health) State() string {
	if h.Ready {
		return "Ready"
	}
	return "not Ready: " + cmp.Or(h.Reason, "nobody has looked at it yet")
}
