package tracing

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	withAgents "go.opentelemetry.io/otel/semconv/v1.41.0" // the last release with MCP's and generative AI's
	newest "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// conventional are the released names, by the names here.
var conventional = map[attribute.Key]attribute.Key{
	MCPMethod: withAgents.McpMethodNameKey, MCPProtocol: withAgents.McpProtocolVersionKey,
	ToolName: withAgents.GenAIToolNameKey, ToolArguments: withAgents.GenAIToolCallArgumentsKey, AIOperation: withAgents.GenAIOperationNameKey,
	PromptName: withAgents.GenAIPromptNameKey,
	RequestID:  newest.JSONRPCRequestIDKey, RPCStatus: newest.RPCResponseStatusCodeKey,
	ErrorType: newest.ErrorTypeKey, Transport: newest.NetworkTransportKey, NetworkProtocol: newest.NetworkProtocolNameKey,
	ClientAddress: newest.ClientAddressKey, HTTPMethod: newest.HTTPRequestMethodKey, HTTPStatus: newest.HTTPResponseStatusCodeKey,
	HTTPRoute: newest.HTTPRouteKey, ServerAddress: newest.ServerAddressKey, ServerPort: newest.ServerPortKey,
	DBSystem: newest.DBSystemNameKey, DBNamespace: newest.DBNamespaceKey, DBOperation: newest.DBOperationNameKey,
	DBCollection: newest.DBCollectionNameKey, DBSummary: newest.DBQuerySummaryKey, DBText: newest.DBQueryTextKey,
	DBStatus: newest.DBResponseStatusCodeKey, DBBatchSize: newest.DBOperationBatchSizeKey,
	ServiceName: newest.ServiceNameKey, ServiceSpace: newest.ServiceNamespaceKey, ServiceInstance: newest.ServiceInstanceIDKey,
	ServiceVersion: newest.ServiceVersionKey,
}

// Each name is one of the conventions' released tables, or begins with our own prefix; and this test knows each.
func TestTheNamesAreThoseOfTheConventions(t *testing.T) {
	for ours, theirs := range conventional {
		if ours != theirs {
			t.Errorf("%q is %q in the conventions", ours, theirs)
		}
	}
	for ours, theirs := range map[string]attribute.KeyValue{
		ExecuteTool: withAgents.GenAIOperationNameExecuteTool, SystemPostgreSQL: newest.DBSystemNamePostgreSQL,
		SystemMySQL: newest.DBSystemNameMySQL, SystemSQLite: newest.DBSystemNameSQLite,
	} {
		if ours != theirs.Value.AsString() {
			t.Errorf("%q is %q in the conventions", ours, theirs.Value.AsString())
		}
	}
	file, err := parser.ParseFile(token.NewFileSet(), "names.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		conversion, is := n.(*ast.CallExpr)
		if !is {
			return true
		}
		name, err := strconv.Unquote(conversion.Args[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		if _, known := conventional[attribute.Key(name)]; !known && !strings.HasPrefix(name, "mcp_admin.") {
			t.Errorf("%q is neither of the conventions nor of our own", name)
		}
		found++
		return true
	})
	if found < len(conventional) {
		t.Errorf("%d names were found", found)
	}
}
