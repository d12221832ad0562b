package page

import (
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/rights"
)

// refusal says why there is nothing to show.
type refusal struct {
	Why, Do, Command string
	// Words are what the API server said.
	Words string
	// Link leads on, by its Label; "" is none.
	Link, Label string
}

// notDone is the error of an act that was not done, with the screen that tells how things are now. Its path is below the root.
type notDone struct{ why, path, label string }

// Error implements error.
func (n *notDone) Error() string { return n.why }

// denied is how the API server says which right is missing. The verb may be one of constrained impersonation: impersonate-on:user-info:list.
var denied = regexp.MustCompile(`cannot ([\w:-]+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]+)")?`)

// missingRight says of a refusal of the API server which right is missing; nil if it is none.
func missingRight(err error) *refusal {
	if !apierrors.IsForbidden(err) {
		return nil
	}
	r := &refusal{Why: "You may not see this.", Words: err.Error(), Do: "The page asks the API server as you, and it refused. Ask an administrator of the cluster for that right."}
	m := denied.FindStringSubmatch(err.Error())
	if m == nil {
		return r
	}
	verb, resource, group, namespace := m[1], m[2], m[3], m[4]
	if strings.HasPrefix(verb, "impersonate") {
		r.Why, r.Do = "This page may not ask as you.", "Its ServiceAccount needs the right to impersonate you and your groups. Ask who installed it."
		return r
	}
	resource, subresource, _ := strings.Cut(resource, "/")
	r.names(&authorizationv1.ResourceAttributes{Verb: verb, Group: group, Resource: resource, Subresource: subresource, Namespace: namespace})
	return r
}

// names has a refusal name the right that is missing, and the command that asks for it.
func (r *refusal) names(right *authorizationv1.ResourceAttributes) {
	what, asked, words := right.Resource, right.Resource, []string(nil)
	if right.Group != "" {
		asked += "." + right.Group
	}
	if right.Name != "" {
		asked += "/" + right.Name
	}
	if right.Subresource != "" {
		what += "/" + right.Subresource
		words = append(words, "--subresource="+right.Subresource) // kubectl takes what stands after a "/" for a name
	}
	where, flag := "in all namespaces", []string{"-A"}
	if right.Namespace != "" {
		where, flag = "in namespace "+right.Namespace, []string{"-n", right.Namespace}
	}
	r.Why = "You may not " + right.Verb + " " + what + " " + where + "."
	r.Command = CommandLine(slices.Concat([]string{"kubectl", "auth", "can-i", right.Verb, asked}, words, flag)...)
}

// Sentence is an error as one plain sentence: a missing right by its name.
func Sentence(err error) string {
	if r := missingRight(err); r != nil {
		return r.Why
	}
	return err.Error()
}

// refuse shows why there is nothing to show.
func (p *Screens) refuse(w http.ResponseWriter, q *request, err error) {
	code, told, title := http.StatusBadGateway, missingRight(err), "Not possible"
	var missing *cluster.Missing
	var undone *notDone
	var notServed *rights.NotServed
	switch {
	case told != nil:
		code, title = http.StatusForbidden, "A right is missing"
	case errors.As(err, &undone):
		code, title = http.StatusConflict, "Nothing was done"
		told = &refusal{Why: sentenceCase(undone.why), Link: p.root + undone.path, Label: undone.label}
	case errors.As(err, &notServed):
		code, title, told = http.StatusConflict, "Not served", &refusal{Why: sentenceCase(err.Error())}
	case errors.As(err, &missing), errors.Is(err, errNoScreen), errors.Is(err, errNoApproval):
		code, title = http.StatusNotFound, "Not found"
		fallthrough
	default:
		told = &refusal{Why: sentenceCase(err.Error())}
	}
	p.render(w, code, "refused", &view{request: q, Title: title, Data: told})
}

// sentenceCase makes a message a sentence.
func sentenceCase(message string) string {
	if message == "" {
		return message
	}
	text := strings.ToUpper(message[:1]) + message[1:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}
