package call

import (
	"errors"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

func TestAKeptAnswerIsQuotedAsItsText(t *testing.T) {
	for _, text := range []string{`{}`, `{"name":"a \"b\" \\","é":"\u0001"}`, "{\"broken\":\"\xff\"}"} {
		c := &Call{Request: Request{Op: &Operation{Operation: &contract.Operation{}}}}
		answer := c.AnswerKept(AnswerToKeep([]byte(text)))
		kept, made := c.ResultOf(answer, nil), ResultOf([]byte(text), nil)
		if string(kept.Text) != text || string(kept.AppendQuoted(nil)) != string(made.AppendQuoted(nil)) {
			t.Errorf("%s is kept as %s, %s", text, kept.Text, kept.AppendQuoted(nil))
		}
		failed := c.ResultOf(nil, errors.New("no"))
		if quoted, want := failed.AppendQuoted(nil), ResultOf(failed.Text, nil); string(quoted) != string(want.AppendQuoted(nil)) {
			t.Errorf("an error is %s", quoted)
		}
	}
}
