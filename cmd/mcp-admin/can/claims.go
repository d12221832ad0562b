package can

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/rights"
)

// caller is somebody who shows a token of an identity provider.
type caller struct {
	Issuer  string `json:"issuer"`
	Subject string `json:"subject,omitempty"`
	// Attributes come from the MCPToken and from the claims.
	Attributes map[string]string `json:"attributes,omitempty"`
	// Assumed are the claims that were not given, and are taken as a good token has them.
	Assumed []string `json:"assumed,omitempty"`
}

// visit answers for a caller with the claims of the file.
func (o *options) visit(ctx context.Context, in io.Reader) (*answer, error) {
	claims, err := o.readClaims(in)
	if err != nil {
		return nil, fmt.Errorf("--claims: %w", err)
	}
	if len(o.files) == 0 && o.endpoint == "" {
		return nil, errors.New("name the MCPEndpoint with -e, or files with -f")
	}
	objects, err := rights.Read(ctx, &o.Flags, o.files, o.endpoint)
	if err != nil {
		return nil, err
	}
	v, err := objects.Visitor(o.issuer, claims, time.Now())
	if err != nil {
		return nil, err
	}
	return &answer{
		Token: v.Token, Endpoint: v.Endpoint, Caller: &caller{v.Issuer, v.Subject, v.Attributes, v.Assumed}, InForce: v.Refused == "", NotInForce: v.Refused,
		Groups: v.Groups, Models: v.Models, Tools: v.Tools, Withheld: v.Withheld,
	}, nil
}

func (o *options) readClaims(in io.Reader) (map[string]any, error) {
	if o.claims == "-" {
		return rights.ReadClaims(in)
	}
	file, err := os.Open(o.claims)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return rights.ReadClaims(file)
}
