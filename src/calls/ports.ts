// What the call engine needs from the rest of the platform. app.ts passes in values of these shapes;
// the engine imports none of their makers.
import type { OfferedHandshake, OfferedKeys } from '../media/media.ts'
import type { Hook } from '../contracts/hook.ts'
import type { CallDefence } from './defence/defence-settings.ts'
import type { RecordingFormat } from '../contracts/recording.ts'
import type { KeyWay } from '../media/media.ts'
import type { Transport } from '../sip/transport/transports.ts'

export interface AccountFacts {
  readonly account_sid: string
  readonly service_provider_sid: string
  readonly sip_realm: string | null
  readonly is_active: boolean
  readonly device_calling_application_sid: string | null
  /** Takes the recording sessions of carriers. */
  readonly siprec_hook_sid: string | null
  readonly disable_cdrs: boolean
  /** Null: as long as the platform says; 0: never. */
  readonly ringing_after_ms: number | null
  /** Keys are hidden in what is kept of its calls, where an application does not say otherwise. */
  readonly sensitive_digits: boolean
  /** Its calls are logged in detail, whatever the level of the platform's log is. */
  readonly enable_debug_log: boolean
  readonly record_all_calls: boolean
  readonly record_format: RecordingFormat
}

export interface ClientFacts {
  readonly client_sid: string
  readonly username: string
  readonly is_active: boolean
  readonly allow_direct_app_calling: boolean
  readonly allow_direct_queue_calling: boolean
  readonly allow_direct_user_calling: boolean
}

export interface FallbackVoice {
  readonly vendor: string
  readonly label?: string
  readonly language?: string
  readonly voice?: string
}

export interface ApplicationFacts {
  readonly application_sid: string
  readonly account_sid: string
  readonly call_hook: Hook | null
  readonly call_status_hook: Hook | null
  readonly app_json: string | null
  readonly speech_synthesis_vendor: string | null
  readonly speech_synthesis_language: string | null
  readonly speech_synthesis_voice: string | null
  readonly speech_synthesis_label: string | null
  /** Speaks once the voice of `speech_synthesis_*` has failed. */
  readonly fallback_voice?: FallbackVoice
  readonly speech_recognizer_vendor: string | null
  readonly speech_recognizer_language: string | null
  readonly speech_recognizer_label: string | null
  readonly env_vars: Readonly<Record<string, unknown>> | null
  readonly record_all_calls: boolean
}

/** What runs a call: an application, or the hooks that a client of the API gave in its place. */
export type CallScript = Omit<ApplicationFacts, 'application_sid' | 'record_all_calls'>

/** Calls at one time, in each direction; undefined or 0: no limit. */
export interface CallLimits {
  readonly account?: number
  readonly service_provider?: number
}

/** A carrier that is active. */
export interface CarrierFacts {
  readonly voip_carrier_sid: string
  readonly name: string
  /** Null: shared by all accounts of the provider. */
  readonly account_sid: string | null
  readonly service_provider_sid: string | null
  /** Runs for calls to numbers that name no application. */
  readonly application_sid: string | null
  /** The user that the platform is registered as, which calls come to; `realm` null where the registrar has no name. */
  readonly registration: { readonly username: string; readonly realm: string | null } | undefined
  /** How keys go to it and come from it; as RTP events when left out. */
  readonly dtmf_type?: KeyWay
}

/** A Microsoft Teams organisation that reaches its telephones through the platform. */
export interface TeamsTenantFacts {
  readonly ms_teams_tenant_sid: string
  /** Lower case: the name by which Microsoft knows the platform for this tenant. */
  readonly tenant_fqdn: string
  /** The name that Microsoft is sent OPTIONS in: that of its service provider, where the tenant lies below it. */
  readonly ping_fqdn: string
  readonly account_sid: string | null
  readonly application_sid: string | null
}

/** A SIP proxy of Microsoft. */
export interface TeamsProxy {
  readonly host: string
  readonly port: number
}

/** What is known of Microsoft Teams beyond its tenants. */
export interface TeamsFacts {
  /** In the order in which they are tried. */
  readonly proxies: readonly TeamsProxy[]
  /** Whether the address is one that Microsoft Teams signals from. */
  readonly isAddress: (address: string) => boolean
  /** Throws AppError teams_not_ready where the platform cannot show Microsoft that it is this name. */
  readonly demandReady: (tenant_fqdn: string) => void
}

/** The tenants of Microsoft Teams. */
export interface TeamsDirectory {
  teamsTenant(tenant_fqdn: string): Promise<TeamsTenantFacts | undefined>
  /** Those of the account, the oldest first. */
  teamsTenantsOf(account_sid: string): Promise<readonly TeamsTenantFacts[]>
}

/** A carrier that an address belongs to. */
export interface CarrierMatch {
  readonly carrier: CarrierFacts
  /** The netmask of its narrowest gateway that has the address; 32 is that address alone. */
  readonly netmask: number
}

/** Who has a number: carrier, account and application, where they are set. */
export interface NumberFacts {
  /** Without a leading plus. */
  readonly number: string
  readonly voip_carrier_sid: string | null
  readonly account_sid: string | null
  readonly application_sid: string | null
}

/** A phone number that stands for many. */
export interface NumberPattern extends NumberFacts {
  /** `called` is without a leading plus. */
  matches(called: string): boolean
}

/** The carriers, and the numbers that are called through them. */
export interface CarrierDirectory {
  /** Those that send calls from the address: the narrowest network first, in one width an account's before shared ones. */
  carriersAt(address: string): Promise<readonly CarrierMatch[]>
  carrier(voip_carrier_sid: string): Promise<CarrierFacts | undefined>
  /** Of any carrier. */
  numbersCalled(called: string): Promise<readonly NumberFacts[]>
  /** Of one carrier, the longest first. */
  patternsOf(voip_carrier_sid: string): Promise<readonly NumberPattern[]>
  /** The account of a provider that has only one. */
  soleAccountOf(service_provider_sid: string): Promise<string | undefined>
}

/** Where a carrier takes calls. */
export interface OutboundGateway {
  readonly sip_gateway_sid: string
  /** An address or a name. */
  readonly host: string
  /** Null: that of the name, or 5060. */
  readonly port: number | null
  readonly protocol: Transport
  /** Request-URIs begin with sips: where it is reached over TLS. */
  readonly use_sips_scheme?: boolean
  /** Left out: calls go there over plain RTP. */
  readonly protection?: OfferedKeys
  /** What it is offered where it refuses that. */
  readonly protectionAgain?: OfferedHandshake
}

/** A carrier that takes calls: it is active, and has at least one gateway for them. */
export interface OutboundCarrier {
  readonly voip_carrier_sid: string
  readonly name: string
  /** The limit of the provider, for all of its accounts together. */
  readonly isShared: boolean
  readonly gateways: readonly OutboundGateway[]
  readonly dtmf_type?: KeyWay
  readonly tech_prefix: string | null
  readonly e164_leading_plus: boolean
  /** The number that calls are said to be diverted by. */
  readonly diversion: string | null
  readonly outbound_sip_proxy: string | null
  readonly requires_register: boolean
  readonly register_sip_realm: string | null
  readonly register_username: string | null
  readonly register_password: string | null
  readonly register_from_domain: string | null
}

/** A share in the calls of a route. */
export interface RouteEntry {
  readonly voip_carrier_sid: string
  /** The lowest is tried first. */
  readonly priority: number
  /** The share among those of one priority. */
  readonly workload: number
}

export interface DialRoute {
  readonly regex: string
  /** `number` is without a leading plus. */
  matches(number: string): boolean
  readonly entries: readonly RouteEntry[]
}

/** A table of least cost routing. */
export interface DialPlan {
  /** The first to be tried first. */
  readonly routes: readonly DialRoute[]
  /** Where calls go that no route takes. */
  readonly fallback: RouteEntry | undefined
}

/** One address that a carrier is called at. */
export interface CarrierHop {
  /** A SIP URI without a user. */
  readonly hop: string
  /** Null for a carrier that accounts share. */
  readonly account_sid: string | null
}

/** The ways out of the platform. */
export interface OutboundDirectory {
  /** The account's own, then those it shares. */
  outboundCarriers(account: AccountFacts): Promise<readonly OutboundCarrier[]>
  /** Where the carriers of all accounts are called, also while they are switched off. */
  carrierHops(): Promise<readonly CarrierHop[]>
  /** The account's, or else that of its provider. */
  dialPlan(account: AccountFacts): Promise<DialPlan | undefined>
}

/** What is known of carriers beyond their rows. */
export interface TrunkState {
  /** The gateway over which the platform is registered with the carrier. */
  registeredOver(voip_carrier_sid: string): string | undefined
  /** The Route set of calls to it (RFC 3608 §6.1). */
  routesOf(voip_carrier_sid: string): readonly string[]
  /** False for a gateway that does not answer, or has asked for a rest. */
  isUp(sip_gateway_sid: string): boolean
  /** What a call has found out of a gateway. */
  noted(sip_gateway_sid: string, sign: GatewaySign): void
}

export type GatewaySign =
  | { readonly kind: 'alive' }
  /** It said nothing in time, or could not be reached. */
  | { readonly kind: 'silent' }
  | { readonly kind: 'overloaded'; readonly retryAfterSeconds: number }

export interface Directory extends CarrierDirectory, OutboundDirectory, TeamsDirectory {
  callLimits(account: Pick<AccountFacts, 'account_sid' | 'service_provider_sid'>): Promise<CallLimits>
  /** What the account may call, and how much, by its own settings and those of its provider. */
  callDefence(account: Pick<AccountFacts, 'account_sid' | 'service_provider_sid'>): Promise<CallDefence>
  accountByRealm(realm: string): Promise<AccountFacts | undefined>
  account(account_sid: string): Promise<AccountFacts | undefined>
  client(account_sid: string, username: string): Promise<ClientFacts | undefined>
  /** What is sent who joins and leaves the queues of the account. */
  queueEventHook(account_sid: string): Promise<Hook | null>
  /** What decides about the users of a realm in place of its clients; undefined where nothing does. */
  registrationHook(realm: string): Promise<object | undefined>
  /** Only within the account: an application of another one is undefined. */
  application(account_sid: string, application_sid: string): Promise<ApplicationFacts | undefined>
}
