package compile_test

import (
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// A reader of version 1 knows neither row policies nor masks, nor read-only access: it would answer from such a Config,
// and show and change what it forbids.
func TestAReaderThatWouldPassOverRestrictionsRefusesTheConfig(t *testing.T) {
	config, _ := compile.Compile(inputs())
	if config.MinReader < 2 || config.Version < config.MinReader {
		t.Errorf("version %d, for readers of %d", config.Version, config.MinReader)
	}
}
