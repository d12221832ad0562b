package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/program"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// The commands for clusters, against a real API server with the controllers and real servers.
func TestCommandsInACluster(t *testing.T) {
	w := newWorld(t)
	w.makeShop()
	w.run("doctor before there are pods", w.testDoctorWithoutPods)
	w.run("status before there are pods", w.testStatusWithoutPods)
	pod := w.runServer("shop", "shop", "shop-0")
	w.readyToken("agent")
	w.run("doctor", w.testDoctor)
	w.run("doctor names causes", w.testDoctorNamesCauses)
	w.run("a token that expired", w.testExpired)
	w.run("doctor about pods", w.testDoctorAboutPods)
	w.run("doctor about the audit table", w.testDoctorAboutTheAuditTable)
	w.run("doctor without rights", w.testDoctorWithoutRights)
	w.run("what the document shows", w.testDocument)
	w.run("can", w.testCan)
	w.run("matrix and who", w.testMatrix)
	w.run("status", w.testStatus)
	w.run("report", w.testReport)
	w.run("lost audit lines", func(t *testing.T) { w.testLostAuditLines(t, pod) }) // before "connect": no issuer is reached then
	w.run("connect", w.testConnect)
	w.run("call", w.testCall)
	w.run("revoke", func(t *testing.T) { w.testRevoke(t, pod) })
	w.run("the page", w.testPage)
	w.run("the page without rights", w.testPageWithoutRights)
	w.run("the page: see as", w.testPageTrials)
	w.run("tail", func(t *testing.T) { w.testTail(t, pod) })
	w.run("the page: activity", w.testPageActivity)
	w.run("tail through restarts", func(t *testing.T) { w.testTailThroughRestarts(t, pod) })
	w.run("tail with the journal", func(t *testing.T) { w.testTailWithTheJournal(t, pod) })
	w.run("the page: undo", w.testPageUndo) // there is a journal now
	w.run("tail without times", func(t *testing.T) { w.testTailWithoutTimes(t, pod) })
	w.run("connect through a pod", func(t *testing.T) { w.testForward(t, pod) })
	w.run("approvals", w.testApprovals)
	w.run("generate", w.testGenerate)
	w.run("completion", w.testCompletion)
	w.run("wrong names", w.testWrongNames)
	w.stop()
	w.run("doctor without a manager", w.testDoctorWithoutManager)
	w.run("revoke without a manager", w.testRevokeWithoutManager)
	w.run("without the kinds", w.testWithoutKinds)
}

func objectMeta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "shop", Name: name}
}

// makeShop makes an endpoint with a model and tokens.
func (w *world) makeShop() {
	w.t.Helper()
	w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}})
	e := &v1alpha1.MCPEndpoint{ObjectMeta: objectMeta("shop")}
	e.Spec.Database.SQLite = &v1alpha1.SQLiteSpec{EmptyDir: &v1alpha1.SQLiteEmptyDir{}}
	e.Spec.Groups = []v1alpha1.Group{{Name: "clerks", Permissions: []v1alpha1.PermissionRule{{Models: []string{"order"}, Verbs: []v1alpha1.Verb{"view", "change"}}}}}
	x := &v1alpha1.MCPModelExposure{ObjectMeta: objectMeta("order")}
	x.Spec.EndpointRef.Name, x.Spec.Table.Name, x.Spec.Expose = "shop", "orders", new(true)
	x.Spec.RowPolicies = []v1alpha1.RowPolicy{{
		Name: "own-region", Groups: []string{"clerks"}, Filters: []v1alpha1.RowFilter{{Field: "region", TokenAttribute: "region"}},
	}}
	agent := &v1alpha1.MCPToken{ObjectMeta: objectMeta("agent")}
	agent.Spec.EndpointRef.Name, agent.Spec.Groups, agent.Spec.Attributes = "shop", []string{"clerks"}, map[string]v1alpha1.AttributeValue{"region": "north"}
	w.create(e, x, agent)
}

func (w *world) readyToken(name string) {
	w.t.Helper()
	var t v1alpha1.MCPToken
	w.eventually("MCPToken "+name+" is Ready", func() bool {
		err := w.k8s.Get(context.Background(), client.ObjectKey{Namespace: "shop", Name: name}, &t)
		return err == nil && meta.IsStatusConditionTrue(t.Status.Conditions, v1alpha1.ConditionReady)
	})
}

// expect checks what a command prints.
func (w *world) expect(t *testing.T, fails bool, wants []string, args ...string) string {
	t.Helper()
	out, err := w.command(args...)
	if (err != nil) != fails {
		t.Errorf("%v ends with %v", args, err)
	}
	if err != nil {
		out += "mcp-admin: " + err.Error() + "\n"
	}
	for _, want := range wants {
		if !strings.Contains(out, want) {
			t.Errorf("%v: the output lacks %q:\n%s", args, want, out)
		}
	}
	return out
}

func (w *world) testWithoutKinds(*testing.T) {
	kind := &unstructured.Unstructured{}
	kind.SetAPIVersion("apiextensions.k8s.io/v1")
	kind.SetKind("CustomResourceDefinition")
	kind.SetName("mcptokens.mcpadmin.dev")
	w.check(w.k8s.Delete(context.Background(), kind))
	w.eventually("a kind that is missing is told", func() bool {
		out, err := w.command("doctor", "-n", "shop")
		return err != nil && strings.Contains(out, "the kind MCPToken of mcpadmin.dev/v1alpha1 is not installed") &&
			!strings.Contains(out, "the kind MCPEndpoint")
	})
	_, err := w.command("connect", "agent", "-n", "shop")
	if err == nil || !strings.Contains(err.Error(), "install the operator first") {
		w.t.Error(err)
	}
}

func (w *world) testRevoke(t *testing.T, pod *serverPod) {
	token := &v1alpha1.MCPToken{ObjectMeta: objectMeta("leaked")}
	token.Spec.EndpointRef.Name, token.Spec.Groups = "shop", []string{"clerks"}
	token.Spec.Attributes = map[string]v1alpha1.AttributeValue{"region": "south"}
	w.create(token)
	w.readyToken("leaked")
	w.expect(t, false, []string{"list_order"}, "call", "leaked", "-n", "shop")
	secret := w.text("leaked")
	w.expect(t, false, []string{"MCPToken shop/leaked: every pod refuses it\n"}, "revoke", "leaked", "-n", "shop")
	w.expect(t, true, []string{"MCPToken leaked is not active; set spec.active to true"}, "call", "leaked", "-n", "shop")
	w.expect(t, false, []string{"every pod refuses it"}, "revoke", "leaked", "-n", "shop") // once more
	if code := pod.ask(secret); code != http.StatusUnauthorized {
		t.Errorf("a revoked token is answered with %d", code)
	}
	w.eventually("the object and an event tell that it was used", func() bool {
		var events eventsv1.EventList
		w.check(w.k8s.Get(t.Context(), client.ObjectKeyFromObject(token), token))
		w.check(w.k8s.List(t.Context(), &events, client.InNamespace("shop")))
		return token.Status.LastRefusedTime != nil && slices.ContainsFunc(events.Items, func(e eventsv1.Event) bool {
			return e.Reason == "UsedWhileInactive" && e.Regarding.Name == "leaked" && strings.HasPrefix(e.Note, "it was used ") &&
				strings.HasSuffix(e.Note, " while it is not active, and refused; last from 127.0.0.1")
		})
	})
	w.expect(t, true, []string{`no MCPToken of namespace shop has the group "clerk"`}, "revoke", "--group", "clerk", "-n", "shop")
	w.expect(t, true, []string{"name MCPTokens, or a group"}, "revoke", "leaked", "--group", "clerks", "-n", "shop")
	w.check(w.k8s.Delete(context.Background(), token))
}

// Its caller only sees that it is refused: the commands say why.
func (w *world) testExpired(t *testing.T) {
	token := &v1alpha1.MCPToken{ObjectMeta: objectMeta("past")}
	token.Spec.EndpointRef.Name, token.Spec.Groups = "shop", []string{"clerks"}
	token.Spec.Attributes = map[string]v1alpha1.AttributeValue{"region": "south"}
	w.create(token)
	w.readyToken("past")
	w.expect(t, false, []string{"list_order"}, "call", "past", "-n", "shop")
	expire := func(at time.Time) {
		w.check(w.k8s.Get(t.Context(), client.ObjectKeyFromObject(token), token))
		changed := token.DeepCopy()
		changed.Spec.Expiry, changed.Spec.ExpiryWarning = &metav1.Time{Time: at}, &metav1.Duration{Duration: 48 * time.Hour}
		w.check(w.k8s.Patch(t.Context(), changed, client.MergeFrom(token)))
	}
	expire(time.Now().Add(24 * time.Hour))
	w.eventually("doctor notes that it expires soon, and nothing is wrong", func() bool {
		out, err := w.command("doctor", "-n", "shop")
		return err == nil && strings.Contains(out, "! MCPToken shop/past: the token expires at 20")
	})
	expire(time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC))
	w.eventually("doctor notes that it expired, and nothing is wrong", func() bool {
		out, err := w.command("doctor", "-n", "shop")
		return err == nil && strings.Contains(out, "! MCPToken shop/past: the token expired at 2020-01-02T03:04:05Z")
	})
	w.expect(t, true, []string{"refuses the token: MCPToken past expired at 2020-01-02T03:04:05Z; set spec.expiry or spec.ttl later, or make another"}, "call", "past", "-n", "shop")
	w.check(w.k8s.Delete(t.Context(), token))
}

func (w *world) testRevokeWithoutManager(t *testing.T) {
	w.expect(t, true, []string{"no manager looks after namespace shop, so the pods still let the tokens in"}, "revoke", "agent", "-n", "shop")
}

func (w *world) testMatrix(t *testing.T) {
	w.expect(t, false, []string{"shop/agent", "v-c-- own-region"}, "matrix", "shop", "-n", "shop")
	w.expect(t, false, []string{"shop/agent,clerks,order,true,false,true,false,"}, "matrix", "shop", "-n", "shop", "--csv")
	w.expect(t, false, []string{"order.region is shown.", "shop/agent", "own-region", "group clerks"}, "who", "order.region", "-e", "shop", "-n", "shop")
	w.expect(t, true, []string{`the nearest is "region"`}, "who", "order.regoin", "-e", "shop", "-n", "shop")
	w.expect(t, true, []string{"name the MCPEndpoint"}, "who", "order", "-n", "shop")
}

func (w *world) testCan(t *testing.T) {
	w.expect(t, false, []string{"MODEL", "order   yes    -     yes      -        -        -         -         policy own-region"}, "can", "agent", "-n", "shop")
	w.expect(t, false, []string{"change: yes, by group clerks", "add: no: no rule of the token or its groups grants add on order"}, "can", "agent", "order", "-n", "shop", "--explain")
	w.expect(t, true, []string{`the endpoint has no model "ordr"; the nearest is "order"`}, "can", "agent", "ordr", "-n", "shop")
	out := w.expect(t, false, nil, "can", "agent", "-n", "shop", "-o", "json")
	var a struct {
		InForce bool
		Models  []struct{ Model string }
	}
	if json.Unmarshal([]byte(out), &a) != nil || !a.InForce || len(a.Models) != 1 {
		t.Errorf("%s", out)
	}
}

func (w *world) testConnect(t *testing.T) {
	bot := &v1alpha1.MCPToken{ObjectMeta: objectMeta("bot")}
	bot.Spec.EndpointRef.Name, bot.Spec.ServiceAccountRef = "shop", &v1alpha1.ServiceAccountReference{Name: "worker"}
	w.create(bot)
	w.expect(t, false, []string{"Bearer ${SHOP_TOKEN}", "http://shop-mcp.shop.svc/mcp/", "export SHOP_TOKEN=", "kubectl get secret agent -n shop", "within the cluster only"},
		"connect", "agent", "-n", "shop")
	text := w.text("agent")
	for _, client := range []string{"claude-code", "cursor", "vscode", "codex", "gemini", "windsurf", "inspector"} {
		if out := w.expect(t, false, nil, "connect", "agent", "-n", "shop", "--client", client); strings.Contains(out, text) {
			t.Errorf("%s is shown the token", client)
		}
	}
	file := filepath.Join(t.TempDir(), "mcp.json")
	w.expect(t, false, []string{`now has the server "shop"`}, "connect", "agent", "-n", "shop", "--client", "claude-desktop", "--write", "--file", file)
	if written, err := os.ReadFile(file); err != nil || !strings.Contains(string(written), "Bearer "+text) {
		t.Errorf("%v\n%s", err, written)
	}
	w.expect(t, true, []string{"it is for the ServiceAccount shop/worker", "kubectl create token worker -n shop --audience http://shop-mcp.shop.svc/mcp/"}, "connect", "bot", "-n", "shop")
}

func (w *world) text(secret string) string {
	w.t.Helper()
	var s corev1.Secret
	w.check(w.k8s.Get(context.Background(), client.ObjectKey{Namespace: "shop", Name: secret}, &s))
	return string(s.Data["token"])
}

func (w *world) testCall(t *testing.T) {
	w.expect(t, false, []string{"TOOL", "list_order", "update_order"}, "call", "agent", "-n", "shop")
	w.expect(t, false, []string{"id   region   total\n1    north    10\n3    north    30\n2 rows of 2\n"}, "call", "agent", "list_order", "order_by=id", "-n", "shop")
	w.expect(t, false, []string{"1    north    10\n1 row of 1\n"}, "call", "agent", "list_order", "filters.region=north", "limit=1", "filters.total=10", "-n", "shop")
	w.expect(t, false, []string{`"total": 31`}, "call", "agent", "update_order", "id=3", "data.total=31", "-n", "shop")
	w.expect(t, true, []string{"not_found: order not found\nmcp-admin: the call failed\n"}, "call", "agent", "get_order", "id=2", "-n", "shop")
	w.expect(t, true, []string{`Unknown tool: lst_order; the nearest is "list_order"`}, "call", "agent", "lst_order", "-n", "shop")
	out := w.expect(t, false, nil, "call", "agent", "list_order", "--json", `{"limit":1}`, "-n", "shop", "-o", "json")
	if json.Unmarshal([]byte(out[strings.Index(out, "{"):]), &struct{ Content []any }{}) != nil {
		t.Errorf("%s", out)
	}
	w.expect(t, false, []string{"list_order"}, "call", "agent", "-n", "shop", "--url", "http://"+w.serverPod("shop-0").endpoint+"/mcp/")
	w.expect(t, true, []string{`"mcp-admin connect bot" says how they call`}, "call", "bot", "-n", "shop")
}

func (w *world) testForward(t *testing.T, pod *serverPod) {
	ctx, stop := context.WithCancel(t.Context())
	out, ended := &harness.Log{}, make(chan error, 1)
	go func() {
		ended <- w.commandTo(ctx, out, "connect", "agent", "-n", "shop", "--port-forward=0", "--client", "inspector")
	}()
	w.eventually("the connection", func() bool { return strings.Contains(out.String(), "until you interrupt") })
	_, rest, _ := strings.Cut(out.String(), "--cli ")
	url, _, _ := strings.Cut(rest, " ")
	w.expect(t, false, []string{"list_order"}, "call", "agent", "-n", "shop", "--url", url)
	second := w.runServer("shop", "shop", "shop-2")
	pod.delete()
	w.eventually("the other pod answers at the same port", func() bool {
		_, err := w.command("call", "agent", "-n", "shop", "--url", url)
		return err == nil && strings.Contains(out.String(), "connected to pod "+second.pod.Name)
	})
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func (w *world) testCompletion(t *testing.T) {
	for args, want := range map[string]string{"call ": "agent\nauditor\nbot\n:4\n", "doctor ": "shop\n:4\n", "call agent ": ":4\n"} {
		words := append([]string{cobra.ShellCompNoDescRequestCmd}, strings.Split(args, " ")...)
		var out bytes.Buffer
		command := program.New("mcp-admin")
		command.SetArgs(slices.Insert(words, 2, "--kubeconfig", w.kubeconfig, "-n", "shop"))
		command.SetOut(&out)
		if err := command.ExecuteContext(t.Context()); err != nil || out.String() != want {
			t.Errorf("%q is completed by %q, %v", args, out.String(), err)
		}
	}
}

func (w *world) testWrongNames(t *testing.T) {
	w.expect(t, true, []string{`namespace shop has no MCPToken "agnt"; the nearest is "agent"`}, "connect", "agnt", "-n", "shop")
	w.expect(t, true, []string{`namespace other has no MCPToken "agent", nor any other; name its namespace with -n`}, "can", "agent", "-n", "other")
	w.expect(t, true, []string{`"emacs" is not known; it is one of claude-code, `}, "connect", "agent", "-n", "shop", "--client", "emacs")
	w.expect(t, true, []string{"the local port cannot be opened"}, "connect", "agent", "-n", "shop", "--port-forward=99999")
}
