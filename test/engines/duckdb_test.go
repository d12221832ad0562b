package engines

import "testing"

// DuckDB is only read. A case that writes through a tool is skipped as soon as the server says that nothing can be written; here are those
// that write in other ways, or that are about what is said of writing.

const (
	// neverWritten is what the server says.
	neverWritten = "nothing in the endpoint's database can be written"
	noWrites     = "nothing in the database can be written"
)

// onlyRead are those cases and groups, by their names.
var onlyRead = map[string]string{
	"round trips": noWrites,
	"the tools that are listed are those that can be used":      noWrites,
	"the list has what the token may use on one model at least": noWrites,
	"root sample":   lessRoom,
	"clerk sample":  lessRoom,
	"viewer sample": lessRoom,
}

// lessRoom: DuckDB computes with 38 digits.
const lessRoom = "a product of the example has more digits than DuckDB computes with"

// writes ends a case that writes beside the server, on an engine that is only read.
func (s *suite) writes(t *testing.T) {
	t.Helper()
	if s.OnlyReads {
		t.Skip(noWrites)
	}
}
