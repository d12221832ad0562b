package main

import (
	"encoding/json"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/status"
)

func (w *world) statusOf(t *testing.T, args ...string) (s status.Status, ready bool) {
	t.Helper()
	out, err := w.command(append([]string{"status", "shop", "-n", "shop", "-o", "json"}, args...)...)
	if problem := json.Unmarshal([]byte(out), &s); problem != nil {
		t.Fatalf("%v\n%s", problem, out)
	}
	return s, err == nil
}

func (w *world) testStatusWithoutPods(t *testing.T) {
	w.eventually("what is not true is told", func() bool {
		out, err := w.command("status", "shop", "-n", "shop")
		return err != nil && strings.Contains(out, "WorkloadAvailable (")
	})
	w.expect(t, true, []string{"MCPEndpoint shop/shop: not Ready (", "  not true   Ready (", "  calls      unknown: no pod's metrics could be read\n",
		"! MCPEndpointNotReady: ", "mcp-admin: MCPEndpoint shop/shop is not Ready\n"}, "status", "shop", "-n", "shop")
	s, ready := w.statusOf(t)
	if ready || s.Ready || s.Counted != nil || len(s.Problems) == 0 || len(s.Pods) != 0 {
		t.Errorf("the status is %+v", s)
	}
	w.expect(t, true, []string{`namespace shop has no MCPEndpoint "shp"; the nearest is "shop"`}, "status", "shp", "-n", "shop")
	w.expect(t, true, []string{"name the MCPEndpoint: mcp-admin status ENDPOINT"}, "status")
}

func (w *world) testStatus(t *testing.T) {
	w.expect(t, false, nil, "call", "agent", "list_order", "-n", "shop")
	w.expect(t, true, nil, "call", "agent", "get_order", "id=2", "-n", "shop")
	w.serverPod("shop-0").ask("nobody")

	var s status.Status
	w.eventually("the endpoint is Ready", func() bool {
		var ready bool
		s, ready = w.statusOf(t)
		return ready
	})
	c := s.Counted
	if !s.Ready || c == nil || c.Pods != 1 || c.Calls["ok"] < 1 || c.Calls["not_found"] < 1 || c.Requests["4xx"] < 1 || len(c.Refused) == 0 || len(c.DatabaseDown)+len(c.ConfigRefused) > 0 {
		t.Errorf("%+v counted %+v", s, c)
	}
	if len(s.Pods) != 1 || s.Pods[0].Name != "shop-0" || !s.Pods[0].Ready || s.Pods[0].Revision == nil || *s.Pods[0].Revision != s.Revision || s.Pods[0].Image != "server:test" {
		t.Errorf("the pods are %+v, the revision is %d", s.Pods, s.Revision)
	}
	if s.Models.Served != 1 || s.Tokens.InForce < 1 || !s.Database.Reached || s.Database.Engine != "SQLite" || len(s.Alerts) > 0 || len(s.Unseen) > 0 {
		t.Errorf("the status is %+v", s)
	}
	out := w.expect(t, false, []string{"MCPEndpoint shop/shop: Ready\n", "  database   SQLite ", "POD      READY   REVISION   RESTARTS   AGE   IMAGE", "shop-0   yes "}, "status", "shop", "-n", "shop")
	if strings.Contains(out, "\x1b") {
		t.Errorf("there is colour without a terminal: %q", out)
	}
	w.expect(t, false, []string{"endpoint: shop/shop\n", "ready: true\n"}, "status", "shop", "-n", "shop", "-o", "yaml")
	w.expect(t, true, []string{"ask an administrator"}, "status", "shop", "-n", "shop", "--as", "nobody")
}

// An endpoint whose calls fail because their audit lines cannot be written is not Ready, and status and doctor tell of the lines.
func (w *world) testLostAuditLines(t *testing.T, pod *serverPod) {
	e := &v1alpha1.MCPEndpoint{ObjectMeta: objectMeta("shop")}
	deliver := func(how v1alpha1.AuditDelivery) {
		w.check(w.k8s.Get(t.Context(), client.ObjectKeyFromObject(e), e))
		changed := e.DeepCopy()
		changed.Spec.Observability.Audit.Delivery = how
		w.check(w.k8s.Patch(t.Context(), changed, client.MergeFrom(e)))
	}
	update := []string{"call", "agent", "update_order", "id=3", "data.total=32", "-n", "shop"}
	pod.full.Store(true)
	deliver(v1alpha1.AuditDeliveryRequired)
	w.eventually("a change is refused", func() bool {
		out, err := w.command(update...)
		return err != nil && strings.Contains(out, "unavailable: ")
	})
	w.eventually("the endpoint is not Ready", func() bool {
		out, err := w.command("doctor", "shop", "-n", "shop")
		return err != nil && strings.Contains(out, "(WorkloadAvailable AuditLinesFailing)\n    kubectl logs deployment/shop-mcp -n shop\n")
	})
	const lost = "write_failed: standard output, or the claim of observability.audit.files, does not take them"
	const required = "with delivery: Required a call whose line is not written fails with unavailable"
	w.expect(t, true, []string{"! Pod shop/shop-0: since its server started at 20", lost, required, "(MCPAuditLinesLost)\n    kubectl logs shop-0 -n shop | grep", "1 thing is wrong\n"}, "doctor", "shop", "-n", "shop")
	w.expect(t, true, []string{"! MCPAuditLinesLost: pod shop-0: since its server started at 20", lost, required, "runbooks/MCPAuditLinesLost.md\n"}, "status", "shop", "-n", "shop")
	if s, _ := w.statusOf(t); len(s.Counted.AuditLost) != 1 || s.Counted.AuditLost[0].Lines["write_failed"] < 1 {
		t.Errorf("counted %+v", s.Counted)
	}
	pod.full.Store(false)
	deliver(v1alpha1.AuditDeliveryBestEffort)
	w.expect(t, false, []string{`"total": 32`}, update...)
	w.expect(t, false, nil, "call", "agent", "update_order", "id=3", "data.total=30", "-n", "shop") // as the other tests want it
}
