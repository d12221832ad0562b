package source

import (
	"net/http"

	"k8s.io/client-go/rest"
)

// Client returns a client for requests to the API that are no Secrets', with the credentials of a rest.Config. Its requests
// begin with the config's Host.
func Client(config *rest.Config) (*http.Client, error) { return rest.HTTPClientFor(config) }
