package dev

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	caller "github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/call"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/doctor"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/page/pagetest"
)

// Who writes a policy sees at once what it asks for, and whether it can be judged: by its names and by the database.
func TestDevTellsOfPoliciesAndOfTheirTypos(t *testing.T) {
	good := heldBack(2)
	folder, state := write(t, map[string]string{"notes.yaml": good}), t.TempDir()
	out, _ := start(t, "-f", folder, "--state", state)
	printed := out.waitFor(t, "claude mcp add")
	if want := `  bold   2 approvals of people in editors   every change of note, if after {"text__contains":"bold"}`; !strings.Contains(printed, "CALLS THAT WAIT FOR PEOPLE\n"+want+"\n\n") {
		t.Errorf("%q is not in\n%s", want, printed)
	}
	b := pagetest.Open(t, pageLink.FindString(printed))
	for typo, problem := range map[string]string{
		strings.Replace(good, "models: [note]", "models: [noet]", 1): `bold cannot be judged, and holds back everything of its operations: match.models: the endpoint serves no model "noet"`,
		strings.Replace(good, "text__contains", "txet__contains", 1): `bold cannot be judged, and holds back everything of its operations: note: `,
	} {
		if err := os.WriteFile(filepath.Join(folder, "notes.yaml"), []byte(typo), 0o600); err != nil {
			t.Fatal(err)
		}
		out.waitFor(t, problem)
		if said, err := run(t, doctor.Command(), "--state", state); err == nil || !strings.Contains(said, "the approval policy "+problem) {
			t.Errorf("doctor: %v\n%s", err, said)
		}
		wants(t, b, "e/default/notes", http.StatusOK, "the approval policy bold cannot be judged")
	}
}

// A call that waits has done nothing: a script must not go on as if it had.
func TestCallFailsIfTheCallWaits(t *testing.T) {
	manifests := strings.NewReplacer("verbs: [\"*\"]", "verbs: [\"*\", export]",
		"  approvals:\n", "  approvals:\n  - name: copies\n    match: {operations: [export]}\n").Replace(heldBack(1))
	folder, state := write(t, map[string]string{"notes.yaml": manifests}), t.TempDir()
	out, _ := start(t, "-f", folder, "--state", state)
	if printed := out.waitFor(t, "claude mcp add"); strings.Contains(printed, "WARNING") {
		t.Errorf("a warning without a reason:\n%s", printed)
	}
	file := filepath.Join(t.TempDir(), "notes.csv")
	for _, words := range [][]string{
		{"update_note", "id=1", "data.text=bold words"},
		{"update_note", "id=1", "data.text=bold words", "-o", "json"},
		{"list_note", "--export", file},
	} {
		said, err := run(t, caller.Command(), append(append([]string{"agent"}, words...), "--state", state)...)
		if err == nil || !strings.Contains(err.Error(), "nothing was done: the call waits until other people allow it, as the approval ") {
			t.Errorf("%v ends with %v", words, err)
		}
		if !strings.Contains(said, "approval_required") || !strings.Contains(said, "Nothing was changed: ") {
			t.Errorf("%v prints\n%s", words, said)
		}
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the file is there")
	}
}
