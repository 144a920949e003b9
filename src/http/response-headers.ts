// The headers of every response. All of them are constant, so one object replaces a plugin for each.

export const jsonType = 'application/json; charset=utf-8'

export const responseHeaders: Readonly<Record<string, string>> = {
  // Any origin, and no credentials: a browser sends a bearer token only if the page's own code sets it.
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'x-request-id, www-authenticate, retry-after, etag, idempotency-replayed, ratelimit, ratelimit-policy, content-disposition, content-range, sample-rate, x-unknown-fields',
  'cache-control': 'no-store',
  // Replies are data: nothing in them may run, be loaded or be framed.
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'cross-origin',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

export const preflightHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
  'access-control-allow-headers':
    'authorization, content-type, idempotency-key, if-match, if-none-match, x-request-id',
  'access-control-max-age': '86400',
}
