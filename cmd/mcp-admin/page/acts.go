package page

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	actions "github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/acts"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
)

// An act is one thing that a person can do to tokens, or to the endpoint. What it does, and how it is done by hand, is in one place.
type act struct {
	// name is the path's; Title and Does are for people; Takes says that it takes something away.
	name, Title, Does string
	Takes             bool
	// ofTokens says that it is for tokens; else it is for the endpoint. ofGroup lets it be for all tokens of a group.
	ofTokens, ofGroup bool
	// reason is the event's, in the form that events have.
	reason string
	// refuses says why it cannot be done to an object; "" if it can.
	refuses func(client.Object) string
	do      func(ctx context.Context, k *cluster.Cluster, o client.Object, now time.Time) error
	// settled reports whether the controllers have acted upon it; Settled and Waits say both in words.
	settled        func(client.Object) bool
	Settled, Waits string
	// command does the same in a terminal, to all the tokens of the group or to the object.
	command func(group string, o types.NamespacedName, now time.Time) string
}

func tokenOf(o client.Object) *v1alpha1.MCPToken { return o.(*v1alpha1.MCPToken) }

// annotated is the command that sets an annotation.
func annotated(kind string, o types.NamespacedName, annotation string) string {
	words := []string{"kubectl", "annotate", kind, o.Name, "-n", o.Namespace, annotation}
	if strings.Contains(annotation, "=") {
		words = append(words, "--overwrite")
	}
	return CommandLine(words...)
}

func allActs() []act {
	return []act{
		{name: "revoke", Title: "Revoke", Takes: true, ofTokens: true, ofGroup: true, reason: "Revoked",
			Does: "sets spec.active to false. Every pod refuses the token, as a rule within a second; calls under way end. Nothing is deleted: it can be let in again.",
			refuses: func(o client.Object) string {
				if !tokenOf(o).Spec.EffectiveActive() {
					return "it is revoked already"
				}
				return ""
			},
			do: func(ctx context.Context, k *cluster.Cluster, o client.Object, _ time.Time) error {
				return actions.Revoke(ctx, k, tokenOf(o))
			},
			settled: func(o client.Object) bool { return !tokenOf(o).Spec.EffectiveActive() && actions.Applied(tokenOf(o)) },
			Settled: "every pod refuses it", Waits: "not every pod refuses it yet",
			command: func(group string, o types.NamespacedName, _ time.Time) string {
				if group != "" {
					return CommandLine("mcp-admin", "revoke", "--group", group, "-n", o.Namespace)
				}
				return CommandLine("mcp-admin", "revoke", o.Name, "-n", o.Namespace)
			}},
		{name: "activate", Title: "Let in again", ofTokens: true, reason: "Activated",
			Does: "sets spec.active to true. Every pod lets the token in again, with the same text. If the text leaked, delete its Secret first.",
			refuses: func(o client.Object) string {
				if tokenOf(o).Spec.EffectiveActive() {
					return "it is active already"
				}
				return ""
			},
			do: func(ctx context.Context, k *cluster.Cluster, o client.Object, _ time.Time) error {
				return actions.Activate(ctx, k, tokenOf(o))
			},
			settled: func(o client.Object) bool { return tokenOf(o).Spec.EffectiveActive() && actions.Applied(tokenOf(o)) },
			Settled: "every pod lets it in", Waits: "not every pod lets it in yet",
			command: func(_ string, o types.NamespacedName, _ time.Time) string {
				return CommandLine("kubectl", "patch", "mcptoken", o.Name, "-n", o.Namespace, "--type=merge", "-p", `{"spec":{"active":true}}`)
			}},
		{name: "rotate", Title: "Rotate", ofTokens: true, reason: "RotationRequested",
			Does:    "asks for another text, in the token's Secret. The old text works on for spec.rotation.overlap (one hour if absent), so this is not for a text that leaked: revoke it.",
			refuses: func(o client.Object) string { return actions.CannotRotate(tokenOf(o)) },
			do: func(ctx context.Context, k *cluster.Cluster, o client.Object, now time.Time) error {
				return actions.Rotate(ctx, k, tokenOf(o), now)
			},
			settled: func(o client.Object) bool {
				asked, err := time.Parse(time.RFC3339, o.GetAnnotations()[v1alpha1.RotateAnnotation])
				last := tokenOf(o).Status.LastRotation
				return err == nil && last != nil && !last.Time.Before(asked)
			},
			Settled: "the Secret has a new text", Waits: "the new text is being made known to the pods",
			command: func(_ string, o types.NamespacedName, now time.Time) string {
				return annotated("mcptoken", o, v1alpha1.RotateAnnotation+"="+now.UTC().Format(time.RFC3339))
			}},
		{name: "pause", Title: "Pause", reason: "Paused",
			Does:    "has the controllers make nothing new of the endpoint. What takes access away is never held up. Agents are answered as before.",
			refuses: func(o client.Object) string { return when(v1alpha1.IsPaused(o), "it is paused already") },
			do: func(ctx context.Context, k *cluster.Cluster, o client.Object, _ time.Time) error {
				return actions.Pause(ctx, k, o)
			},
			settled: paused, Settled: "it is paused", Waits: "the manager has not seen it yet",
			command: func(_ string, o types.NamespacedName, _ time.Time) string {
				return annotated("mcpendpoint", o, v1alpha1.PausedAnnotation+"=true")
			}},
		{name: "resume", Title: "End the pause", reason: "Resumed",
			Does:    "has the controllers look after the endpoint again.",
			refuses: func(o client.Object) string { return when(!v1alpha1.IsPaused(o), "it is not paused") },
			do: func(ctx context.Context, k *cluster.Cluster, o client.Object, _ time.Time) error {
				return actions.Resume(ctx, k, o)
			},
			settled: func(o client.Object) bool { return !paused(o) }, Settled: "the pause has ended", Waits: "the manager has not seen it yet",
			command: func(_ string, o types.NamespacedName, _ time.Time) string {
				return annotated("mcpendpoint", o, v1alpha1.PausedAnnotation+"-")
			}},
		{name: "reconcile", Title: "Look again", reason: "ReconcileRequested",
			Does:    "asks the controllers for a fresh look at the endpoint, past every cache; the pods read the database's schema again.",
			refuses: func(client.Object) string { return "" },
			do:      actions.Reconcile,
			settled: func(o client.Object) bool {
				return o.(*v1alpha1.MCPEndpoint).Status.LastHandledReconcileAt == v1alpha1.ReconcileRequest(o)
			}, Settled: "the manager has looked", Waits: "the manager has not looked yet",
			command: func(_ string, o types.NamespacedName, now time.Time) string {
				return annotated("mcpendpoint", o, v1alpha1.ReconcileRequestAnnotation+"="+now.UTC().Format(time.RFC3339))
			}},
	}
}

func when(holds bool, text string) string {
	if holds {
		return text
	}
	return ""
}

func paused(o client.Object) bool {
	return meta.FindStatusCondition(o.(*v1alpha1.MCPEndpoint).Status.Conditions, v1alpha1.ConditionPaused) != nil
}

// Path is the act's in the URL.
func (a *act) Path() string { return a.name }

// OfTokens and OfGroup are for the template.
func (a *act) OfTokens() bool { return a.ofTokens }
func (a *act) OfGroup() bool  { return a.ofGroup }

var errFiles = errors.New("the objects lie in files here: change them there")

// actOf is the act that the path names.
func (q *request) actOf() (*act, error) {
	if q.source().Cluster() == nil {
		return nil, errFiles
	}
	all := allActs()
	i := slices.IndexFunc(all, func(a act) bool { return a.name == q.PathValue("act") })
	if i < 0 {
		return nil, errNoScreen
	}
	return &all[i], nil
}

// mostNames is how many names a list to choose from has.
const mostNames = 500

// choices are the acts, and what they can be done to.
type choices struct {
	Acts           []act
	Tokens, Groups []string
	More           int
}

func (q *request) acts() (any, error) {
	q.Title = "Acts"
	if q.source().Cluster() == nil {
		return nil, errFiles
	}
	objects, err := q.source().Objects(q.Context(), q.key())
	if err != nil {
		return nil, err
	}
	c := &choices{Acts: slices.DeleteFunc(allActs(), func(a act) bool { return !a.ofTokens && a.refuses(objects.Endpoint) != "" })}
	for i := range objects.Tokens {
		t := &objects.Tokens[i]
		if len(c.Tokens) < mostNames {
			c.Tokens = append(c.Tokens, cluster.Key(t).String())
		}
		c.Groups = append(c.Groups, t.Spec.NamedGroups()...)
	}
	slices.Sort(c.Groups)
	c.Groups = slices.Compact(c.Groups)
	c.More = len(objects.Tokens) - len(c.Tokens)
	return c, nil
}

// targets are the objects that the query or the form names: a token, the tokens of a group, or the endpoint.
func (q *request) targets(a *act) ([]client.Object, error) {
	if !a.ofTokens {
		e, err := q.source().Cluster().In(q.key().Namespace).Endpoint(q.Context(), q.key())
		return []client.Object{e}, err
	}
	group := q.FormValue("group")
	namespace, names := q.key().Namespace, []string(nil)
	switch token := strings.TrimSpace(q.FormValue("token")); {
	case group != "" && a.ofGroup:
	case token == "":
		return nil, errors.New("choose a token")
	default:
		before, after, qualified := strings.Cut(token, "/")
		if names = []string{before}; qualified {
			namespace, names = before, []string{after}
		}
		group = ""
	}
	tokens, err := actions.TokensOf(q.Context(), q.source().Cluster().In(namespace), names, group)
	objects := make([]client.Object, len(tokens))
	for i := range tokens {
		objects[i] = &tokens[i]
	}
	return objects, err
}

// plan is what an act would do; and, after it, what happened.
type plan struct {
	*act
	Token, Group string
	Targets      []target
	// All is how many objects it is for, More how many of them are not named; Can how many it changes.
	All, More, Can int
	// Missing says which right is missing, Unmanaged that no manager looks after the namespace.
	Missing   *refusal
	Unmanaged bool
	// Done is how many objects the controllers have acted upon; NoEvent says why nothing was recorded.
	Done    int
	NoEvent string
}

type target struct {
	Name, Endpoint, Refuses string
	Settled                 bool
}

func (q *request) planOf() (*plan, []client.Object, error) {
	a, err := q.actOf()
	if err != nil {
		return nil, nil, err
	}
	objects, err := q.targets(a)
	if err != nil {
		return nil, nil, err
	}
	p := &plan{act: a, Token: q.FormValue("token"), Group: q.FormValue("group"), All: len(objects)}
	for _, o := range objects {
		t := target{Name: cluster.Key(o).String(), Refuses: a.refuses(o), Settled: a.settled(o)}
		if token, ok := o.(*v1alpha1.MCPToken); ok && token.Endpoint() != q.key() {
			t.Endpoint = token.Endpoint().String()
		}
		if t.Refuses == "" {
			p.Can++
		}
		if t.Settled {
			p.Done++
		}
		if len(p.Targets) < perPage {
			p.Targets = append(p.Targets, t)
		}
	}
	p.More = p.All - len(p.Targets)
	return p, objects, nil
}

// plan says what an act would do.
func (q *request) plan() (any, error) {
	p, objects, err := q.planOf()
	if err != nil {
		return nil, err
	}
	q.Title = p.Title + ": what it would do"
	q.Commands = append(q.Commands, p.command(p.Group, cluster.Key(objects[0]), q.page.now()))
	resource := "mcpendpoints"
	if p.ofTokens {
		resource = "mcptokens"
	}
	namespace := objects[0].GetNamespace()
	if p.Missing, err = q.may(&authorizationv1.ResourceAttributes{Verb: "patch", Group: v1alpha1.GroupVersion.Group, Resource: resource, Namespace: namespace}); err != nil {
		return nil, err
	}
	if managed, err := q.source().Cluster().In(namespace).Managed(q.Context(), namespace); err == nil {
		p.Unmanaged = !managed
	} else {
		q.Unseen = append(q.Unseen, "whether a manager runs: "+Sentence(err))
	}
	return p, nil
}

// may asks the API server whether the person has a right; it returns what is missing, or nil.
func (q *request) may(right *authorizationv1.ResourceAttributes) (*refusal, error) {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: right}}
	if err := q.source().Cluster().Create(q.Context(), review); err != nil {
		return nil, cluster.Explain(err)
	}
	if review.Status.Allowed {
		return nil, nil
	}
	missing := &refusal{}
	missing.names(right)
	return missing, nil
}

// perform does it, as the person.
func (q *request) perform() (string, error) {
	p, objects, err := q.planOf()
	if err != nil {
		return "", err
	}
	changed, noEvent := 0, ""
	for _, o := range objects {
		if p.refuses(o) != "" {
			continue
		}
		k := q.source().Cluster().In(o.GetNamespace())
		if err := p.do(q.Context(), k, o, q.page.now()); err != nil {
			if changed > 0 {
				return "", fmt.Errorf("%d of %d are done; then %s was refused: %w", changed, p.Can, cluster.Key(o), err)
			}
			return "", err
		}
		changed++
		if err := actions.Record(q.Context(), k, o, p.reason, q.by()); err != nil {
			noEvent = Sentence(err)
		}
	}
	values := url.Values{"token": {p.Token}, "group": {p.Group}}
	if noEvent != "" {
		values.Set("noevent", noEvent)
	}
	return fmt.Sprintf("e/%s/%s/acts/%s/done?%s", url.PathEscape(q.key().Namespace), url.PathEscape(q.key().Name), p.name, values.Encode()), nil
}

// by is who did it, in an event.
func (q *request) by() string { return "By " + q.source().Person() + ", through the page of mcp-admin" }

// done says what happened, until the controllers have acted upon it.
func (q *request) done() (any, error) {
	p, _, err := q.planOf()
	if err != nil {
		return nil, err
	}
	q.Title = p.Title + ": what happened"
	q.Refresh = p.Done < p.All
	p.NoEvent = q.FormValue("noevent")
	q.command("doctor")
	return p, nil
}
