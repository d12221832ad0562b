package tracing

import "go.opentelemetry.io/otel/attribute"

// The attributes of OpenTelemetry's semantic conventions that spans have. Those of MCP and of generative AI have the status
// Development. A test holds all of them against the conventions' released tables.
const (
	MCPMethod       = attribute.Key("mcp.method.name")
	MCPProtocol     = attribute.Key("mcp.protocol.version")
	RequestID       = attribute.Key("jsonrpc.request.id")
	RPCStatus       = attribute.Key("rpc.response.status_code")
	ToolName        = attribute.Key("gen_ai.tool.name")
	ToolArguments   = attribute.Key("gen_ai.tool.call.arguments")
	AIOperation     = attribute.Key("gen_ai.operation.name")
	PromptName      = attribute.Key("gen_ai.prompt.name")
	ErrorType       = attribute.Key("error.type")
	Transport       = attribute.Key("network.transport")
	NetworkProtocol = attribute.Key("network.protocol.name")
	ClientAddress   = attribute.Key("client.address")
	HTTPMethod      = attribute.Key("http.request.method")
	HTTPStatus      = attribute.Key("http.response.status_code")
	HTTPRoute       = attribute.Key("http.route")
	ServerAddress   = attribute.Key("server.address")
	ServerPort      = attribute.Key("server.port")
	DBSystem        = attribute.Key("db.system.name")
	DBNamespace     = attribute.Key("db.namespace")
	DBOperation     = attribute.Key("db.operation.name")
	DBCollection    = attribute.Key("db.collection.name")
	DBSummary       = attribute.Key("db.query.summary")
	DBText          = attribute.Key("db.query.text")
	DBStatus        = attribute.Key("db.response.status_code")
	DBBatchSize     = attribute.Key("db.operation.batch.size")
	ServiceName     = attribute.Key("service.name")
	ServiceSpace    = attribute.Key("service.namespace")
	ServiceInstance = attribute.Key("service.instance.id")
	ServiceVersion  = attribute.Key("service.version")
)

// The conventions' values that are used.
const (
	ExecuteTool      = "execute_tool"
	ToolError        = "tool_error"
	SystemPostgreSQL = "postgresql"
	SystemMySQL      = "mysql"
	SystemSQLite     = "sqlite"
	SystemDuckDB     = "duckdb" // the conventions have no name for it
)

// The attributes of our own.
const (
	Endpoint  = attribute.Key("mcp_admin.endpoint")
	Model     = attribute.Key("mcp_admin.model")
	Token     = attribute.Key("mcp_admin.token")
	Caller    = attribute.Key("mcp_admin.caller")
	Operation = attribute.Key("mcp_admin.operation")
	// Call is the call's id in the journal and in the audit.
	Call = attribute.Key("mcp_admin.call")
	// Outcome is the tool's error code (package telemetry).
	Outcome = attribute.Key("mcp_admin.outcome")
	// Rows and Bytes are those of the answer, Changed the rows that were changed.
	Rows    = attribute.Key("mcp_admin.rows")
	Bytes   = attribute.Key("mcp_admin.bytes")
	Changed = attribute.Key("mcp_admin.changed")
	// Step is the number of a step of transact, from 0.
	Step = attribute.Key("mcp_admin.step")
	// Revision and Part say which part of a Config, and Pods how many pods have it.
	Revision = attribute.Key("mcp_admin.revision")
	Part     = attribute.Key("mcp_admin.part")
	Pods     = attribute.Key("mcp_admin.pods")
	// Seconds is how long was waited.
	Seconds = attribute.Key("mcp_admin.seconds")
)

// The events of spans: what was waited for.
const (
	WaitedForPlace      = "mcp_admin.waited_for_place"
	WaitedForShare      = "mcp_admin.waited_for_share_of_connections"
	WaitedForConnection = "mcp_admin.waited_for_connection"
	Connected           = "mcp_admin.connected"
	Locked              = "mcp_admin.locked"
	RunAgain            = "mcp_admin.run_again"
)

// scope is the name of the instrumentation scope.
const scope = "github.com/mcp-admin/mcp-admin-operator"
