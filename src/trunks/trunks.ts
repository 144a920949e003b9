// The public face of trunks: the carriers that the platform registers with, and their gateways that it watches.
import type { AlertOwner } from '../contracts/alert.ts'
import type { RegisterStatus } from '../contracts/carrier-registration.ts'
import type { GatewayCondition } from './gateway-health.ts'
import type { Transport } from '../sip/transport/transports.ts'

/** Where a carrier takes calls and REGISTER. */
export interface TrunkGateway {
  readonly sip_gateway_sid: string
  /** An address or a name. */
  readonly host: string
  /** Null: that of the name, or of the transport. */
  readonly port: number | null
  readonly protocol: Transport
  /** URIs begin with sips: where the transport is secure. */
  readonly use_sips_scheme: boolean
  /** OPTIONS is sent to it. */
  readonly isWatched: boolean
  /** The name that it knows us by: From and Contact of OPTIONS say it. Left out, our address, or the name in our certificate. */
  readonly ourName?: string
}

/** As whom the platform registers. */
export interface TrunkLogin {
  readonly username: string
  readonly password: string
  /** Null: the gateway is the registrar. */
  readonly realm: string | null
  readonly fromUser: string | null
  readonly fromDomain: string | null
  /** Contact names the public address, and not the one that the registrar is faced with. */
  readonly hasPublicContact: boolean
  /** Calls from the addresses of the registrar are the carrier's. */
  readonly learnsAddresses: boolean
}

/** A carrier that is active. */
export interface Trunk {
  readonly voip_carrier_sid: string
  readonly name: string
  /** Who hears of its troubles; undefined for one of the platform itself. */
  readonly owner: AlertOwner | undefined
  /** Undefined where the platform does not register. */
  readonly login: TrunkLogin | undefined
  /** Those that calls are sent to. */
  readonly gateways: readonly TrunkGateway[]
}

export interface TrunkDirectory {
  /** Every carrier that is active and is registered with, or has a gateway to watch. */
  trunks(): Promise<readonly Trunk[]>
  /** The proxies of Microsoft Teams: all are watched, in each name that it knows us by. */
  teams(): Promise<readonly Trunk[]>
  /** Rises with each change of what these return. */
  revision(): number
}

/** What an OPTIONS has shown. */
export interface Ping {
  /** Epoch ms. */
  readonly at: number
  /** Any response counts that a gateway gives which can serve. */
  readonly isAnswered: boolean
  readonly reason: string
  readonly status?: number
  readonly delayMs?: number
}

export interface WatchedGateway {
  readonly condition: GatewayCondition
  readonly last: Ping | undefined
}

/** What a call has found out of a gateway. */
export type GatewaySign =
  | { readonly kind: 'alive' }
  /** It said nothing in time, or could not be reached. */
  | { readonly kind: 'silent' }
  | { readonly kind: 'overloaded'; readonly retryAfterSeconds: number }

export interface Trunks {
  readonly name: string
  start(): Promise<void>
  /** Takes the registrations back, within two seconds. */
  stop(): Promise<void>
  /** The gateway over which the platform is registered there. */
  registeredOver(voip_carrier_sid: string): string | undefined
  /** The Route set of calls to it: RFC 3608 §6.1. */
  routesOf(voip_carrier_sid: string): readonly string[]
  /** The carriers whose registrar is at this address, while the registration lives. */
  registrarsAt(address: string): readonly string[]
  /** False for a gateway that does not answer, or has asked for a rest. */
  isUp(sip_gateway_sid: string): boolean
  noted(sip_gateway_sid: string, sign: GatewaySign): void
  /** Undefined for a gateway that is not watched. */
  watched(sip_gateway_sid: string): WatchedGateway | undefined
  /** Sends one OPTIONS, whether the gateway is watched or not. Never rejects. */
  ping(gateway: TrunkGateway): Promise<Ping>
  /** Counts one test of the carrier; the milliseconds to wait where there were too many. */
  takeTest(voip_carrier_sid: string): number
  /** How the last REGISTER of this node went; undefined where another node registers, or none has. */
  registerStatus(voip_carrier_sid: string): RegisterStatus | undefined
}
