package dev

import (
	"bytes"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/approve"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/laptop"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/page/pagetest"
	"github.com/spf13/cobra"
)

// heldBack are notes of which one with the word "bold" needs people: as many as minApprovals says.
func heldBack(minApprovals int) string {
	policies := fmt.Sprintf(`
  idempotency: {table: {name: used_keys}}
  approvals:
  - name: bold
    match: {models: [note], when: {after: {text__contains: bold}}}
    minApprovals: %d
    show: Values
    approvers: {groups: [editors]}
`, minApprovals)
	const inline = "{database: {sqlite: {emptyDir: {}, initConfigMapRef: {name: sql}}}}"
	const block = "\n  database: {sqlite: {emptyDir: {}, initConfigMapRef: {name: sql}}}"
	return strings.NewReplacer(inline, block+policies, "verbs: [view]", `verbs: ["*"]`).Replace(notes)
}

// run runs a command and returns what it prints.
func run(t *testing.T, command *cobra.Command, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	command.SilenceErrors, command.SilenceUsage = true, true
	if command.Flags().Lookup("wait") != nil {
		args = append(args, "--wait=10m")
	}
	command.SetArgs(args)
	command.SetOut(&out)
	command.SetErr(&out)
	err := command.ExecuteContext(t.Context())
	return out.String(), err
}

// waiting is the approval of the one call that waits, once it is in the state.
func waiting(t *testing.T, state string) *v1alpha1.MCPApproval {
	t.Helper()
	flag := laptop.Flag{Folder: state}
	for deadline := time.Now().Add(10 * time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		all, err := flag.Approvals()
		if err != nil {
			t.Fatal(err)
		}
		for i := range all {
			if !all[i].Ended() {
				return &all[i]
			}
		}
	}
	t.Fatal("nothing waits")
	return nil
}

// becomes waits until an approval has a state.
func becomes(t *testing.T, state, name string, want v1alpha1.ApprovalState) *v1alpha1.MCPApproval {
	t.Helper()
	flag := laptop.Flag{Folder: state}
	var a *v1alpha1.MCPApproval
	for deadline := time.Now().Add(10 * time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		var err error
		if a, err = flag.Approval(name); err != nil {
			t.Fatal(err)
		}
		if a.EffectiveState() == want {
			return a
		}
	}
	t.Fatalf("%s is %s, want %s", name, a.EffectiveState(), want)
	return nil
}

const (
	boldly = `{"id":1,"data":{"text":"bold words"}}`
	asks   = `\"code\":\"approval_required\"`
)

// until calls the tool again until the answer has a text: a decision is there a moment after it is known to be taken.
func until(t *testing.T, printed, token, want string) {
	t.Helper()
	answer := ""
	for deadline := time.Now().Add(10 * time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if _, answer = call(t, printed, token, "update_note", boldly); strings.Contains(answer, want) {
			return
		}
	}
	t.Fatalf("got %s, want %s", answer, want)
}

func TestACallWaitsForPeopleAtThisMachine(t *testing.T) {
	folder, state := write(t, map[string]string{"notes.yaml": heldBack(2)}), t.TempDir()
	out, end := start(t, "-f", folder, "--state", state)
	printed := out.waitFor(t, "claude mcp add")
	token := bearerToken.FindStringSubmatch(printed)[1]
	if _, answer := call(t, printed, token, "update_note", `{"id":1,"data":{"text":"plain words"}}`); !strings.Contains(answer, `\"success\":true`) {
		t.Fatalf("what no policy matches waits: %s", answer)
	}
	until(t, printed, token, asks)
	a := waiting(t, state)
	out.waitFor(t, "A call of agent waits for an approval (bold): update_note, 1 row\n  mcp-admin approve "+a.ShortName()+" --state "+state)
	if shown, err := run(t, approve.ListCommand(), a.ShortName(), "--state", state); err != nil || !strings.Contains(shown, `text: "plain words" -> "bold words"`) {
		t.Errorf("got %s, %v", shown, err)
	}
	if said, err := run(t, approve.Command(), a.ShortName(), "--state", state, "--as", "ana"); err != nil || !strings.Contains(said, "Waiting, policy bold has 1 of 2 approvals of people in editors") {
		t.Fatalf("got %s, %v", said, err)
	}
	if _, err := run(t, approve.Command(), a.Name, "--state", state, "--as", "ana"); err == nil || !strings.Contains(err.Error(), "you have decided") {
		t.Errorf("got %v for a person who decides twice", err)
	}
	until(t, printed, token, `\"approvals_needed\":2,\"approvals_given\":1`)

	// The first person's word, and what waits, outlive the process.
	end()
	out, _ = start(t, "-f", folder, "--state", state)
	printed = out.waitFor(t, "claude mcp add")
	if said, err := run(t, approve.Command(), a.Name, "--state", state, "--as", "ben", "--comment", "go on"); err != nil || !strings.Contains(said, "Approved, allowed by ana, ben") {
		t.Fatalf("got %s, %v", said, err)
	}
	until(t, printed, token, `\"success\":true`)
	if done := becomes(t, state, a.Name, v1alpha1.ApprovalExecuted); done.Status.Call == "" {
		t.Errorf("the call's id is not told: %+v", done.Status)
	}
	if _, body := ask(t, printed, token); !strings.Contains(body, "bold words") {
		t.Errorf("the row is %s", body)
	}
	if _, err := run(t, approve.DenyCommand(), a.Name, "--state", state, "--as", "cleo"); err == nil || !strings.Contains(err.Error(), "waits no more: it is Executed") {
		t.Errorf("got %v for a call that ran", err)
	}
}

func TestADeniedCallDoesNotRun(t *testing.T) {
	folder, state := write(t, map[string]string{"notes.yaml": heldBack(1)}), t.TempDir()
	out, _ := start(t, "-f", folder, "--state", state)
	printed := out.waitFor(t, "claude mcp add")
	token := bearerToken.FindStringSubmatch(printed)[1]
	until(t, printed, token, asks)
	if said, err := run(t, approve.DenyCommand(), waiting(t, state).Name, "--state", state, "--comment", "too bold"); err != nil || !strings.Contains(said, "Denied, denied by ") {
		t.Fatalf("got %s, %v", said, err)
	}
	until(t, printed, token, "too bold")
	if _, body := ask(t, printed, token); !strings.Contains(body, "hello") {
		t.Errorf("the row is %s", body)
	}
}

func TestThePageDecidesAboutACall(t *testing.T) {
	folder, state := write(t, map[string]string{"notes.yaml": heldBack(1)}), t.TempDir()
	out, _ := start(t, "-f", folder, "--state", state)
	printed := out.waitFor(t, "claude mcp add")
	token, b := bearerToken.FindStringSubmatch(printed)[1], pagetest.Open(t, pageLink.FindString(printed))
	wants(t, b, "approvals", http.StatusOK, "No call waits for an approval.")
	until(t, printed, token, asks)
	a := waiting(t, state)
	one := "e/default/notes/approvals/" + a.Name
	wants(t, b, "approvals", http.StatusOK, "1 call waits for people.", "update note")
	loaded := wants(t, b, one, http.StatusOK, "bold words", "mcp-admin approve "+a.Name+" --comment why --state "+state)
	values := url.Values{"verdict": {"Approve"}, "comment": {"bold is fine"}}
	for _, field := range regexp.MustCompile(`name="(form|seen)" value="([^"]+)"`).FindAllStringSubmatch(loaded, -1) {
		values.Set(field[1], html.UnescapeString(field[2]))
	}
	b.Send(one, values, map[string]string{"Origin": b.Origin, "Sec-Fetch-Site": "same-origin"})
	until(t, printed, token, `\"success\":true`)
	if done := becomes(t, state, a.Name, v1alpha1.ApprovalExecuted); len(done.Spec.Decisions) != 1 || done.Spec.Decisions[0].DecidedBy != laptop.Person() || done.Spec.Decisions[0].Comment != "bold is fine" {
		t.Errorf("got %+v", done.Spec.Decisions)
	}
}

// For tests each call is allowed, and every answer says by whom: by nobody.
func TestApproveAllSaysSo(t *testing.T) {
	folder, state := write(t, map[string]string{"notes.yaml": heldBack(2)}), t.TempDir()
	out, _ := start(t, "-f", folder, "--state", state, "--approve-all")
	printed := out.waitFor(t, "claude mcp add")
	if !strings.HasPrefix(printed, "WARNING: --approve-all: nobody is asked.") {
		t.Errorf("the first line does not warn:\n%s", printed)
	}
	token := bearerToken.FindStringSubmatch(printed)[1]
	if _, answer := call(t, printed, token, "update_note", boldly); !strings.Contains(answer, asks) || !strings.Contains(answer, "(--approve-all: each call is allowed, by nobody)") {
		t.Errorf("got %s", answer)
	}
	until(t, printed, token, `\"success\":true`)
}
