package engines

// Tables whose rows lie on other servers (MariaDB's Spider) are read, and not written. A case that writes through a tool is skipped as
// soon as the server says that a table offers no such tool; here are those that differ otherwise.

// noSavepoints is why nothing is written.
const noSavepoints = "the tables are read-only, as their transactions have no savepoints"

// onRemote are those cases and groups, by their names.
var onRemote = map[string]string{}
