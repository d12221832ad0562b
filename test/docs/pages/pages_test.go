package pages_test

import (
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/test/docs/pages"
)

func TestTheFenceDecidesWhatIsDoneWithABlock(t *testing.T) {
	blocks, err := pages.Blocks(strings.Join([]string{
		"```sh checkout norun: it takes long", "make x", "```", "```yaml shop.yaml", "a: 1", "", "# b", "```",
		"```sh terminal: is served at", "serve \\", "  --all", "# a comment", "```", "```", "list {}", "```", "```sh needs: cluster", "```",
		"```sql beside", "select 1", "```",
	}, "\n"))
	if err != nil || len(blocks) != 6 {
		t.Fatalf("got %d blocks, want 6: %v, %v", len(blocks), blocks, err)
	}
	if b := blocks[0]; !b.InCheckout || b.NotRun != "it takes long" || b.Language != "sh" || b.Line != 1 {
		t.Errorf("%+v", b)
	}
	if b := blocks[1]; b.File != "shop.yaml" || b.Text() != "a: 1\n\n# b\n" || b.Code() != 1 {
		t.Errorf("%+v", b)
	}
	if b := blocks[2]; b.Until != "is served at" || b.Commands() != 1 {
		t.Errorf("%+v", b)
	}
	if b := blocks[3]; b.Language != "" {
		t.Errorf("%+v", b)
	}
	if b := blocks[4]; b.Needs != "cluster" {
		t.Errorf("%+v", b)
	}
	if b := blocks[5]; b.Language != "sql" || !b.Beside || b.File != "" {
		t.Errorf("%+v", b)
	}
	for _, wrong := range []string{"```sh runnable\n```", "```sh\n"} {
		if _, err := pages.Blocks(wrong); err == nil {
			t.Errorf("%q is no error", wrong)
		}
	}
}

func TestASessionHandsOnVariablesFilesAndTerminals(t *testing.T) {
	blocks, err := pages.Blocks(strings.Join([]string{
		"```sh yours", "export PLACE=somewhere", "```", "```text words.txt", "hello", "```", "```sh", "WORD=$(cat words.txt)", "```",
		"```sh terminal: ready", "echo not yet; sleep 0.1; echo \"$WORD ready\"; sleep 600", "```",
		"```sh", "echo \"$WORD $PLACE\"", "```", "```sh", "false", "echo not reached", "```",
	}, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := &pages.Session{Folder: t.TempDir(), Given: map[string]string{"PLACE": "elsewhere"}}
	var printed []string
	for i := range blocks {
		output, err := s.Run(t.Context(), &blocks[i])
		if (err != nil) != (i == len(blocks)-1) {
			t.Fatalf("line %d: %v", blocks[i].Line, err)
		}
		printed = append(printed, output)
	}
	if !pages.Fits("not yet\nhello …", printed[3]) || !pages.Fits("hello elsewhere", printed[4]) || strings.Contains(printed[5], "reached") {
		t.Errorf("%q", printed)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
