// The interfaces that the call engine needs from the rest of the platform. app.ts passes in values of these shapes;
// the engine does not import the code that makes them.
import type { OfferedHandshake, OfferedKeys, KeyWay } from '../media/media.ts'
import type { Hook } from '../contracts/hook.ts'
import type { Pattern } from '../lib/pattern.ts'
import type { CallDefence } from './defence-settings.ts'
import type { RecordingFormat } from '../contracts/recording.ts'
import type { Sip } from '../sip/sip.ts'
import type { Transport } from '../sip/transport/transports.ts'

/** The part of the SIP stack that calls use. */
export type CallSip = Pick<
  Sip,
  | 'hasUserAt'
  | 'authenticate'
  | 'bindings'
  | 'byeIn'
  | 'drain'
  | 'addressFor'
  | 'invite'
  | 'listening'
  | 'open'
  | 'reach'
  | 'resolve'
  | 'rest'
  | 'slow'
>

export interface AccountFacts {
  readonly account_sid: string
  readonly service_provider_sid: string
  readonly sip_realm: string | null
  readonly is_active: boolean
  readonly device_calling_application_sid: string | null
  /** The hook for the recording sessions of carriers. */
  readonly siprec_hook_sid: string | null
  readonly disable_cdrs: boolean
  /** Null: the setting of the platform; 0: never. */
  readonly ringing_after_ms: number | null
  /** Whether pressed keys are hidden in everything stored about its calls, unless an application says otherwise. */
  readonly sensitive_digits: boolean
  /** Whether its calls are logged in detail, regardless of the level of the platform's log. */
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

export type FallbackRecognizer = Omit<FallbackVoice, 'voice'>

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
  /** The voice to use once the one of `speech_synthesis_*` has failed. */
  readonly fallback_voice?: FallbackVoice
  readonly speech_recognizer_vendor: string | null
  readonly speech_recognizer_language: string | null
  readonly speech_recognizer_label: string | null
  /** The recogniser to use once the one of `speech_recognizer_*` has failed. */
  readonly fallback_recognizer?: FallbackRecognizer
  readonly env_vars: Readonly<Record<string, unknown>> | null
  readonly record_all_calls: boolean
}

/** The script that runs a call: an application, or the hooks that a client of the API gave instead of one. */
export type CallScript = Omit<ApplicationFacts, 'application_sid' | 'record_all_calls'>

/** The most calls at one time, in each direction; undefined or 0: no limit. */
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
  /** The application for calls to numbers that name none. */
  readonly application_sid: string | null
  /** The user that is registered and that calls are sent to. `realm` is null where the registrar has no name. */
  readonly registration: { readonly username: string; readonly realm: string | null } | undefined
  /** The way in which keys are sent to it and received from it. RTP events when left out. */
  readonly dtmf_type?: KeyWay
}

/** A Microsoft Teams organisation whose users make and receive telephone calls through the platform. */
export interface TeamsTenantFacts {
  readonly ms_teams_tenant_sid: string
  /** The name by which Microsoft addresses the platform for this tenant, in lower case. */
  readonly tenant_fqdn: string
  /** The name in the OPTIONS sent to Microsoft: that of the service provider, if the tenant's name lies below it. */
  readonly ping_fqdn: string
  readonly account_sid: string | null
  readonly application_sid: string | null
}

/** A SIP proxy of Microsoft. */
export interface TeamsProxy {
  readonly host: string
  readonly port: number
}

/** Facts about Microsoft Teams that do not belong to one tenant. */
export interface TeamsFacts {
  /** The proxies, in the order in which they are tried. */
  readonly proxies: readonly TeamsProxy[]
  /** Whether the address is one that Microsoft Teams signals from. */
  readonly isAddress: (address: string) => boolean
  /** Throws AppError teams_not_ready where the platform cannot prove to Microsoft that it has this name. */
  readonly demandReady: (tenant_fqdn: string) => void
}

/** The tenants of Microsoft Teams. */
export interface TeamsDirectory {
  teamsTenant(tenant_fqdn: string): Promise<TeamsTenantFacts | undefined>
  /** Returns the tenants of the account, the oldest first. */
  teamsTenantsOf(account_sid: string): Promise<readonly TeamsTenantFacts[]>
}

/** A carrier that an address belongs to. */
export interface CarrierMatch {
  readonly carrier: CarrierFacts
  /** The netmask of its narrowest gateway that contains the address. 32 means that address alone. */
  readonly netmask: number
}

/** The carrier, account and application of a number, where they are set. */
export interface NumberFacts {
  /** Without a leading plus. */
  readonly number: string
  readonly voip_carrier_sid: string | null
  readonly account_sid: string | null
  readonly application_sid: string | null
}

/** A pattern that stands for many phone numbers. */
export interface NumberPattern extends NumberFacts, Pattern {
  /** `called` is without a leading plus. */
  matches(called: string): boolean
}

/** The carriers, and the numbers that are called through them. */
export interface CarrierDirectory {
  /** Returns the carriers that call from the address: narrowest network first, then an account's before shared ones. */
  carriersAt(address: string): Promise<readonly CarrierMatch[]>
  carrier(voip_carrier_sid: string): Promise<CarrierFacts | undefined>
  /** Returns the entries of the called number, of all carriers. */
  numbersCalled(called: string): Promise<readonly NumberFacts[]>
  /** Returns the patterns of one carrier, the longest first. */
  patternsOf(voip_carrier_sid: string): Promise<readonly NumberPattern[]>
  /** Returns the account of a provider that has only one. */
  soleAccountOf(service_provider_sid: string): Promise<string | undefined>
}

/** An address at which a carrier accepts calls. */
export interface OutboundGateway {
  readonly sip_gateway_sid: string
  /** An address or a name. */
  readonly host: string
  /** Null: the port that the name resolves to, or 5060. */
  readonly port: number | null
  readonly protocol: Transport
  /** Whether Request-URIs begin with sips: when it is reached over TLS. */
  readonly use_sips_scheme?: boolean
  /** The media encryption that is offered. Left out: plain RTP. */
  readonly protection?: OfferedKeys
  /** The second offer, if it refuses `protection`. */
  readonly protectionAgain?: OfferedHandshake
}

/** A carrier that accepts calls: it is active, and has at least one outbound gateway. */
export interface OutboundCarrier {
  readonly voip_carrier_sid: string
  readonly name: string
  /** Whether all accounts of its provider may use it. */
  readonly isShared: boolean
  readonly gateways: readonly OutboundGateway[]
  readonly dtmf_type?: KeyWay
  readonly tech_prefix: string | null
  readonly e164_leading_plus: boolean
  /** Whether URIs with a number say `user=phone` (RFC 3261 §19.1.1). */
  readonly send_user_phone: boolean
  /** The number in the Diversion header of calls. */
  readonly diversion: string | null
  readonly outbound_sip_proxy: string | null
  readonly requires_register: boolean
  readonly register_sip_realm: string | null
  readonly register_username: string | null
  readonly register_password: string | null
  readonly register_from_domain: string | null
}

/** The share of one carrier in the calls of a route. */
export interface RouteEntry {
  readonly voip_carrier_sid: string
  /** The entry with the lowest value is tried first. */
  readonly priority: number
  /** The share among the entries of the same priority. */
  readonly workload: number
}

export interface DialRoute extends Pattern {
  readonly regex: string
  /** `number` is without a leading plus. */
  matches(number: string): boolean
  readonly entries: readonly RouteEntry[]
}

/** A table of least cost routing. */
export interface DialPlan {
  /** The routes, in the order in which they are tried. */
  readonly routes: readonly DialRoute[]
  /** The entry for calls that match no route. */
  readonly fallback: RouteEntry | undefined
}

/** One address at which a carrier is called. */
export interface CarrierHop {
  /** A SIP URI without a user. */
  readonly hop: string
  /** Null for a carrier that accounts share. */
  readonly account_sid: string | null
}

/** The carriers and dial plans for outbound calls. */
export interface OutboundDirectory {
  /** Returns the account's own carriers, then the shared ones. */
  outboundCarriers(account: AccountFacts): Promise<readonly OutboundCarrier[]>
  /** Returns the addresses of the carriers of all accounts, including carriers that are switched off. */
  carrierHops(): Promise<readonly CarrierHop[]>
  /** Returns the dial plan of the account, or else that of its provider. */
  dialPlan(account: AccountFacts): Promise<DialPlan | undefined>
}

/** The current state of carriers and gateways, which is not in their rows. */
export interface TrunkState {
  /** Returns the gateway over which the platform is registered with the carrier. */
  registeredOver(voip_carrier_sid: string): string | undefined
  /** Returns the Route set of calls to the carrier (RFC 3608 §6.1). */
  routesOf(voip_carrier_sid: string): readonly string[]
  /** Whether the gateway responds and has not requested a pause. */
  isUp(sip_gateway_sid: string): boolean
  /** Called with what a call has found out about a gateway. */
  noted(sip_gateway_sid: string, sign: GatewaySign): void
}

export type GatewaySign =
  | { readonly kind: 'alive' }
  /** The gateway did not respond in time, or could not be reached. */
  | { readonly kind: 'silent' }
  | { readonly kind: 'overloaded'; readonly retryAfterSeconds: number }

export interface Directory extends CarrierDirectory, OutboundDirectory, TeamsDirectory {
  callLimits(account: Pick<AccountFacts, 'account_sid' | 'service_provider_sid'>): Promise<CallLimits>
  /** Returns what the account may call, and how much, by its own settings and those of its provider. */
  callDefence(account: Pick<AccountFacts, 'account_sid' | 'service_provider_sid'>): Promise<CallDefence>
  accountByRealm(realm: string): Promise<AccountFacts | undefined>
  account(account_sid: string): Promise<AccountFacts | undefined>
  client(account_sid: string, username: string): Promise<ClientFacts | undefined>
  /** Returns the hook that is notified when a call joins or leaves a queue of the account. */
  queueEventHook(account_sid: string): Promise<Hook | null>
  /** Returns the hook that decides about the users of a realm in place of stored clients, if there is one. */
  registrationHook(realm: string): Promise<object | undefined>
  /** Returns the application if it belongs to the account, otherwise undefined. */
  application(account_sid: string, application_sid: string): Promise<ApplicationFacts | undefined>
}
