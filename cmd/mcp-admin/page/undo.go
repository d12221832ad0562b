package page

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/rights"
	lines "github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/tail"
)

// takingBack is how a call is taken back. Only the token that made it can: who may read the token's text does it here.
type takingBack struct {
	// Command does it in a terminal; "" if the call has no id.
	Command string
	// Why says why the token cannot do it now, Missing which right of the person is missing. Can reports that neither is so.
	Why     string
	Missing *refusal
	// LetIn is the token to let in again first; "" if that is not what is missing, or cannot be done here.
	LetIn string
}

// Can reports whether the page knows no obstacle. The endpoint still checks the token's own rights.
func (b *takingBack) Can() bool { return b.Why == "" && b.Missing == nil }

// takeBack finds out how to take back a call that changed something, and what prevents it.
func (q *request) takeBack(c *lines.Call, objects *rights.Objects) (*takingBack, error) {
	if c.Call == "" {
		return &takingBack{Why: "the line of the call does not say its id, by which it could be taken back"}, nil
	}
	return q.takeBackAs(tokenOfCall(c), []string{"call=" + c.Call}, objects)
}

// takeBackAs finds out how a token takes back what arguments of undo name, and what prevents it.
func (q *request) takeBackAs(key types.NamespacedName, arguments []string, objects *rights.Objects) (*takingBack, error) {
	b := &takingBack{Command: q.source().Command("call", key, append([]string{key.Name, "undo"}, arguments...)...)}
	i := slices.IndexFunc(objects.Tokens, func(t v1alpha1.MCPToken) bool { return cluster.Key(&t) == key })
	if i < 0 {
		b.Why = fmt.Sprintf("MCPToken %s is not there any more, or not for you to see; only with it the call can be taken back", key)
		return b, nil
	}
	token := &objects.Tokens[i]
	switch {
	case !token.Spec.EffectiveActive():
		b.Why = fmt.Sprintf("MCPToken %s is not active, and only with it the call can be taken back", key)
		b.LetIn = when(q.source().Cluster() != nil, key.String())
		return b, nil
	case token.Expired(q.page.now()):
		b.Why = fmt.Sprintf("MCPToken %s has expired, and only with it the call can be taken back: give it a later expiry", key)
		return b, nil
	}
	return b, q.tellNeeds(b, objects.Endpoint, token)
}

// tellNeeds says which right the person lacks to call as the token, or why nobody can.
func (q *request) tellNeeds(b *takingBack, endpoint *v1alpha1.MCPEndpoint, token *v1alpha1.MCPToken) error {
	needs, none := q.source().CallNeeds(endpoint, token)
	if b.Why = messageOf(none); b.Why != "" {
		return nil
	}
	for i := range needs {
		missing, err := q.may(&needs[i])
		if b.Missing = missing; err != nil || missing != nil {
			return err
		}
	}
	return nil
}

// messageOf is an error's message; "" if there is none.
func messageOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

var (
	errNotChanged = errors.New("the call changed nothing that could be taken back")
	errNoJournal  = errors.New("the endpoint keeps no journal (spec.audit), so nobody knows what the rows were before")
)

// callBack is the call that the path names, and how it is taken back.
func (q *request) callBack() (*lines.Call, *takingBack, *rights.Objects, error) {
	c, err := q.knownCall()
	if err != nil {
		return nil, nil, nil, err
	}
	objects, err := q.source().Objects(q.Context(), q.key())
	switch {
	case err != nil:
		return nil, nil, nil, err
	case !hasChanged(c):
		return nil, nil, nil, errNotChanged
	case objects.Endpoint.Spec.Audit == nil:
		return nil, nil, nil, errNoJournal
	case c.Subject != "":
		return nil, nil, nil, errors.New("the caller showed a token of an identity provider, so only the caller can take the call back, with undo")
	}
	b, err := q.takeBack(c, objects)
	return c, b, objects, err
}

// undoPlan has the endpoint say, in a dry run, what taking a call back would do.
func (q *request) undoPlan() (any, error) {
	q.Title = "Take it back"
	c, b, _, err := q.callBack()
	if err != nil {
		return nil, err
	}
	q.Title = "Take it back: what it would do"
	q.alike(b.Command)
	r := &reversal{takingBack: b, Key: keyOfCall(c), Token: c.Token, What: whatOf(c), When: moment(c.At)}
	return r, q.tell(r, tokenOfCall(c), map[string]any{"call": c.Call})
}

// undo takes the call back, as the token's holder.
func (q *request) undo() (string, error) {
	c, b, objects, err := q.callBack()
	if err == nil {
		err = b.obstacle()
	}
	if err != nil {
		return "", err
	}
	values, err := q.reverse(objects, tokenOfCall(c), map[string]any{"call": c.Call}, "call "+c.Call)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s/activity/%s/undo/done?%s", q.pathOfEndpoint(), url.PathEscape(q.PathValue("at")), values.Encode()), nil
}

// pathOfEndpoint is the path of the endpoint's screens, below the root.
func (q *request) pathOfEndpoint() string {
	return "e/" + url.PathEscape(q.key().Namespace) + "/" + url.PathEscape(q.key().Name)
}

// undone says what happened, once the audit lines of it are there.
func (q *request) undone() (any, error) {
	at, err := strconv.ParseInt(q.PathValue("at"), 10, 64)
	if err != nil {
		return nil, errNoScreen
	}
	return q.undoneSince(time.Unix(0, at), "activity/"+url.PathEscape(q.PathValue("at"))+"/undo")
}
