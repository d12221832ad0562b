package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

func (w *world) testTail(t *testing.T, pod *serverPod) {
	w.expect(t, false, []string{"shop/agent  update_order 3 (total)  ok, 1 changed  shop-0"}, "tail", "shop", "-n", "shop")
	ctx, stop := context.WithCancel(t.Context())
	out, ended := &harness.Log{}, make(chan error, 1)
	go func() { ended <- w.commandTo(ctx, out, "tail", "shop", "-n", "shop", "-f", "-o", "json") }()
	w.eventually("the line of before", func() bool { return strings.Contains(out.String(), `"pod":"shop-0"`) })
	second := w.runServer("shop", "shop", "shop-1")
	url := "http://" + second.endpoint + "/mcp/"
	w.eventually("a new pod answers", func() bool {
		_, err := w.command("call", "agent", "update_order", "id=1", "data.total=11", "-n", "shop", "--url", url)
		return err == nil
	})
	w.eventually("the line of the new pod", func() bool { return strings.Contains(out.String(), `"pod":"shop-1"`) })
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	second.delete()
}

// No line is lost when a container ends, and none is shown twice: neither what it wrote last, nor what the next one writes
// before the pod's status shows the restart.
func (w *world) testTailThroughRestarts(t *testing.T, pod *serverPod) {
	ctx, stop := context.WithCancel(t.Context())
	out, ended := &harness.Log{}, make(chan error, 1)
	go func() { ended <- w.commandTo(ctx, out, "tail", "shop", "-n", "shop", "-f", "-o", "json") }()
	total := 100
	change := func() string {
		total++
		_, err := w.command("call", "agent", "update_order", "id=1", fmt.Sprintf("data.total=%d", total), "-n", "shop", "--url", "http://"+pod.endpoint+"/mcp/")
		w.check(err)
		lines := pod.audit.Lines("update_order")
		return strings.TrimSuffix(lines[len(lines)-1], "}")
	}
	count := func(line string) int { return strings.Count(out.String(), line) }
	lines := []string{change()}
	w.eventually("the first line", func() bool { return count(lines[0]) == 1 })

	pod.endContainer()
	lines = append(lines, change())
	pod.startContainer()
	pod.showRestart()
	lines = append(lines, change())
	w.eventually("the last line of the first container, and the first of the next", func() bool { return count(lines[1]) == 1 && count(lines[2]) == 1 })

	pod.endContainer()
	lines = append(lines, change())
	pod.startContainer()
	lines = append(lines, change())
	w.eventually("the first line of the third container", func() bool { return count(lines[4]) == 1 })
	pod.showRestart()
	w.eventually("the last line of the second", func() bool { return count(lines[3]) == 1 })
	for i, line := range lines {
		if n := count(line); n != 1 {
			t.Errorf("line %d is shown %d times", i, n)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	// A kubelet has the logs of two containers.
	all := w.expect(t, false, nil, "tail", "shop", "-n", "shop", "-o", "json")
	for i, line := range lines[2:] {
		if n := strings.Count(all, line); n != 1 {
			t.Errorf("without -f, line %d is shown %d times", i+2, n)
		}
	}
}

// A node that does not know when it took a line is read by the lines' own times.
func (w *world) testTailWithoutTimes(t *testing.T, pod *serverPod) {
	w.untimed.Store(true)
	defer w.untimed.Store(false)
	lines := func(text string) int { return strings.Count(text, `"msg":"audit"`) }
	before := lines(w.expect(t, false, []string{`"tool":"update_order"`, "and only the logs of the last two are left"}, "tail", "shop", "-n", "shop", "-o", "json"))
	ctx, stop := context.WithCancel(t.Context())
	out, ended := &harness.Log{}, make(chan error, 1)
	go func() { ended <- w.commandTo(ctx, out, "tail", "shop", "-n", "shop", "-f", "-o", "json") }()
	w.eventually("the lines of before", func() bool { return lines(out.String()) == before })
	_, err := w.command("call", "agent", "update_order", "id=1", "data.total=77", "-n", "shop", "--url", "http://"+pod.endpoint+"/mcp/")
	w.check(err)
	w.eventually("the new line", func() bool { return lines(out.String()) == before+1 })
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// The journal has what no log tells of, and of what a log tells nothing is shown twice.
func (w *world) testTailWithTheJournal(t *testing.T, pod *serverPod) {
	w.expect(t, true, []string{"keeps no audit table (spec.audit)"}, "tail", "shop", "-n", "shop", "--journal-as", "auditor")
	e := &v1alpha1.MCPEndpoint{ObjectMeta: objectMeta("shop")}
	w.check(w.k8s.Get(t.Context(), client.ObjectKeyFromObject(e), e))
	changed := e.DeepCopy()
	changed.Spec.Audit = &v1alpha1.AuditSpec{Table: v1alpha1.TableReference{Name: "shop_log"}}
	w.check(w.k8s.Patch(t.Context(), changed, client.MergeFrom(e)))
	w.expect(t, true, []string{"no MCPModelExposure of MCPEndpoint shop shows the table shop_log"}, "tail", "shop", "-n", "shop", "--journal-as", "auditor")
	x := &v1alpha1.MCPModelExposure{ObjectMeta: objectMeta("changes")}
	x.Spec.EndpointRef.Name, x.Spec.Table.Name = "shop", "shop_log"
	x.Spec.Fields.Include = []string{"at", "token", "action", "model", "object_id", "call"}
	auditor := &v1alpha1.MCPToken{ObjectMeta: objectMeta("auditor")}
	auditor.Spec.EndpointRef.Name = "shop"
	auditor.Spec.Permissions = []v1alpha1.PermissionRule{{Models: []string{"changes"}, Verbs: []v1alpha1.Verb{"view"}}}
	w.create(x, auditor)
	w.readyToken("auditor")
	change := func(id, total int) {
		w.eventually("a change with its journal", func() bool {
			out, err := w.command("call", "agent", "update_order", fmt.Sprintf("id=%d", id), fmt.Sprintf("data.total=%d", total), "-n", "shop", "--url", "http://"+pod.endpoint+"/mcp/")
			return err == nil && strings.Contains(out, `"call"`)
		})
	}
	change(1, 501)
	w.eventually("the auditor reads the journal", func() bool {
		out, err := w.command("tail", "shop", "-n", "shop", "--journal-as", "auditor")
		return err == nil && !strings.Contains(out, "  journal\n")
	})
	pod.endContainer() // twice: then the log of the first is gone
	pod.startContainer()
	change(3, 502)
	pod.endContainer()
	pod.startContainer()
	pod.showRestart()
	out := w.expect(t, false, []string{"shop/agent  update order 1  ok, 1 changed  journal\n", "what they changed is shown from the journal"}, "tail", "shop", "-n", "shop", "--journal-as", "auditor", "--since", "1h")
	if strings.Contains(out, "update order 3") || strings.Count(out, "update_order 3 (total)") != 1 {
		t.Errorf("the change of 3 is not shown once, from the log:\n%s", out)
	}
	w.expect(t, false, []string{`"journal":"shop_log","token":"shop/agent","operation":"update","model":"order","ids":["1"],"changed":1,"outcome":"ok","call":"`}, "tail", "shop", "-n", "shop", "--journal-as", "auditor", "-o", "json")
	w.expect(t, true, []string{`namespace shop has no MCPToken "nobody"`}, "tail", "shop", "-n", "shop", "--journal-as", "nobody")
	refused := w.expect(t, true, []string{"the journal cannot be read: list_changes: "}, "tail", "shop", "-n", "shop", "--journal-as", "agent")
	if strings.HasSuffix(refused, "list_changes: \n") {
		t.Errorf("the error does not say why: %s", refused)
	}
	w.expect(t, true, []string{"--journal-as and --follow do not go together"}, "tail", "shop", "-n", "shop", "--journal-as", "auditor", "-f")
}
