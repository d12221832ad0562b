package call

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/audit"
	"github.com/mcp-admin/mcp-admin-operator/server/seal"
)

// The formats of exports.
const (
	ExportCSV    = "csv"
	ExportNDJSON = "ndjson"
)

// ExportArgument is the argument that asks for an export.
const ExportArgument = "export"

// ExportLife is how long the link of an export is valid.
const ExportLife = 5 * time.Minute

// maxExportURL is the longest URL of an export, in bytes: proxies and clients take 8 KiB.
const maxExportURL = 6 << 10

// maxExportText is the most bytes of what a link holds, once it is unpacked.
const maxExportText = 1 << 20

// exportPurpose is the purpose for which the key of links is derived.
const exportPurpose = "export"

// ExportLink is what the link of an export holds: who asked for what, and until when. It is sealed, so that nobody reads or
// changes it, and holds no secret all the same: of a token's text only the hash.
type ExportLink struct {
	// ID is the id of the call that asked, which is in the audit log.
	ID string `json:"i"`
	// Token is the name of the token that asked, for the audit log; Credential is what its holder has shown.
	Token      string            `json:"t"`
	Credential access.Credential `json:"c"`
	Operation  string            `json:"o"`
	Model      string            `json:"m"`
	Generic    bool              `json:"g,omitempty"`
	Format     string            `json:"f"`
	Arguments  json.RawMessage   `json:"a"`
	// Asked is the moment of the call: now, to all that it asks for. Expires is the moment from which the link is refused.
	Asked   time.Time `json:"n"`
	Expires time.Time `json:"e"`
}

// Fetch is the fetching of an export: the call writes its rows to a file instead of answering.
type Fetch struct {
	Link *ExportLink
	// Claim uses the link up; an error ends the call, before anything is read.
	Claim func() error
	// To takes the file.
	To File
	// Shown tells of the rows that were written.
	audit.Shown
}

// File takes a file; the first write is its beginning, and Flush its end. Errors are the reader's, or a *Withdrawn.
type File interface {
	io.Writer
	Flush() error
}

// Withdrawn is the end of a file that the token may not have any more.
type Withdrawn struct {
	// Outcome is the outcome in the audit log.
	Outcome string
}

func (*Withdrawn) Error() string { return "the token may not have the export any more" }

// Exported is the answer of a call that asks for an export.
type Exported struct {
	Export struct {
		URI    string `json:"uri"`
		Format string `json:"format"`
		// Rows is how many there are now.
		Rows    int    `json:"rows"`
		Expires string `json:"expires"`
	} `json:"export"`
	Notice string `json:"notice"`
}

// ResourceLink is a link that MCP shows as one (specification of 2025-06-18, "Tools", "Resource Links").
type ResourceLink struct{ URI, Name, Description, MIMEType string }

// ExportFile is the name of an export's file, and its type: model-operation.csv, in characters that are safe in a header.
func (l *ExportLink) ExportFile() (name, mimeType string) {
	name = l.Model + "-" + l.Operation
	if l.Format == ExportCSV {
		return name + ".csv", "text/csv"
	}
	return name + ".ndjson", "application/x-ndjson"
}

// Tool is the name of the tool that was called.
func (l *ExportLink) Tool() string {
	if l.Generic {
		return l.Operation
	}
	return l.Operation + "_" + l.Model
}

// AnswerExport answers with the link to a file of so many rows of what the call asks for.
func (c *Call) AnswerExport(format string, rows int) ([]byte, error) {
	link, err := c.exportLink(format)
	if err != nil {
		return nil, err
	}
	text, err := SealExport(c.Settings, link)
	if err != nil {
		return nil, err
	}
	var answer Exported
	answer.Export.URI = c.Settings.ExportsURL + text
	if n := len(answer.Export.URI); n > maxExportURL {
		return nil, Invalid("%s: the call is too long for a link (a URL of %d bytes, at most %d): send fewer fields or values of filters, or export a report", ExportArgument, n, maxExportURL)
	}
	answer.Export.Format, answer.Export.Rows, answer.Export.Expires = format, rows, link.Expires.UTC().Format(time.RFC3339)
	answer.Notice = "GET the uri, once and before it expires; it needs no token, so pass it to nobody who may not have the rows"
	name, mimeType := link.ExportFile()
	c.link = &ResourceLink{
		URI: answer.Export.URI, Name: name, MIMEType: mimeType,
		Description: fmt.Sprintf("%d rows of %s, to GET once and before %s", rows, link.Model, answer.Export.Expires),
	}
	c.ID, c.Record.Rows = link.ID, &rows
	c.recordExport()
	return json.Marshal(answer)
}

// ExportOperation stands before an operation in the audit log, if its rows are exported.
const ExportOperation = "export:"

// recordExport tells the audit what is exported.
func (c *Call) recordExport() {
	c.Record.Operation, c.Record.Of, c.Record.Question = ExportOperation+c.Op.Name, c.Reading.RowsOf, audit.Question(c.Raw)
}

// NewFetch is the fetching of a link.
func NewFetch(settings *Settings, link *ExportLink) *Fetch {
	f := &Fetch{Link: link}
	if settings.AuditReads == contract.AuditRows {
		f.IDs = []string{}
	}
	return f
}

// exportLink is the link of the call.
func (c *Call) exportLink(format string) (*ExportLink, error) {
	given, err := json.Marshal(c.Given)
	if err != nil {
		return nil, err
	}
	link := &ExportLink{
		ID: NewCallID(), Token: c.Token.Name(), Credential: c.Token.Credential(), Operation: c.Op.Name, Model: c.Model, Generic: c.Generic,
		Format: format, Arguments: given, Asked: c.Now, Expires: c.Now.Add(ExportLife),
	}
	if until := link.Credential.Expiry; !until.IsZero() && until.Before(link.Expires) {
		link.Expires = until
	}
	return link, nil
}

// FetchIntent writes a line before the call's link is used up, as TellIntent does.
func (c *Call) FetchIntent() error {
	if !c.Settings.AuditRequired {
		return nil
	}
	return c.AuditExport(OutcomeIntent)
}

// AuditExport writes the audit's line about the fetching of the call's link, under the name of the tool that gave it. Errors are as
// TellAudit's.
func (c *Call) AuditExport(outcome string) error {
	generic := c.Generic
	defer func() { c.Generic = generic }()
	c.Generic = c.Fetch.Link.Generic
	c.ID, c.Record.Rows, c.Record.IDs, c.Record.Fields = c.Fetch.Link.ID, &c.Fetch.Rows, c.Fetch.IDs, c.Fetch.Fields
	c.recordExport()
	return c.TellAudit(outcome)
}

// SealExport writes a link, without the URL before it.
func SealExport(settings *Settings, link *ExportLink) (string, error) {
	plain, err := json.Marshal(link)
	if err != nil {
		return "", err
	}
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err := w.Write(plain); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return seal.New(settings.SealKey, exportPurpose).Seal(packed.Bytes(), []byte(settings.Endpoint)), nil
}

// OpenExport reads a link; false if this endpoint did not make it. It may have expired.
func OpenExport(settings *Settings, text string) (*ExportLink, bool) {
	if len(text) > maxExportURL {
		return nil, false
	}
	packed, ok := seal.New(settings.SealKey, exportPurpose).Open(text, []byte(settings.Endpoint))
	if !ok {
		return nil, false
	}
	return parseExport(packed)
}

// parseExport reads what SealExport has packed.
func parseExport(packed []byte) (*ExportLink, bool) {
	plain, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), maxExportText+1))
	if err != nil || len(plain) > maxExportText {
		return nil, false
	}
	var link ExportLink
	if json.Unmarshal(plain, &link) != nil {
		return nil, false
	}
	complete := link.ID != "" && link.Model != "" && len(link.Arguments) > 0 && !link.Expires.IsZero() && (link.Format == ExportCSV || link.Format == ExportNDJSON)
	return &link, complete && FindOperation(link.Operation) != nil
}
