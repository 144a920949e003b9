// Errors in a request to the API, or in the rights of its sender.
import type { CatalogueEntry } from './catalogue-entry.ts'

export const requestErrors = {
  bad_request: {
    cause: 'A field, parameter or header has a value that it cannot have, or a required one is missing.',
    http: 400,
    sip: 400,
    cure: 'Correct the field or header the message names and send it again.',
  },
  malformed_body: {
    cause:
      'The body is not one JSON document, not as long as its headers say, or has text that is not valid Unicode.',
    http: 400,
    cure: 'Send one JSON document in UTF-8 with Content-Type: application/json.',
  },
  not_authenticated: {
    cause: 'The request carries no token, or one that is unknown, expired or revoked.',
    http: 401,
    sip: 401,
    cure: 'Send "Authorization: Bearer <token>" with an API key or the token that POST /login returned.',
  },
  not_permitted: {
    cause:
      'The caller is known, but the record or the action is outside its scope, or the caller may only read.',
    http: 403,
    sip: 403,
    cure: 'Use a key or user whose scope covers this record.',
  },
  wrong_credentials: {
    cause: 'The user name, the password or both are wrong; the reply does not say which.',
    http: 403,
    sip: 403,
    cure: 'Check the user name and the password, and for SIP the realm.',
  },
  locked_out: {
    cause: 'Too many wrong passwords came for this user or from this address (IPv6: its network).',
    http: 403,
    cure: 'Wait for the seconds in Retry-After, or get a new password: by a mailed link, or from an administrator.',
  },
  password_change_required: {
    cause:
      'The user logs in with a password that another person has chosen, and must choose another one first.',
    http: 403,
    cure: 'Send old_password and new_password to POST /change-password or PUT /Users/{UserSid}.',
  },
  user_refused: {
    cause: 'A rule about users does not allow the change.',
    http: 403,
    cure: 'Correct what the message names and send the whole request again.',
  },
  not_found: {
    cause: 'There is no such record, or none that the caller may see.',
    http: 404,
    sip: 404,
    cure: 'Check the identifier in the path.',
  },
  recording_not_stored: {
    cause: 'The call is recorded, and the recording is not stored yet.',
    http: 404,
    cure: 'Wait for the event recording at the call status hook, or look at the alerts of the account, which say why storing fails.',
  },
  no_transcript: {
    cause: 'No recogniser has heard the call.',
    http: 404,
    cure: 'Recognise its words with gather, transcribe, config.transcribe or dial.transcribe. If it does so already, the journal of the call says why the recogniser failed. The words of a dialled call are with the call that dialled it.',
  },
  no_such_route: {
    cause: 'No endpoint has this path.',
    http: 404,
    cure: 'Compare method and path with /v1/openapi.json.',
  },
  method_not_allowed: {
    cause: 'There are endpoints at this path, and none of them takes this method.',
    http: 405,
    cure: 'Use one of the methods that the header Allow names.',
  },
  stale_record: {
    cause: 'The record was changed after the ETag in If-Match was read.',
    http: 412,
    cure: 'Read the record again, apply your change to it and send the new ETag.',
  },
  too_large: {
    cause: 'The body is larger than the platform reads.',
    http: 413,
    sip: 513,
    cure: 'Send a smaller body.',
  },
  encoding_not_supported: {
    cause: 'The body is compressed, or in a charset other than UTF-8.',
    http: 415,
    cure: 'Send the body as UTF-8, and without Content-Encoding.',
  },
  range_not_satisfiable: {
    cause: 'The header Range names a part that lies outside the requested content.',
    http: 416,
    cure: 'Ask for a part within the length that HEAD returns.',
  },
  request_in_progress: {
    cause: 'A request with the same Idempotency-Key is still being carried out.',
    http: 409,
    cure: 'Wait for the reply to the first request, or send it again in a moment.',
  },
  idempotency_key_reused: {
    cause: 'The Idempotency-Key was used before, for another request.',
    http: 422,
    cure: 'Use a new Idempotency-Key for each request that is not a repetition.',
  },
  duplicate: {
    cause: 'Another record has the value already, and it must be unique.',
    http: 422,
    cure: 'Choose a value that no other record uses.',
  },
  already_exists: {
    cause: 'There is such a record already, and there can be one only.',
    http: 400,
    cure: 'Change the record that is there, or choose another name.',
  },
  in_use: {
    cause: 'Other records point at the one that was to be removed or changed.',
    http: 422,
    cure: 'Remove the references the message names first.',
  },
  quota_reached: {
    cause: 'The account has as many records of this kind as the operator allows.',
    http: 422,
    cure: 'Remove records that are not needed, or ask the operator to lift SWITCHHOOK_ACCOUNT_QUOTAS.',
  },
  audit_budget: {
    cause: 'The account has changed so much within an hour that its part of the audit log is full.',
    http: 429,
    cure: 'Try again after the seconds in Retry-After. Removals are still possible.',
  },
  audit_log_broken: {
    cause: 'Entries of the audit log were changed, removed or inserted, so that no checkpoint is made.',
    http: 409,
    cure: 'See GET /AuditLog/verify. Keep the log as it is, as evidence.',
  },
  too_many_requests: {
    cause: 'More requests came than the rate limit allows.',
    http: 429,
    cure: 'Wait for the seconds in Retry-After, then continue more slowly. RateLimit names the limit that was reached.',
  },
  not_served: {
    cause: 'The request asks for a part of the interface that this release does not serve yet.',
    http: 400,
    sip: 501,
    cure: 'Leave out what the message names.',
  },
} as const satisfies Record<string, CatalogueEntry>
