// The public interface of trunks: carriers to register with, and gateways to watch.
import type { AlertOwner } from '../contracts/alert.ts'
import type { RegisterStatus } from '../contracts/carrier-registration.ts'
import type { GatewayCondition } from './gateway-health.ts'
import type { Transport } from '../sip/transport/transports.ts'

/** A place where a carrier accepts calls and REGISTER. */
export interface TrunkGateway {
  readonly sip_gateway_sid: string
  /** An address or a name. */
  readonly host: string
  /** Null for the port of the name, or the default of the transport. */
  readonly port: number | null
  readonly protocol: Transport
  /** True if URIs begin with `sips:` when the transport is secure. */
  readonly use_sips_scheme: boolean
  /** True if OPTIONS is sent to it. */
  readonly isWatched: boolean
  /** The name of the platform in From and Contact of OPTIONS. Default: its address, or the name in its certificate. */
  readonly ourName?: string
}

/** The identity with which the platform registers. */
export interface TrunkLogin {
  readonly username: string
  readonly password: string
  /** Null if the gateway is the registrar. */
  readonly realm: string | null
  readonly fromUser: string | null
  readonly fromDomain: string | null
  /** True if Contact has the public address, not the one that faces the registrar. */
  readonly hasPublicContact: boolean
  /** True if calls from the addresses of the registrar are the carrier's. */
  readonly learnsAddresses: boolean
}

/** A carrier that is active. */
export interface Trunk {
  readonly voip_carrier_sid: string
  readonly name: string
  /** The owner that gets its alerts, or undefined for a trunk of the platform itself. */
  readonly owner: AlertOwner | undefined
  /** Undefined if the platform does not register. */
  readonly login: TrunkLogin | undefined
  /** The gateways that calls are sent to. */
  readonly gateways: readonly TrunkGateway[]
}

export interface TrunkDirectory {
  /** Returns the active carriers to register with, or with a gateway to watch. */
  trunks(): Promise<readonly Trunk[]>
  /** Returns the proxies of Microsoft Teams, all watched, for each name of the platform. */
  teams(): Promise<readonly Trunk[]>
  /** Returns a number that rises with each change of these. */
  revision(): number
}

/** The result of one OPTIONS. */
export interface Ping {
  /** Epoch ms. */
  readonly at: number
  /** True for any response of a gateway that is able to serve. */
  readonly isAnswered: boolean
  readonly reason: string
  readonly status?: number
  readonly delayMs?: number
}

export interface WatchedGateway {
  readonly condition: GatewayCondition
  readonly last: Ping | undefined
}

/** The result of a call, for the health of a gateway. */
export type GatewaySign =
  | { readonly kind: 'alive' }
  /** The gateway did not respond in time, or could not be reached. */
  | { readonly kind: 'silent' }
  | { readonly kind: 'overloaded'; readonly retryAfterSeconds: number }

export interface Trunks {
  readonly name: string
  start(): Promise<void>
  /** Removes the registrations, within two seconds. */
  stop(): Promise<void>
  /** Returns the gateway of the registration with the carrier. */
  registeredOver(voip_carrier_sid: string): string | undefined
  /** Returns the Route set of calls to the carrier: RFC 3608 §6.1. */
  routesOf(voip_carrier_sid: string): readonly string[]
  /** Returns the carriers whose registrar is at this address, while the registration is valid. */
  registrarsAt(address: string): readonly string[]
  /** Returns false for a gateway that does not answer, or has asked for a rest. */
  isUp(sip_gateway_sid: string): boolean
  noted(sip_gateway_sid: string, sign: GatewaySign): void
  /** Returns undefined for a gateway that is not watched. */
  watched(sip_gateway_sid: string): WatchedGateway | undefined
  /** Sends one OPTIONS, whether the gateway is watched or not. Never rejects. */
  ping(gateway: TrunkGateway): Promise<Ping>
  /** Counts a test of the carrier. Returns the ms to wait if there were too many. */
  takeTest(voip_carrier_sid: string): number
  /** Returns the result of this node's last REGISTER; undefined if another node registers, or none has. */
  registerStatus(voip_carrier_sid: string): RegisterStatus | undefined
}
