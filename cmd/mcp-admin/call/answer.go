package call

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TextOf is the text of an answer, without what is no text.
func TextOf(result *mcp.CallToolResult) string {
	text := ""
	for _, content := range result.Content {
		if part, ok := content.(*mcp.TextContent); ok {
			text += part.Text
		}
	}
	return text
}

// Failure is a tool's error, or the answer of a call that waits for an approval.
type Failure struct {
	Error    string `json:"error"`
	Code     string `json:"code"`
	Approval string `json:"approval,omitempty"`
}

// ReadFailure reads the text of an answer that is an error. ours is false if it has another form than the server's: then the text is the
// error.
func ReadFailure(text string) (f Failure, ours bool) {
	if json.Unmarshal([]byte(text), &f) != nil || f.Error == "" {
		return Failure{Error: text}, false
	}
	return f, true
}

// errWaits is the end of a call that waits until other people allow it. Its answer was printed.
var errWaits = errors.New("nothing was done: the call waits until other people allow it")

// codeWaits is the code of such an answer, which is no error of the tool's.
const codeWaits = "approval_required"

// WaitsFor is the approval for which a call waits, as its answer says; "" if it does not wait.
func WaitsFor(result *mcp.CallToolResult) string {
	var answer Failure
	_ = json.Unmarshal([]byte(TextOf(result)), &answer) // what is no object has no code
	if answer.Code != codeWaits {
		return ""
	}
	return answer.Approval
}

// waiting is the error that a call waits until other people allow it; nil if it does not.
func waiting(result *mcp.CallToolResult) error {
	if approval := WaitsFor(result); approval != "" {
		return fmt.Errorf("%w, as the approval %s; make the same call again once they have", errWaits, approval)
	}
	return nil
}
