package page

import "net/http"

// screen is one idea on one page. Its template is templates/NAME.html, which defines "main" over the data that show returns.
type screen struct {
	name string
	// path is below the root, as http.ServeMux has it.
	path string
	// tab is its name among the tabs of an endpoint, or of all; "" is none. A screen with a tab of an endpoint has a path that begins with
	// ofEndpoint.
	tab string
	// counts has the tab tell how many calls wait.
	counts bool
	// changes says of a screen that it has no place where objects lie in files.
	changes bool
	show    func(*request) (any, error)
	// act does what the screen's form asks for, and returns the path below the root that shows what happened; nil: it has no form.
	act func(*request) (string, error)
}

// ofEndpoint is the path of an endpoint.
const ofEndpoint = "e/{namespace}/{name}"

// screens are all there are, in the order of their tabs.
func screens() []screen {
	return []screen{
		{name: "overview", path: "{$}", tab: "Endpoints", show: (*request).overview},
		{name: "problems", path: "problems", tab: "What is wrong", show: (*request).problems},
		{name: "approvals", path: "approvals", tab: "Approvals", counts: true, show: (*request).approvals},
		{name: "endpoint", path: ofEndpoint, tab: "Health", show: (*request).endpoint},
		{name: "who", path: ofEndpoint + "/who", tab: "Who can see what", show: (*request).who},
		{name: "cell", path: ofEndpoint + "/who/{tokens}/{token}/{model}", show: (*request).cell},
		{name: "reach", path: ofEndpoint + "/who-reads", show: (*request).reach},
		{name: "seeas", path: ofEndpoint + "/see-as", tab: "See as", show: (*request).seeAs},
		{name: "claims", path: ofEndpoint + "/see-as-caller", show: (*request).claims},
		{name: "trial", path: ofEndpoint + "/see-as/{tokens}/{token}/{tool}", show: (*request).try},
		{name: "models", path: ofEndpoint + "/models", tab: "Models", show: (*request).models},
		{name: "model", path: ofEndpoint + "/models/{model}", show: (*request).model},
		{name: "activity", path: ofEndpoint + "/activity", tab: "Activity", show: (*request).activity},
		{name: "call", path: ofEndpoint + "/activity/{at}", show: (*request).call},
		{name: "undo", path: ofEndpoint + "/activity/{at}/undo", show: (*request).undoPlan, act: (*request).undo},
		{name: "undone", path: ofEndpoint + "/activity/{at}/undo/done", show: (*request).undone},
		{name: "since", path: ofEndpoint + "/" + takeBackPath, show: (*request).sincePlan, act: (*request).undoSince},
		{name: "undone", path: ofEndpoint + "/" + takeBackPath + "/done", show: (*request).doneSince},
		{name: "approvals", path: ofEndpoint + "/approvals", tab: "Approvals", counts: true, show: (*request).approvals},
		{name: "approval", path: ofEndpoint + "/approvals/{approval}", show: (*request).approval, act: (*request).decide},
		{name: "override", path: ofEndpoint + "/approvals/{approval}/override", show: (*request).overridePlan, act: (*request).override},
		{name: "acts", path: ofEndpoint + "/acts", tab: "Acts", changes: true, show: (*request).acts},
		{name: "plan", path: ofEndpoint + "/acts/{act}", changes: true, show: (*request).plan, act: (*request).perform},
		{name: "done", path: ofEndpoint + "/acts/{act}/done", changes: true, show: (*request).done},
	}
}

// download is an answer that is no page.
type download struct {
	path, contentType, file string
	write                   func(*request, http.ResponseWriter) error
}

func downloads() []download {
	return []download{
		{ofEndpoint + "/matrix.csv", "text/csv; charset=utf-8", "matrix.csv", (*request).matrixCSV},
		{ofEndpoint + "/matrix.json", "application/json", "matrix.json", (*request).matrixJSON},
	}
}
