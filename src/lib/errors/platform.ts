// Errors of the platform, its operator, or a system that it depends on.
import type { CatalogueEntry } from './catalogue-entry.ts'

export const platformErrors = {
  mail_not_configured: {
    cause: 'The platform has no mail server to send a link with.',
    http: 422,
    cure: 'Set SWITCHHOOK_SMTP_URL, or let an administrator give the user a new password.',
  },
  internal: {
    cause: 'The platform has a bug, or a part of it failed in a way that was not foreseen.',
    http: 500,
    sip: 500,
    cure: 'Report the request id to the operator; the log holds the details under it.',
  },
  stopping: {
    cause: 'The operator is stopping or restarting the platform.',
    http: 503,
    sip: 503,
    cure: 'Send the request or the call to another node, or try again in a moment.',
  },
  database_unavailable: {
    cause: 'The database did not respond, or broke off a transaction.',
    // Not 503: older clients treat a status above 500 as an empty success.
    http: 500,
    sip: 503,
    cure: 'Try again; the operator should look at the database. With an Idempotency-Key nothing happens twice.',
  },
  clock_wrong: {
    cause: 'The clock of the node differs from that of the database by more than a minute.',
    http: 503,
    sip: 503,
    cure: 'The operator should let the machine follow NTP. Until then other nodes serve logins.',
  },
  disk_full: {
    cause:
      'The disk with the data directory, or that of PostgreSQL, is full or nearly full: changes, new calls or the audio of a call cannot be written.',
    // Not 503: older clients treat a status above 500 as an empty success.
    http: 500,
    sip: 503,
    cure: 'The operator should make room on the disk with the data directory, which SWITCHHOOK_DATA_DIR names.',
  },
  overloaded: {
    cause: 'More work is waiting than the platform can do in a reasonable time.',
    http: 503,
    sip: 503,
    cure: 'Try again after the seconds in Retry-After.',
  },
  realm_not_proven: {
    cause:
      'An account asks for a SIP realm, or the FQDN of a Microsoft Teams tenant, that is outside the domain of its provider, leads to the platform, or is called by carriers of other accounts.',
    http: 403,
    cure: 'Choose a name below the domain of the provider, make the TXT record that the message names, or ask the provider to set the name.',
  },
  dns_unavailable: {
    cause: 'Whether an account may have a SIP realm depends on DNS, and no name server responds.',
    http: 503,
    cure: 'Try again in a minute; the operator should look at the name servers of the machine or at SWITCHHOOK_NAME_SERVERS.',
  },
  dns_update_failed: {
    cause: 'The name server that keeps the records of SIP realms did not accept a change of them.',
    http: 500,
    cure: 'The operator should compare the SWITCHHOOK_DNS_ settings with the keys and the update policy of the name server.',
  },
  recording_failed: {
    cause: 'The recording of a call ended before the call: the disk is full, or failed.',
    http: 503,
    cure: 'The operator should look at the disk with the data directory, and at the log. What was recorded until then is stored.',
  },
  recording_refused: {
    cause: 'A call was to be recorded, and there is no room for its recording.',
    http: 503,
    cure: 'Remove recordings that are not needed, set bucket_credential of the account, or let the operator raise SWITCHHOOK_RECORDING_ACCOUNT_MB or SWITCHHOOK_RECORDING_SPOOL_MB.',
  },
  bucket_failed: {
    cause: "The storage that keeps an account's recordings refused the request or failed.",
    http: 422,
    cure: 'Correct bucket_credential of the account; POST /Accounts/{AccountSid}/BucketCredentialTest tries one out.',
  },
} as const satisfies Record<string, CatalogueEntry>
