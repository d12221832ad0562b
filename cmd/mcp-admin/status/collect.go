package status

import (
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/doctor"
	"github.com/mcp-admin/mcp-admin-operator/controllers/podproblem"
)

// Status is the command's output. Its names stay the same: scripts read them.
type Status struct {
	// Endpoint is namespace/name.
	Endpoint string `json:"endpoint"`
	Ready    bool   `json:"ready"`
	// Reason and Message come from the condition Ready.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	URL     string `json:"url,omitempty"`
	// Revision is the revision of the main part of the Config.
	Revision   int64              `json:"revision"`
	Conditions []metav1.Condition `json:"conditions"`
	// Problems say what is wrong with the endpoint, its models, tokens and pods, each with a command that helps. Notes say what is
	// worth knowing and not wrong.
	Problems []doctor.Problem `json:"problems"`
	Notes    []doctor.Problem `json:"notes"`
	Database Database         `json:"database"`
	Pods     []Pod            `json:"pods"`
	Models   Models           `json:"models"`
	Tokens   Tokens           `json:"tokens"`
	// Counted is null if no pod's metrics could be read.
	Counted *Counted `json:"counted"`
	Alerts  []Alert  `json:"alerts"`
	// Unseen says what could not be looked at, and why.
	Unseen []string `json:"notLookedAt"`
	now    time.Time
	// requiresLines is whether calls fail without their audit lines.
	requiresLines bool
}

// Database is the endpoint's database, as its pods found it.
type Database struct {
	Engine  string `json:"engine,omitempty"`
	Version string `json:"version,omitempty"`
	// Reached is whether the condition DatabaseReady is true; Reason and Message are its.
	Reached bool   `json:"reached"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// Pod is a pod of the endpoint's server.
type Pod struct {
	Name     string    `json:"name"`
	Ready    bool      `json:"ready"`
	Problem  string    `json:"problem,omitempty"`
	Restarts int32     `json:"restarts"`
	Image    string    `json:"image"`
	Started  time.Time `json:"started,omitzero"`
	// Revision is the newest of the Config that the pod answers from; null if its metrics could not be read.
	Revision *int64 `json:"revision"`
}

// Models counts the models that are served, and has those that are not for a reason of their own.
type Models struct {
	Served int `json:"served"`
	// Waiting is how many are not Ready for what is wrong with the endpoint alone, such as its database's password. Pods may still
	// answer for them.
	Waiting  int        `json:"waiting"`
	Withheld []Withheld `json:"withheld"`
}

// Withheld is an MCPModelExposure whose model is not served.
type Withheld struct {
	Exposure string `json:"exposure"`
	Reason   string `json:"reason,omitempty"`
	Message  string `json:"message,omitempty"`
}

// Tokens counts the endpoint's MCPTokens. Names are namespace/name.
type Tokens struct {
	All     int `json:"all"`
	InForce int `json:"inForce"`
	// Refused expired or are not active; NotReady have a problem.
	Refused  []string   `json:"refused"`
	NotReady []string   `json:"notReady"`
	Expiring []Expiring `json:"expiring"`
	// Unused are in force for more than a day, and nobody has called with them in the last 30 days.
	Unused []string `json:"unused"`
}

// Expiring is a token that expires within a week.
type Expiring struct {
	Token string    `json:"token"`
	At    time.Time `json:"at"`
	// short is whether it lives so short that no alert counts it.
	short bool
}

const (
	soon   = 7 * 24 * time.Hour
	unused = 30 * 24 * time.Hour
	young  = 24 * time.Hour
)

// Collect looks at an endpoint. It fails only if that cannot be read.
func Collect(ctx context.Context, k *cluster.Cluster, key types.NamespacedName, now time.Time) (*Status, error) {
	e, err := k.Endpoint(ctx, key)
	if err != nil {
		return nil, err
	}
	of := *k
	of.Namespace = key.Namespace
	found, err := doctor.Examine(ctx, &of, key.Name)
	if err != nil {
		return nil, err
	}
	s := Of(e, found, now)
	pods, err := k.Pods(ctx, key)
	s.unseen("pods", err)
	s.pods(pods)
	s.count(ctx, k, pods)
	exposures, err := k.Exposures(ctx, key)
	s.unseen("mcpmodelexposures", err)
	s.AddModels(exposures)
	tokens, err := k.TokensInReach(ctx, key)
	s.unseen("mcptokens", err)
	s.AddTokens(tokens)
	s.warn()
	return s, nil
}

// Of is the status of an endpoint and of its doctor's findings alone.
func Of(e *v1alpha1.MCPEndpoint, found *doctor.Diagnosis, now time.Time) *Status {
	s := &Status{
		Endpoint: cluster.Key(e).String(), URL: e.Status.URL, Revision: e.Status.Revision, Conditions: sorted(e.Status.Conditions), now: now,
		Problems: nonNil(found.Problems), Notes: nonNil(found.Notes), Unseen: nonNil(found.Unseen), Pods: []Pod{}, Alerts: []Alert{},
		requiresLines: e.RequiresAuditLines(), Models: Models{Withheld: []Withheld{}}, Tokens: Tokens{Refused: []string{}, NotReady: []string{}, Expiring: []Expiring{}, Unused: []string{}},
	}
	s.endpoint(e)
	return s
}

func nonNil[T any](of []T) []T {
	if of == nil {
		return []T{}
	}
	return of
}

// unseen notes what could not be listed, unless the examination has said so.
func (s *Status) unseen(what string, err error) {
	if err == nil || slices.ContainsFunc(s.Unseen, func(told string) bool { return strings.HasPrefix(told, what+":") }) {
		return
	}
	s.Unseen = append(s.Unseen, what+": "+err.Error())
}

// sorted returns the conditions with those first that are not true.
func sorted(conditions []metav1.Condition) []metav1.Condition {
	all := nonNil(slices.Clone(conditions))
	slices.SortStableFunc(all, func(a, b metav1.Condition) int {
		return rank(a) - rank(b)
	})
	return all
}

func rank(c metav1.Condition) int {
	switch {
	case c.Type == v1alpha1.ConditionReady:
		return 0
	case c.Status != metav1.ConditionTrue:
		return 1
	}
	return 2
}

// ReadyOf says whether an endpoint is Ready as it stands, with the reason and the message of its condition.
func ReadyOf(e *v1alpha1.MCPEndpoint) (ready bool, reason, message string) {
	c := meta.FindStatusCondition(e.Status.Conditions, v1alpha1.ConditionReady)
	if c == nil {
		return false, "", ""
	}
	return c.Status == metav1.ConditionTrue && e.Status.ObservedGeneration == e.Generation && e.DeletionTimestamp.IsZero(), c.Reason, c.Message
}

func (s *Status) endpoint(e *v1alpha1.MCPEndpoint) {
	s.Ready, s.Reason, s.Message = ReadyOf(e)
	s.Database = Database{Engine: e.Status.Database.Engine, Version: e.Status.Database.Version}
	if c := meta.FindStatusCondition(e.Status.Conditions, v1alpha1.ConditionDatabaseReady); c != nil {
		s.Database.Reached, s.Database.Reason, s.Database.Message = c.Status == metav1.ConditionTrue, c.Reason, c.Message
	}
}

func (s *Status) pods(pods []corev1.Pod) {
	for i := range pods {
		p := Pod{Name: pods[i].Name, Ready: cluster.IsReady(&pods[i])}
		if !p.Ready {
			p.Problem = podproblem.Of(&pods[i])
		}
		if started := pods[i].Status.StartTime; started != nil {
			p.Started = started.UTC()
		}
		for _, c := range pods[i].Spec.Containers {
			if c.Name == cluster.ServerContainer {
				p.Image = c.Image
			}
		}
		for _, c := range pods[i].Status.ContainerStatuses {
			if c.Name == cluster.ServerContainer {
				p.Restarts = c.RestartCount
			}
		}
		s.Pods = append(s.Pods, p)
	}
}

// AddModels counts the models of an endpoint.
func (s *Status) AddModels(exposures []v1alpha1.MCPModelExposure) {
	for i := range exposures {
		x := &exposures[i]
		ready := meta.FindStatusCondition(x.Status.Conditions, v1alpha1.ConditionReady)
		if ready != nil && ready.Status == metav1.ConditionTrue {
			s.Models.Served++
			continue
		}
		if doctor.WaitsForEndpoint(x.Status.Conditions, s.Conditions) {
			s.Models.Waiting++
			continue
		}
		w := Withheld{Exposure: x.Name}
		if ready != nil {
			w.Reason, w.Message = ready.Reason, ready.Message
		}
		s.Models.Withheld = append(s.Models.Withheld, w)
	}
}

// AddTokens counts the tokens of an endpoint.
func (s *Status) AddTokens(tokens []v1alpha1.MCPToken) {
	s.Tokens.All = len(tokens)
	for i := range tokens {
		t := &tokens[i]
		name := cluster.Key(t).String()
		ready := meta.FindStatusCondition(t.Status.Conditions, v1alpha1.ConditionReady)
		switch {
		case ready == nil || ready.Status != metav1.ConditionTrue:
			s.Tokens.NotReady = append(s.Tokens.NotReady, name)
			continue
		case ready.Reason == v1alpha1.ReasonExpired || ready.Reason == v1alpha1.ReasonInactive:
			s.Tokens.Refused = append(s.Tokens.Refused, name)
			continue
		}
		s.Tokens.InForce++
		if at := t.Status.ExpirationTime; at != nil && at.Sub(s.now) < soon {
			s.Tokens.Expiring = append(s.Tokens.Expiring, Expiring{name, at.UTC(), t.ShortLived()})
		}
		used := t.Status.LastUsedTime
		if s.now.Sub(t.CreationTimestamp.Time) > young && (used == nil || s.now.Sub(used.Time) > unused) {
			s.Tokens.Unused = append(s.Tokens.Unused, name)
		}
	}
}
