package page

import (
	"context"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/call"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/doctor"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/rights"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/status"
	lines "github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/tail"
)

// Source is where the page reads. An error that the API server gave for a missing right is told as such; of what is read beside the
// main thing, the answers say what could not be looked at.
type Source interface {
	// Place says what is looked at, and as whom, in a few words.
	Place() string
	// Person is the person's name, as the cluster knows it.
	Person() string
	// Endpoints are the endpoints that the person may list.
	Endpoints(ctx context.Context) (*Endpoints, error)
	// Status is the health of one endpoint, as "mcp-admin status" tells it.
	Status(ctx context.Context, endpoint types.NamespacedName) (*status.Status, error)
	// Objects are an endpoint with its models and tokens, with their statuses.
	Objects(ctx context.Context, endpoint types.NamespacedName) (*rights.Objects, error)
	// Diagnose says what is wrong with all endpoints that Endpoints lists, as "mcp-admin doctor" does.
	Diagnose(ctx context.Context) (*doctor.Diagnosis, error)
	// Callee is how the endpoint is called as the holder of a token, whose text the person must be allowed to read. Its connection lasts
	// as long as ctx.
	Callee(ctx context.Context, endpoint, token types.NamespacedName) (*call.Callee, error)
	// CallNeeds are the rights that the person needs for Callee; none if whoever sees the page may call. The error says why nobody can
	// call as the token from here.
	CallNeeds(endpoint *v1alpha1.MCPEndpoint, token *v1alpha1.MCPToken) ([]authorizationv1.ResourceAttributes, error)
	// Calls are the newest calls of the endpoint, none from before a time.
	Calls(ctx context.Context, endpoint types.NamespacedName, from time.Time) (*Calls, error)
	// Approvals are the calls that wait for people, and those that ended not long ago, of all endpoints that the person may see. If some
	// could not be looked at, the error is Unseen, and the others are there.
	Approvals(ctx context.Context) ([]v1alpha1.MCPApproval, error)
	// Decide adds the person's decision to an MCPApproval, as "mcp-admin approve" and "mcp-admin deny" do. The error says why not.
	Decide(ctx context.Context, approval types.NamespacedName, verdict v1alpha1.ApprovalVerdict, comment string) error
	// Command is the command line of mcp-admin that tells the same about an endpoint; "" if there is none. The name is the command's,
	// such as "matrix"; the arguments are its own, and unquoted.
	Command(name string, endpoint types.NamespacedName, args ...string) string
	// Cluster is where objects can be changed; nil if they lie in files.
	Cluster() *cluster.Cluster
}

// Endpoints are endpoints in a list, and what could not be listed.
type Endpoints struct {
	Items []v1alpha1.MCPEndpoint
	// Unseen are sentences, one for each thing.
	Unseen []string
}

// Unseen is the error of a list that lacks something: sentences that say what could not be looked at.
type Unseen []string

// Error implements error.
func (u Unseen) Error() string { return strings.Join(u, "; ") }

// MostCalls is how many calls a Source tells at most.
const MostCalls = 500

// Calls are calls as audit lines tell them, the newest first.
type Calls struct {
	Items []lines.Call
	// Older is how many older ones were left out, Unseen what could not be looked at.
	Older  int
	Unseen []string
	// From says in words where the lines come from.
	From string
}
