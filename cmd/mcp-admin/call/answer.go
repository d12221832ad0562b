package call

import (
	"encoding/json"

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

// Failure is a tool's error.
type Failure struct {
	Error string `json:"error"`
	Code  string `json:"code"`
}

// ReadFailure reads the text of an answer that is an error. ours is false if it has another form than the server's: then the text is the
// error.
func ReadFailure(text string) (f Failure, ours bool) {
	if json.Unmarshal([]byte(text), &f) != nil || f.Error == "" {
		return Failure{Error: text}, false
	}
	return f, true
}
