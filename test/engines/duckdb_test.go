package engines

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
}
