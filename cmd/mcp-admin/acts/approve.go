package acts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
)

// Decide adds a decision of the person who calls to an approval. The API server checks whether they may.
func Decide(ctx context.Context, k *cluster.Cluster, a *v1alpha1.MCPApproval, verdict v1alpha1.ApprovalVerdict, comment string, now time.Time) error {
	review := &authenticationv1.SelfSubjectReview{}
	if err := k.Create(ctx, review); err != nil {
		return fmt.Errorf("who you are is not known: %w", cluster.Explain(err))
	}
	user := review.Status.UserInfo
	for {
		if err := Undecided(a, user.Username, now); err != nil {
			return err
		}
		decision := v1alpha1.ApprovalDecision{DecidedBy: user.Username, Decision: verdict, Groups: askedGroups(a, user.Groups), Comment: comment}
		if err := taken(a, &decision); err != nil {
			return err
		}
		a.Spec.Decisions = append(a.Spec.Decisions, decision)
		err := k.Update(ctx, a)
		if !apierrors.IsConflict(err) {
			return refusal(err)
		}
		if err := k.Get(ctx, cluster.Key(a), a); err != nil {
			return cluster.Explain(err)
		}
	}
}

// Undecided says why a user cannot decide any more; nil if they can.
func Undecided(a *v1alpha1.MCPApproval, user string, now time.Time) error {
	switch {
	case a.Ended():
		return fmt.Errorf("%s waits no more: it is %s", a.Name, a.EffectiveState())
	case !now.Before(a.Spec.Request.ExpiryTime.Time):
		return fmt.Errorf("%s has expired, at %s; the agent has to ask again", a.Name, a.Spec.Request.ExpiryTime.UTC().Format(time.RFC3339))
	}
	for _, d := range a.Spec.Decisions {
		if d.DecidedBy == user {
			return fmt.Errorf("you have decided about %s already (%s), and a decision cannot be changed", a.Name, d.Decision)
		}
	}
	return nil
}

// taken says why an approval would count for no policy; nil if it would. It could not be changed into a denial then.
func taken(a *v1alpha1.MCPApproval, d *v1alpha1.ApprovalDecision) error {
	policies := a.Spec.Request.Policies
	if d.Decision != v1alpha1.VerdictApprove || slices.ContainsFunc(policies, func(p v1alpha1.ApprovalAsker) bool { return p.Takes(d) }) {
		return nil
	}
	var asks []string
	for i := range policies {
		who := "people, and you are a ServiceAccount"
		if groups := policies[i].ApproverGroups; len(groups) > 0 {
			who = "people in " + strings.Join(groups, " or ")
		}
		asks = append(asks, fmt.Sprintf("policy %s asks for %s", policies[i].Name, who))
	}
	return fmt.Errorf("nothing was decided: your approval of %s would not count, as %s. One of them has to allow it; you can deny it", a.Name, strings.Join(asks, ", and "))
}

// askedGroups are those of a user's groups that a policy asks for.
func askedGroups(a *v1alpha1.MCPApproval, groups []string) []string {
	var asked []string
	for i := range a.Spec.Request.Policies {
		asked = append(asked, a.Spec.Request.Policies[i].ApproverGroups...)
	}
	slices.Sort(asked)
	return slices.DeleteFunc(slices.Compact(asked), func(group string) bool { return !slices.Contains(groups, group) })
}

// refusal is an error of a decision. What the admission policy says is all that the person needs.
func refusal(err error) error {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		if _, said, found := strings.Cut(status.Status().Message, "denied request: "); found {
			return errors.New(said)
		}
	}
	return cluster.Explain(err)
}
