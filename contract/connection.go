package contract

// Connection is where a database is and who we are there. It is secret: it prints as its address only.
type Connection struct {
	// Engine is EnginePostgreSQL; "" where the source does not tell.
	Engine         string
	Host           string
	Port           int
	Database       string
	User, Password string
	// SSLMode is libpq's; "" where the source does not tell.
	SSLMode string
	// Options are further parameters of a URI that the driver understands.
	Options map[string]string
}
