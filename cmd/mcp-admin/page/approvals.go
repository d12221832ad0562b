package page

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
)

// approvalList is the calls that wait, or those that ended.
type approvalList struct {
	// Ended says that these are the calls that ended; Everywhere that they are those of all endpoints.
	Ended, Everywhere bool
	Rows              []approvalRow
	// Waiting is how many calls wait for people, Allowed how many were allowed and have not run, Past how many ended.
	Waiting, Allowed, Past int
	Pages                  pages
}

// approvalRow is a call in a table.
type approvalRow struct {
	Namespace, Endpoint, Name      string
	What, Token, Subject           string
	Rows, Reason                   string
	Asked, AskedAt, Until, UntilAt string
	State                          string
	Allowed                        bool
	Message                        string
}

// readApprovals reads the approvals of the endpoint that the path names, or of all endpoints.
func (q *request) readApprovals() ([]v1alpha1.MCPApproval, error) {
	endpoint := q.key()
	if endpoint.Name == "" {
		return q.source().Approvals(q.Context())
	}
	var all []v1alpha1.MCPApproval
	var err error
	if k := q.source().Cluster(); k != nil { // who may list them in this namespace alone sees them, too
		all, err = k.Approvals(q.Context(), endpoint.Namespace)
		err = cluster.Explain(err)
	} else {
		all, err = q.source().Approvals(q.Context())
	}
	return slices.DeleteFunc(all, func(a v1alpha1.MCPApproval) bool { return endpointOf(&a) != endpoint }), err
}

func endpointOf(a *v1alpha1.MCPApproval) types.NamespacedName {
	return types.NamespacedName{Namespace: a.Namespace, Name: a.Spec.EndpointRef.Name}
}

// waiting is how many calls wait for people; 0 if that is not known.
func (v *view) waiting() int {
	all, _ := v.allApprovals() // the screen itself says why they cannot be read
	n := 0
	for i := range all {
		if waits(&all[i]) {
			n++
		}
	}
	return n
}

func waits(a *v1alpha1.MCPApproval) bool { return a.EffectiveState() == v1alpha1.ApprovalWaiting }

// approvals shows the calls that wait, the oldest first; or those that ended, the newest end first.
func (q *request) approvals() (any, error) {
	q.Title = "Approvals"
	all, err := q.allApprovals()
	var unseen Unseen
	if errors.As(err, &unseen) {
		q.Unseen = append(q.Unseen, unseen...)
	} else if err != nil {
		return nil, err
	}
	l := &approvalList{Ended: q.FormValue("show") == "ended", Everywhere: q.key().Name == ""}
	var shown []*v1alpha1.MCPApproval
	for i := range all {
		a := &all[i]
		switch {
		case a.Ended():
			l.Past++
		case waits(a):
			l.Waiting++
		default:
			l.Allowed++
		}
		if a.Ended() == l.Ended {
			shown = append(shown, a)
		}
	}
	slices.SortFunc(shown, func(a, b *v1alpha1.MCPApproval) int {
		newest := 0
		if l.Ended {
			newest = endOf(b).Compare(endOf(a))
		}
		return cmp.Or(newest, a.Spec.Request.AskTime.Compare(b.Spec.Request.AskTime.Time), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	l.Pages = q.pages(len(shown), "calls")
	for _, a := range shown[l.Pages.first:l.Pages.last] {
		l.Rows = append(l.Rows, rowOfApproval(a, q.page.now()))
	}
	if l.Ended {
		q.command("approvals", "--all")
	} else {
		q.command("approvals")
	}
	return l, nil
}

// endOf is when an approval ended, as far as it says so.
func endOf(a *v1alpha1.MCPApproval) time.Time {
	if a.Status.EndTime == nil {
		return time.Time{}
	}
	return a.Status.EndTime.Time
}

func rowOfApproval(a *v1alpha1.MCPApproval, now time.Time) approvalRow {
	r := &a.Spec.Request
	row := approvalRow{
		Namespace: a.Namespace, Endpoint: a.Spec.EndpointRef.Name, Name: a.Name, What: whatOfApproval(r), Token: tokenOfApproval(a), Subject: r.Subject, Rows: rowsOf(r), Reason: a.Status.Reason,
		Asked: since(now, r.AskTime.Time), AskedAt: moment(r.AskTime.Time), Until: "–", State: string(a.EffectiveState()), Allowed: a.EffectiveState() == v1alpha1.ApprovalApproved, Message: missingOf(a),
	}
	if a.Ended() {
		row.Message = endedBy(a)
	} else {
		row.Until, row.UntilAt = until(now, r.ExpiryTime.Time), moment(r.ExpiryTime.Time)
	}
	return row
}

// whatOfApproval is what a call does, and to which model.
func whatOfApproval(r *v1alpha1.ApprovalRequest) string {
	return strings.TrimSpace(r.Operation + " " + r.Model)
}

// tokenOfApproval is the token whose call it is.
func tokenOfApproval(a *v1alpha1.MCPApproval) string {
	return a.Spec.Request.TokenRef.Namespace + "/" + a.Spec.Request.TokenRef.Name
}

func rowsOf(r *v1alpha1.ApprovalRequest) string {
	if r.Rows == nil {
		return "–"
	}
	return strconv.FormatInt(*r.Rows, 10)
}

// since and until are times in words, moment one to the second.
func since(now, at time.Time) string {
	return duration.HumanDuration(max(now.Sub(at), 0)) + " ago"
}

func until(now, at time.Time) string {
	if !now.Before(at) {
		return "expired"
	}
	return "in " + duration.HumanDuration(at.Sub(now))
}

func moment(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05 UTC") }

// missingOf says what is still missing, or who allowed the call, as the manager does.
func missingOf(a *v1alpha1.MCPApproval) string {
	if c := meta.FindStatusCondition(a.Status.Conditions, v1alpha1.ConditionApproved); c != nil {
		return c.Message
	}
	var missing []string
	for i := range a.Spec.Request.Policies {
		p := policyOf(a, &a.Spec.Request.Policies[i])
		missing = append(missing, p.Name+": "+p.Missing)
	}
	return strings.Join(missing, "; ")
}

// endedBy says how a call ended.
func endedBy(a *v1alpha1.MCPApproval) string {
	for _, c := range a.Status.Conditions {
		if c.Type != v1alpha1.ConditionApproved && c.Status == metav1.ConditionTrue {
			return c.Message
		}
	}
	return ""
}
