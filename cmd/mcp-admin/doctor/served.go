package doctor

import (
	"context"
	"fmt"
	"net/http"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/laptop"
)

// examineServed looks at what "mcp-admin dev" serves on this machine.
func examineServed(ctx context.Context, served *laptop.Served) *Diagnosis {
	d := OfServed(served)
	if err := answers(ctx, served.URL); err != nil {
		d.Problems = []Problem{{Object: "MCPEndpoint " + served.Endpoint,
			Message: fmt.Sprintf("nothing answers at %s: \"mcp-admin dev\" was ended without a chance to say so", served.URL), Command: "mcp-admin dev --help"}}
	}
	return d
}

// OfServed finds what is wrong with the endpoint that dev serves, from what the server tells of itself.
func OfServed(served *laptop.Served) *Diagnosis {
	d := &Diagnosis{Looked: []string{"MCPEndpoint " + served.Endpoint}, Problems: []Problem{}}
	for _, p := range served.Problems {
		message := p.Message
		if p.Reason != "" {
			message += " (" + p.Reason + ")"
		}
		d.Problems = append(d.Problems, Problem{Object: p.Object, Reason: p.Reason, Message: message})
	}
	return d
}

// answers asks an endpoint's health page. Any answer will do.
func answers(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"health", nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}
