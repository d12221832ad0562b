package engines

// messagesOfUndoing answer mistakes in calls of undo.
var messagesOfUndoing = []messageRow{
	{token: "root", tool: "undo", arguments: `{}`,
		want: `give either call, as the answer of a change tells it, or since`},
	{token: "root", tool: "undo", arguments: `{"call":"x","since":"2026-01-31T12:00:00Z"}`,
		want: `give either call, as the answer of a change tells it, or since`},
	{token: "root", tool: "undo", arguments: `{"call":"x","model":"book"}`,
		want: `model goes with since; a call is taken back as a whole`},
	{token: "root", tool: "undo", arguments: `{"since":"yesterday"}`,
		want: `since must be a time such as 2026-01-31T12:00:00Z, not "yesterday"`},
	{token: "root", tool: "undo", arguments: `{"call":"x"}`,
		want: `the journal has no such changes of yours; call is in the answer of the call that made them`},
}
