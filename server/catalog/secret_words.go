package catalog

// The words by which names mean secrets, and those by which they do not. Each list says how it is compared.
var (
	// secretNumbers are last words that mean a secret even for numbers.
	secretNumbers = []string{"pin", "cvv", "cvc", "otp", "passcode"}
	// secretWords make a name secret as whole words. secretPieces do so as any part of the name.
	secretWords = []string{"salt", "pwd", "otp", "totp", "ha1", "ha1b", "credential", "credentials", "creds", "bearer", "jwt", "psk", "hmac",
		"csrf", "xsrf", "mnemonic", "dsn"}
	secretPieces = []string{"password", "passwd", "passphrase", "passwort", "contrasena", "secret", "apikey", "privatekey", "privkey", "recoverycode",
		"backupcode", "scratchcode", "scratchtoken", "presharedkey", "passkey", "seedphrase", "securityanswer", "codeverifier", "connectionstring",
		"slackwebhook", "discordwebhook", "teamswebhook"}
	// encryptedPieces mean that the value is encrypted, so it was a secret to whoever stored it.
	encryptedPieces = []string{"encrypted", "ciphertext"}
	// secretEndings make a name secret if its last word ends so: "token" holds a token, but "token_id" only names one.
	secretEndings = []string{"token", "tokens", "session", "sessions", "cookie", "cookies", "nonce"}
	// secretEnds make a name secret if it ends so, although its last word says otherwise: links that let in whoever follows
	// them, addresses with a password in them, what names a browser.
	secretEnds = []string{"magiclink", "loginlink", "resetlink", "reseturl", "invitelink", "inviteurl", "signedurl", "databaseurl", "redisurl", "dburl",
		"connectionurl", "connectionuri", "slackwebhookurl", "discordwebhookurl", "teamswebhookurl", "cookieuuid", "cookieid", "cookievalue"}
	// keyKinds make a key secret, as words or before "key": "auth_key", "serverkey", but not "sort_key".
	keyKinds = []string{"auth", "access", "signing", "encryption", "decryption", "session", "license", "licence", "activation", "reset", "master",
		"ssh", "shared", "hashed", "hmac", "merchant", "webhook", "crypto", "cipher", "private", "priv", "tls", "ssl", "rsa", "server", "stored",
		"consumer", "registration", "recovery", "unlock", "invitation", "wifi", "wpa", "wep", "aws", "azure", "stripe", "openai", "anthropic",
		"sendgrid", "mailgun", "twilio", "firebase"}
	// codeKinds make a code secret, before "code".
	codeKinds = []string{"verification", "activation", "reset", "login", "auth", "authorization", "security", "recovery", "backup", "otp", "mfa", "2fa",
		"twofactor", "unlock", "scratch", "pairing", "device", "access", "invite", "invitation", "pin", "salted", "hashed"}
	// proofs end the names of tables whose keys and codes prove who somebody is.
	proofs = []string{"verification", "confirmation", "activation", "reset", "invitation", "invite", "grant", "recovery", "license", "licence", "otp",
		"recoverycode", "backupcode", "authorizationcode", "devicecode"}
	// credentialStores end the names of tables whose values are passwords among others: FreeRADIUS's and Zabbix's.
	credentialStores = []string{"radcheck", "radgroupcheck", "globalmacro", "hostmacro"}
	// signed are words for data whose sender a signature proves: "webhook_signature", but not what ends somebody's mails.
	signed = []string{"webhook", "hook", "callback", "request", "hmac", "auth", "payload"}
	// contents are words for data whose digest is no secret.
	contents = []string{"content", "contents", "file", "image", "config", "commit", "git", "block", "tx", "transaction", "blob", "media", "pixel", "row",
		"body", "message", "url", "uri", "query", "schema", "data", "document", "page", "comment", "text", "email", "ip", "geo", "input", "output",
		"parent", "merkle", "root", "perceptual", "template", "source", "artifact", "build", "package", "manifest", "layer", "object", "tree", "video",
		"audio", "event", "address", "diff", "state", "index", "html", "name", "title", "path", "sha", "md5"}
	// otherPasses end with "pass" and let nobody into a program.
	otherPasses = []string{"bypass", "compass", "overpass", "underpass", "encompass", "trespass", "surpass", "boardingpass", "seasonpass", "skipass",
		"firstpass", "lastpass"}
	// sessionIDs end the name of a session's id, sessionTables the last word of a table of sessions.
	sessionIDs    = []string{"sessionid", "sessid", "sessionuuid", "sessionkey", "sessionhash"}
	sessionTables = []string{"session", "sessions", "sess"}
	// sessionData are the columns in which programs keep what belongs to a session.
	sessionData = []string{"data", "payload", "sess", "sessiondata", "sessdata", "vars", "value"}
	// otherSessions are words of sessions that nobody logs in to.
	otherSessions = []string{"acct", "accounting", "checkout", "payment", "provider", "charging", "parking", "billing", "pos", "cash", "vol", "course",
		"class", "lecture", "lesson", "training", "workshop", "conference", "talk", "speaker", "seminar", "webinar", "exam", "quiz", "test", "study", "survey", "school",
		"academic", "game", "match", "play", "poker", "quest", "workout", "gym", "yoga", "fitness", "therapy", "treatment", "counseling", "coaching",
		"mentoring", "tutoring", "chat", "call", "meeting", "video", "voice", "live", "stream", "recording", "replay", "event", "analytics", "tracking",
		"visit", "import", "export", "upload", "debug", "backup", "trading", "market", "shift", "legislative", "parliament", "parliamentary", "court",
		"lab", "photo", "drive", "driving", "sales", "llm", "prompt", "conversation"}
	// qualifiers may follow the decisive word.
	qualifiers = []string{"old", "new", "current", "previous", "value", "text", "raw", "encrypted", "enc", "crypt", "digest", "string", "fingerprint",
		"plain", "plaintext", "hashed", "ciphertext", "base64", "b64", "hex", "pem"}
	// aspects and labels end the names of what is said about a secret. What is encrypted may be a label itself
	// ("encrypted_url"), but no aspect.
	aspects = []string{"at", "on", "by", "date", "time", "timestamp", "ts", "ms", "expires", "expiry", "expiration", "expire", "ttl", "age", "lifetime",
		"count", "counter", "len", "length", "size", "bits", "type", "kind", "method", "methods", "mode", "algorithm", "algorithms", "algo", "alg",
		"policy", "level", "status", "format", "version", "enabled", "disabled", "required", "allowed", "attempts", "attempt", "tries", "failures",
		"preference", "protocol", "path", "dir", "reference", "ref", "scope", "scopes", "audience", "rules", "rule", "strength", "restriction",
		"used", "changed", "created", "updated", "fail", "failed", "rate", "mark", "flags", "supported"}
	labels = []string{"id", "ids", "uuid", "identity", "identifier", "prefix", "name", "names", "label", "title", "description", "comment", "note", "notes",
		"settings", "setting", "config", "options", "permissions", "metadata", "url", "uri", "uris", "endpoint", "file", "filename", "field", "column",
		"question", "subject", "issuer", "provider", "state", "template", "page", "username", "user", "domain", "hosts", "host"}
)
