// Package action holds the actions and reports that an exposure declares. An action first finds out what it would do, and then
// does it or asks (confirm.go); it sets fields (update.go), runs statements (sql.go) or calls a webhook (webhook.go). Begin with action.go.
//
// The rooms once and steps import it.
package action
