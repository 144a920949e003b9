// The refusal of a path that names a record by something that is no id.
import { AppError } from '../../lib/errors.ts'
import { isSid } from '../../lib/ids.ts'

/** The paths of the interface whose endpoints list 404; all others list 400, or nothing. */
const notFoundPaths: ReadonlySet<string> = new Set([
  '/Accounts/{AccountSid}',
  '/Accounts/{AccountSid}/WebhookSecret',
  '/Accounts/{AccountSid}/Limits',
  '/Accounts/{AccountSid}/RecentCalls',
  '/Applications/{ApplicationSid}',
  '/Clients/{ClientSid}',
  '/MicrosoftTeamsTenants/{TenantSid}',
  '/ServiceProviders/{ServiceProviderSid}/SpeechCredentials/{SpeechCredentialSid}/test',
  '/Webhooks/{WebhookSid}',
])

export interface PathSid {
  /** The whole path, as it is declared. */
  readonly path: string
  /** Its parameter that must be an id. */
  readonly parameter: string
  readonly noun: string
}

export function demandSid(sid: string, { path, parameter, noun }: PathSid): void {
  if (isSid(sid)) return
  throw notFoundPaths.has(path)
    ? new AppError('not_found', `no such ${noun}`)
    : new AppError('bad_request', `${parameter} in the path must be a UUID`)
}
