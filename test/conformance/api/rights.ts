// The levels that may use each route and the owner of the record it makes: the interface's own table, written by hand.
// The declarations of the routes must agree with it, so that a wrong one fails the authorization matrix.
import type { ApiRoute } from '../../../src/api/define/route.ts'
import type { Level } from '../../../src/http/route.ts'

/** A: administrators. P: keys and users of a service provider. C: keys and users of an account. */
type Callers = 'A' | 'AP' | 'APC'
/** The owner in the body of a new record, which clients of lower levels may leave out. */
type Making = 'for an account' | 'for a provider'
type Right = 'anyone' | Callers | `${Callers}, ${Making}`

const rights: Readonly<Record<string, Readonly<Record<string, Right>>>> = {
  '/Accounts': { GET: 'APC', POST: 'AP, for a provider' },
  '/Accounts/{AccountSid}': { GET: 'APC', PUT: 'APC', DELETE: 'APC' },
  '/Accounts/{AccountSid}/Alerts': { GET: 'APC' },
  '/Accounts/{AccountSid}/ApiKeys': { GET: 'APC' },
  '/Accounts/{AccountSid}/Applications': { GET: 'APC', POST: 'APC, for an account' },
  '/Accounts/{AccountSid}/Applications/{ApplicationSid}': { GET: 'APC', PUT: 'APC', DELETE: 'APC' },
  '/Accounts/{AccountSid}/BucketCredentialTest': { POST: 'APC' },
  '/Accounts/{AccountSid}/CallCount': { GET: 'APC' },
  '/Accounts/{AccountSid}/CallDefence': { GET: 'APC', PUT: 'APC' },
  '/Accounts/{AccountSid}/Calls': { POST: 'APC', GET: 'APC' },
  '/Accounts/{AccountSid}/Calls/{CallSid}': { GET: 'APC', DELETE: 'APC', PUT: 'APC', POST: 'APC' },
  '/Accounts/{AccountSid}/Conferences': { GET: 'APC' },
  '/Accounts/{AccountSid}/DryRuns': { POST: 'APC' },
  '/Accounts/{AccountSid}/Limits': { GET: 'APC', POST: 'AP', DELETE: 'AP' },
  '/Accounts/{AccountSid}/PredefinedCarriers/{PredefinedCarrierSid}': { POST: 'APC' },
  '/Accounts/{AccountSid}/Queues': { GET: 'APC' },
  '/Accounts/{AccountSid}/RecentCalls': { GET: 'APC' },
  '/Accounts/{AccountSid}/RecentCalls/trace/{TraceId}': { GET: 'APC' },
  '/Accounts/{AccountSid}/RecentCalls/{CallSid}/journal': { GET: 'APC' },
  '/Accounts/{AccountSid}/RecentCalls/{CallSid}/logs': { GET: 'APC' },
  '/Accounts/{AccountSid}/RecentCalls/{CallSid}/record/{Year}/{Month}/{Day}/{Format}': {
    GET: 'APC',
    DELETE: 'APC',
  },
  '/Accounts/{AccountSid}/RecentCalls/{CallSid}/transcript': { GET: 'APC' },
  '/Accounts/{AccountSid}/RecentCalls/{SipCallId}': { GET: 'APC' },
  '/Accounts/{AccountSid}/RecentCalls/{SipCallId}/{Method}/pcap': { GET: 'APC' },
  '/Accounts/{AccountSid}/RegisteredSipUsers': { GET: 'APC', POST: 'APC' },
  '/Accounts/{AccountSid}/RegisteredSipUsers/{Client}': { GET: 'APC' },
  '/Accounts/{AccountSid}/SipRealms/{SipRealm}': { POST: 'APC' },
  '/Accounts/{AccountSid}/SpeechCredentials': { GET: 'APC', POST: 'APC, for an account' },
  '/Accounts/{AccountSid}/SpeechCredentials/speech/supportedLanguagesAndVoices': { GET: 'APC' },
  '/Accounts/{AccountSid}/SpeechCredentials/{SpeechCredentialSid}': { GET: 'APC', PUT: 'APC', DELETE: 'APC' },
  '/Accounts/{AccountSid}/SpeechCredentials/{SpeechCredentialSid}/test': { GET: 'APC' },
  '/Accounts/{AccountSid}/TtsCache': { GET: 'APC', DELETE: 'APC' },
  '/Accounts/{AccountSid}/TtsCache/Synthesize': { POST: 'APC' },
  '/Accounts/{AccountSid}/VoipCarriers': { GET: 'APC', POST: 'APC, for an account' },
  '/Accounts/{AccountSid}/VoipCarriers/{VoipCarrierSid}': { PUT: 'APC' },
  '/Accounts/{AccountSid}/WebhookSecret': { GET: 'APC' },
  '/ApiKeys': { GET: 'APC', POST: 'APC, for an account' },
  '/ApiKeys/{ApiKeySid}': { DELETE: 'APC' },
  '/AppEnv': { GET: 'APC' },
  '/Applications': { GET: 'APC', POST: 'APC, for an account' },
  '/Applications/{ApplicationSid}': { GET: 'APC', PUT: 'APC', DELETE: 'APC' },
  '/AuditLog': { GET: 'APC' },
  '/AuditLog/checkpoints': { POST: 'A' },
  '/AuditLog/export': { GET: 'A' },
  '/AuditLog/verify': { GET: 'A' },
  '/Availability': { GET: 'APC' },
  '/Clients': { GET: 'APC', POST: 'APC, for an account' },
  '/Clients/{ClientSid}': { GET: 'APC', PUT: 'APC', DELETE: 'APC' },
  '/GoogleCustomVoices': { GET: 'APC', POST: 'APC' },
  '/GoogleCustomVoices/{GoogleCustomVoiceSid}': { GET: 'APC', PUT: 'APC', DELETE: 'APC' },
  '/GoogleCustomVoices/{GoogleCustomVoiceSid}/VoiceCloningKey': { POST: 'APC' },
  '/LcrCarrierSetEntries': { GET: 'APC', POST: 'APC' },
  '/LcrCarrierSetEntries/{LcrCarrierSetEntrySid}': { GET: 'APC', PUT: 'APC', DELETE: 'APC' },
  '/LcrRoutes': { GET: 'APC', POST: 'APC' },
  '/LcrRoutes/{LcrRouteSid}': { GET: 'APC', PUT: 'APC', DELETE: 'APC' },
  '/Lcrs': { GET: 'APC', POST: 'APC, for an account' },
  '/Lcrs/{LcrSid}': { GET: 'APC', PUT: 'APC', DELETE: 'APC' },
  '/Lcrs/{LcrSid}/Routes': { POST: 'APC', PUT: 'APC' },
  '/MicrosoftTeamsTenants': { GET: 'APC', POST: 'APC, for an account' },
  '/MicrosoftTeamsTenants/{TenantSid}': { GET: 'APC', PUT: 'APC', DELETE: 'APC' },
  '/PasswordSettings': { GET: 'APC', POST: 'A' },
  '/PhoneNumbers': { GET: 'APC', POST: 'APC, for an account' },
  '/PhoneNumbers/{PhoneNumberSid}': { GET: 'APC', PUT: 'APC', DELETE: 'APC' },
  '/PredefinedCarriers': { GET: 'APC' },
  '/Sbcs': { GET: 'APC', POST: 'A, for a provider' },
  '/Sbcs/{SbcAddressSid}': { DELETE: 'A' },
  '/ServiceProviders': { GET: 'APC', POST: 'A' },
  '/ServiceProviders/{ServiceProviderSid}': { GET: 'APC', PUT: 'AP', DELETE: 'A' },
  '/ServiceProviders/{ServiceProviderSid}/Accounts': { GET: 'APC' },
  '/ServiceProviders/{ServiceProviderSid}/Alerts': { GET: 'AP' },
  '/ServiceProviders/{ServiceProviderSid}/ApiKeys': { GET: 'APC' },
  '/ServiceProviders/{ServiceProviderSid}/Applications': { GET: 'APC' },
  '/ServiceProviders/{ServiceProviderSid}/CallDefence': { GET: 'AP', PUT: 'AP' },
  '/ServiceProviders/{ServiceProviderSid}/Limits': { GET: 'AP', POST: 'AP', DELETE: 'AP' },
  '/ServiceProviders/{ServiceProviderSid}/PhoneNumbers': { GET: 'APC' },
  '/ServiceProviders/{ServiceProviderSid}/PredefinedCarriers/{PredefinedCarrierSid}': { POST: 'AP' },
  '/ServiceProviders/{ServiceProviderSid}/RecentCalls': { GET: 'AP' },
  '/ServiceProviders/{ServiceProviderSid}/RecentCalls/{SipCallId}': { GET: 'AP' },
  '/ServiceProviders/{ServiceProviderSid}/RecentCalls/{SipCallId}/{Method}/pcap': { GET: 'AP' },
  '/ServiceProviders/{ServiceProviderSid}/SpeechCredentials': { GET: 'APC', POST: 'APC, for an account' },
  '/ServiceProviders/{ServiceProviderSid}/SpeechCredentials/speech/supportedLanguagesAndVoices': {
    GET: 'APC',
  },
  '/ServiceProviders/{ServiceProviderSid}/SpeechCredentials/{SpeechCredentialSid}': {
    GET: 'APC',
    PUT: 'APC',
    DELETE: 'APC',
  },
  '/ServiceProviders/{ServiceProviderSid}/SpeechCredentials/{SpeechCredentialSid}/test': { GET: 'AP' },
  '/ServiceProviders/{ServiceProviderSid}/VoipCarriers': { GET: 'APC', POST: 'AP, for an account' },
  '/ServiceProviders/{ServiceProviderSid}/VoipCarriers/{VoipCarrierSid}': { PUT: 'AP' },
  '/SipGateways': { GET: 'APC', POST: 'APC' },
  '/SipGateways/{SipGatewaySid}': { GET: 'APC', PUT: 'APC', DELETE: 'APC' },
  '/SmppGateways': { GET: 'APC', POST: 'APC' },
  '/SmppGateways/{SmppGatewaySid}': { GET: 'APC', PUT: 'APC', DELETE: 'APC' },
  '/Smpps': { GET: 'APC', POST: 'A, for a provider' },
  '/Smpps/{SmppAddressSid}': { DELETE: 'A' },
  '/SystemInformation': { GET: 'A', POST: 'A' },
  '/TtsCache': { GET: 'A', DELETE: 'A' },
  '/Users': { GET: 'APC', POST: 'APC, for an account' },
  '/Users/me': { GET: 'APC' },
  '/Users/{UserSid}': { GET: 'APC', PUT: 'APC', DELETE: 'APC' },
  '/VoipCarriers': { GET: 'APC', POST: 'APC, for an account' },
  '/VoipCarriers/{VoipCarrierSid}': { GET: 'APC', PUT: 'APC', DELETE: 'APC' },
  '/VoipCarriers/{VoipCarrierSid}/Health': { GET: 'APC' },
  '/VoipCarriers/{VoipCarrierSid}/Test': { POST: 'APC' },
  '/Webhooks': { POST: 'APC' },
  '/Webhooks/{WebhookSid}': { GET: 'APC' },
  '/change-password': { POST: 'APC' },
  '/forgot-password': { POST: 'anyone' },
  '/login': { POST: 'anyone' },
  '/logout': { POST: 'APC' },
  '/signin': { POST: 'anyone' },
}

export interface RouteRight {
  /** Undefined if the route requires no token. */
  readonly levels: readonly Level[] | undefined
  /** The owner of the record that the route makes, if the body names the owner. */
  readonly owner: 'account' | 'service_provider' | undefined
}

/** Returns the right of a route, or undefined if the table does not have it. */
export function rightOf({ method, path }: Pick<ApiRoute, 'method' | 'path'>): RouteRight | undefined {
  const right = rights[path]?.[method]
  if (right === undefined) return undefined
  if (right === 'anyone') return { levels: undefined, owner: undefined }
  const [callers, making] = right.split(', ') as [Callers, Making | undefined]
  const levels = { A: 'admin', P: 'service_provider', C: 'account' } as const
  return {
    levels: callers.split('').map((letter) => levels[letter as keyof typeof levels]),
    owner: making === undefined ? undefined : making === 'for an account' ? 'account' : 'service_provider',
  }
}

/** Returns the routes that are in the table and are not served. */
export function rightsWithoutRoute(routes: readonly ApiRoute[]): readonly string[] {
  const served = new Set(routes.map(({ method, path }) => `${method} ${path}`))
  const listed = Object.entries(rights).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  )
  return listed.filter((route) => !served.has(route))
}
