package doctor

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
)

func TestWhatIsSaidOfLostAuditLines(t *testing.T) {
	const start = "# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds 1.7958e+09\n"
	const counts = `# TYPE mcp_admin_audit_lines_lost_total counter
mcp_admin_audit_lines_lost_total{reason="export_failed"} E
mcp_admin_audit_lines_lost_total{reason="queue_full"} Q
mcp_admin_audit_lines_lost_total{reason="write_failed"} W
`
	const refused = "fails with unavailable"
	for name, c := range map[string]struct {
		metrics      string
		required     bool
		says, silent []string
	}{
		"nothing":                     {start + numbers(counts, "0", "0", "0"), true, nil, nil},
		"no such metric":              {start, true, nil, nil},
		"a full disk":                 {start + numbers(counts, "0", "0", "2"), false, []string{"2026-11-27T17:20:00Z, 2 audit lines were lost; 2 write_failed: ", "the claim is full"}, []string{refused, "collector"}},
		"a full disk, Required":       {start + numbers(counts, "0", "0", "1"), true, []string{"1 audit line was lost; 1 write_failed: ", refused}, nil},
		"a collector alone, Required": {numbers(counts, "4", "1", "0"), true, []string{"since its server started, 5 audit lines", "1 queue_full: ", "4 export_failed: "}, []string{refused, "write_failed"}},
	} {
		metrics, err := cluster.ParseMetrics([]byte(c.metrics))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		lost := LostOf("shop-0", metrics)
		if (lost != nil) != (c.says != nil) {
			t.Errorf("%s: lost is %+v", name, lost)
		}
		if lost == nil {
			continue
		}
		message := lost.Message(c.required)
		for _, want := range c.says {
			if !strings.Contains(message, want) {
				t.Errorf("%s: the message lacks %q: %s", name, want, message)
			}
		}
		for _, unwanted := range c.silent {
			if strings.Contains(message, unwanted) {
				t.Errorf("%s: the message has %q: %s", name, unwanted, message)
			}
		}
	}
}

func numbers(text, export, queue, write string) string {
	return strings.NewReplacer("} E", "} "+export, "} Q", "} "+queue, "} W", "} "+write).Replace(text)
}

func TestLostSpansAreNoted(t *testing.T) {
	const counts = `# TYPE mcp_admin_trace_spans_dropped_total counter
mcp_admin_trace_spans_dropped_total{reason="export_failed"} 1200
mcp_admin_trace_spans_dropped_total{reason="queue_full"} 0
`
	metrics, err := cluster.ParseMetrics([]byte(counts))
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "shop-0", Namespace: "shop"}}
	want := []Problem{{
		Object: "Pod shop/shop-0", Reason: "SpansLost", Command: "kubectl logs shop-0 -n shop | grep -i 'spans'",
		Message: "since its server started, 1200 spans were lost; 1200 export_failed: the collector of traces is away, or refuses them: " +
			"see its answer in the pod's log; if the number grows, it goes on (SpansLost)",
	}}
	if got := lostNotes(pod, metrics, true); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// What may be wrong now is not hidden by the last line.
func TestNothingElseIsWrongBesideANoteWithACommand(t *testing.T) {
	lost := &Lost{Pod: "shop-0", Since: time.Unix(1795800000, 0), Lines: map[string]int{"write_failed": 1}}
	for want, notes := range map[string][]Problem{
		"✓ nothing is wrong\n":      {{Object: "MCPToken shop/agent", Message: "the token expired"}},
		"✓ nothing else is wrong\n": {{Object: "Pod shop/shop-0", Message: lost.Message(false), Command: "kubectl logs shop-0 -n shop"}},
	} {
		var out bytes.Buffer
		(&Diagnosis{Notes: notes}).show(output.NewScreen(&out))
		if !strings.HasSuffix(out.String(), want) || strings.Contains(out.String(), "kubectl") != (notes[0].Command != "") {
			t.Errorf("want %q at the end of\n%s", want, &out)
		}
	}
}
