package tail

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
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

// event is the line logged, in the format of OCSF.
const event = `{"class_uid":6005,"time":1795341600100,"status_code":"ok","actor":{"user":{"name":"ann","uid":"shop/agent"},"app_name":"ledger"},"src_endpoint":{"ip":"10.1.2.3"},"table":{"name":"order"},` +
	`"metadata":{"product":{"name":"mcp-admin-server"},"event_code":"update_order","correlation_uid":"c1"},"unmapped":{"operation":"update","ids":["7"],"fields":["status"],"changed":1,"dry_run":false}}`

func TestAnEventOfOCSFIsReadLikeALine(t *testing.T) {
	l, audit := parse("shop-0", []byte(event), false)
	if r := l.record; !audit || r.Token != "shop/agent" || r.Subject != "ann" || r.Tool != "update_order" || r.Model != "order" || r.IDs[0] != "7" || r.Changed != 1 ||
		r.Outcome != "ok" || r.Call != "c1" || r.Address != "10.1.2.3" || r.Client != "ledger" || l.at.UnixMilli() != 1795341600100 {
		t.Errorf("got %+v, %t", r, audit)
	}
	for _, other := range []string{strings.Replace(event, "6005", "6003", 1), strings.Replace(event, "mcp-admin-server", "another", 1)} {
		if _, audit := parse("shop-0", []byte(other), false); audit {
			t.Errorf("%s is taken for an audit line", other)
		}
	}
}

// What jq finds in lines of one format it finds in those of the other.
func TestEventsOfOCSFArePrintedAsLines(t *testing.T) {
	for text, want := range map[string]string{
		event:   `{"address":"10.1.2.3","call":"c1","changed":1,"client":"ledger","fields":["status"],"ids":["7"],"model":"order","msg":"audit","operation":"update","outcome":"ok","subject":"ann","time":"2026-11-22T10:00:00.1Z","token":"shop/agent","tool":"update_order","pod":"shop-0"}`,
		refusal: `{"address":"10.1.2.3","cause":"expired","client":"ledger","condition":"Expired","more_refused":12,"msg":"audit","operation":"authenticate","outcome":"refused","time":"2026-11-22T10:00:00.1Z","token":"shop/agent","token_id":"mcp_K65skIkwURV9294z","pod":"shop-0"}`,
	} {
		l, _ := parse("shop-0", []byte(text), false)
		var b bytes.Buffer
		o := options{format: output.JSON}
		if err := o.printer(&b)(l); err != nil || strings.TrimSpace(b.String()) != want {
			t.Errorf("%v\ngot  %s\nwant %s", err, b.String(), want)
		}
	}
}

// Callers that were not let in, in both formats.
const (
	refused = `{"time":"2026-11-22T10:00:00.1Z","level":"INFO","msg":"audit","token":"shop/agent","token_id":"mcp_K65skIkwURV9294z","operation":"authenticate","cause":"expired","condition":"Expired","more_refused":12,"outcome":"refused","address":"10.1.2.3","client":"ledger"}`
	refusal = `{"class_uid":3002,"time":1795341600100,"status_code":"expired","status_detail":"Expired","actor":{"app_name":"ledger"},"src_endpoint":{"ip":"10.1.2.3"},"user":{"name":"shop/agent","uid":"shop/agent","credential_uid":"mcp_K65skIkwURV9294z"},` +
		`"metadata":{"product":{"name":"mcp-admin-server"}},"unmapped":{"operation":"authenticate","more_refused":12}}`
	guess = `{"class_uid":3002,"time":1795341600100,"status_code":"unknown","src_endpoint":{"ip":"10.1.2.3"},"user":{"name":"unknown","uid":"unknown"},"metadata":{"product":{"name":"mcp-admin-server"}},"unmapped":{"operation":"authenticate"}}`
)

func TestCallersThatWereRefusedAreShown(t *testing.T) {
	shown := func(text string, format output.Format) string {
		t.Helper()
		l, audit := parse("shop-0", []byte(text), false)
		if !audit {
			t.Fatalf("%s is taken for no audit line", text)
		}
		var b bytes.Buffer
		o := options{format: format}
		if err := o.printer(&b)(l); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for _, row := range []struct{ line, text, csv string }{
		{refused, "shop/agent  is refused from 10.1.2.3  expired, 12 more before  shop-0\n", "\n2026-11-22T10:00:00.1Z,shop/agent,,,,authenticate,,,,,0,false,refused,,,10.1.2.3,ledger,,,expired,Expired,mcp_K65skIkwURV9294z,,12,,shop-0\n"},
		{refusal, "shop/agent  is refused from 10.1.2.3  expired, 12 more before  shop-0\n", "\n2026-11-22T10:00:00.1Z,shop/agent,,,,authenticate,,,,,0,false,refused,,,10.1.2.3,ledger,,,expired,Expired,mcp_K65skIkwURV9294z,,12,,shop-0\n"},
		{guess, "unknown  is refused from 10.1.2.3  unknown  shop-0\n", "\n2026-11-22T10:00:00.1Z,,,,,authenticate,,,,,0,false,refused,,,10.1.2.3,,,,unknown,,,,,,shop-0\n"},
	} {
		if got := shown(row.line, ""); !strings.HasSuffix(got, row.text) {
			t.Errorf("got  %q\nwant %q", got, row.text)
		}
		if got := shown(row.line, output.CSV); !strings.HasSuffix(got, row.csv) {
			t.Errorf("got  %q\nwant %q", got, row.csv)
		}
	}
}

func TestWhatIsMissingIsToldWithWhereItMayBe(t *testing.T) {
	var told []string
	r := &reader{endpoint: client.ObjectKey{Namespace: "shop", Name: "books"}, from: time.Now().Add(-time.Hour), tell: func(news string) { told = append(told, news) }}
	pods := []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "books-0", CreationTimestamp: metav1.Now()}}}
	var spec v1alpha1.MCPEndpointSpec
	r.tellMissing(pods, &spec)
	spec.Audit = &v1alpha1.AuditSpec{Table: v1alpha1.TableReference{Name: "log_of_changes"}}
	spec.Observability.Audit.Files = &v1alpha1.AuditFilesSpec{ClaimRef: v1alpha1.ClaimReference{Name: "audit-logs"}}
	r.tellMissing(pods, &spec)
	if len(told) != 2 || !strings.HasSuffix(told[0], "files would have kept them") || !strings.Contains(told[1], "claim audit-logs has, in its folder books, what pods wrote since files are on; table log_of_changes ") {
		t.Errorf("got %q", told)
	}
}

func TestLinesAsCSV(t *testing.T) {
	l, _ := parse("shop-0", []byte(strings.Replace(logged, `"ids":["7"]`, `"ids":["7","8"],"subject":"=HYPERLINK(1)"`, 1)), true)
	var b bytes.Buffer
	o := options{format: output.CSV}
	show := o.printer(&b)
	if err := errors.Join(show(l), show(l)); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != 3 || len(rows[1]) != len(csvHeader) {
		t.Fatalf("got %v, %v", rows, err)
	}
	want := "2026-11-22T10:00:00.1Z|shop/agent|'=HYPERLINK(1)|update_order|order|update||7 8|status||1|false|ok|||||||||||||shop-0"
	if got := strings.Join(rows[1], "|"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAFolderOfFilesIsMergedByTime(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "shop[1]")
	at := func(clock, token string) string {
		return strings.Replace(strings.Replace(logged[31:], "10:00:00.1Z", clock, 1), "shop/agent", token, 1) + "\n"
	}
	for name, text := range map[string]string{
		"audit-shop-mcp-7d-x2-20261122T100000.000000000Z.jsonl": at("10:00:03Z", "shop/agent") + "torn{\n" + at("10:00:05Z", "shop/other"),
		"audit-shop-mcp-7d-y3-20261122T100000.000000000Z.jsonl": at("10:00:04Z", "shop/agent"),
		"notes.txt": at("10:00:01Z", "shop/agent"),
	} {
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for token, want := range map[string]string{"": "x2 y3 x2", "agent": "x2 y3", "shop/agent": "x2 y3", "crm/agent": "", "other": "x2"} {
		var b bytes.Buffer
		o := options{format: output.CSV, file: dir, filter: filter{token: token}}
		if err := o.readFile(nil, &b); err != nil {
			t.Fatal(err)
		}
		var pods []string
		for row := range strings.Lines(b.String()) {
			if _, pod, ours := strings.Cut(row, "shop-mcp-7d-"); ours {
				pods = append(pods, strings.TrimSpace(pod))
			}
		}
		if got := strings.Join(pods, " "); got != want {
			t.Errorf("token %q: got the lines of %q, want %q", token, got, want)
		}
	}
	o := options{file: t.TempDir()}
	if err := o.readFile(nil, io.Discard); err == nil || !strings.Contains(err.Error(), "no file whose name ends in .jsonl") {
		t.Errorf("of an empty folder: got %v", err)
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

// A row's lines are those that name it, whoever's tool was called; it is said how many others may be of it.
func TestLinesOfARow(t *testing.T) {
	text := ""
	for i, l := range []string{
		`"tool":"get_customer","model":"customer","rows":1,"ids":["42"]`,
		`"tool":"related_customer","model":"customer","rows_of":"purchase","rows":1,"ids":["42"]`,
		`"tool":"related_purchase","model":"purchase","rows_of":"customer","rows":2,"ids":["41","42"]`,
		`"tool":"update_customer","model":"customer","ids":["42"],"changed":1`,
		`"tool":"get_order","model":"order","rows":1,"ids":["42"]`,
		`"tool":"list_customer","model":"customer","rows":7`,
		`"tool":"get_customer","model":"customer","rows":1,"ids":["4"]`,
		`"tool":"list_customer","model":"customer","operation":"export:list","rows":7,"ids":[],"outcome":"intent"`,
	} {
		text += fmt.Sprintf("{\"time\":\"2026-11-22T10:00:0%dZ\",\"msg\":\"audit\",\"token\":\"shop/agent\",\"outcome\":\"ok\",%s}\n", i, l)
	}
	var out, told bytes.Buffer
	command := Command()
	command.SetArgs([]string{"--file", "-", "--row", "customer/42"})
	command.SetIn(strings.NewReader(text))
	command.SetOut(&out)
	command.SetErr(&told)
	if err := command.Execute(); err != nil {
		t.Fatal(err)
	}
	var tools []string
	for l := range strings.Lines(out.String()) {
		tools = append(tools, strings.Fields(l)[3])
	}
	if got, want := strings.Join(tools, " "), "get_customer related_purchase update_customer"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !strings.HasPrefix(told.String(), "# lines of customer that may be of it, and do not name all of their rows: 1. ") {
		t.Errorf("got %q", told.String())
	}
	for asked, want := range map[string]string{
		"--row=custmer/42":     "# no line is of model custmer; they are of customer, order, purchase; did you mean customer?\n",
		"--row=order/7":        "# none of the 1 lines of order names 7\n",
		"--token=agnt":         "# none of the 8 lines is of token agnt; they are of shop/agent; did you mean shop/agent?\n",
		"--token=other/agent":  "# none of the 8 lines is of token other/agent; they are of shop/agent; did you mean shop/agent?\n",
		"--token=shop/agent":   "",
		"--row=purchase/nobod": "# none of the 1 lines of purchase names nobod\n",
	} {
		told.Reset()
		other := Command()
		other.SetArgs([]string{"--file", "-", asked})
		other.SetIn(strings.NewReader(text))
		other.SetOut(io.Discard)
		other.SetErr(&told)
		if err := other.Execute(); err != nil || told.String() != want {
			t.Errorf("%s: got %q, %v, want %q", asked, told.String(), err, want)
		}
	}
	command.SetArgs([]string{"--file", "-", "--row", "42"})
	command.SetIn(strings.NewReader(text))
	if err := command.Execute(); err == nil || err.Error() != `--row: "42" is not MODEL/ID, such as customer/42` {
		t.Errorf("got %v", err)
	}
}
