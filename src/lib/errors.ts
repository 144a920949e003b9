// Every failure that a client or a caller may see: one closed list. `http` and `sip` are the wire statuses,
// `cure` is what the reader can do about it. docs/reference/errors.md is generated from here.

interface CatalogueEntry {
  readonly http: number
  readonly sip?: number
  readonly cure: string
  /** What causes it. */
  readonly cause: string
}

export const catalogue = {
  bad_request: {
    cause: 'A field, parameter or header has a value that it cannot have, or a required one is missing.',
    http: 400,
    sip: 400,
    cure: 'Correct the field or header the message names and send it again.',
  },
  malformed_body: {
    cause: 'The body is not one JSON document, or not as long as its headers say.',
    http: 400,
    cure: 'Send one JSON document with Content-Type: application/json.',
  },
  not_authenticated: {
    cause: 'The request carries no token, or one that is unknown, expired or revoked.',
    http: 401,
    sip: 401,
    cure: 'Send "Authorization: Bearer <token>" with an API key or the token POST /login answered.',
  },
  not_permitted: {
    cause: 'The caller is known, but the record or the action is outside its scope, or it may only look.',
    http: 403,
    sip: 403,
    cure: 'Use a key or user whose scope covers this record.',
  },
  wrong_credentials: {
    cause: 'The user name, the password or both are wrong; which one is not told.',
    http: 403,
    sip: 403,
    cure: 'Check the user name, the password and the SIP realm.',
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
  no_such_route: {
    cause: 'No endpoint has this method and path.',
    http: 404,
    cure: 'Compare method and path with /v1/openapi.json.',
  },
  stale_record: {
    cause: 'The record was changed after the ETag in If-Match was read.',
    http: 412,
    cure: 'Read the record again, apply your change to it and send the new ETag.',
  },
  too_large: {
    cause: 'The body is larger than is read.',
    http: 413,
    sip: 513,
    cure: 'Send less: the limit stands in docs/reference/settings.md.',
  },
  request_in_progress: {
    cause: 'A request with the same Idempotency-Key is still being carried out.',
    http: 409,
    cure: 'Wait for the answer of the first request, or send it again in a moment.',
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
  too_many_requests: {
    cause: 'More requests came than the rate limit allows.',
    http: 429,
    cure: 'Wait for the seconds in Retry-After, then go on more slowly. RateLimit names the limit that was reached.',
  },
  mail_not_configured: {
    cause: 'The platform has no mail server to send a link with.',
    http: 422,
    cure: 'Set SWITCHHOOK_SMTP_URL, or let an administrator give the user a new password.',
  },
  internal: {
    cause: 'A mistake in the platform, or a part of it that failed in a way that was not foreseen.',
    http: 500,
    sip: 500,
    cure: 'Report the request id to the operator; the log holds the details under it.',
  },
  stopping: {
    cause: 'The operator is stopping or restarting the platform.',
    http: 503,
    sip: 503,
    cure: 'The platform is shutting down; send the call to another node or try again.',
  },
  database_unavailable: {
    cause: 'The database did not answer, or broke off a transaction.',
    // Not 503: older clients take what is above 500 for an empty success.
    http: 500,
    sip: 503,
    cure: 'Try again; the operator should look at the database. With an Idempotency-Key nothing happens twice.',
  },
  realm_not_proven: {
    cause:
      'An account asks for a SIP realm that is outside the domain of its provider, leads to the platform, or is called by carriers of others.',
    http: 403,
    cure: 'Choose a name below the domain of the provider, make the TXT record that the message names, or ask the provider to set the realm.',
  },
  dns_unavailable: {
    cause: 'Whether an account may have a SIP realm depends on DNS, and no name server responds.',
    http: 503,
    cure: 'Try again in a minute; the operator should look at the name servers of the machine or at SWITCHHOOK_NAME_SERVERS.',
  },
  dns_update_failed: {
    cause: 'The name server that keeps the records of SIP realms did not take a change of them.',
    http: 500,
    cure: 'The operator should compare the SWITCHHOOK_DNS_ settings with the keys and the update policy of the name server.',
  },
  overloaded: {
    cause: 'More work is waiting than the platform does in a bearable time.',
    http: 503,
    sip: 503,
    cure: 'The platform is at its capacity; try again after Retry-After.',
  },

  unknown_realm: {
    cause: 'A phone named a SIP domain that no account has.',
    http: 404,
    sip: 404,
    cure: 'Set sip_realm on the account, and the same domain in the phone.',
  },
  account_inactive: {
    cause: 'The account was switched off by the operator.',
    http: 403,
    sip: 503,
    cure: 'Set is_active on the account.',
  },
  account_call_limit: {
    cause: 'As many calls of the account are up as its limit allows.',
    http: 503,
    sip: 503,
    cure: 'Raise the limit voice_call_session of the account, or wait until a call ends.',
  },
  account_share: {
    cause:
      'The account holds as much of what all accounts share as it may while others could need the rest: calls and their RTP ports, audio that is fetched or decoded, texts that wait to be spoken, requests to hooks.',
    http: 503,
    sip: 503,
    cure: 'Wait until some of it has ended. The operator may raise SWITCHHOOK_ACCOUNT_SHARE, or give the account a limit voice_call_session, which then counts for its calls.',
  },
  service_provider_call_limit: {
    cause: 'As many calls of the service provider are up as its limit allows.',
    http: 503,
    sip: 503,
    cure: 'Raise the limit voice_call_session of the service provider, or wait until a call ends.',
  },
  device_limit: {
    cause: 'As many phones are registered as the limit allows.',
    http: 503,
    sip: 503,
    cure: 'Raise the limit device of the account or service provider, or unregister a phone.',
  },
  no_application: {
    cause: 'Nothing says which application runs this call.',
    http: 422,
    sip: 480,
    cure: 'Dial app-<application_sid>, or set device_calling_application_sid on the account.',
  },
  number_not_provisioned: {
    cause: 'A carrier sent a call to a number that no account has with it.',
    http: 404,
    sip: 404,
    cure: 'Add the number, as the carrier sends it, to the phone numbers of the account and name the carrier there.',
  },
  ambiguous_carrier: {
    cause:
      'A call came from an address that several carriers share, and the number did not tell whose it is.',
    http: 503,
    sip: 503,
    cure: 'Keep the number with one carrier, or let the carrier send calls to the SIP realm of the account.',
  },
  direct_app_calling_off: {
    cause: 'The phone dialled an application, and its SIP client may not.',
    http: 403,
    sip: 480,
    cure: 'Set allow_direct_app_calling on the SIP client.',
  },
  loop_detected: {
    cause: 'The call passed through here before.',
    http: 482,
    sip: 482,
    cure: 'The call came back to the application it left; correct the route.',
  },
  extension_not_supported: {
    cause: 'An INVITE requires an extension of SIP that the platform does not have.',
    http: 400,
    sip: 420,
    cure: 'Switch the extension off in the phone or at the carrier, or make it optional there.',
  },
  body_not_supported: {
    cause: 'The body of an INVITE is neither SDP nor multipart.',
    http: 415,
    sip: 415,
    cure: 'Send the offer as application/sdp, alone or in a multipart body.',
  },
  uri_not_supported: {
    cause: 'An INVITE calls a URI that is neither sip, sips nor tel.',
    http: 400,
    sip: 416,
    cure: 'Call a sip or tel URI.',
  },
  media_not_acceptable: {
    cause: 'The offer has no audio stream that the platform can take part in.',
    http: 488,
    sip: 488,
    cure: 'Offer one audio stream with PCMU or PCMA over RTP/AVP.',
  },
  media_lost: {
    cause: 'The thread that carried the audio of the call died.',
    http: 503,
    sip: 503,
    cure: 'Call again: a media thread died and a new one serves the next call; the log says why.',
  },
  no_media_port: {
    cause: 'All RTP ports are taken by running calls.',
    http: 503,
    sip: 503,
    cure: 'Widen SWITCHHOOK_RTP_PORTS or lower the number of calls.',
  },
  hook_bad_url: {
    cause: 'The URL of a hook is not one that can be requested.',
    http: 400,
    sip: 480,
    cure: 'Give an absolute http or https URL without a user name or password in it, or a path that starts with "/".',
  },
  sip_unreachable: {
    cause: 'No answer came from the SIP address, or no connection to it could be made.',
    http: 480,
    sip: 480,
    cure: 'Check the address, and that the far end listens there over that transport.',
  },
  sip_refused_address: {
    cause:
      'The SIP URI leads to a private or reserved address, which customers may not call through the platform.',
    http: 403,
    sip: 403,
    cure: 'Add the network to SWITCHHOOK_WEBHOOK_ALLOW if it is meant to be called, or reach it through a carrier.',
  },
  user_not_registered: {
    cause: 'No phone is registered under the name that was to be called.',
    http: 404,
    sip: 404,
    cure: 'Check the name and that the phone is registered: see /Accounts/{AccountSid}/RegisteredSipUsers.',
  },
  no_carrier: {
    cause: 'No carrier is there that takes calls to the number.',
    http: 422,
    sip: 603,
    cure: 'Give the account a carrier that is active, with a gateway that is active and outbound over UDP or TCP.',
  },
  call_state: {
    cause: 'The live call is in no state for what was asked of it.',
    http: 422,
    cure: 'Look at call_status of the call: before the answer it can end as no-answer only, after it as completed only.',
  },
  not_served: {
    cause: 'The request asks for a part of the interface that this release does not serve yet.',
    http: 400,
    sip: 501,
    cure: 'Leave out what the message names.',
  },
  hook_unreachable: {
    cause: 'No connection to the URL could be made, or it broke before the answer.',
    http: 480,
    sip: 480,
    cure: 'Check that the hook URL answers from this machine.',
  },
  hook_refused_address: {
    cause:
      'The URL leads to a private or reserved address, which customers may not reach through the platform.',
    http: 480,
    sip: 480,
    cure: 'Add the network to SWITCHHOOK_WEBHOOK_ALLOW if the hook is meant to be inside.',
  },
  hook_timeout: {
    cause: 'The answer did not come within its time.',
    http: 480,
    sip: 480,
    cure: 'Answer the hook within its time budget.',
  },
  hook_bad_status: {
    cause: 'The application answered with a status other than 2xx.',
    http: 480,
    sip: 480,
    cure: 'Answer the hook with 200 and a JSON array of verbs.',
  },
  hook_too_large: {
    cause: 'The answer is longer than is read.',
    http: 480,
    sip: 480,
    cure: 'Answer with a shorter array of verbs.',
  },
  hook_invalid_payload: {
    cause: 'The answer is not JSON, or not a list of verbs the platform knows.',
    http: 480,
    sip: 480,
    cure: 'Answer with a JSON array of verbs as docs/reference/verbs.md describes.',
  },
  application_ended: {
    cause: 'The application ended before it had answered the call.',
    http: 480,
    sip: 603,
    cure: 'Answer the call in the application, or choose a status with sip:decline.',
  },
  audio_not_found: {
    cause: 'The URL of the audio did not answer with a file.',
    http: 404,
    cure: 'Check that the URL answers 200 with an audio file.',
  },
  audio_not_supported: {
    cause: 'The file is not in a format that can be played.',
    http: 415,
    cure: 'Serve WAV (PCM of 8 to 32 bit, floating point or G.711), MP3 or Ogg/Opus, of one or two channels.',
  },
  speech_failed: {
    cause: 'The speech vendor refused the request or failed.',
    http: 422,
    cure: 'Check the speech vendor, voice and language of the application.',
  },
  bucket_failed: {
    cause: "The storage that keeps an account's recordings refused the request or failed.",
    http: 422,
    cure: 'Correct bucket_credential of the account; POST /Accounts/{AccountSid}/BucketCredentialTest tries one out.',
  },
  synthesizer_unknown: {
    cause: 'The application names a speech vendor that is not there, or that there is no credential for.',
    http: 422,
    cure: 'Name a vendor that this platform has and that has a credential, or leave it out for the embedded voice.',
  },
  recognizer_unknown: {
    cause: 'The application wants to hear speech, and the platform has no recogniser for it.',
    http: 422,
    cure: 'Ask for digits too: speech recognition is not served yet.',
  },
} as const satisfies Record<string, CatalogueEntry>

export type ErrorCode = keyof typeof catalogue

/** Narrows the catalogue's literal entries to their common shape. */
export function entryOf(code: ErrorCode): CatalogueEntry {
  return catalogue[code]
}

export interface AppErrorOptions {
  readonly cause?: unknown
  /** Only ever logged. */
  readonly detail?: object
  /** Replaces the catalogue's cure where a better one is known. */
  readonly cure?: string
  /** When trying again may help; goes out as Retry-After. */
  readonly retryAfterSeconds?: number
}

/** A failure with a stable code. `message` is public, one sentence; `detail` and `cause` are only ever logged. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly cure: string
  readonly detail: object | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.cure = options.cure ?? entryOf(code).cure
    this.detail = options.detail
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}
