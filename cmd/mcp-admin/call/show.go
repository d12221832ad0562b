package call

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
)

func showTools(screen *output.Screen, tools []*mcp.Tool) {
	if len(tools) == 0 {
		fmt.Fprintln(screen, "The token sees no tool; \"mcp-admin can\" says why.")
		return
	}
	rows := make([][]string, len(tools))
	for i, t := range tools {
		about, _, _ := strings.Cut(t.Description, "\n")
		rows[i] = []string{t.Name, about}
	}
	screen.Table([]string{"TOOL", "WHAT IT DOES"}, rows...)
}

// showResult prints an answer for people: a table of rows if it is a list, else JSON with indents.
func showResult(screen *output.Screen, result *mcp.CallToolResult) {
	for _, content := range result.Content {
		text, ok := content.(*mcp.TextContent)
		switch {
		case !ok:
			encoded, _ := json.Marshal(content) // it was decoded from JSON
			fmt.Fprintf(screen, "%s\n", encoded)
		case result.IsError:
			showError(screen, text.Text)
		case !showRows(screen, text.Text):
			showJSON(screen, text.Text)
		}
	}
}

// showError prints what an error says, and the whole of it if that is more than its message and its code.
func showError(screen *output.Screen, text string) {
	said, ours := ReadFailure(text)
	if !ours {
		fmt.Fprintln(screen, text)
		return
	}
	fmt.Fprintf(screen, "%s %s\n", screen.Styled(output.Bad, said.Code+":"), said.Error)
	var members map[string]json.RawMessage
	_ = json.Unmarshal([]byte(text), &members) // it was decoded as a failure
	delete(members, "error")
	delete(members, "code")
	if len(members) > 0 {
		showJSON(screen, text)
	}
}

func showJSON(screen *output.Screen, text string) {
	var b bytes.Buffer
	if json.Indent(&b, []byte(text), "", "  ") != nil {
		fmt.Fprintln(screen, text)
		return
	}
	fmt.Fprintln(screen, b.String())
}

// maxCell is how many characters of a value a table shows.
const maxCell = 60

// Rows are the rows of an answer, as a table.
type Rows struct {
	Columns []string
	// Cells are the texts of each row, one for each column; each is one line.
	Cells [][]string
	// Counted says how many rows there are, such as "3 rows of 12".
	Counted string
	// More says how to ask for the next page; "" if this is the last one. Notice is a remark of the server about the answer.
	More, Notice string
}

// ReadRows reads the text of an answer as rows, and reports whether it is that.
func ReadRows(text string) (*Rows, bool) {
	var list struct {
		Count   *int              `json:"count"`
		Total   *json.Number      `json:"total_count"`
		Results []json.RawMessage `json:"results"`
		// AtLeast and About stand there instead of Total if nobody knows that.
		AtLeast *json.Number `json:"total_count_at_least"`
		About   *json.Number `json:"total_count_estimated"`
		Groups  *json.Number `json:"total_groups"`
		Next    string       `json:"next_cursor"`
		Offset  int          `json:"next_offset"`
		Notice  string       `json:"notice"`
	}
	if json.Unmarshal([]byte(text), &list) != nil || list.Count == nil || len(list.Results) == 0 {
		return nil, false
	}
	columns, err := keysOf(list.Results[0])
	if err != nil {
		return nil, false
	}
	r := &Rows{Columns: columns, Cells: make([][]string, len(list.Results)), Counted: output.Numbered(*list.Count, "row"), Notice: list.Notice}
	for i, result := range list.Results {
		var row map[string]json.RawMessage
		if json.Unmarshal(result, &row) != nil {
			return nil, false
		}
		for _, column := range columns {
			r.Cells[i] = append(r.Cells[i], cell(row[column]))
		}
	}
	for _, total := range []struct {
		known *json.Number
		of    string
	}{{list.Total, "of"}, {list.Groups, "of"}, {list.AtLeast, "of at least"}, {list.About, "of about"}} {
		if total.known != nil {
			r.Counted += fmt.Sprintf(" %s %s", total.of, *total.known)
		}
	}
	switch {
	case list.Next != "":
		r.More = "cursor=" + list.Next
	case list.Offset > 0:
		r.More = fmt.Sprintf("offset=%d", list.Offset)
	}
	return r, true
}

// showRows prints a list's rows as a table, and reports whether the answer is one.
func showRows(screen *output.Screen, text string) bool {
	rows, ok := ReadRows(text)
	if !ok {
		return false
	}
	screen.Table(rows.Columns, rows.Cells...)
	fmt.Fprintln(screen, rows.Counted)
	if rows.More != "" {
		fmt.Fprintf(screen, "The next page: %s\n", rows.More)
	}
	if rows.Notice != "" {
		fmt.Fprintf(screen, "Note: %s\n", rows.Notice)
	}
	return true
}

// keysOf are the members of a JSON object in their order.
func keysOf(object json.RawMessage) ([]string, error) {
	decoder := json.NewDecoder(bytes.NewReader(object))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return nil, errors.New("no object")
	}
	var keys []string
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, err
		}
		keys = append(keys, key.(string))
	}
	return keys, nil
}

// cell is a value in one line: NULL is null, a text without characters is "", and a member that the row lacks is nothing.
func cell(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) != nil || string(value) == "null" {
		text = string(value)
	} else if text == "" {
		return `""`
	}
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > maxCell {
		return string(runes[:maxCell-1]) + "…"
	}
	return text
}
