package tail

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
)

const logged = `2026-11-22T10:00:00.123456789Z {"time":"2026-11-22T10:00:00.1Z","level":"INFO","msg":"audit","token":"shop/agent","tool":"update_order","model":"order","operation":"update","ids":["7"],"fields":["status"],"changed":1,"dry_run":false,"outcome":"ok"}`

func TestAuditLinesAreToldFromOthers(t *testing.T) {
	l, audit := parse("shop-0", []byte(logged+"\n"), true)
	if !audit || l.record.Tool != "update_order" || l.at.Format(time.TimeOnly) != "10:00:00" {
		t.Errorf("%v, %t", l, audit)
	}
	for _, other := range []string{"", "no time", `2026-11-22T10:00:00Z {"msg":"started"}`, "2026-11-22T10:00:00Z panic: audit"} {
		if _, audit := parse("shop-0", []byte(other), true); audit {
			t.Errorf("%q is taken for an audit line", other)
		}
	}
}

func TestALineIsPrintedInEachFormat(t *testing.T) {
	l, _ := parse("shop-0", []byte(logged), true)
	for format, want := range map[output.Format]string{
		output.Text: "shop/agent  update_order 7 (status)  ok, 1 changed  shop-0\n",
		output.JSON: `"outcome":"ok","pod":"shop-0"}` + "\n",
		output.YAML: "pod: shop-0\n",
	} {
		var b bytes.Buffer
		o := options{format: format}
		if err := o.printer(&b)(l); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%s: %v\n%s", format, err, b.String())
		}
	}
}

// Callers choose ids and subjects: none of them clears a line, or forges another.
func TestTextsOfCallersArePrintedAsEscapes(t *testing.T) {
	forged := strings.Replace(logged, `"ids":["7"]`, `"subject":"eve\u202e","ids":["7\r\u001b[2K\n2026-11-22 10:00:00.100  shop/other"]`, 1)
	l, audit := parse("shop-0", []byte(forged), true)
	var b bytes.Buffer
	o := options{format: output.Text}
	err := o.printer(&b)(l)
	if want := `  shop/agent as eve\u202e  update_order 7\r\x1b[2K\n2026-11-22 10:00:00.100  shop/other (status)  ok, 1 changed  shop-0` + "\n"; !audit || err != nil || !strings.HasSuffix(b.String(), want) || strings.Count(b.String(), "\n") != 1 {
		t.Errorf("got %q, %v, want %q", b.String(), err, want)
	}
}

func TestLinesOfSeveralPodsAreMergedByTime(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	lines := make(chan line)
	start := time.Now()
	go func() {
		for _, i := range []int{2, 0, 1, 4, 3} { // each pod's own are in order, the pods' are not
			lines <- line{pod: "p", at: start.Add(time.Duration(i) * time.Second)}
		}
	}()
	var got []int
	err := merge(ctx, lines, func(l line) error {
		if got = append(got, int(l.at.Sub(start)/time.Second)); len(got) == 5 {
			stop()
		}
		return nil
	})
	if want := []int{0, 1, 2, 3, 4}; err != nil || !slices.Equal(got, want) {
		t.Errorf("printed %v, %v", got, err)
	}
}

// dev's output has no pod, and other lines between the audit lines.
func TestAFileOfLinesIsShown(t *testing.T) {
	own := strings.TrimPrefix(logged, "2026-11-22T10:00:00.123456789Z ")
	command := Command()
	var out bytes.Buffer
	command.SetIn(strings.NewReader("MODELS\n  order\n" + own + "\n{\"msg\":\"started\"}\n" + own))
	command.SetOut(&out)
	command.SetArgs([]string{"--file", "-"})
	if err := command.ExecuteContext(t.Context()); err != nil || strings.Count(out.String(), "update_order 7 (status)  ok, 1 changed") != 2 {
		t.Errorf("it prints %q, %v, want the two lines", out.String(), err)
	}
	for _, args := range [][]string{{}, {"shop", "--file", "-"}, {"--file", "-", "-f"}, {"--file", "/nowhere/at/all"}} {
		command := Command()
		command.SilenceErrors, command.SilenceUsage = true, true
		command.SetArgs(args)
		if err := command.ExecuteContext(t.Context()); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
}
