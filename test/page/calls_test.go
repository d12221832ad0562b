package page

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/call"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// notes are an endpoint whose rows, descriptions and columns are hostile: scripts, marks that turn the direction, and 10,000 characters.
var notes = `apiVersion: v1
kind: ConfigMap
metadata: {name: notes-sql, namespace: notes}
data:
  1.sql: |
    CREATE TABLE note (id TEXT PRIMARY KEY, "<b>bold</b>" TEXT, text TEXT NOT NULL, size INTEGER NOT NULL DEFAULT 1);
    INSERT INTO note VALUES ('<script>alert(1)</script>', '<img src=x onerror=alert(1)>', '<script>alert("run")</script>', 1);
    INSERT INTO note VALUES ('2', char(8238) || 'שלום' || char(8294), replace(hex(zeroblob(5000)), '0', 'y'), 2);
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPEndpoint
metadata: {name: notes, namespace: notes}
spec:
  database: {sqlite: {emptyDir: {}, initConfigMapRef: {name: notes-sql}}}
  groups:
  - {name: writers, permissions: [{models: ["*"], verbs: ["*"]}]}
  audit: {table: {name: mcp_admin_log}}
  observability: {audit: {reads: Rows}}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPModelExposure
metadata: {name: note, namespace: notes}
spec:
  endpointRef: {name: notes}
  table: {name: note}
  expose: true
  description: '<script>alert(1)</script><img src=x onerror=alert(1)>"'
  fields: {overrides: [{name: size, description: '<script>alert(1)</script>'}]}
---
apiVersion: v1
kind: Secret
metadata: {name: agent-text, namespace: notes}
stringData: {token: ` + agentText + `}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPToken
metadata: {name: agent, namespace: notes}
spec: {endpointRef: {name: notes}, groups: [writers], tokenSecretRef: {name: agent-text, key: token}}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPToken
metadata: {name: idle, namespace: notes}
spec: {endpointRef: {name: notes}}
`

const agentText = "agent-0123456789012345678901234567890123456789"

var calledAt = regexp.MustCompile(`http://127\.0\.0\.1:\d+/mcp/`)

// overCalls is See as and Activity over the notes: as dev serves them, and in a cluster, whose node has dev's audit lines as the log of the
// endpoint's pod.
func (s *stage) overCalls(c *cluster) {
	s.t.Helper()
	folder, out := s.t.TempDir(), new(harness.Log)
	s.check(os.WriteFile(filepath.Join(folder, "notes.yaml"), []byte(notes), 0o600))
	page := s.run(out, "dev", "-f", folder, "--state", s.t.TempDir(), "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0")
	url := calledAt.FindString(out.String())
	s.callNotes(url)
	s.drive(work{Name: "calls of dev", Link: page, Screens: callScreens(), Follow: &follow{
		"e/notes/notes/activity?live=on", `e/notes/notes/see-as/notes/agent/list_note?arguments={"limit":2}`, "What it is shown",
	}})
	s.fillNotes(c, strings.TrimSuffix(url, "/mcp/"), out)
	s.drive(work{Name: "calls in a cluster", Link: s.serve("ui", "--kubeconfig", c.kubeconfig, "-n", "notes"), Screens: callScreens(), Follow: &follow{
		"e/notes/notes/activity?live=on", `e/notes/notes/see-as/notes/agent/list_note?arguments={"limit":2}`, "What it is shown",
	}, Questions: []question{
		{"What did agent do last night, and how is it taken back?", []string{"click notes/notes", "click Activity", "click notes/agent", "click 12 hours", "open 1 changed"}, []string{"Before and after", "Take it back"}},
		{"What were the rows before?", []string{"click notes/notes", "click Activity", "open 1 changed", "click Read the journal as notes/agent"}, []string{"Before", "<script>", "undo"}},
		{"What did agent do last night? Take it back.", []string{"click notes/notes", "click Activity", "click 12 hours", "open 1 changed", "click See what it would do", "click Take it back"},
			[]string{"Done: the rows are as they were before.", "note <script>alert(1)</script>", "as before"}},
	}})
	s.callsWithoutRights(c)
}

// callNotes makes calls: one that reads, one that changes a row with a hostile id, and one that is refused, from a program with a hostile
// name.
func (s *stage) callNotes(url string) {
	s.t.Helper()
	ctx := s.t.Context()
	session, err := call.At(url, agentText, nil).Open(ctx, script+turned)
	s.check(err)
	defer session.Close()
	for tool, arguments := range map[string]map[string]any{
		"list_note":   {"limit": 2},
		"update_note": {"id": "<script>alert(1)</script>", "data": map[string]any{"text": script + turned + strings.Repeat("z", 10_000)}},
		"get_note":    {"id": script},
	} {
		_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
		s.check(err)
	}
	// The newest change is one that can be taken back: the journal keeps all of it.
	_, err = session.CallTool(ctx, &mcp.CallToolParams{Name: "update_note", Arguments: map[string]any{"id": "<script>alert(1)</script>", "data": map[string]any{"b_bold_b": script + turned}}})
	s.check(err)
	if _, err := call.At(url, strings.Repeat("wrong", 20), nil).Open(ctx, script); err == nil {
		s.t.Error("a wrong text is let in")
	}
}

// callScreens are the screens of See as and Activity, as somebody sees them who has the rights.
func callScreens() []visit {
	const of = "e/notes/notes"
	const tried = of + "/see-as/notes/agent/"
	return []visit{
		{Path: of + "/see-as", Wants: []string{"notes/agent", "notes/idle", "counts as the token's own call"}},
		{Path: of + "/see-as?token=agent", Wants: []string{"bytes of the agent's context", "list_note", "update_note changes"}},
		{Path: of + "/see-as?token=" + strings.Repeat("q", 400), Wants: []string{"has no MCPToken"}, Status: http.StatusBadGateway},
		{Path: tried + "describe_note", Wants: []string{"What it is shown", "<script>", "b_bold_b"}},
		{Path: tried + `list_note?arguments={"limit":2}`, Wants: []string{"<script>", `\u202e`, "2 rows"}},
		{Path: tried + "list_note?arguments=" + script, Wants: []string{"The arguments cannot be sent"}},
		{Path: tried + "list_note?arguments={\"ordering\":[\"none\"]}", Wants: []string{"Refused"}},
		{Path: tried + "update_note?arguments={}", Status: http.StatusBadGateway, Wants: []string{"only tools that read"}},
		{Path: of + "/activity?since=12h", Wants: []string{"12 hours", "update_note"}},
		{Path: of + "/activity", Wants: []string{"update_note", "get_note", "1 changed", "unknown", "notes/agent"}, Lacks: []string{"Nothing is found"}},
		{Path: of + "/activity?token=agent&model=note&since=1h&outcome=refused", Wants: []string{"get_note"}, Lacks: []string{"update_note"}},
		{Path: of + "/activity?dry=on", Wants: []string{"update_note"}},
		{Path: of + "/take-back", Wants: []string{"It takes back all that a token has changed since a time"}},
		{Path: of + "/take-back?token=agent&since=12h", Wants: []string{"It has the rows be as they were before all that notes/agent has changed since"}},
		{Path: of + "/take-back?token=agent&since=" + script, Wants: []string{"Since must be a time"}},
		{Path: of + "/activity?token=" + script, Wants: []string{"Nothing is found"}},
		{Path: of + "/activity/1", Status: http.StatusBadGateway, Wants: []string{"not among those that are known"}},
		change("", "Rows changed", "Before and after", "Read the journal as notes/agent", "Take it back", "See what it would do", "<script>"),
		change("?rows=show", "b_bold_b", "<script>", `\u202e`, "undo"),
		change("/undo", "what it would do", "b_bold_b", `\u202e`, "<img src=x onerror=alert(1)>", "as before", "Leave it"),
	}
}

// change is a screen of the call that changed a row.
func change(path string, wants ...string) visit {
	return visit{First: "e/notes/notes/activity?model=update_note", Row: "1 changed", Path: path, Wants: wants}
}

// fillNotes makes the objects of the notes in a cluster, with a pod whose log is what dev prints.
func (s *stage) fillNotes(c *cluster, url string, log *harness.Log) {
	s.t.Helper()
	kubelet := httptest.NewUnstartedServer(logsOf(log))
	kubelet.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	kubelet.StartTLS()
	s.t.Cleanup(kubelet.Close)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}}
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(kubelet.Listener.Addr().(*net.TCPAddr).Port) // #nosec G115 -- a port
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "notes", Name: "notes-0", Labels: map[string]string{"mcpadmin.dev/endpoint": "notes", "mcpadmin.dev/component": "server"}}}
	pod.Spec.NodeName, pod.Spec.Containers = node.Name, []corev1.Container{{Name: "server", Image: "server:test"}}
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	endpoint := endpointOf("notes", "notes", true, "")
	endpoint.Spec.Groups = []v1alpha1.Group{{Name: "writers", Permissions: []v1alpha1.PermissionRule{{Models: []string{"*"}, Verbs: []v1alpha1.Verb{"*"}}}}}
	endpoint.Spec.Network.ExternalURL = url
	endpoint.Spec.Observability.Audit.Reads = v1alpha1.AuditReadsRows
	endpoint.Spec.Audit = &v1alpha1.AuditSpec{Table: v1alpha1.TableReference{Name: "mcp_admin_log"}}
	agent := tokenOf("notes", "notes", "agent", "writers")
	agent.Spec.TokenSecretRef = &v1alpha1.SecretKeyReference{Name: "agent-text", Key: "token"}
	ctx := s.t.Context()
	s.check(c.k8s.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "notes"}}))
	s.check(c.k8s.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "notes", Name: "agent-text"}, StringData: map[string]string{"token": agentText}}))
	s.check(c.create(ctx, node, endpoint, exposureOf("notes", "notes", "note", "id", "<b>bold</b>", "text", "size"), agent, tokenOf("notes", "notes", "idle"), pod))
	objects := rbacv1.PolicyRule{APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"mcpendpoints", "mcpmodelexposures", "mcptokens"}, Verbs: []string{"get", "list"}}
	s.mayInNotes(c, "viewer", objects)
	s.mayInNotes(c, "on-call", objects, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods", "pods/log"}, Verbs: []string{"get", "list"}})
}

// mayInNotes gives a person rights.
func (s *stage) mayInNotes(c *cluster, person string, rules ...rbacv1.PolicyRule) {
	s.t.Helper()
	role := metav1.ObjectMeta{Namespace: "notes", Name: person}
	s.check(c.k8s.Create(s.t.Context(), &rbacv1.Role{ObjectMeta: role, Rules: rules}))
	s.check(c.k8s.Create(s.t.Context(), &rbacv1.RoleBinding{ObjectMeta: role, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: person},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: person}}}))
}

// logsOf answers as a kubelet whose only container has written the audit lines of a log.
func logsOf(log *harness.Log) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, line := range log.Lines(`{"time":"`) {
			written, _, _ := strings.Cut(strings.TrimPrefix(line, `{"time":"`), `"`)
			if r.URL.Query().Get("timestamps") == "true" {
				line = written + " " + line
			}
			fmt.Fprintln(w, line)
		}
	})
}

// callsWithoutRights is the same for somebody who sees the objects, but neither Secrets nor logs, and for somebody who may nothing.
func (s *stage) callsWithoutRights(c *cluster) {
	s.t.Helper()
	const of = "e/notes/notes"
	denied := func(path, what string) visit {
		return visit{Path: path, Status: http.StatusForbidden, Wants: []string{"You may not " + what + " in namespace notes.", "kubectl auth can-i"}, Lacks: []string{"<script>", "update_note"}}
	}
	s.drive(work{Name: "calls without Secrets and logs", Link: s.serve("ui", "--kubeconfig", c.kubeconfig, "-n", "notes", "--as", "viewer"), Screens: []visit{
		{Path: of + "/see-as", Wants: []string{"notes/agent", "You need the right to read the token's Secret"}},
		denied(of+"/see-as?token=agent", "get secrets"), denied(of+"/see-as/notes/agent/list_note?arguments={}", "get secrets"),
		denied(of+"/activity", "list pods"), denied(of+"/activity/1", "list pods"),
	}})
	refused := []string{"You may not get secrets in namespace notes.", "kubectl auth can-i get secrets/agent-text -n notes", "mcp-admin call agent undo"}
	seen, plan := change("", refused...), change("/undo", refused...)
	seen.Lacks, plan.Lacks = []string{"See what it would do"}, []string{"Leave it"}
	s.drive(work{Name: "calls without Secrets", Link: s.serve("ui", "--kubeconfig", c.kubeconfig, "-n", "notes", "--as", "on-call"), Screens: []visit{seen, plan}})
	s.drive(work{Name: "calls without any right", Link: s.serve("ui", "--kubeconfig", c.kubeconfig, "-n", "notes", "--as", "nobody"), Screens: []visit{
		denied(of+"/see-as", "get mcpendpoints"), denied(of+"/see-as?token=agent", "get mcpendpoints"),
		denied(of+"/see-as/notes/agent/list_note", "get mcpendpoints"), denied(of+"/activity", "get mcpendpoints"), denied(of+"/activity/1", "get mcpendpoints"),
	}})
}
