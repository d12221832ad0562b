package call

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// rowsTrailer is the trailer that ends a file which is whole: how many rows it has.
const rowsTrailer = "Export-Rows"

// formatOf is the format of an export's file: by the argument export if there is one, else by the ending of the file's name.
func formatOf(file string, arguments map[string]any) (any, error) {
	if format, given := arguments["export"]; given {
		return format, nil
	}
	switch filepath.Ext(file) {
	case ".csv":
		return "csv", nil
	case ".ndjson", ".jsonl":
		return "ndjson", nil
	}
	return nil, fmt.Errorf("--export: %s ends neither in .csv nor in .ndjson; give the format as export=csv or export=ndjson", file)
}

// save fetches the file to which the answer of a call links, and returns how many rows it has. The file of that name stays as it is
// unless the whole export is there.
func (c *Callee) save(ctx context.Context, result *mcp.CallToolResult, file string) (rows int, err error) {
	link, err := c.linkOf(result)
	if err != nil {
		return 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, link, nil)
	if err != nil {
		return 0, err
	}
	response, err := c.transport.RoundTrip(request) // it needs no token, and follows nowhere
	if err != nil {
		return 0, errors.New("the export cannot be fetched: the connection broke") // the error's own text has the link
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("the export cannot be fetched: the endpoint answers %s", response.Status)
	}
	part, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*") // only its owner may read it
	if err != nil {
		return 0, fmt.Errorf("--export: %w", err)
	}
	defer func() {
		if err != nil {
			_ = part.Close()
			_ = os.Remove(part.Name())
		}
	}()
	n, err := io.Copy(part, response.Body)
	if err == nil {
		rows, err = strconv.Atoi(response.Trailer.Get(rowsTrailer))
	}
	if err != nil {
		return 0, fmt.Errorf("the export broke off after %d bytes, and is not kept: call again", n)
	}
	if err = part.Close(); err != nil {
		return 0, fmt.Errorf("--export: %w", err)
	}
	if err = os.Rename(part.Name(), file); err != nil {
		return 0, fmt.Errorf("--export: %w", err)
	}
	return rows, nil
}

// linkOf is the link of an answer, at the address at which the endpoint was called: its own may not be reached from here.
func (c *Callee) linkOf(result *mcp.CallToolResult) (string, error) {
	for _, content := range result.Content {
		text, ok := content.(*mcp.TextContent)
		if !ok {
			continue
		}
		var answer struct {
			Export struct {
				URI string `json:"uri"`
			} `json:"export"`
		}
		if json.Unmarshal([]byte(text.Text), &answer) == nil && answer.Export.URI != "" {
			at, _, _ := strings.Cut(c.url, "?")
			return strings.TrimSuffix(at, "/") + "/exports/" + answer.Export.URI[strings.LastIndexByte(answer.Export.URI, '/')+1:], nil
		}
	}
	return "", errors.New("the answer has no link to an export; the tools that export are list, aggregate, related and report")
}
